"""SCSI commands on our own descriptor (SG_IO), and the sense data they are answered with.

A kernel passes these commands even under a mounted file system: the caller checks first.
"""

import ctypes
import mmap
import struct
from dataclasses import dataclass
from typing import Final

from teijo.device.commands import seam

SG_IO: Final = 0x2285
TIMEOUT_MS: Final = 60_000
"""Of a command that names none: as long as the kernel's own for what is no data."""
NO_SENSE: Final = 0x0
RECOVERED: Final = 0x1
NOT_READY: Final = 0x2
MEDIUM_ERROR: Final = 0x3
ILLEGAL_REQUEST: Final = 0x5
UNIT_ATTENTION: Final = 0x6
ABORTED: Final = 0xB
CHECK_CONDITION: Final = 0x02
REQUEST_SENSE: Final = 0x03
FORMAT_UNIT: Final = 0x04
SANITIZE: Final = 0x48
OVERWRITE, BLOCK_ERASE, CRYPTO_ERASE, EXIT_FAILURE = 0x01, 0x02, 0x03, 0x1F
"""The service actions of SANITIZE."""
_IMMEDIATELY: Final = 0x80
_LEAVABLE: Final = 0x20
"""AUSE: a failed sanitize can be left, and the drive is not lost."""
_ONE_PASS_OF_ZEROS: Final = struct.pack(">BBHI", 1, 0, 4, 0)
_FORMAT_DATA: Final = 0x10
_FORMAT_IMMEDIATELY: Final = bytes((0, 0x02, 0, 0))
"""The header of the parameter list: IMMED, no options, and no defects."""
INQUIRY: Final = 0x12
LOG_SENSE: Final = 0x4D
LOG_BYTES: Final = 0x1000
_CUMULATIVE: Final = 0x40
"""Page control: the values counted so far, not their thresholds."""
INQUIRY_BYTES: Final = 96
PAGE_BYTES: Final = 252
SERVICE_ACTION_IN_16: Final = 0x9E
READ_CAPACITY_16: Final = 0x10
CAPACITY_BYTES: Final = 32
MAINTENANCE_IN: Final = 0xA3
REPORT_OPERATIONS: Final = 0x0C
OPERATION_BYTES: Final = 64
ATTENTIONS: Final = 4
"""As many unit attentions are passed over: each is another event that happened before us."""
SENSE_BYTES: Final = 64
MODE_SENSE_6, MODE_SELECT_6 = 0x1A, 0x15
MODE_SENSE_10, MODE_SELECT_10 = 0x5A, 0x55
_NO_BLOCKS: Final = 0x08
_PAGES: Final = 0x10

_HEADER: Final = struct.Struct("@iiBBHIPPPIIiPBBBBHHiII0P")
"""struct sg_io_hdr of scsi/sg.h."""
_NO_DATA, _TO_DRIVE, _FROM_DRIVE = -1, -2, -3


@dataclass(frozen=True, kw_only=True)
class Sense:
    """Why a command ended as it did (SPC, sense data): key, additional code and qualifier.

    `progress` is how far a background operation is, of 65536, None where it was not told;
    `descriptors` are those of the descriptor format by type, without their two first bytes.
    """

    key: int
    code: int
    qualifier: int
    progress: int | None = None
    descriptors: dict[int, bytes]
    fixed: bytes = b""
    """All of it where it is in the fixed format: SAT keeps the registers of ATA in there."""

    @property
    def triple(self) -> tuple[int, int, int]:
        """Key, additional sense code, qualifier."""
        return self.key, self.code, self.qualifier

    @property
    def text(self) -> str:
        """As tools print it: key/asc/ascq."""
        return f"{self.key:X}/{self.code:02X}/{self.qualifier:02X}"


