"""ATA Security Erase: a password is set, the drive erases itself, and the password is gone with it.

A kill or a power cut on the way leaves a drive that is locked at its next start. So the password is
one that everybody knows, it is in the journal before the drive is told, and `finish` takes it off.
Everything that could leave the drive locked is asked first, and then nothing is sent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from teijo.device import serial
from teijo.device.checks import Subject
from teijo.device.commands import ata
from teijo.device.commands import ata_security as commands
from teijo.device.drive.ata_identity import AtaIdentity, AtaSecurity, EraseTime, identity_of
from teijo.device.drive.place import place_of
from teijo.device.open_changes import OpenChange, close, note
from teijo.device.stack import whole_disk
from teijo.device.watched import Moved
from teijo.errors import DeviceError, UnsafeError
from teijo.units import NS_PER_MS

MS_PER_MINUTE: Final = 60_000
MARGIN_MINUTES: Final = 60
BLIND_MINUTES: Final = 12 * 60
"""For a drive that does not say how long it takes, or only that it is longer than it can say."""
SLOWEST_BYTES_PER_MINUTE: Final = 30_000_000 * 60
WAYS_OUT: Final = (
    "The BIOS froze it at the start. In this order: suspend this machine to RAM and wake it; "
    "unplug the drive's power and plug it again; use another port or adapter; look for an option "
    "of the BIOS."
)
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


def drive_of(subject: Subject) -> Drive:
    """Return the drive under a claimed device."""
    found = subject.found
    place = place_of(whole_disk(found.node, subject.roots))
    between = f"a USB bridge ({place.bridge.driver})" if place.bridge else ""
    if not between and place.raid.hidden != "no":
        between = place.raid.told_by
    return Drive(
        fd=subject.fd,
        target=subject.target,
        serial=found.identity.serial,
        own_serial=found.own_serial,
        wwid=found.identity.wwid,
        size_bytes=found.geometry.capacity_bytes,
        is_partition=found.node.is_partition,
        between=between,
    )


Refusal = tuple[str, str]
"""Why not, and what ends it."""


def _refuse_frozen(seen: Seen) -> Refusal | None:
    return ("it is frozen", WAYS_OUT) if seen.identity.security.frozen else None


def _refuse_enabled(seen: Seen) -> Refusal | None:
    return ("it has a password already", FOREIGN) if seen.identity.security.enabled else None


def _refuse_locked(seen: Seen) -> Refusal | None:
    return ("it is locked by a password", FOREIGN) if seen.identity.security.locked else None


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


def _refuse_hidden(seen: Seen) -> Refusal | None:
    if seen.hidden == 0:
        return None
    told = "it does not say whether sectors are hidden (HPA, AMAX)"
    if seen.hidden is not None:
        told = f"{seen.hidden} sectors of it are hidden (HPA, AMAX), and may not be erased"
    return told, "End that first (hdparm -N), and look what these sectors hold."


def _refuse_another(seen: Seen) -> Refusal | None:
    said = serial.canonical(seen.identity.serial.encode())
    if said == seen.drive.own_serial and said:
        return None
    return (
        f"who answers says it is {said!r}, and the drive is {seen.drive.own_serial!r}",
        "Look which drive this is: lsblk -o NAME,MODEL,SERIAL.",
    )


def _refuse_damaged(seen: Seen) -> Refusal | None:
    if seen.identity.is_whole:
        return None
    return "what it says of itself is damaged (checksum)", "Look at its cable and at dmesg."


CHECKS: Final[dict[str, Callable[[Seen], Refusal | None]]] = {
    "damaged": _refuse_damaged,
    "another": _refuse_another,
    "unsupported": _refuse_unsupported,
    "registers": _refuse_no_registers,
    "locked": _refuse_locked,
    "enabled": _refuse_enabled,
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
    if drive.is_partition:
        _refuse(drive, "it is a partition, and the erase takes the whole drive", "Name the drive.")
    if drive.between:
        _refuse(
            drive,
            f"between it and this host is {drive.between}",
            "Connect it to a SATA port of this host.",
        )
    try:
        seen = _look(drive)
    except OSError as error:
        raise DeviceError(
            f"{drive.target} does not say who it is: {error}; nothing was sent to erase it",
            remedy="Look at its cable and at dmesg.",
        ) from error
    for check in CHECKS.values():
        refusal = check(seen)
        if refusal is not None:
            _refuse(drive, *refusal)
    if enhanced and not seen.identity.security.enhanced_erase:
        _refuse(drive, "it has no enhanced erase", "Use the normal one: ata-security-erase.")
    return seen.identity


def erase(drive: Drive, moved: Moved, *, enhanced: bool) -> str:
    """Erase the whole drive; return what it says at the end.

    Raises:
        teijo.errors.UnsafeError: it may not be erased; no password was set.
        teijo.errors.HostError: the journal cannot be written; no password was set.
        teijo.errors.DeviceError: it failed; the message says whether the password is still set.
    """
    identity = examine(drive, enhanced=enhanced)
    change = note(
        OpenChange(
            kind="password",
            serial=drive.serial,
            wwid=drive.wwid,
            target=drive.target,
            method="ata-security-erase" + ("-enhanced" if enhanced else ""),
            before="no password",
            secret=commands.PASSWORD,
        )
    )
    try:
        commands.set_password(drive.fd, commands.PASSWORD)
        failure = ""
    except OSError as error:
        failure = str(error)
    # The kernel's own words are not believed: a drive that was reset may have taken it.
    security = _security(drive)
    if failure or not security.enabled or security.locked:
        _give_back(drive, change, security, f"SECURITY SET PASSWORD: {failure or 'no effect'}")
    timeout_ms = timeout_minutes(identity, enhanced=enhanced) * MS_PER_MINUTE
    try:
        commands.prepare(drive.fd)
        moved(0, 1, allow_ns=timeout_ms * NS_PER_MS)
        commands.erase(drive.fd, commands.PASSWORD, enhanced=enhanced, timeout_ms=timeout_ms)
    except OSError as error:
        what = f"SECURITY ERASE UNIT: {error}; its data may be erased in part"
        _give_back(drive, change, _security(drive), what)
    security = _security(drive)
    if security.enabled or security.locked:
        _give_back(drive, change, security, "SECURITY ERASE UNIT returned, and the password stayed")
    close(change)
    return "ATA security: not enabled, not locked after the erase"


def finish(drive: Drive, change: OpenChange) -> str:
    """Take the password of the journal off a drive, after a kill or a power cut.

    A locked drive is unlocked by exactly one try: five wrong ones shut it until it was off.

    Raises:
        teijo.errors.UnsafeError: it is another drive than the journal tells of.
        teijo.errors.DeviceError: the password is still set; it is in the message.
    """
    if (change.kind, change.serial, change.wwid) != ("password", drive.serial, drive.wwid):
        _refuse(drive, "the journal tells of another drive", "Name the drive that it tells of.")
    try:
        identity = identity_of(ata.identify(drive.fd))
    except OSError as error:
        raise _still_set(drive, change.secret, str(error)) from error
    seen = Seen(drive=drive, identity=identity, has_registers=True, hidden=None)
    refusal = _refuse_damaged(seen) or _refuse_another(seen)
    if refusal is not None:
        _refuse(drive, *refusal)
    security = identity.security
    if not security.enabled and not security.locked:
        close(change)
        return "no password is set"
    if security.frozen:
        raise _still_set(drive, change.secret, "it is frozen", WAYS_OUT)
    if security.tries_used_up:
        off = "Take its power away and give it again."
        raise _still_set(drive, change.secret, "its tries of a password are used up", off)
    try:
        if security.locked:
            commands.unlock(drive.fd, change.secret)
        commands.disable(drive.fd, change.secret)
    except OSError as error:
        raise _still_set(drive, change.secret, str(error)) from error
    security = _security(drive)
    if security.enabled or security.locked:
        raise _still_set(drive, change.secret, "it says so after the command that ends it")
    close(change)
    return "the password is off"


def timeout_minutes(identity: AtaIdentity, *, enhanced: bool) -> int:
    """Return how long the erase is waited for: what ends it early leaves the drive locked."""
    told = identity.security.enhanced if enhanced else identity.security.erase
    by_size = identity.size_bytes // SLOWEST_BYTES_PER_MINUTE + MARGIN_MINUTES // 2
    if told is None or told.longer:
        return max(BLIND_MINUTES, 2 * by_size, 2 * _minutes(told))
    return max(told.minutes + MARGIN_MINUTES, by_size)


def _minutes(told: EraseTime | None) -> int:
    return told.minutes if told else 0


def _look(drive: Drive) -> Seen:
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
    return Seen(drive=drive, identity=identity_of(raw), has_registers=has_registers, hidden=hidden)


def _security(drive: Drive) -> AtaSecurity:
    """Return the state of a drive that was told the password.

    Raises:
        teijo.errors.DeviceError: it does not say; the password may be set.
    """
    try:
        identity = identity_of(ata.identify(drive.fd))
    except OSError as error:
        raise _still_set(drive, commands.PASSWORD, f"it may be, for {error}") from error
    if not identity.is_whole:
        raise _still_set(drive, commands.PASSWORD, "it may be, for its answer is damaged")
    return identity.security


def _give_back(drive: Drive, change: OpenChange, security: AtaSecurity, what: str) -> None:
    """Take the password off after a failure, where that needs no unlocking; always raises."""
    if security.enabled and not security.locked:
        try:
            commands.disable(drive.fd, change.secret)
        except OSError as error:
            raise _still_set(drive, change.secret, f"{what}; then {error}") from error
        security = _security(drive)
    if security.enabled or security.locked:
        raise _still_set(drive, change.secret, what)
    close(change)
    raise DeviceError(
        f"{drive.target} was not erased: {what}; no password is set",
        remedy="Use another method of purging, or the maker's tool.",
    )


def _still_set(drive: Drive, password: str, why: str, first: str = "") -> DeviceError:
    finish_it = (
        f"teijo purge {drive.target} --finish takes it off; by hand: hdparm --user-master u "
        f"--security-unlock {password} and then --security-disable {password}."
    )
    return DeviceError(
        f"{drive.target} still has the password {password!r}: {why}",
        remedy=f"{first} {finish_it}".strip(),
    )


def _refuse(drive: Drive, why: str, remedy: str) -> None:
    raise UnsafeError(f"{drive.target} was not erased, no password was set: {why}", remedy=remedy)
