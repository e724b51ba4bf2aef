"""What keeps an ATA drive from a security erase: asked before a password is set, which may stay.

Each check is a function of its own, and the first that refuses is told with what ends it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import ata
from teijo.device.commands import ata_security as commands
from teijo.device.drive.ata_identity import (
    WAYS_OUT_OF_FROZEN,
    AtaIdentity,
    AtaSanitizeStatus,
    identity_of,
)
from teijo.device.drive.scsi_drive import ata_sanitize_status
from teijo.device.purging import waiting
from teijo.device.purging.offer import Refusal, first_refusal
from teijo.device.purging.surroundings import refuse_another, surroundings_of
from teijo.errors import DeviceError, UnsafeError

FOREIGN: Final = "Take the password off with the tool that set it."


@dataclass(frozen=True, kw_only=True)
class Drive:
    """The drive to erase. `serial` and `wwid` are as the journal has them, `own_serial` its own.

    `between` says what stands between it and the host that may change commands; empty for nothing.
    """

    fd: int
    target: str
    serial: str
    own_serial: str
    wwid: str
    size_bytes: int
    is_partition: bool = False
    between: str = ""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the drive said when it was asked. `hidden` sectors are beyond its last address."""

    drive: Drive
    identity: AtaIdentity
    has_registers: bool
    hidden: int | None
    sanitize: AtaSanitizeStatus | None = None


def drive_of(subject: Subject) -> Drive:
    """Return the drive under a claimed device."""
    found = subject.found
    return Drive(
        fd=subject.fd,
        target=subject.target,
        serial=found.identity.serial,
        own_serial=found.own_serial,
        wwid=found.identity.wwid,
        size_bytes=found.geometry.capacity_bytes,
        is_partition=found.node.is_partition,
        between=surroundings_of(subject).between,
    )


def _refuse_frozen(seen: Seen) -> Refusal | None:
    return ("it is frozen", WAYS_OUT_OF_FROZEN) if seen.identity.security.frozen else None


def _refuse_used_up(seen: Seen) -> Refusal | None:
    if not seen.identity.security.tries_used_up:
        return None
    return "its tries of a password are used up", "Take its power away and give it again."


def _refuse_unsupported(seen: Seen) -> Refusal | None:
    if seen.identity.security.supported:
        return None
    return "it has no ATA security", "Use another method of purging."


def _refuse_no_registers(seen: Seen) -> Refusal | None:
    if seen.has_registers:
        return None
    return "what it answers does not come through", "Connect it to a SATA port of this host."


def _refuse_sanitizing(seen: Seen) -> Refusal | None:
    log = seen.sanitize
    if log is None or not (log.running or log.failed):
        return None
    if log.running:
        return waiting.RUNS_ALREADY
    return "its last sanitize failed", "Sanitize it again: only that has it answer."


def _refuse_hidden(seen: Seen) -> Refusal | None:
    if seen.hidden == 0:
        return None
    told = "it does not say whether sectors are hidden (HPA, AMAX)"
    if seen.hidden is not None:
        told = f"{seen.hidden} sectors of it are hidden (HPA, AMAX), and may not be erased"
    return told, "End that first (hdparm -N), and look what these sectors hold."


def refuse_damaged(identity: AtaIdentity) -> Refusal | None:
    """Refuse where the checksum of its words is wrong."""
    if identity.is_whole:
        return None
    return "what it says of itself is damaged (checksum)", "Look at its cable and at dmesg."


def refuse_locked(identity: AtaIdentity) -> Refusal | None:
    """Refuse where it takes no command before its password."""
    return ("it is locked by a password", FOREIGN) if identity.security.locked else None


def refuse_enabled(identity: AtaIdentity) -> Refusal | None:
    """Refuse where somebody set a password, though it is open at present."""
    return ("it has a password already", FOREIGN) if identity.security.enabled else None


CHECKS: Final[dict[str, Callable[[Seen], Refusal | None]]] = {
    "damaged": lambda seen: refuse_damaged(seen.identity),
    "another": lambda seen: refuse_another(seen.identity.serial, seen.drive.own_serial),
    "unsupported": _refuse_unsupported,
    "registers": _refuse_no_registers,
    "sanitizing": _refuse_sanitizing,
    "locked": lambda seen: refuse_locked(seen.identity),
    "enabled": lambda seen: refuse_enabled(seen.identity),
    "used up": _refuse_used_up,
    "frozen": _refuse_frozen,
    "hidden": _refuse_hidden,
}
"""What the drive is asked before a password is set; the first that refuses is told."""


def examine(drive: Drive, *, enhanced: bool) -> AtaIdentity:
    """Return what the drive says of itself, if it may be erased.

    Raises:
        teijo.errors.UnsafeError: it may not; no password was set.
        teijo.errors.DeviceError: it does not answer.
    """
    afar = refuse_from_afar(drive)
    if afar is not None:
        _refuse(drive, *afar)
    try:
        seen = look(drive)
    except OSError as error:
        raise DeviceError(
            f"{drive.target} does not say who it is: {error}; nothing was sent to erase it",
            remedy="Look at its cable and at dmesg.",
        ) from error
    refusal = judged(seen)
    if refusal is not None:
        _refuse(drive, *refusal)
    if enhanced and not seen.identity.security.enhanced_erase:
        _refuse(drive, "it has no enhanced erase", "Use the normal one: ata-security-erase.")
    return seen.identity


def refuse_from_afar(drive: Drive) -> Refusal | None:
    """Return why not even a question is sent to it."""
    if drive.is_partition:
        return "it is a partition, and the erase takes the whole drive", "Name the drive."
    if drive.between:
        return (
            f"between it and this host is {drive.between}",
            "Connect it to a SATA port of this host.",
        )
    return None


def judged(seen: Seen) -> Refusal | None:
    """Return the first refusal of all checks."""
    return first_refusal(CHECKS, seen)


def look(drive: Drive) -> Seen:
    """Return what the drive says when it is asked.

    Raises:
        OSError: it does not say who it is.
    """
    raw = ata.identify(drive.fd)
    try:
        ata.power_mode(drive.fd)
        has_registers = True
    except OSError:
        has_registers = False
    try:
        hidden: int | None = commands.hidden_sectors(drive.fd, raw)
    except OSError:
        hidden = None
    identity, sanitize = identity_of(raw), None
    if identity.sanitize.supported:
        try:
            sanitize = ata_sanitize_status(drive.fd)
        except OSError:
            sanitize = None  # a layer that keeps the registers, which is a refusal of its own
    return Seen(
        drive=drive, identity=identity, has_registers=has_registers, hidden=hidden,
        sanitize=sanitize,
    )  # fmt: skip


def _refuse(drive: Drive, why: str, remedy: str) -> None:
    raise UnsafeError(f"{drive.target} was not erased, no password was set: {why}", remedy=remedy)