class ScsiError(seam.CommandError):
    """A command ended with CHECK CONDITION; `sense` says why."""

    def __init__(self, sense: Sense) -> None:
        """Keep the sense data."""
        super().__init__(f"the drive answered sense {sense.text}")
        self.sense = sense


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back: the data, cut to what the drive sent, and the sense, None without one."""

    data: bytes
    sense: Sense | None = None


def execute(
    fd: int, cdb: bytes, *, out: bytes = b"", expect: int = 0, timeout_ms: int = TIMEOUT_MS
) -> Answer:
    """Send one command: `out` goes to the drive, or up to `expect` bytes come from it.

    Sense that reports no failure (no sense, recovered) comes with the answer: ATA registers do so.

    Raises:
        ScsiError: the drive refused it or failed.
        OSError: it was not sent, or nothing came back.
    """
    length = len(out) or expect
    with mmap.mmap(-1, max(length, 1)) as data, mmap.mmap(-1, SENSE_BYTES + len(cdb)) as block:
        data[: len(out)] = out
        block[SENSE_BYTES:] = cdb
        at = _address(block)
        way = _TO_DRIVE if out else _FROM_DRIVE if expect else _NO_DATA
        header = bytearray(
            _HEADER.pack(
                ord("S"), way, len(cdb), SENSE_BYTES, 0, length,
                _address(data) if length else 0, at + SENSE_BYTES, at,
                timeout_ms, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            )
        )  # fmt: skip
        seam.ioctl(fd, SG_IO, header)
        answered = _HEADER.unpack(header)
        status, sense_length, host, _driver, residual = *answered[13:14], *answered[16:20]
        if host:
            # DID_TIME_OUT is 3; the others are a lost or refusing host adapter.
            raise (
                TimeoutError(f"no answer in {timeout_ms} ms")
                if host == 3
                else OSError(f"the host adapter answered {host:#x}")
            )
        sense = parse_sense(block[:sense_length]) if sense_length else None
        if sense is not None and sense.key not in (NO_SENSE, RECOVERED):
            raise ScsiError(sense)
        if status not in (0, CHECK_CONDITION):
            raise OSError(f"the drive answered SCSI status {status:#x}")
        return Answer(data=data[: max(0, expect - residual)] if expect else b"", sense=sense)


def inquiry(fd: int) -> bytes:
    """Return the standard INQUIRY data, up to 96 bytes.

    Raises:
        OSError: as `execute`.
    """
    return execute(fd, bytes((INQUIRY, 0, 0, 0, INQUIRY_BYTES, 0)), expect=INQUIRY_BYTES).data


def vital_page(fd: int, page: int) -> bytes:
    """Return a page of vital product data, up to 252 bytes, its header included.

    Raises:
        OSError: as `execute`.
    """
    return execute(fd, bytes((INQUIRY, 1, page, 0, PAGE_BYTES, 0)), expect=PAGE_BYTES).data


def capacity(fd: int) -> bytes:
    """Return the 32 bytes of READ CAPACITY 16.

    Raises:
        OSError: as `execute`.
    """
    cdb = struct.pack(">BBQIBB", SERVICE_ACTION_IN_16, READ_CAPACITY_16, 0, CAPACITY_BYTES, 0, 0)
    return execute(fd, cdb, expect=CAPACITY_BYTES).data


def supported_operation(fd: int, operation: int, action: int | None = None) -> bytes:
    """Return what REPORT SUPPORTED OPERATION CODES says of one command, of one service action.

    Raises:
        OSError: as `execute`; a drive need not have that command.
    """
    # Reporting options: 1 the operation code alone, 2 with a service action.
    options = 1 if action is None else 2
    cdb = struct.pack(
        ">BBBBHIBB", MAINTENANCE_IN, REPORT_OPERATIONS, options, operation, action or 0,
        OPERATION_BYTES, 0, 0,
    )  # fmt: skip
    return execute(fd, cdb, expect=OPERATION_BYTES).data


def state(fd: int) -> Sense | None:
    """Return why the drive is not ready, or what it does in the background; None for nothing.

    A unit attention is told once and says nothing of that: the drive is asked again.

    Raises:
        OSError: nothing came back.
    """
    for _ in range(ATTENTIONS):
        try:
            execute(fd, bytes(6))
        except ScsiError as error:
            if error.sense.key != UNIT_ATTENTION:
                return error.sense
        else:
            break
    told = execute(fd, bytes((REQUEST_SENSE, 1, 0, 0, SENSE_BYTES, 0)), expect=SENSE_BYTES).data
    sense = parse_sense(told)
    return sense if any(sense.triple) else None


def sanitize(fd: int, action: int, *, timeout_ms: int = TIMEOUT_MS) -> None:
    """Begin a sanitize, which goes on by itself; its failure can be left.

    Raises:
        OSError: as `execute`.
    """
    listed = _ONE_PASS_OF_ZEROS if action == OVERWRITE else b""
    head = bytes((SANITIZE, _IMMEDIATELY | _LEAVABLE | action))
    cdb = head + bytes(5) + struct.pack(">HB", len(listed), 0)
    execute(fd, cdb, out=listed, timeout_ms=timeout_ms)


def leave_failed_sanitize(fd: int) -> None:
    """Leave the state of a failed sanitize: the drive answers again, by whatever it holds.

    Raises:
        OSError: as `execute`; ScsiError where that sanitize cannot be left.
    """
    execute(fd, bytes((SANITIZE, EXIT_FAILURE)) + bytes(8))


def format_unit(fd: int, *, timeout_ms: int = TIMEOUT_MS) -> None:
    """Begin a format with the blocks that there are, without protection information.

    Raises:
        OSError: as `execute`.
    """
    cdb = bytes((FORMAT_UNIT, _FORMAT_DATA, 0, 0, 0, 0))
    execute(fd, cdb, out=_FORMAT_IMMEDIATELY, timeout_ms=timeout_ms)


def next_block_bytes(fd: int) -> int | None:
    """Return the length of a block after the next format (mode parameter block descriptor).

    None where the drive tells none.

    Raises:
        OSError: as `execute`.
    """
    raw = execute(fd, bytes((MODE_SENSE_10, 0, 0x3F, 0, 0, 0, 0, 0, 255, 0)), expect=255).data
    # A header of 8 bytes; the descriptor has 8, or 16 where it is for long addresses.
    if len(raw) < 16 or int.from_bytes(raw[6:8], "big") < 8:
        return None
    length = raw[20:24] if raw[4] & 1 else raw[13:16]
    return int.from_bytes(length, "big") or None


def log_parameters(fd: int, page: int) -> dict[int, bytes]:
    """Return the parameters of a log page (LOG SENSE) by their code.

    Raises:
        OSError: as `execute`; or what came back is another page, or is cut short.
    """
    raw = _log_page(fd, page)
    found: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(raw):
        value = raw[at + 4 : at + 4 + raw[at + 3]]
        found.setdefault(int.from_bytes(raw[at : at + 2], "big"), value)
        at += 4 + raw[at + 3]
    return found


def log_list(fd: int) -> tuple[int, ...]:
    """Return the numbers of the log pages that a drive has (log page 00h).

    Raises:
        OSError: as `execute`; or what came back is another page.
    """
    return tuple(number & 0x3F for number in _log_page(fd, 0))


def _log_page(fd: int, page: int) -> bytes:
    """Return a log page without its head, cut where the drive says that it ends."""
    length = LOG_BYTES
    cdb = bytes((LOG_SENSE, 0, _CUMULATIVE | page, 0, 0, 0, 0, length >> 8, length & 0xFF, 0))
    raw = execute(fd, cdb, expect=length).data
    if len(raw) < 4 or raw[0] & 0x3F != page:
        raise seam.CommandError(f"the drive answered another page than {page:02X}h")
    return raw[4 : 4 + int.from_bytes(raw[2:4], "big")]


def mode_page(fd: int, page: int) -> bytes:
    """Return the current values of a mode page, its two first bytes (code, length) among them.

    Raises:
        ScsiError: the drive has no such page.
        OSError: as `execute`, or what came back is no mode page.
    """
    try:
        raw = execute(
            fd, bytes((MODE_SENSE_10, _NO_BLOCKS, page, 0, 0, 0, 0, 0, 255, 0)), expect=255
        ).data
        start = 8 + int.from_bytes(raw[6:8], "big")
    except ScsiError as error:
        if error.sense.key != ILLEGAL_REQUEST:
            raise
        # Old and simple drives know the short form alone.
        cdb = bytes((MODE_SENSE_6, _NO_BLOCKS, page, 0, 255, 0))
        raw = execute(fd, cdb, expect=255).data
        start = 4 + (raw[3] if len(raw) > 3 else 0)
    found = raw[start:]
    if len(found) < 2 or found[0] & 0x3F != page or len(found) < 2 + found[1]:
        raise OSError(f"no mode page {page:02X}h came back")
    return found[: 2 + found[1]]


def set_mode_page(fd: int, values: bytes) -> None:
    """Set a mode page to `values`, as `mode_page` has them; they are not saved.

    Raises:
        ScsiError: the drive refused them.
        OSError: as `execute`.
    """
    # The first bit says that a page can be saved; in MODE SELECT it is reserved.
    page = bytes((values[0] & 0x7F,)) + values[1:]
    try:
        length = 8 + len(page)
        cdb = bytes((MODE_SELECT_10, _PAGES, 0, 0, 0, 0, 0, length >> 8, length & 0xFF, 0))
        execute(fd, cdb, out=bytes(8) + page)
    except ScsiError as error:
        if error.sense.triple != (ILLEGAL_REQUEST, 0x20, 0):
            raise
        execute(fd, bytes((MODE_SELECT_6, _PAGES, 0, 0, 4 + len(page), 0)), out=bytes(4) + page)


def parse_sense(raw: bytes) -> Sense:
    """Return sense data in either format, fixed (70h, 71h) or by descriptors (72h, 73h).

    What is too short to say something is taken as 0, never as an error of its own.
    """
    full = raw.ljust(18, b"\0")
    if full[0] & 0x7F in (0x72, 0x73):
        descriptors = {}
        at, end = 8, min(len(raw), 8 + full[7])
        while at + 2 <= end:
            length = raw[at + 1]
            descriptors[raw[at]] = raw[at + 2 : at + 2 + length]
            at += 2 + length
        # Sense key specific: reserved 2, then 3 bytes with their valid bit in front.
        specific = descriptors.get(0x02, b"")[2:5]
        return Sense(
            key=full[1] & 0xF, code=full[2], qualifier=full[3],
            progress=_progress(specific), descriptors=descriptors,
        )  # fmt: skip
    return Sense(
        key=full[2] & 0xF, code=full[12], qualifier=full[13],
        progress=_progress(full[15:18]), descriptors={}, fixed=bytes(raw),
    )  # fmt: skip


def _progress(specific: bytes) -> int | None:
    if len(specific) < 3 or not specific[0] & 0x80:
        return None
    return int.from_bytes(specific[1:3], "big")


def _address(buffer: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
