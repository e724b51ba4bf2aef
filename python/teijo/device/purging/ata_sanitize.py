"""ATA Sanitize: of a whole SATA drive, by the drive itself, in the background and over a power cut.

It sets no password and cannot be aborted. What could keep it from its end, or what it says from
coming through, is asked first. A sanitize is never frozen or unfrozen here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import ata
from teijo.device.commands.seam import CommandError
from teijo.device.drive.asked import whole
from teijo.device.drive.ata_identity import (
    WAYS_OUT_OF_FROZEN,
    AtaIdentity,
    AtaSanitizeStatus,
    identity_of,
    sanitize_status_of,
)
from teijo.device.drive.portrait import Portrait
from teijo.device.drive.scsi_drive import IDENTITY_BYTES, passes_ata
from teijo.device.open_changes import OpenChange, close
from teijo.device.purging import waiting
from teijo.device.purging.ata_security_checks import (
    refuse_damaged,
    refuse_enabled,
    refuse_locked,
)
from teijo.device.purging.offer import Offer, Refusal, first_refusal, offered
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

REASONS: Final = frozenset({1, 3, 4})
"""Why SANITIZE STATUS is aborted and says something all the same: failed, frozen, kept unfrozen."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the drive said before; `status` is None where it does not come through."""

    target: str
    own_serial: str
    around: Surroundings
    identity: AtaIdentity
    status: AtaSanitizeStatus | None


def _refuse_no_registers(asked: Asked) -> Refusal | None:
    if asked.status is not None:
        return None
    return "how its sanitize is does not come through", "Connect it to a SATA port of this host."


def _refuse_running(asked: Asked) -> Refusal | None:
    return waiting.RUNS_ALREADY if asked.status and asked.status.running else None


def _refuse_failed(asked: Asked) -> Refusal | None:
    return waiting.failed_before(asked.target) if asked.status and asked.status.failed else None


def _refuse_frozen(asked: Asked) -> Refusal | None:
    if asked.status is None or not asked.status.frozen:
        return None
    return "its sanitize is frozen (SANITIZE FREEZE LOCK)", WAYS_OUT_OF_FROZEN


CHECKS: Final[dict[str, Callable[[Asked], Refusal | None]]] = {
    "partition": lambda asked: refuse_partition(asked.around),
    "between": lambda asked: refuse_between(asked.around),
    "damaged": lambda asked: refuse_damaged(asked.identity),
    "another": lambda asked: refuse_another(asked.identity.serial, asked.own_serial),
    "alike": lambda asked: refuse_alike(asked.around),
    "locked": lambda asked: refuse_locked(asked.identity),
    "enabled": lambda asked: refuse_enabled(asked.identity),
    "registers": _refuse_no_registers,
    "running": _refuse_running,
    "failed": _refuse_failed,
    "frozen": _refuse_frozen,
}
"""Why it is not sent; the first that refuses is told."""


@dataclass(frozen=True, kw_only=True)
class AtaSanitize:
    """Sanitize with one action; `ability` is the name of what tells of it."""

    name: str
    words: str
    action: int
    ability: str

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no ATA drive, or has no such action."""
        asked = _ask(subject)
        if asked is None or not getattr(asked.identity.sanitize, self.ability):
            return None
        why, remedy = first_refusal(CHECKS, asked) or ("", "")
        return Offer(
            method=self.name,
            title=self.words,
            victims=(asked.own_serial or subject.found.token,),
            others=asked.around.paths,
            survives_power_cut=True,
            valid_for_pts=self.action != ata.CRYPTO_SCRAMBLE,
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
        offered(self, subject)
        waiting.carry_out(
            subject,
            waiting.SANITIZE,
            self.name,
            send=partial(ata.sanitize, subject.fd, self.action, timeout_ms=waiting.BEGIN_MS),
            state=partial(sanitize_status, subject.fd),
            moved=moved,
            no_end=partial(_no_end, subject),
        )
        return self.words

    def certificate(self, subject: Subject) -> str:
        """Return what SANITIZE STATUS says of the end."""
        try:
            completed = sanitize_status(subject.fd).completed
        except OSError:
            return ""
        return "the drive says that its last sanitize completed without error" if completed else ""

    def is_left(self, seen: Portrait) -> bool:
        """Return whether the drive's last sanitize failed."""
        log = seen.ata.sanitize if seen.ata else None
        return log is not None and log.failed

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Leave a failed sanitize, so that the drive answers again.

        Raises:
            teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
            teijo.errors.UnsafeError: who answers is another drive.
        """
        told = _finish(subject)
        if change is not None:
            close(change)
        return told


def sanitize_status(fd: int) -> AtaSanitizeStatus:
    """Return how the drive's sanitize is.

    Raises:
        OSError: it does not say.
    """
    registers, aborted = ata.sanitize_status(fd)
    if aborted and registers.lba & 0xFF not in REASONS:
        raise CommandError("the drive aborted SANITIZE STATUS, and does not say why")
    return sanitize_status_of(registers, aborted=aborted)


def _finish(subject: Subject) -> str:
    try:
        identity = identity_of(whole(ata.identify(subject.fd), IDENTITY_BYTES))
        status = sanitize_status(subject.fd)
    except OSError as error:
        raise waiting.not_told(subject, waiting.SANITIZE, error) from error
    check_own(subject, identity.serial)
    if status.running:
        raise waiting.still_runs(subject, waiting.SANITIZE, status)
    if not status.failed:
        return waiting.COMPLETED if status.completed else waiting.NOTHING_LEFT
    target = shell_path(subject.target)
    by = f"hdparm --yes-i-know-what-i-am-doing --sanitize-block-erase {target}"
    return waiting.leave_failed(subject, partial(ata.leave_failed_sanitize, subject.fd), by)


def _no_end(subject: Subject, ended: AtaSanitizeStatus) -> DeviceError | None:
    if ended.failed:
        return waiting.failed(subject, waiting.SANITIZE)
    if ended.completed:
        return None
    return DeviceError(
        f"{subject.target}: after the sanitize the drive says nothing of its end",
        remedy="The drive does not purge this way; use its maker's tool.",
    )


def _ask(subject: Subject) -> Asked | None:
    """Return what the drive says; None where it is no ATA drive, or does not answer."""
    disk = whole_disk(subject.found.node, subject.roots)
    if not disk.name.startswith("sd") or not passes_ata(subject.fd):
        return None
    around = surroundings_of(subject)
    try:
        identity = identity_of(whole(ata.identify(subject.fd), IDENTITY_BYTES))
    except OSError:
        return None
    status = None
    # What stands between may hang on a command that it does not know.
    if identity.sanitize.supported and not around.between:
        try:
            status = sanitize_status(subject.fd)
        except OSError:
            status = None
    return Asked(
        target=subject.target,
        own_serial=subject.found.own_serial,
        around=around,
        identity=identity,
        status=status,
    )


BLOCK: Final = AtaSanitize(
    name="ata-sanitize-block",
    words="ATA Sanitize, block erase",
    action=ata.BLOCK_ERASE,
    ability="block",
)
CRYPTO: Final = AtaSanitize(
    name="ata-sanitize-crypto",
    words="ATA Sanitize, crypto scramble",
    action=ata.CRYPTO_SCRAMBLE,
    ability="crypto",
)
OVERWRITE: Final = AtaSanitize(
    name="ata-sanitize-overwrite",
    words="ATA Sanitize, overwrite",
    action=ata.OVERWRITE,
    ability="overwrite",
)
