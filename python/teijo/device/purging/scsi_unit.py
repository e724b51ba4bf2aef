"""What a SCSI disk says before and after it is purged by itself, and what keeps it from being.

The end of background work is sense key 0: a drive may say 100 % and be at it still.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import scsi
from teijo.device.commands.scsi import Sense
from teijo.device.drive.asked import whole
from teijo.device.drive.portrait import Portrait
from teijo.device.drive.scsi_drive import CAPACITY_LEAST, INQUIRY_LEAST, passes_ata
from teijo.device.drive.scsi_identity import (
    Background,
    background_of,
    capacity_of,
    inquiry_of,
    unit_serial_of,
)
from teijo.device.purging import waiting
from teijo.device.purging.offer import Refusal
from teijo.device.purging.surroundings import (
    Surroundings,
    check_own,
    refuse_alike,
    refuse_another,
    refuse_between,
    refuse_partition,
    surroundings_of,
)
from teijo.device.stack import whole_disk
from teijo.device.watched import Moved
from teijo.errors import DeviceError
from teijo.outside.text import shell_path

DISK: Final = 0
"""The peripheral device type of a disk that is not zoned by its host."""
PASSING: Final = frozenset({0x01, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x1A, 0x1B, 0x24})
"""Qualifiers of "not ready" (04h) of what ends by itself: becoming ready, and work in progress."""


@dataclass(frozen=True, kw_only=True)
class UnitState:
    """What TEST UNIT READY and REQUEST SENSE say; `sense` is None where that is nothing."""

    sense: Sense | None

    @property
    def work(self) -> Background | None:
        """The sanitize or format that runs or failed."""
        return background_of(self.sense)

    @property
    def runs(self) -> bool:
        """Whether work is under way, or the drive becomes ready after it."""
        if self.work is not None:
            return not self.work.failed
        sense = self.sense
        return bool(
            sense
            and sense.key == scsi.NOT_READY
            and sense.code == 0x04
            and sense.qualifier in PASSING
        )

    @property
    def progress(self) -> int | None:
        """How far it is, of 65536."""
        return self.sense.progress if self.sense else None

    @property
    def is_ready(self) -> bool:
        """Whether nothing runs, failed, or is missing: sense key 0, or recovered."""
        key = self.sense.key if self.sense else scsi.NO_SENSE
        return not self.runs and key in (scsi.NO_SENSE, scsi.RECOVERED)

    def failed(self, kind: str) -> bool:
        """Return whether a "sanitize" or a "format" failed."""
        return bool(self.work and self.work.failed and self.work.kind == kind)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """What is known of its blocks: their length now and after a format, and their protection.

    0, None and "" where it is not told.
    """

    length_bytes: int = 0
    next_bytes: int | None = None
    protection: str = ""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the unit said before. `supports`: whether it has the command, None: it does not say."""

    target: str
    own_serial: str
    said_serial: str
    around: Surroundings
    state: UnitState
    supports: bool | None
    blocks: Blocks


def state_of(fd: int) -> UnitState:
    """Return what the unit says of its state.

    Raises:
        OSError: it does not answer.
    """
    return UnitState(sense=scsi.state(fd))


def ask(subject: Subject, supports: Callable[[int], bool | None]) -> Asked | None:
    """Return what the unit says; None where it is no SCSI disk, or lacks what `supports` asks for.

    An ATA drive behind a translation has commands of its own, and is asked by those.
    """
    fd = subject.fd
    if not whole_disk(subject.found.node, subject.roots).name.startswith("sd") or passes_ata(fd):
        return None
    try:
        # First, for it takes what is told once out of the way.
        state = state_of(fd)
        if inquiry_of(whole(scsi.inquiry(fd), INQUIRY_LEAST)).device_type != DISK:
            return None
        has = supports(fd)
        if has is False:
            return None
        said = unit_serial_of(scsi.vital_page(fd, 0x80))
    except OSError:
        return None
    return Asked(
        target=subject.target,
        own_serial=subject.found.own_serial,
        said_serial=said,
        around=surroundings_of(subject),
        state=state,
        supports=has,
        blocks=_blocks(fd) if state.is_ready else Blocks(),
    )


def _blocks(fd: int) -> Blocks:
    try:
        capacity = capacity_of(whole(scsi.capacity(fd), CAPACITY_LEAST))
        return Blocks(
            length_bytes=capacity.logical_block_bytes,
            next_bytes=scsi.next_block_bytes(fd),
            protection=capacity.protection,
        )
    except OSError:
        return Blocks()


