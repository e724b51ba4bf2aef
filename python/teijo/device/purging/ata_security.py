"""ATA Security Erase: a password is set, the drive erases itself, and the password is gone with it.

A kill or a power cut on the way leaves a drive that is locked at its next start. So the password is
one that everybody knows, it is in the journal before the drive is told, and `finish` takes it off.
Everything that could leave the drive locked is asked first, and then nothing is sent.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import ata
from teijo.device.commands import ata_security as commands
from teijo.device.drive.ata_identity import (
    WAYS_OUT_OF_FROZEN,
    AtaIdentity,
    AtaSecurity,
    EraseTime,
    identity_of,
)
from teijo.device.drive.portrait import Portrait
from teijo.device.drive.scsi_drive import passes_ata
from teijo.device.open_changes import OpenChange, close, note
from teijo.device.presence import check_present
from teijo.device.purging.ata_security_checks import (
    Drive,
    drive_of,
    examine,
    judged,
    look,
    refuse_damaged,
    refuse_from_afar,
)
from teijo.device.purging.offer import NotOffered, Offer
from teijo.device.purging.surroundings import refuse_another
from teijo.device.purging.waiting import how_to_finish
from teijo.device.stack import whole_disk
from teijo.device.watched import Moved
from teijo.errors import DeviceError, UnsafeError
from teijo.units import NS_PER_MS

MS_PER_MINUTE: Final = 60_000
SECONDS_PER_MINUTE: Final = 60
MARGIN_MINUTES: Final = 60
OTHERS_MS: Final = 10 * MS_PER_MINUTE
"""For the commands before and after the erase."""
BLIND_MINUTES: Final = 12 * 60
"""For a drive that does not say how long it takes, or only that it is longer than it can say."""
SLOWEST_BYTES_PER_MINUTE: Final = 30_000_000 * 60


def erase(drive: Drive, moved: Moved, *, enhanced: bool) -> None:
    """Erase the whole drive.

    Raises:
        teijo.errors.UnsafeError: it may not be erased; no password was set.
        teijo.errors.HostError: the journal cannot be written; no password was set.
        teijo.errors.DeviceError: it failed; the message says whether the password is still set.
    """
    identity = examine(drive, enhanced=enhanced)
    timeout_ms = timeout_minutes(identity, enhanced=enhanced) * MS_PER_MINUTE
    # The last call of its kind: whoever leaves does so here, before there is a password.
    moved(0, 1, allow_ns=(timeout_ms + OTHERS_MS) * NS_PER_MS)
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
    try:
        commands.prepare(drive.fd)
        commands.erase(drive.fd, commands.PASSWORD, enhanced=enhanced, timeout_ms=timeout_ms)
    except OSError as error:
        what = f"SECURITY ERASE UNIT: {error}; its data may be erased in part"
        _give_back(drive, change, _security(drive), what)
    security = _security(drive)
    if security.enabled or security.locked:
        _give_back(drive, change, security, "SECURITY ERASE UNIT returned, and the password stayed")
    close(change)


def finish(drive: Drive, change: OpenChange) -> str:
    """Take the password of the journal off a drive, after a kill or a power cut.

    A locked drive is unlocked by exactly one try: five wrong ones shut it until it was off.

    Raises:
        teijo.errors.UnsafeError: it is another drive than the journal tells of.
        teijo.errors.DeviceError: the password is still set; it is in the message.
    """
    if (change.kind, change.serial, change.wwid) != ("password", drive.serial, drive.wwid):
        _leave(drive, "the journal tells of another drive", "Name the drive that it tells of.")
    try:
        identity = identity_of(ata.identify(drive.fd))
    except OSError as error:
        raise _still_set(drive, change.secret, str(error)) from error
    if not change.secret.isascii() or len(change.secret) not in range(1, commands.LONGEST + 1):
        _leave(drive, "the journal has no password that a drive takes", "Look at its file.")
    refusal = refuse_damaged(identity) or refuse_another(identity.serial, drive.own_serial)
    if refusal is not None:
        _leave(drive, *refusal)
    security = identity.security
    if not security.enabled and not security.locked:
        close(change)
        return "no password is set"
    if security.frozen:
        raise _still_set(drive, change.secret, "it is frozen", WAYS_OUT_OF_FROZEN)
    if security.tries_used_up:
        off = "Take its power away and give it again."
        raise _still_set(drive, change.secret, "its tries of a password are used up", off)
    try:
        if security.locked:
            _unlock(drive, change.secret)
        commands.disable(drive.fd, change.secret)
    except OSError as error:
        raise _still_set(drive, change.secret, str(error)) from error
    security = _security(drive)
    if security.enabled or security.locked:
        raise _still_set(drive, change.secret, "it says so after the command that ends it")
    close(change)
    return "the password is off"


def _unlock(drive: Drive, password: str) -> None:
    """Try the password once.

    Raises:
        teijo.errors.DeviceError: the drive does not take it.
        OSError: whether it took it is not known.
    """
    try:
        commands.unlock(drive.fd, password)
    except ata.AtaError as error:
        raise DeviceError(
            f"{drive.target} is locked, and does not take the password {password!r} of the "
            f"journal: {error}; one try was made",
            remedy="Another program may have set its own: take it off with that. After five tries "
            "a drive takes none until it was without power.",
        ) from error


def _leave(drive: Drive, why: str, remedy: str) -> None:
    raise UnsafeError(f"{drive.target} was left as it is: {why}", remedy=remedy)


def timeout_minutes(identity: AtaIdentity, *, enhanced: bool) -> int:
    """Return how long the erase is waited for: what ends it early leaves the drive locked."""
    told = identity.security.enhanced if enhanced else identity.security.erase
    by_size = identity.size_bytes // SLOWEST_BYTES_PER_MINUTE + MARGIN_MINUTES // 2
    if told is None or told.longer:
        return max(BLIND_MINUTES, 2 * by_size, 2 * _minutes(told))
    return max(told.minutes + MARGIN_MINUTES, by_size)


def _minutes(told: EraseTime | None) -> int:
    return told.minutes if told else 0


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
        f"{how_to_finish(drive.target)} takes it off; by hand: hdparm --user-master u "
        f"--security-unlock {password} and then --security-disable {password}."
    )
    return DeviceError(
        f"{drive.target} still has the password {password!r}: {why}",
        remedy=f"{first} {finish_it}".strip(),
    )


@dataclass(frozen=True, kw_only=True)
class AtaSecurityErase:
    """The erase as a method of purging: normal, or enhanced (reallocated sectors too)."""

    name: str
    words: str
    enhanced: bool

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no ATA drive, or has no such erase."""
        disk = whole_disk(subject.found.node, subject.roots)
        if not disk.name.startswith("sd") or not passes_ata(subject.fd):
            return None
        drive = drive_of(subject)
        refusal, seconds = refuse_from_afar(drive), None
        if refusal is None:
            try:
                seen = look(drive)
            except OSError as error:
                refusal = f"it does not say who it is: {error}", "Look at its cable and at dmesg."
            else:
                if not self._is_of(seen.identity):
                    return None
                refusal, seconds = judged(seen), self._seconds(seen.identity.security)
        why, remedy = refusal or ("", "")
        return Offer(
            method=self.name,
            title=self.words,
            victims=(drive.own_serial or drive.serial,) if drive.is_partition
            else (subject.found.token,),
            seconds=seconds,
            leaves_password=True,
            refusal=why,
            remedy=remedy,
        )  # fmt: skip

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Erase the drive.

        Raises:
            NotOffered: it has no such erase.
            teijo.errors.UnsafeError: it may not be erased by now; no password was set.
            teijo.errors.HostError: the journal cannot be written; no password was set.
            teijo.errors.DeviceError: it failed; the message says whether the password is set.
            teijo.errors.IdentityError: another device took its place; nothing was sent to it.
        """
        if self.offer(subject) is None:
            raise NotOffered
        # Right before the command: another drive in its place must not have it.
        check_present(subject)
        erase(drive_of(subject), moved, enhanced=self.enhanced)
        return self.words

    def is_left(self, seen: Portrait) -> bool:
        """Return whether a password is set, whoever did."""
        identity = seen.ata.identity if seen.ata else None
        return identity is not None and (identity.security.enabled or identity.security.locked)

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Take Teijo's own password off; one that no journal tells of is not touched.

        Raises:
            teijo.errors.UnsafeError: it is another drive than the journal tells of.
            teijo.errors.DeviceError: a password is still set; the message has Teijo's own.
        """
        if change is not None:
            return finish(drive_of(subject), change)
        raise DeviceError(
            f"{subject.target} has a password that Teijo's journal here does not have; none was "
            "tried",
            remedy="Take it off with the tool that set it. Teijo on another machine, or of another "
            f"user, sets {commands.PASSWORD!r}: hdparm --user-master u --security-unlock "
            f"{commands.PASSWORD}, then --security-disable {commands.PASSWORD}.",
        )

    def _is_of(self, identity: AtaIdentity) -> bool:
        """Return whether a drive has it; one whose words are damaged is told of, not left out."""
        security = identity.security
        has = security.supported and (security.enhanced_erase or not self.enhanced)
        return has or not identity.is_whole

    def _seconds(self, security: AtaSecurity) -> int | None:
        told = security.enhanced if self.enhanced else security.erase
        return None if told is None or told.longer else told.minutes * SECONDS_PER_MINUTE


NORMAL: Final = AtaSecurityErase(
    name="ata-security-erase", words="ATA Security Erase, normal", enhanced=False
)
ENHANCED: Final = AtaSecurityErase(
    name="ata-security-erase-enhanced", words="ATA Security Erase, enhanced", enhanced=True
)
