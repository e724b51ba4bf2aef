"""A drive purged by hand, without a run: what it can, doing it, and ending what is left.

The course of a purge is the ladder's; here is what stands around it when no run does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from teijo.device.cache_hold import restore
from teijo.device.checks import Subject
from teijo.device.drive.seen import Seen, look_at
from teijo.device.drive.unfinished import refuse_unfinished
from teijo.device.open_changes import OpenChange, open_changes
from teijo.device.preflight import claim, consent
from teijo.device.purging import ladder
from teijo.device.purging.offer import Ends, Offer
from teijo.device.stack import whole_disk
from teijo.device.target import BlockTarget, FileTarget, not_there, parse_target
from teijo.device.watched import SILENCE_NS, Progress, closed_after, watched
from teijo.errors import (
    DeviceError,
    Interrupted,
    StoppedAtOnce,
    StuckDevice,
    TargetError,
    TeijoError,
    UnsafeError,
)
from teijo.outside.text import shell_path
from teijo.terms.purge import AUTO, METHODS, PurgeResult


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
        teijo.errors.Interrupted: a person stopped it; the message has the password that is left.
    """
    if method not in (AUTO, *METHODS):
        raise TargetError(
            f"There is no purge by {method!r}",
            remedy=f"Take one of {', '.join((AUTO, *METHODS))}.",
        )
    with _kept(claim(_block(target).path, write=True)) as subject:
        seen = look_at(subject, SILENCE_NS)
        # Of what failed and is over, the method judges whether it may be begun again.
        refuse_unfinished(subject.target, [one for one in seen.unfinished if not one.is_over])
        if seen.portrait.stuck is not None:
            raise seen.portrait.stuck
        # First, for a drive that answers no reads fails the checks, and that says nothing of why.
        offer = ladder.wanted(subject, method)
        passed = consent(subject, destroy, also=offer.victims if offer else ())
        try:
            done = watched(
                lambda moved: ladder.purge(subject, method, given=passed.given, moved=moved),
                what=f"The purge of {subject.target}",
                silence_ns=SILENCE_NS,
                progress=progress,
            )
        except KeyboardInterrupt as stop:
            raise _stopped(subject, stop) from stop
    if done is None:
        raise DeviceError(
            f"{target} is not purged: it has no way that loses no more than the target, or ignored "
            "the discard",
            remedy=f"See what it has: teijo purge {shell_path(target)}",
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
    with _kept(claim(_block(target).path, write=True)) as subject:
        if subject.refusal:
            raise UnsafeError(
                f"{subject.target} is in use: {subject.refusal}; nothing was ended",
                remedy="Unmount it, or stop what uses it.",
            )
        changes = _left_open(subject)
        # A password first: what keeps the rest from its end must not keep a drive locked.
        ordered = sorted(changes, key=lambda one: one.kind != "password")
        return (*_all_ended(subject, ordered), *_left_by_others(subject, changes))


def _all_ended(subject: Subject, changes: Sequence[OpenChange]) -> tuple[str, ...]:
    """End each change, also where one before cannot be ended; of a drive that answers, that is.

    Raises:
        teijo.errors.TeijoError: one could not be ended; the message says of each what became of it.
    """
    ended: list[str] = []
    left: list[OpenChange] = []
    failed: list[TeijoError] = []
    for change in changes:
        # One that hangs, or is another drive, is left alone.
        if failed and (
            isinstance(failed[-1], StuckDevice) or not isinstance(failed[-1], DeviceError)
        ):
            left.append(change)
            continue
        try:
            ended.append(_ended(subject, change))
        except TeijoError as error:
            left.append(change)
            failed.append(error)
    if not failed:
        return tuple(ended)
    last = failed[-1]
    if len(changes) == 1:
        raise last
    told = " ".join(error.message for error in failed)
    still = ", ".join(f"{one.kind} by {one.method}" for one in left)
    whole = type(last)(
        f"{told} Ended: {'; '.join(ended) or 'nothing'}. Still open: {still}",
        remedy="\n".join(dict.fromkeys(error.remedy for error in failed)),
    )
    whole.has_stuck_ios = last.has_stuck_ios
    raise whole from last


def _stopped(subject: Subject, stop: KeyboardInterrupt) -> Interrupted:
    target, left = shell_path(subject.target), [one for one in _left_open(subject) if one.secret]
    message = f"The purge of {subject.target} was stopped on the way"
    if left:
        message = f"{message}, and its password {left[0].secret!r} may be set"
    error = Interrupted(
        message,
        remedy=f"Look what goes on by itself: teijo purge {target} --status\n"
        f"End what was left: teijo purge {target} --finish",
    )
    error.has_stuck_ios = isinstance(stop, StoppedAtOnce)
    return error


def _ended(subject: Subject, change: OpenChange) -> str:
    if change.kind == "cache":
        disk = whole_disk(subject.found.node, subject.roots)
        now = restore(subject.fd, disk, change, subject.target)
        return f"the write cache is {now.state} again"
    way = ladder.method_named(change.method)
    if isinstance(way, Ends):
        return way.finish(subject, change)
    raise DeviceError(
        f"{subject.target}: what {change.method} left open is not ended by this version",
        remedy="End it with the drive's own tool.",
    )


def _left_by_others(subject: Subject, changes: Sequence[OpenChange]) -> tuple[str, ...]:
    """End what the drive says is left, and the journal does not have: another program's."""
    if any(one.kind != "cache" for one in changes):
        return ()
    seen = look_at(subject, SILENCE_NS).portrait
    way = next((one for one in ladder.LADDER if isinstance(one, Ends) and one.is_left(seen)), None)
    return () if way is None else (way.finish(subject, None),)


def _left_open(subject: Subject) -> tuple[OpenChange, ...]:
    found = subject.found
    names = {found.own_serial, found.identity.serial} - {""}
    return tuple(
        one for one in open_changes() if one.serial in names and one.wwid == found.identity.wwid
    )


def _block(target: str) -> BlockTarget:
    found = parse_target(target, makes=False)
    if isinstance(found, FileTarget) and not found.path.exists():
        raise not_there(found.path)
    if not isinstance(found, BlockTarget):
        raise TargetError(f"{found.text} is no block device", remedy="`teijo devices` lists them.")
    return found


@contextmanager
def _kept(subject: Subject) -> Iterator[Subject]:
    """Give a claimed device, and give it back."""
    with closed_after(subject.fd):
        yield subject
