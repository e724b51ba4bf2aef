"""ATA security: set a password, erase the drive, and take the password off again.

FREEZE LOCK (F5h) is never sent. Each command is of the 28-bit form and takes 512 bytes: byte 0 says
whose password and which erase, bytes 2 to 33 are the password.
"""

from typing import Final

from teijo.device.commands import ata

SET_PASSWORD: Final = 0xF1
UNLOCK: Final = 0xF2
ERASE_PREPARE: Final = 0xF3
ERASE_UNIT: Final = 0xF4
DISABLE_PASSWORD: Final = 0xF6
READ_NATIVE_MAX_EXT: Final = 0x27
GET_NATIVE_MAX_EXT: Final = 0x78
PASSWORD: Final = "teijo"
"""One for all drives and known to everybody: it keeps nothing secret, it is what an erase asks for.

Lower case letters, for a BIOS that is asked to unlock the drive may know no others.
"""

_ENHANCED: Final = 0b10
LONGEST: Final = 32


def set_password(fd: int, password: str) -> None:
    """Set the user password at level high: the maker's master password still ends it.

    Raises:
        OSError: as `ata.execute`; after anything but an abort the password may be set.
    """
    # Word 0 is 0: the user's password, level high (bit 8 = 0).
    _send(fd, SET_PASSWORD, _block(password))


def unlock(fd: int, password: str) -> None:
    """Unlock the drive until its next start. Five wrong passwords, and it takes none before that.

    Raises:
        OSError: as `ata.execute`.
    """
    _send(fd, UNLOCK, _block(password))


def disable(fd: int, password: str) -> None:
    """Take the user password off; the drive must be unlocked.

    Raises:
        OSError: as `ata.execute`.
    """
    _send(fd, DISABLE_PASSWORD, _block(password))


def prepare(fd: int) -> None:
    """Announce the erase; only the very next command may be that.

    Raises:
        OSError: as `ata.execute`.
    """
    ata.execute(fd, ERASE_PREPARE, short=True)


def erase(fd: int, password: str, *, enhanced: bool, timeout_ms: int) -> None:
    """Erase everything and take the password off; it comes back when that is done.

    Raises:
        OSError: as `ata.execute`; then the data is gone in part, and the password is still set.
    """
    block = _block(password, control=_ENHANCED if enhanced else 0)
    _send(fd, ERASE_UNIT, block, timeout_ms=timeout_ms)


def _send(fd: int, command: int, block: bytes, *, timeout_ms: int = 60_000) -> None:
    ata.execute(fd, command, out=block, short=True, timeout_ms=timeout_ms)


def _block(password: str, *, control: int = 0) -> bytes:
    text = password.encode("ascii").ljust(LONGEST, b"\0")
    return (control.to_bytes(2, "little") + text).ljust(ata.SECTOR_BYTES, b"\0")


def hidden_sectors(fd: int, identity: bytes) -> int:
    """Return how many sectors are beyond the last address of the drive (HPA, AMAX).

    Raises:
        OSError: the drive can hide sectors and does not say whether it does.
    """
    # Bits 15:14 of words 83 and 119 are 01 where these words are filled.
    has_words = ata.word(identity, 83) >> 14 == 0b01
    wide = has_words and ata.word(identity, 83) >> 10 & 1
    sectors = int.from_bytes(identity[200:208] if wide else identity[120:124], "little")
    asked = []
    if has_words and ata.word(identity, 82) >> 10 & 1:
        asked.append(READ_NATIVE_MAX_EXT)
    if has_words and ata.word(identity, 119) >> 14 == 0b01 and ata.word(identity, 119) >> 8 & 1:
        asked.append(GET_NATIVE_MAX_EXT)
    hidden = 0
    for command in asked:
        registers = ata.execute(fd, command).registers
        if registers is None:
            raise OSError("the layer between keeps the registers back")
        hidden = max(hidden, registers.lba + 1 - sectors)
    return hidden
