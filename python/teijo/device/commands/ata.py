"""ATA commands inside SCSI (ATA PASS-THROUGH 16, SAT), with the registers the drive answers.

CK_COND asks the layer between for the task file of every command that gives no data. Bridges that
drop it leave the end of a command unknown; then nothing that depends on it may be begun.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.commands import scsi, seam

PASS_THROUGH_16: Final = 0x85
IDENTIFY_DEVICE: Final = 0xEC
CHECK_POWER_MODE: Final = 0xE5
SANITIZE_DEVICE: Final = 0xB4
READ_LOG_EXT: Final = 0x2F
SMART: Final = 0xB0
SMART_READ_DATA, SMART_READ_THRESHOLDS, SMART_READ_LOG, SMART_STATUS = 0xD0, 0xD1, 0xD5, 0xDA
SMART_KEY: Final = 0xC24F00
"""What a SMART command has in its LBA, lest it be sent by mistake."""
SMART_FAILS: Final = 0x2CF400
"""What SMART RETURN STATUS has there where an attribute is past its threshold."""
CRYPTO_SCRAMBLE, BLOCK_ERASE, OVERWRITE = 0x11, 0x12, 0x14
"""The actions of SANITIZE DEVICE, in its FEATURE field."""
_SANITIZE_KEYS: Final = {
    CRYPTO_SCRAMBLE: int.from_bytes(b"Cryp"),
    BLOCK_ERASE: int.from_bytes(b"BkEr"),
    # Below it is the pattern, and here that is zeros.
    OVERWRITE: int.from_bytes(b"OW") << 32,
}
"""What an action has in its LBA, lest it be sent by mistake."""
_LEAVABLE: Final = 0x10
"""FAILURE MODE: after a failure it can be left, and the drive is not lost."""
_ONE_PASS: Final = 1
_LEAVE: Final = 1
"""CLEAR SANITIZE OPERATION FAILED."""
SECTOR_BYTES: Final = 512
_NON_DATA, _PIO_IN, _PIO_OUT = 3, 4, 5
_EXTEND: Final = 1
_REGISTERS: Final = 0x09
"""The sense descriptor that has the task file."""
_CHECK: Final = 0x20
_FROM_DRIVE: Final = 0x08
_SECTORS_IN_COUNT: Final = 0x06  # BYTE_BLOCK, T_LENGTH = the count field
_ERROR_BIT: Final = 0x01
_FAULT_BIT: Final = 0x20


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """The registers after a command; `lba` is 48 bits wide, `count` 16."""

    error: int
    status: int
    count: int
    lba: int


class AtaError(seam.CommandError):
    """The drive aborted a command; `registers` say how, None where the layer between kept them."""

    def __init__(self, command: int, registers: TaskFile | None) -> None:
        """Keep the registers."""
        shown = f"error {registers.error:#04x}" if registers else "no registers"
        super().__init__(f"the drive aborted ATA command {command:02X}h ({shown})")
        self.registers = registers


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command gave: its data, and the registers, None where they did not come back."""

    data: bytes
    registers: TaskFile | None


def execute(
    fd: int,
    command: int,
    *,
    feature: int = 0,
    count: int = 0,
    lba: int = 0,
    out: bytes = b"",
    expect: int = 0,
    timeout_ms: int = scsi.TIMEOUT_MS,
    short: bool = False,
) -> Answer:
    """Send one ATA command; `out` and `expect` are whole sectors of 512 bytes.

    It goes in the 48-bit form, or, where `short`, in the 28-bit form, as SMART's commands have it.

    Raises:
        AtaError: the drive aborted it.
        scsi.ScsiError: the layer between refused it: it passes no ATA commands.
        OSError: it was not sent, or nothing came back.
    """
    protocol = _PIO_OUT if out else _PIO_IN if expect else _NON_DATA
    # Data that came back is its own evidence: the registers are asked for of other commands alone,
    # for some hosts (QEMU's AHCI) tell those of a read from before its end.
    flags = _FROM_DRIVE if expect else _CHECK
    if out or expect:
        flags |= _SECTORS_IN_COUNT
        count = count or (len(out) or expect) // SECTOR_BYTES
    low, high = lba & 0xFFFFFF, lba >> 24
    cdb = bytes(
        (
            PASS_THROUGH_16, protocol << 1 | (0 if short else _EXTEND), flags,
            feature >> 8 & 0xFF, feature & 0xFF, count >> 8 & 0xFF, count & 0xFF,
            high & 0xFF, low & 0xFF, high >> 8 & 0xFF, low >> 8 & 0xFF,
            high >> 16 & 0xFF, low >> 16 & 0xFF, 0x40, command, 0,
        )
    )  # fmt: skip
    try:
        answer = scsi.execute(fd, cdb, out=out, expect=expect, timeout_ms=timeout_ms)
    except scsi.ScsiError as error:
        if error.sense.key != scsi.ABORTED:
            raise
        raise AtaError(command, registers_of(error.sense)) from error
    registers = registers_of(answer.sense)
    if registers is not None and registers.status & (_ERROR_BIT | _FAULT_BIT):
        raise AtaError(command, registers)
    return Answer(data=answer.data, registers=registers)


