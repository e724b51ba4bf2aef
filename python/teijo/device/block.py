"""A block device under measurement: claimed, identified, watched, purged."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from teijo.device import serial
from teijo.device.cache_hold import CacheHold, CacheWish
from teijo.device.checks import Subject
from teijo.device.drive.seen import Seen, ready
from teijo.device.health.asked import asked_counters, free_counters
from teijo.device.health.drive_log import LogReader, log_reader
from teijo.device.health.fitness import Fitness, fit
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.identify import Identification
from teijo.device.mounts import mounts_of
from teijo.device.preflight import Preflight, claim, identify_open, open_to_read
from teijo.device.presence import check_present
from teijo.device.purging.agreed import consent_to_run
from teijo.device.purging.ladder import purge
from teijo.device.stack import above, reach
from teijo.device.target import BlockTarget
from teijo.device.watched import Moved, unwatched
from teijo.device.write_cache import KERNEL_BELIEVES, READ_BY
from teijo.document.phrase import Verbatim, say
from teijo.engine.plan import Layout
from teijo.errors import TeijoError, UnsafeError
from teijo.terms.drive_warning import DriveWarning
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, NONE, PurgeResult
from teijo.terms.remark import Remark, RemarkKind


class BlockMedium:
    """One open block device. For writing it is ours alone; for reading it may be shared."""

    def __init__(
        self, subject: Subject, preflight: Preflight | None, fitness: Fitness, seen: Seen
    ) -> None:
        """Take over an open, examined device; `preflight` None means it is only read."""
        self.preflight = preflight
        self._subject = subject
        self._remarks = (
            *(preflight.remarks() if preflight else _shared(subject.found)),
            *fitness.remarks(),
            *seen.remarks(),
        )
        facts = dict(subject.found.identity.facts) | seen.facts | fitness.facts
        if preflight is not None:
            facts["preflight"] = preflight.verdicts()
            facts["given up"] = ", ".join(preflight.given)
        self.identity: Identity = replace(subject.found.identity, facts=facts)
        self.geometry: Geometry = subject.found.geometry
        self.descriptors = (subject.fd,)
        self._cache: CacheHold | None = None
        self.layout = Layout(kind="single", member_bytes=(self.geometry.capacity_bytes,))

    def remarks(self) -> tuple[Remark, ...]:
        """Return the blind checks, who else uses it, and what memory may answer for it."""
        return (*self._remarks, *_caches(self.identity))

    def free_counters(self) -> FreeCounters:
        """Return the kernel's counters (`kernel_…`): one file of sysfs, no word to the drive."""
        return free_counters(self._subject.fd)

    def asked_counters(self) -> AskedCounters:
        """Ask the drive for its own counters."""
        return asked_counters(self._subject.fd)

    def log_reader(self) -> LogReader | None:
        """Return what reads the drive's log on our own descriptor."""
        return log_reader(self._subject.fd)

    def purge(self, moved: Moved = unwatched, method: str = AUTO) -> PurgeResult | None:
        """Purge by the surest means the drive has; see purging/ladder.py."""
        if self.preflight is None:
            raise UnsafeError(
                f"{self.identity.target} was opened for reading and is not purged",
                remedy=f"Add {serial.typed([self.identity.serial])}",
            )
        given = self.preflight.given
        return purge(self._subject, method, given=given, moved=moved, takes_over=True)

    def hold_cache(self, wish: CacheWish) -> None:
        """Have the drive's write cache as a run asks for it, until the claim is given up.

        Raises:
            teijo.errors.DeviceError: it cannot be switched, and a person asked for it.
            teijo.errors.HostError: what it was cannot be noted; it was not switched.
        """
        self._cache = CacheHold(self._subject, wish)
        self.identity = self._cache.shown_in(self.identity)

    def give_cache_back(self) -> None:
        """Set the write cache back to what it was, if it was switched.

        Raises:
            teijo.errors.DeviceError: the drive did not take it.
            teijo.errors.HostError: the journal's entry cannot be removed.
        """
        if self._cache is not None:
            self._cache.give_back()

    def check(self) -> None:
        """Make sure that the device under the descriptor is the one that was examined."""
        check_present(self._subject)

    def release(self) -> None:
        """Set the write cache back, and give up the claim."""
        is_failing = sys.exc_info()[0] is not None
        try:
            self.give_cache_back()
        except TeijoError:
            # What ended the run is the greater news; the journal keeps what is to be set back.
            if not is_failing:
                raise
        finally:
            os.close(self._subject.fd)

    def abandon(self) -> None:
        """Give up the claim; nothing was made for it."""
        self.release()


