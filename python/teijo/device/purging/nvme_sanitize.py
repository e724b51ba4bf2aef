"""NVMe Sanitize: of a whole drive, by the drive itself, in the background and over a power cut.

It cannot be aborted. So everything that could keep it from its end is asked first, it is never sent
while one runs, and what the log of the drive (81h) says at the end is the only word that counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.commands.seam import CommandError, NvmeError
from teijo.device.drive.asked import whole
from teijo.device.drive.nvme_drive import sanitize_status
from teijo.device.drive.nvme_identity import (
    NvmeController,
    SanitizeStatus,
    controller_of,
)
from teijo.device.drive.portrait import Portrait
from teijo.device.open_changes import OpenChange, close
from teijo.device.purging import waiting
from teijo.device.purging.namespaces import Namespaces, namespaces_of
from teijo.device.purging.offer import Offer, Refusal, first_refusal, is_whole, offered
from teijo.device.watched import Moved
from teijo.errors import DeviceError
from teijo.outside.text import shell_path

NEVER_ENDING: Final = ("SSDPEKNW",)
"""Models (Intel 660p) whose sanitize stood still for days, and nothing ended it
(nvme-cli issues 752, 1784, 3027)."""
READ_ONLY: Final = 0b1000
"""Bit 3 of the critical warning."""
FORCED: Final = 4
COMPLETED: Final = frozenset({1, FORCED})
"""States of log 81h: completed, and completed with a deallocation that nobody asked for."""
_ACTION: Final = 0b111
"""What of dword 10 is the action."""
FIRMWARE_WAITS: Final = 0x10B
_STATUS: Final = 0x7FF
"""Code type and code, without the bits that say whether to try again."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the drive said before. `log` is None where it cannot be read."""

    target: str
    controller: NvmeController
    namespaces: Namespaces
    log: SanitizeStatus | None
    warning: int
    reads: bool


def _refuse_never_ending(asked: Asked) -> Refusal | None:
    model = asked.controller.model
    if not any(name in model for name in NEVER_ENDING):
        return None
    return "drives of this model have stood still in a sanitize for days, and nothing ends it", ""


def _refuse_no_log(asked: Asked) -> Refusal | None:
    return None if asked.log else ("its log of sanitizing (81h) cannot be read", "")


def _refuse_running(asked: Asked) -> Refusal | None:
    return waiting.RUNS_ALREADY if asked.log and asked.log.runs else None


def _refuse_failed(asked: Asked) -> Refusal | None:
    if asked.reads or not (asked.log and asked.log.failed):
        return None
    return waiting.failed_before(asked.target)


def _refuse_read_only(asked: Asked) -> Refusal | None:
    return ("it says that it is read-only", "") if asked.warning & READ_ONLY else None


def _refuse_unseen(asked: Asked) -> Refusal | None:
    return (asked.namespaces.refusal, "") if asked.namespaces.refusal else None


CHECKS: Final[dict[str, Callable[[Asked], Refusal | None]]] = {
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
        why, remedy = first_refusal(CHECKS, asked) or ("", "")
        return Offer(
            method=self.name,
            title=self.words,
            victims=asked.namespaces.victims,
            others=asked.namespaces.others,
            seconds=getattr(asked.log, self.estimate) if asked.log else None,
            survives_power_cut=True,
            valid_for_pts=self.action != nvme.CRYPTO_ERASE,
            refusal=why,
            remedy=remedy,
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Sanitize the drive and wait for its end.

        Raises:
            NotOffered: it has no such action, or refuses by now.
            teijo.errors.HostError: the journal cannot be written; nothing was sent.
            teijo.errors.DeviceError: it was refused, failed, or stands still.
        """
        offer = offered(self, subject)
        ended = waiting.carry_out(
            subject,
            waiting.SANITIZE,
            self.name,
            send=lambda: nvme.sanitize(subject.fd, self.action),
            state=lambda: sanitize_status(subject.fd),
            moved=moved,
            no_end=partial(_no_end, subject),
            estimate_s=offer.seconds,
            reason=_reason,
        )
        # A success all the same: it deallocated although it had not been to.
        return f"{self.words} ({ended.state})" if ended.code == FORCED else self.words

    def certificate(self, subject: Subject) -> str:
        """Return what the log says of Global Data Erased (SSTAT bit 8)."""
        try:
            log = sanitize_status(subject.fd)
        except OSError:
            return ""
        if not log.never_written_since:
            return ""
        return "the drive certifies that nothing was written since (Global Data Erased)"

    def completed(self, subject: Subject) -> str:
        """Return "" where log 81h has this action as completed, and nothing written since."""
        try:
            log = sanitize_status(subject.fd)
        except OSError:
            return "the drive does not tell of its last sanitize"
        if log.code not in COMPLETED or log.command & _ACTION != self.action:
            return "the drive does not say that this was its last sanitize, and that it completed"
        if not log.never_written_since:
            return "the drive does not say that nothing was written since (Global Data Erased)"
        return ""

    def is_left(self, seen: Portrait) -> bool:
        """Return whether the drive's last sanitize failed."""
        log = seen.nvme.sanitize if seen.nvme else None
        return log is not None and log.failed

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Leave a failed sanitize, so that the drive answers again.

        Raises:
            teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
        """
        told = finish(subject)
        if change is not None:
            close(change)
        return told


def finish(subject: Subject) -> str:
    """End what a sanitize left: a failure is left, so that the drive answers again.

    Raises:
        teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
    """
    try:
        log = sanitize_status(subject.fd)
    except OSError as error:
        raise waiting.not_told(subject, waiting.SANITIZE, error) from error
    if log.runs:
        raise waiting.still_runs(subject, waiting.SANITIZE, log)
    if not log.failed:
        return f"its last sanitize: {log.state}"
    by = f"nvme sanitize --sanact=2 {shell_path(subject.target)} (restricted, without --ause)"
    return waiting.leave_failed(subject, partial(nvme.sanitize, subject.fd, nvme.EXIT_FAILURE), by)


def _no_end(subject: Subject, ended: SanitizeStatus) -> DeviceError | None:
    if ended.failed:
        return waiting.failed(subject, waiting.SANITIZE)
    if ended.code in COMPLETED:
        return None
    return DeviceError(
        f"{subject.target}: after the sanitize the drive says {ended.state!r}; that is no end",
        remedy="The drive does not purge this way; use its maker's tool.",
    )


def _ask(subject: Subject) -> Asked:
    """Return what the drive says.

    Raises:
        OSError: it is no NVMe drive, or does not answer.
        teijo.errors.UnsafeError: who answers is another drive.
    """
    fd = subject.fd
    raw = whole(nvme.identify(fd, structure=1, number=0), 4096)
    found = nvme.namespace(fd)
    namespaces = namespaces_of(subject, found)
    controller = controller_of(raw)
    log = None
    if controller.sanitize.any:
        try:
            log = sanitize_status(fd)
        except OSError:
            log = None
    return Asked(
        target=subject.target,
        controller=controller,
        namespaces=namespaces,
        log=log,
        warning=nvme.critical_warning(fd),
        reads=log is None or not log.failed or waiting.answers_reads(subject),
    )


def _reason(error: CommandError) -> str:
    if isinstance(error, NvmeError) and error.status & _STATUS == FIRMWARE_WAITS:
        return "a firmware waits for a reset"
    return str(error)


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