def _refuse_untold(asked: Asked) -> Refusal | None:
    if asked.supports is not None:
        return None
    return (
        "it does not say whether it has this (REPORT SUPPORTED OPERATION CODES)",
        "Take another method, or purge=auto.",
    )


def _refuse_running(asked: Asked) -> Refusal | None:
    work = asked.state.work
    if work is None or work.failed:
        return None
    if work.kind == "format":
        return "a format runs already", "Wait for its end."
    return waiting.RUNS_ALREADY


def _refuse_failed(asked: Asked) -> Refusal | None:
    return waiting.failed_before(asked.target) if asked.state.failed("sanitize") else None


def _refuse_corrupt(asked: Asked) -> Refusal | None:
    if not asked.state.failed("format"):
        return None
    return (
        "its last format did not end, and nothing but another format has it answer again",
        format_again(asked.target),
    )


def _refuse_not_ready(asked: Asked) -> Refusal | None:
    if asked.state.is_ready:
        return None
    told = asked.state.sense.text if asked.state.sense else ""
    return f"it is not ready (sense {told})", "Look at the kernel log (dmesg)."


CHECKS: Final[Mapping[str, Callable[[Asked], Refusal | None]]] = {
    "partition": lambda asked: refuse_partition(asked.around),
    "between": lambda asked: refuse_between(asked.around),
    "another": lambda asked: refuse_another(asked.said_serial, asked.own_serial),
    "alike": lambda asked: refuse_alike(asked.around),
    "untold": _refuse_untold,
    "running": _refuse_running,
    "failed": _refuse_failed,
    "corrupt": _refuse_corrupt,
    "not ready": _refuse_not_ready,
}
"""Why neither is sent; the first that refuses is told."""


def format_again(target: str) -> str:
    """Return what a person does with a drive whose format did not end."""
    return f"Format it again, and purge it then: sg_format --format --quick {shell_path(target)}"


def run(
    subject: Subject, work: waiting.Work, method: str, *, send: Callable[[int], None], moved: Moved
) -> None:
    """Have the unit begin, and wait for its end.

    Raises:
        teijo.errors.HostError: the journal cannot be written; nothing was sent.
        teijo.errors.DeviceError: it was refused, failed, or stands still.
    """
    waiting.carry_out(
        subject,
        work,
        method,
        send=partial(send, subject.fd),
        state=partial(state_of, subject.fd),
        moved=moved,
        no_end=partial(_no_end, subject, work),
    )


def _no_end(subject: Subject, work: waiting.Work, ended: UnitState) -> DeviceError | None:
    if ended.failed("sanitize"):
        return waiting.failed(subject, work)
    if ended.failed("format"):
        return _corrupt(subject)
    if ended.is_ready:
        return None
    told = ended.sense.text if ended.sense else ""
    return DeviceError(
        f"{subject.target}: after the {work.name} the drive is not ready: sense {told}",
        remedy="Look at the kernel log (dmesg).",
    )


def is_left(seen: Portrait, kind: str) -> bool:
    """Return whether a "sanitize" or a "format" of a SCSI disk failed, or did not end."""
    work = seen.scsi.background if seen.scsi and seen.ata is None else None
    return bool(work and work.failed and work.kind == kind)


def finish(subject: Subject) -> str:
    """End what a sanitize or a format left of the unit; return what was done.

    Raises:
        teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
        teijo.errors.UnsafeError: who answers is another drive.
    """
    try:
        state = state_of(subject.fd)
        said = unit_serial_of(scsi.vital_page(subject.fd, 0x80))
    except OSError as error:
        raise waiting.not_told(subject, waiting.SANITIZE, error) from error
    check_own(subject, said)
    if state.runs:
        is_format = state.work is not None and state.work.kind == "format"
        work = waiting.FORMAT if is_format else waiting.SANITIZE
        raise waiting.still_runs(subject, work, state)
    if state.failed("format"):
        raise _corrupt(subject)
    if not state.failed("sanitize"):
        return waiting.NOTHING_LEFT
    by = f"sg_sanitize --block --quick {shell_path(subject.target)}"
    return waiting.leave_failed(subject, partial(scsi.leave_failed_sanitize, subject.fd), by)


def _corrupt(subject: Subject) -> DeviceError:
    return DeviceError(
        f"{subject.target}: its last format did not end, and nothing but another format has it "
        "answer again",
        remedy=format_again(subject.target),
    )