def open_block(
    target: BlockTarget,
    *,
    write: bool,
    destroy: str | None,
    results: tuple[Path, ...] = (),
    accept: frozenset[DriveWarning] = frozenset(),
    cache: CacheWish | None = None,
    purge_by: str = NONE,
) -> BlockMedium:
    """Open a block device: for reading as it is, for writing after preflight and consent.

    `cache` is the state its write cache is held in while it is open to be written. `purge_by` is
    the method it is to be purged by: `destroy` then names all that is lost.

    Raises:
        teijo.errors.UnsafeError: writing there could destroy something, or the drive says that it
            fails and `accept` does not name that; nothing was written.
        teijo.errors.DeviceError: a sanitize or a format of it is not over, or it is locked.
        teijo.errors.DeviceError: its write cache cannot be switched, and a person asked for it.
        teijo.errors.TargetError: it cannot be opened.
    """
    subject = claim_block(target, write=write, results=results)
    try:
        # Before the checks: a drive in a sanitize fails their reads, and that says nothing of why.
        (seen,) = ready((subject,))
        preflight = consent_to_run((subject,), destroy, purge_by)[0] if write else None
        (fitness,) = fit((subject,), accept)
        medium = BlockMedium(subject, preflight, fitness, seen)
        if cache is not None and write:
            medium.hold_cache(cache)
        return medium
    except BaseException:
        os.close(subject.fd)
        raise


def claim_block(target: BlockTarget, *, write: bool, results: tuple[Path, ...] = ()) -> Subject:
    """Return a device opened: for reading as it is, for writing ours alone if that can be.

    Raises:
        teijo.errors.TargetError: it cannot be opened.
        teijo.errors.UnsafeError: it was to be written, and cannot be opened to look at.
    """
    if write:
        return claim(target.path, write=True, results=results)
    fd = open_to_read(target.path)
    try:
        return Subject(fd=fd, target=target.text, found=identify_open(fd, target.text))
    except BaseException:
        os.close(fd)
        raise


def _caches(identity: Identity) -> list[Remark]:
    """Return a remark where memory answers in the device's place, or may."""
    remarks = []
    if not identity.write_cache:
        text = "neither the device nor the kernel tells whether it has a write cache"
        remarks.append(Remark(kind=RemarkKind.CACHE_UNKNOWN, text=text))
    believed = identity.facts.get(KERNEL_BELIEVES)
    if believed:
        text = say(
            "the drive's write cache is {state} ({source}), and the kernel has it as {believed}: "
            "it sends flushes by its own flag",
            state=identity.write_cache,
            source=Verbatim(identity.facts.get(READ_BY, "")),
            believed=believed,
        )
        remarks.append(Remark(kind=RemarkKind.CACHE_DISAGREES, text=text))
    if identity.facts.get("loop direct i/o") == "no":
        text = "the loop device goes through the page cache (losetup --direct-io=on avoids it)"
        remarks.append(Remark(kind=RemarkKind.BUFFERED, text=text))
    return remarks


def _shared(found: Identification) -> list[Remark]:
    """Return a remark for each use of a device that is only read: its numbers are not its own."""
    nodes = reach(found.node)
    numbers = {node.number for node in nodes}
    uses = list(above(nodes))
    uses += [f"mounted at {mount.point}" for mount in mounts_of() if mount.number in numbers]
    return [Remark(kind=RemarkKind.FOREIGN_IO, text=say("in use: {use}", use=use)) for use in uses]