def identify(fd: int) -> bytes:
    """Return the 512 bytes of IDENTIFY DEVICE.

    Raises:
        OSError: as `execute`.
    """
    return execute(fd, IDENTIFY_DEVICE, expect=SECTOR_BYTES).data


def sanitize_status(fd: int) -> tuple[TaskFile, bool]:
    """Return the registers of SANITIZE STATUS EXT, and whether the drive aborted it.

    Raises:
        OSError: as `execute`; also where the layer between keeps the registers.
    """
    try:
        registers, aborted = execute(fd, SANITIZE_DEVICE).registers, False
    except AtaError as error:
        registers, aborted = error.registers, True
    return _told(registers), aborted


def sanitize(fd: int, action: int, *, timeout_ms: int = scsi.TIMEOUT_MS) -> None:
    """Begin a sanitize, which goes on by itself; its failure can be left.

    Raises:
        OSError: as `execute`.
    """
    count = _LEAVABLE | (_ONE_PASS if action == OVERWRITE else 0)
    lba = _SANITIZE_KEYS[action]
    execute(fd, SANITIZE_DEVICE, feature=action, count=count, lba=lba, timeout_ms=timeout_ms)


def leave_failed_sanitize(fd: int) -> None:
    """Leave the state of a failed sanitize: the drive answers again, by whatever it holds.

    Raises:
        OSError: as `execute`; AtaError where that sanitize cannot be left.
    """
    execute(fd, SANITIZE_DEVICE, count=_LEAVE)


def power_mode(fd: int) -> int:
    """Return what CHECK POWER MODE says; it wakes no drive.

    Raises:
        OSError: as `execute`; also where the layer between keeps the registers.
    """
    return _told(execute(fd, CHECK_POWER_MODE).registers).count & 0xFF


def _told(registers: TaskFile | None) -> TaskFile:
    if registers is None:
        raise seam.CommandError("the layer between keeps the drive's registers to itself")
    return registers


def smart_sector(fd: int, feature: int, log: int = 0) -> bytes:
    """Return the 512 bytes of a SMART command: data, thresholds, or a log of one sector.

    Raises:
        OSError: as `execute`.
    """
    lba = SMART_KEY | log
    return execute(fd, SMART, feature=feature, lba=lba, expect=SECTOR_BYTES, short=True).data


def smart_fails(fd: int) -> bool | None:
    """Return whether the drive says that it fails (SMART RETURN STATUS); None: not told.

    Raises:
        OSError: as `execute`.
    """
    answer = execute(fd, SMART, feature=SMART_STATUS, lba=SMART_KEY, short=True)
    said = answer.registers.lba & 0xFFFF00 if answer.registers else None
    return {SMART_KEY: False, SMART_FAILS: True}.get(said if said is not None else -1)


def log_pages(fd: int, log: int, *, first: int = 0, count: int = 1) -> bytes:
    """Return whole pages of 512 bytes of a log (READ LOG EXT).

    Raises:
        OSError: as `execute`.
    """
    # The page's number is in LBA 15:8 and 39:32, the log's in 7:0.
    lba = log | (first & 0xFF) << 8 | (first >> 8 & 0xFF) << 32
    return execute(fd, READ_LOG_EXT, lba=lba, expect=count * SECTOR_BYTES).data


def word(identity: bytes, number: int) -> int:
    """Return one word of IDENTIFY DEVICE."""
    return int.from_bytes(identity[2 * number : 2 * number + 2], "little")


def registers_of(sense: scsi.Sense | None) -> TaskFile | None:
    """Return the task file that sense data carries (SAT, ATA status return descriptor).

    Of a command that failed libata has it in the fixed format, and there only 8 bits of the count
    and, before Linux 6.11, the lowest 8 of the address, at places of its own.
    """
    found = sense.descriptors.get(_REGISTERS) if sense else None
    if sense is not None and sense.fixed:
        return _in_fixed_format(sense.fixed)
    if found is None or len(found) < 12:
        return None
    _extend, error, count_high, count, b3, low, b4, mid, b5, top, _device, status = found[:12]
    return TaskFile(
        error=error,
        status=status,
        count=count_high << 8 | count,
        lba=low | mid << 8 | top << 16 | b3 << 24 | b4 << 32 | b5 << 40,
    )


def _in_fixed_format(raw: bytes) -> TaskFile | None:
    """Return the task file in fixed sense: as SAT-3 table 178 has it, or as libata had it."""
    raw = raw.ljust(20, b"\0")
    for at, address in ((3, raw[9:12]), (8, raw[17:20])):
        error, status, _device, count = raw[at : at + 4]
        # No drive ends a failed command without its error bit, so zeros are the other layout.
        if error and status & _ERROR_BIT:
            lba = int.from_bytes(address, "little")
            return TaskFile(error=error, status=status, count=count, lba=lba)
    return None
