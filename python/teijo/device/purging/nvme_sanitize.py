"""NVMe Sanitize: of a whole drive, by the drive itself, in the background and over a power cut.

It cannot be aborted. So everything that could keep it from its end is asked first, it is never sent
while one runs, and what the log of the drive (81h) says at the end is the only word that counts.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from teijo.device import kernel, serial
from teijo.device.cache_hold import journal_serial
from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.commands.seam import NvmeError
from teijo.device.drive.asked import whole
from teijo.device.drive.nvme_drive import sanitize_status
from teijo.device.drive.nvme_identity import (
    PROGRESS_WHOLE,
    NvmeController,
    SanitizeStatus,
    controller_of,
)
from teijo.device.kernel import read_text
from teijo.device.open_changes import OpenChange, close, note
from teijo.device.presence import check_present
from teijo.device.purging.offer import NotOffered, Offer, is_whole
from teijo.device.retry import rest
from teijo.device.stack import disks
from teijo.device.watched import Moved
from teijo.errors import DeviceError, StuckDevice, UnsafeError
from teijo.outside.text import shell_path, visible
from teijo.units import NS_PER_S, format_duration

POLL_S: Final = 1
STALL_S: Final = 600
"""The least time without progress after which it counts as stuck."""
NEVER_ENDING: Final = ("SSDPEKNW",)
"""Models (Intel 660p) whose sanitize stood still for days, and nothing ended it
(nvme-cli issues 752, 1784, 3027)."""
READ_ONLY: Final = 0b1000
"""Bit 3 of the critical warning."""
COMPLETED: Final = frozenset({1, 4})
"""States of log 81h: completed, and completed with a deallocation that nobody asked for."""
FIRMWARE_WAITS: Final = 0x10B
_STATUS: Final = 0x7FF
"""Code type and code, without the bits that say whether to try again."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the drive said before. `log` is None where it cannot be read.

    `allocated` are all namespaces, `attached` those of this controller, `nodes` those that are
    block devices here, by their numbers.
    """

    subject: Subject
    controller: NvmeController
    own: int
    allocated: tuple[int, ...]
    attached: tuple[int, ...]
    nodes: dict[int, str]
    log: SanitizeStatus | None
    warning: int
    reads: bool


def _refuse_never_ending(asked: Asked) -> str:
    model = asked.controller.model
    if not any(name in model for name in NEVER_ENDING):
        return ""
    return "drives of this model have stood still in a sanitize for days, and nothing ends it"


def _refuse_no_log(asked: Asked) -> str:
    return "" if asked.log else "its log of sanitizing (81h) cannot be read"


def _refuse_running(asked: Asked) -> str:
    return "a sanitize runs already" if asked.log and asked.log.runs else ""


def _refuse_failed(asked: Asked) -> str:
    if asked.reads or not (asked.log and asked.log.failed):
        return ""
    return "its last sanitize failed, and it answers no reads until that is left (--finish)"


def _refuse_read_only(asked: Asked) -> str:
    return "it says that it is read-only" if asked.warning & READ_ONLY else ""


def _refuse_unseen(asked: Asked) -> str:
    unseen = [str(one) for one in asked.attached if one not in asked.nodes and one != asked.own]
    if not unseen:
        return ""
    return f"whether its namespace {', '.join(unseen)} is in use cannot be seen here"


CHECKS: Final[dict[str, Callable[[Asked], str]]] = {
    "never ending": _refuse_never_ending,
    "log": _refuse_no_log,
    "running": _refuse_running,
    "failed": _refuse_failed,
    "read-only": _refuse_read_only,
    "unseen": _refuse_unseen,
}
"""Why it is not sent; the first that refuses is told."""


@dataclass(frozen=True, kw_only=True)
class NvmeSanitize:
    """Sanitize with one action; `ability` and `estimate` are the names of what tells of it."""

    name: str
    words: str
    action: int
    ability: str
    estimate: str

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no NVMe drive, or has no such action.

        Raises:
            teijo.errors.UnsafeError: the controller is another drive's.
        """
        if not is_whole(subject, "nvme"):
            return None
        try:
            asked = _ask(subject)
        except OSError:
            return None
        if not getattr(asked.controller.sanitize, self.ability):
            return None
        others = {one: name for one, name in asked.nodes.items() if one != asked.own}
        return Offer(
            method=self.name,
            title=self.words,
            victims=tuple(_token(subject, asked, one) for one in asked.allocated),
            others=tuple(others[one] for one in sorted(others)),
            seconds=getattr(asked.log, self.estimate) if asked.log else None,
            survives_power_cut=True,
            valid_for_pts=self.action != nvme.CRYPTO_ERASE,
            refusal=next((why for check in CHECKS.values() if (why := check(asked))), ""),
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Sanitize the drive and wait for its end.

        Raises:
            NotOffered: it has no such action, or refuses by now.
            teijo.errors.HostError: the journal cannot be written; nothing was sent.
            teijo.errors.DeviceError: it was refused, failed, or stands still.
        """
        offer = self.offer(subject)
        if offer is None or offer.refusal:
            raise NotOffered
        # Right before the command: another drive in its place must not have it.
        check_present(subject)
        change = note(_change(subject, self.name))
        try:
            nvme.sanitize(subject.fd, self.action)
        except NvmeError as error:
            close(change)
            why = "a firmware waits for a reset" if _is_firmware(error) else str(error)
            raise DeviceError(
                f"{subject.target}: the drive refused to sanitize: {why}; nothing was erased",
                remedy="End what it says, or take another method.",
            ) from error
        except OSError as error:
            # It may have heard the command: what it says in its log is asked, and not the kernel.
            raise _unknown(subject, error) from error
        ended = _wait(subject, moved, offer.seconds)
        if ended.failed:
            raise DeviceError(
                f"{subject.target}: the sanitize failed, and the drive is not purged",
                remedy=f"Have it answer again: teijo purge {shell_path(subject.target)} --finish",
            )
        if ended.code not in COMPLETED:
            raise DeviceError(
                f"{subject.target}: after the sanitize the drive says {ended.state!r}; that is no "
                "end",
                remedy="The drive does not purge this way; use its maker's tool.",
            )
        close(change)
        return self.words

    def certificate(self, subject: Subject) -> str:
        """Return what the log says of Global Data Erased (SSTAT bit 8)."""
        try:
            log = sanitize_status(subject.fd)
        except OSError:
            return ""
        if not log.never_written_since:
            return ""
        return "the drive certifies that nothing was written since (Global Data Erased)"


def finish(subject: Subject) -> str:
    """End what a sanitize left: a failure is left, so that the drive answers again.

    Raises:
        teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
    """
    try:
        log = sanitize_status(subject.fd)
    except OSError as error:
        raise _unknown(subject, error) from error
    if log.runs:
        raise DeviceError(
            f"{subject.target}: a sanitize runs ({log.percent or 0:.1f} %), and cannot be ended",
            remedy=_look_at_it(subject),
        )
    if not log.failed:
        return f"its last sanitize: {log.state}"
    try:
        nvme.sanitize(subject.fd, nvme.EXIT_FAILURE)
    except OSError as error:
        raise DeviceError(
            f"{subject.target}: its failed sanitize cannot be left: {error}",
            remedy="Only a sanitize in restricted mode ends it: nvme sanitize, without --ause.",
        ) from error
    if not _reads(subject):
        raise DeviceError(
            f"{subject.target} left its failed sanitize, and still answers no reads",
            remedy="Look at the kernel log (dmesg).",
        )
    return "it left its failed sanitize and answers again; it is not purged"


def _ask(subject: Subject) -> Asked:
    """Return what the drive says.

    Raises:
        OSError: it is no NVMe drive, or does not answer.
        teijo.errors.UnsafeError: who answers is another drive.
    """
    fd = subject.fd
    raw = whole(nvme.identify(fd, structure=1, number=0), 4096)
    found = nvme.namespace(fd)
    if found.controller_serial != subject.found.own_serial:
        raise UnsafeError(
            f"The controller says it is {found.controller_serial!r}, the drive "
            f"{subject.found.own_serial!r}; it was not sanitized",
            remedy="Look which drive this is: nvme list -v.",
        )
    controller = controller_of(raw)
    listed = struct.unpack("<1024I", nvme.identify(fd, structure=nvme.ACTIVE_LIST, number=0))
    log = None
    if controller.sanitize.any:
        try:
            log = sanitize_status(fd)
        except OSError:
            log = None
    return Asked(
        subject=subject,
        controller=controller,
        own=found.number,
        allocated=found.all_namespaces,
        attached=tuple(one for one in listed if one),
        nodes=_nodes(subject),
        log=log,
        warning=nvme.critical_warning(fd),
        reads=log is None or not log.failed or _reads(subject),
    )


def _nodes(subject: Subject) -> dict[int, str]:
    """Return the kernel's names of the drive's namespaces, by their numbers."""
    own, found = subject.found.own_serial, {}
    for disk in disks(subject.roots):
        number = read_text(disk.folder / "nsid")
        if own and number.isdecimal() and serial.of_disk(disk.folder) == own:
            found[int(number)] = disk.name
    return found


def _token(subject: Subject, asked: Asked, number: int) -> str:
    if number == asked.own:
        return subject.found.token
    return f"{subject.found.own_serial}-ns{number}"


def _reads(subject: Subject) -> bool:
    try:
        kernel.read_blocks(subject.fd, 0, subject.found.geometry.logical_block_bytes)
    except OSError:
        return False
    return True


def _is_firmware(error: NvmeError) -> bool:
    return error.status & _STATUS == FIRMWARE_WAITS


def _change(subject: Subject, method: str) -> OpenChange:
    return OpenChange(
        kind="purge",
        serial=journal_serial(subject.found),
        wwid=subject.found.identity.wwid,
        target=subject.target,
        method=method,
    )


def _wait(subject: Subject, moved: Moved, estimate_s: int | None) -> SanitizeStatus:
    """Return the log of a sanitize that is over. Only pauses count as waiting: a suspend does not.

    Raises:
        teijo.errors.DeviceError: the log cannot be read.
        teijo.errors.StuckDevice: its progress stands still.
    """
    bound_s = max(STALL_S, 2 * (estimate_s or 0))
    reached, still_s = -1, 0
    while True:
        try:
            log = sanitize_status(subject.fd)
        except OSError as error:
            raise _unknown(subject, error) from error
        if not log.runs:
            return log
        if log.progress != reached:
            reached, still_s = log.progress or 0, 0
        elif still_s >= bound_s:
            raise StuckDevice(
                f"{subject.target}: the sanitize has stood at {log.percent or 0:.1f} % for "
                f"{format_duration(still_s * NS_PER_S)}; it was left to itself",
                remedy=_look_at_it(subject),
            )
        moved(reached, PROGRESS_WHOLE)
        rest(POLL_S * NS_PER_S, _nothing)
        still_s += POLL_S


def _nothing() -> None:
    """Be called in a rest that nothing ends early."""


def _unknown(subject: Subject, error: OSError) -> DeviceError:
    return DeviceError(
        f"{subject.target} does not say whether a sanitize runs: {visible(str(error))}",
        remedy=_look_at_it(subject),
    )


def _look_at_it(subject: Subject) -> str:
    return (
        "A sanitize goes on by itself, also after a power cut; look at it: "
        f"teijo purge {shell_path(subject.target)} --status"
    )


BLOCK: Final = NvmeSanitize(
    name="nvme-sanitize-block",
    words="NVMe Sanitize, block erase",
    action=nvme.BLOCK_ERASE,
    ability="block",
    estimate="block_s",
)
CRYPTO: Final = NvmeSanitize(
    name="nvme-sanitize-crypto",
    words="NVMe Sanitize, cryptographic erase",
    action=nvme.CRYPTO_ERASE,
    ability="crypto",
    estimate="crypto_s",
)
OVERWRITE: Final = NvmeSanitize(
    name="nvme-sanitize-overwrite",
    words="NVMe Sanitize, overwrite",
    action=nvme.OVERWRITE,
    ability="overwrite",
    estimate="overwrite_s",
)
