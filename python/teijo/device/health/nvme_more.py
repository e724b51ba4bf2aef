"""NVMe's other logs byte by byte: errors (01h) and endurance groups (09h).

Places are those of the NVMe base specification 2.0.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.health.raw import Unreadable, is_blank, little
from teijo.units import GIGA

ERRORS, SELF_TEST, ENDURANCE_GROUP = 0x01, 0x06, 0x09
ENTRY_BYTES: Final = 64
MOST_ENTRIES: Final = 64
"""As many entries are read, however many the drive keeps."""
GROUP_BYTES: Final = 512
MOST_GROUPS: Final = 16
_NO_LBA: Final = 0xFFFFFFFFFFFFFFFF
_NO_NUMBER: Final = 0xFFFF

_STATUSES: Final = {
    (0, 0x01): "invalid opcode", (0, 0x02): "invalid field", (0, 0x04): "data transfer error",
    (0, 0x05): "aborted, power loss", (0, 0x06): "internal error", (0, 0x07): "aborted as asked",
    (0, 0x0B): "invalid namespace", (0, 0x0C): "sequence error", (0, 0x1C): "sanitize failed",
    (0, 0x1D): "sanitize in progress", (0, 0x20): "write protected",
    (0, 0x80): "LBA out of range", (0, 0x81): "capacity exceeded",
    (0, 0x82): "namespace not ready", (0, 0x84): "format in progress",
    (1, 0x09): "invalid log page", (1, 0x0A): "invalid format", (1, 0x0D): "not saveable",
    (1, 0x0E): "not changeable", (2, 0x80): "write fault", (2, 0x81): "unrecovered read error",
    (2, 0x82): "guard check", (2, 0x83): "application tag check", (2, 0x84): "reference tag check",
    (2, 0x85): "compare failure", (2, 0x86): "access denied", (2, 0x87): "unwritten block",
}  # fmt: skip
"""What a status means, by its code type and code."""


@dataclass(frozen=True, kw_only=True)
class ErrorEntry:
    """One entry of the error log; `number` counts all errors in the drive's life.

    `opcode` is None before version 1 of the entry; `lba` and `namespace` where the error had none.
    """

    number: int
    queue: int
    command_id: int | None
    opcode: int | None
    status: int
    meaning: str
    lba: int | None
    namespace: int | None


@dataclass(frozen=True, kw_only=True)
class EnduranceGroup:
    """What log 09h says of one group. Its bytes are told in billions, rounded up, not in the units
    of log 02h.
    """

    number: int
    critical_warning: int
    available_spare_percent: int
    spare_threshold_percent: int
    percentage_used: int
    endurance_estimate_bytes: int
    host_reads_bytes: int
    host_writes_bytes: int
    media_writes_bytes: int
    read_commands: int
    write_commands: int
    media_errors: int
    error_log_entries: int


def errors_of(raw: bytes) -> tuple[ErrorEntry, ...]:
    """Return the entries of log 01h that there are, newest first."""
    found = []
    for at in range(0, len(raw) - ENTRY_BYTES + 1, ENTRY_BYTES):
        entry = raw[at : at + ENTRY_BYTES]
        number = little(entry, 0, 8)
        if not number:
            continue
        # Bit 0 is the phase tag.
        status = little(entry, 12, 2) >> 1
        command, lba, namespace = (little(entry, *place) for place in ((10, 2), (16, 8), (24, 4)))
        found.append(
            ErrorEntry(
                number=number,
                queue=little(entry, 8, 2),
                command_id=None if command == _NO_NUMBER else command,
                opcode=entry[31] if entry[63] else None,
                status=status,
                meaning=meaning_of(status),
                lba=None if lba == _NO_LBA else lba,
                namespace=namespace or None,
            )
        )
    return tuple(sorted(found, key=lambda one: one.number, reverse=True))


def meaning_of(status: int) -> str:
    """Return in words what a status field without its phase bit says."""
    kind, code = status >> 8 & 0x7, status & 0xFF
    return _STATUSES.get((kind, code), f"status {kind:X}/{code:02X}h")


def group_of(raw: bytes, number: int) -> EnduranceGroup:
    """Return what log 09h says of a group.

    Raises:
        Unreadable: it is too short, or there is nothing in it.
    """
    if len(raw) < GROUP_BYTES or is_blank(raw):
        raise Unreadable(f"the drive's log 09h of endurance group {number} is blank")
    return EnduranceGroup(
        number=number,
        critical_warning=raw[0],
        available_spare_percent=raw[3],
        spare_threshold_percent=raw[4],
        percentage_used=raw[5],
        endurance_estimate_bytes=little(raw, 32, 16) * GIGA,
        host_reads_bytes=little(raw, 48, 16) * GIGA,
        host_writes_bytes=little(raw, 64, 16) * GIGA,
        media_writes_bytes=little(raw, 80, 16) * GIGA,
        read_commands=little(raw, 96, 16),
        write_commands=little(raw, 112, 16),
        media_errors=little(raw, 128, 16),
        error_log_entries=little(raw, 144, 16),
    )
