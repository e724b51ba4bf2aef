"""A drive purged by hand, without a run: what it can, doing it, and ending what is left.

The course of a purge is the ladder's; here is what stands around it when no run does.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from teijo.device.block import claim_block
from teijo.device.cache_hold import restore
from teijo.device.checks import Subject
from teijo.device.drive.seen import Seen, look_at
from teijo.device.drive.unfinished import Unfinished, refuse_unfinished
from teijo.device.open_changes import OpenChange, close, open_changes
from teijo.device.preflight import claim, consent
from teijo.device.purging import ladder, nvme_sanitize
from teijo.device.purging.offer import Offer
from teijo.device.stack import whole_disk
from teijo.device.target import BlockTarget, parse_target
from teijo.device.watched import SILENCE_NS, Progress, hangs, watched
from teijo.errors import DeviceError, TargetError, UnsafeError
from teijo.terms.purge import AUTO, METHODS, PurgeResult

IN_THE_WAY: Final = frozenset({"format", "locked", "password", "change"})
"""What is unfinished, beside a sanitize, is in the way of every purge."""


@dataclass(frozen=True, kw_only=True)
class PurgeState:
    """What a drive is in the middle of, what Teijo left open of it, and what it can."""

    seen: Seen
    changes: tuple[OpenChange, ...]
    offers: tuple[Offer, ...]


def purge_state(target: str) -> PurgeState:
    """Return what a drive can be purged by, and what is unfinished; nothing is written.

    Raises:
        teijo.errors.TargetError: it is no block device, or cannot be opened.
        teijo.errors.UnsafeError: its controller is another drive's.
    """
    with _kept(claim(_block(target).path, write=False)) as subject:
        seen = look_at(subject)
        return PurgeState(seen=seen, changes=_left_open(subject), offers=ladder.offers(subject))


def purge(
    target: str, method: str = AUTO, *, destroy: str | None = None, progress: Progress | None = None
) -> PurgeResult:
    """Purge a drive that a person gave up. `progress` hears (done, in all).

    Raises:
        teijo.errors.TargetError: it is no block device, or has no such method.
        teijo.errors.UnsafeError: something would be lost that nobody gave up, or is in use.
        teijo.errors.DeviceError: something is unfinished, it failed, or there is no way.
    """
    if method not in (AUTO, *METHODS):
        raise TargetError(
            f"There is no purge by {method!r}",
            remedy=f"Take one of {', '.join((AUTO, *METHODS))}.",
        )
    with _kept(claim_block(_block(target), write=True)) as subject:
        seen = look_at(subject, SILENCE_NS)
        refuse_unfinished(subject.target, _in_the_way(seen))
        if seen.portrait.stuck is not None:
            raise seen.portrait.stuck
        passed = consent(subject, destroy, also=ladder.victims(subject, method))
        done = watched(
            lambda moved: ladder.purge(subject, method, given=passed.given, moved=moved),
            what=f"The purge of {subject.target}",
            silence_ns=SILENCE_NS,
            progress=progress,
        )
    if done is None:
        raise DeviceError(
            f"{target} is not purged: it has no way that loses no more than the target, or ignored "
            "the discard",
            remedy=f"See what it has: teijo purge {target}",
        )
    return done


def finish(target: str) -> tuple[str, ...]:
    """End what a kill or a failure left of a drive; return what was done, a line each.

    Raises:
        teijo.errors.TargetError: it is no block device, or cannot be opened.
        teijo.errors.UnsafeError: it is in use.
        teijo.errors.DeviceError: something of it cannot be ended now.
        teijo.errors.HostError: the journal cannot be read, or not be written.
    """
    with _kept(claim_block(_block(target), write=True)) as subject:
        if subject.refusal:
            raise UnsafeError(
                f"{subject.target} is in use: {subject.refusal}; nothing was ended",
                remedy="Unmount it, or stop what uses it.",
            )
        changes = _left_open(subject)
        ended = [_ended(subject, change) for change in changes]
        seen = look_at(subject, SILENCE_NS)
        log = seen.portrait.nvme.sanitize if seen.portrait.nvme else None
        if log is not None and log.failed and all(one.kind != "purge" for one in changes):
            ended.append(nvme_sanitize.finish(subject))
        return tuple(ended)


def _ended(subject: Subject, change: OpenChange) -> str:
    if change.kind == "cache":
        disk = whole_disk(subject.found.node, subject.roots)
        now = restore(subject.fd, disk, change, subject.target)
        return f"the write cache is {now.state} again"
    if change.kind == "purge" and change.method.startswith("nvme-sanitize"):
        told = nvme_sanitize.finish(subject)
        close(change)
        return told
    raise DeviceError(
        f"{subject.target}: what {change.method} left open is not ended by this version",
        remedy="End it with the drive's own tool.",
    )


def _in_the_way(seen: Seen) -> list[Unfinished]:
    """Return what keeps a purge from beginning; the method judges a failed sanitize."""
    log = seen.portrait.nvme.sanitize if seen.portrait.nvme else None
    failed = log is not None and log.failed
    return [one for one in seen.unfinished if one.kind in IN_THE_WAY or not failed]


def _left_open(subject: Subject) -> tuple[OpenChange, ...]:
    found = subject.found
    names = {found.own_serial, found.identity.serial} - {""}
    return tuple(
        one for one in open_changes() if one.serial in names and one.wwid == found.identity.wwid
    )


def _block(target: str) -> BlockTarget:
    found = parse_target(target)
    if not isinstance(found, BlockTarget):
        raise TargetError(f"{found.text} is no block device", remedy="`teijo devices` lists them.")
    return found


@contextmanager
def _kept(subject: Subject) -> Iterator[Subject]:
    """Give a claimed device, and give it back; one that hangs is left, for closing would wait."""
    try:
        yield subject
    except BaseException as error:
        if not hangs(error):
            os.close(subject.fd)
        raise
    os.close(subject.fd)
