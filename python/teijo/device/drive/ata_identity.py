"""What an ATA drive says of itself, decoded: IDENTIFY DEVICE, sanitize status, power mode.

Source: ACS-4, table of IDENTIFY DEVICE data; SANITIZE STATUS EXT; CHECK POWER MODE. A word of 0000h
or FFFFh is a word that is not told. Bytes of a drive: any value may stand anywhere.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.commands.ata import TaskFile
from teijo.device.drive.fields import identifier, is_set, text

WORDS: Final = 256
SIGNATURE: Final = 0xA5
LOWEST_RPM: Final = 0x0401
HIGHEST_RPM: Final = 0xFFFE
NON_ROTATING: Final = 1
FORM_FACTORS: Final = {
    1: "5.25 inch", 2: "3.5 inch", 3: "2.5 inch", 4: "1.8 inch", 5: "less than 1.8 inch",
    6: "mSATA", 7: "M.2", 8: "MicroSSD", 9: "CFast",
}  # fmt: skip
SPEEDS: Final = {1: "1.5 Gb/s", 2: "3.0 Gb/s", 3: "6.0 Gb/s"}
VERSIONS: Final = {
    5: "ATA/ATAPI-5", 6: "ATA/ATAPI-6", 7: "ATA/ATAPI-7", 8: "ATA8-ACS",
    9: "ACS-2", 10: "ACS-3", 11: "ACS-4", 12: "ACS-5",
}  # fmt: skip
POWER_MODES: Final = {
    0x00: "standby", 0x01: "standby", 0x40: "active", 0x41: "active",
    0x80: "idle", 0x81: "idle", 0x82: "idle", 0x83: "idle", 0xFF: "active or idle",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EraseTime:
    """How long SECURITY ERASE UNIT takes; `longer` where the drive says only: more than that."""

    minutes: int
    longer: bool


WAYS_OUT_OF_FROZEN: Final = (
    "The BIOS froze it at the start. In this order: suspend this machine to RAM and wake it; "
    "unplug the drive's power and plug it again; use another port or adapter; look for an option "
    "of the BIOS."
)


@dataclass(frozen=True, kw_only=True)
class AtaSecurity:
    """Word 128 bit by bit, and the times of words 89 and 90."""

    supported: bool
    enabled: bool
    locked: bool
    frozen: bool
    tries_used_up: bool
    enhanced_erase: bool
    maximum_level: bool
    erase: EraseTime | None
    enhanced: EraseTime | None


@dataclass(frozen=True, kw_only=True)
class AtaSanitize:
    """Word 59 bit by bit."""

    supported: bool
    crypto: bool
    block: bool
    overwrite: bool
    antifreeze: bool


@dataclass(frozen=True, kw_only=True)
class AtaSanitizeStatus:
    """SANITIZE STATUS EXT; `progress` is of 65536, None unless one runs."""

    completed: bool
    running: bool
    failed: bool
    frozen: bool
    antifreeze: bool
    progress: int | None

    @property
    def runs(self) -> bool:
        """Whether one is under way."""
        return self.running

    @property
    def state(self) -> str:
        """In words; a drive does not keep whether there ever was one."""
        if self.running:
            return "under way"
        return "failed" if self.failed else "completed" if self.completed else "not told"

    @property
    def percent(self) -> float | None:
        """How far it is: the drive counts from 0, FFFFh is done."""
        return None if self.progress is None else self.progress / 0xFFFF * 100


@dataclass(frozen=True, kw_only=True)
class AtaIdentity:
    """IDENTIFY DEVICE; what is not told is empty or None."""

    serial: str
    model: str
    firmware: str
    wwn: str
    spec_version: str
    is_whole: bool
    """Whether its checksum is right, or it has none."""

    size_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int
    rotation_rpm: int | None
    """0 of a drive that does not rotate."""

    form_factor: str
    sata_speed_now: str
    sata_speed_possible: str
    queue_depth: int | None
    trim: bool
    trimmed_reads: str
    """"zeros", "the same each time", or "anything"; empty without TRIM."""

    zoned: str
    sanitize: AtaSanitize
    security: AtaSecurity
    apm_level: int | None
    device_sleep: bool
    self_test: bool
    volatile_write_cache: bool


def identity_of(raw: bytes) -> AtaIdentity:
    """Return what the 512 bytes of IDENTIFY DEVICE say; missing bytes count as 0."""
    raw = raw.ljust(2 * WORDS, b"\0")[: 2 * WORDS]
    words = [int.from_bytes(raw[at : at + 2], "little") for at in range(0, 2 * WORDS, 2)]
    logical, physical = _blocks(words)
    trim = is_set(_told(words[169]), 0)
    return AtaIdentity(
        serial=_swapped(raw, 10, 20),
        model=_swapped(raw, 27, 47),
        firmware=_swapped(raw, 23, 27),
        wwn=_wwn(raw, words),
        spec_version=_version(words[80]),
        is_whole=words[255] & 0xFF != SIGNATURE or sum(raw) & 0xFF == 0,
        size_bytes=_sectors(words) * logical,
        logical_block_bytes=logical,
        physical_block_bytes=physical,
        rotation_rpm=_rotation(words[217]),
        form_factor=FORM_FACTORS.get(_told(words[168]) & 0xF, ""),
        sata_speed_now=SPEEDS.get(_told(words[77]) >> 1 & 0b111, ""),
        sata_speed_possible=_fastest(_told(words[76])),
        queue_depth=(words[75] & 0x1F) + 1 if is_set(_told(words[76]), 8) else None,
        trim=trim,
        trimmed_reads=_trimmed(words[69]) if trim else "",
        zoned={1: "host-aware", 2: "device-managed"}.get(_told(words[69]) & 0b11, "none"),
        sanitize=_sanitize(_told(words[59])),
        security=_security(words),
        apm_level=words[91] & 0xFF if is_set(_told(words[86]), 3) else None,
        device_sleep=is_set(_told(words[78]), 8),
        self_test=is_set(words[84], 1) and words[84] >> 14 == 1,
        volatile_write_cache=is_set(_told(words[82]), 5),
    )


def _told(word: int) -> int:
    return 0 if word == 0xFFFF else word


def _swapped(raw: bytes, start: int, end: int) -> str:
    """Return a text of words `start` to `end`: each word has its first letter in its high byte."""
    field = raw[2 * start : 2 * end]
    return text(bytes(field[at ^ 1] for at in range(len(field))))


def _wwn(raw: bytes, words: list[int]) -> str:
    if words[87] >> 14 != 1 or not is_set(words[87], 8):
        return ""
    field = raw[216:224]
    return identifier(bytes(field[at ^ 1] for at in range(8)))


def _version(word: int) -> str:
    told = _told(word)
    return next((VERSIONS[bit] for bit in sorted(VERSIONS, reverse=True) if is_set(told, bit)), "")


def _sectors(words: list[int]) -> int:
    def number(start: int, count: int) -> int:
        return sum(words[start + place] << 16 * place for place in range(count))

    # ACS-3: beyond 48 bits (word 69 bit 3) it is in 230 to 233.
    if is_set(_told(words[69]), 3):
        return number(230, 4)
    return number(100, 4) if is_set(_told(words[83]), 10) else number(60, 2)


def _blocks(words: list[int]) -> tuple[int, int]:
    told = words[106]
    if told >> 14 != 1:
        return 512, 512
    logical = 2 * (words[117] | words[118] << 16) if is_set(told, 12) else 512
    logical = logical if logical in range(512, 1 << 20) else 512
    return logical, logical << (told & 0xF) if is_set(told, 13) else logical


def _rotation(word: int) -> int | None:
    if word == NON_ROTATING:
        return 0
    return word if LOWEST_RPM <= word <= HIGHEST_RPM else None


def _fastest(able: int) -> str:
    return next((SPEEDS[bit] for bit in (3, 2, 1) if is_set(able, bit)), "")


def _trimmed(word: int) -> str:
    told = _told(word)
    if not is_set(told, 14):
        return "anything"
    return "zeros" if is_set(told, 5) else "the same each time"


def _sanitize(word: int) -> AtaSanitize:
    return AtaSanitize(
        supported=is_set(word, 12),
        crypto=is_set(word, 13),
        block=is_set(word, 15),
        overwrite=is_set(word, 14),
        antifreeze=is_set(word, 10),
    )


def _security(words: list[int]) -> AtaSecurity:
    state = _told(words[128])
    supported = is_set(state, 0)
    return AtaSecurity(
        supported=supported,
        enabled=is_set(state, 1),
        locked=is_set(state, 2),
        frozen=is_set(state, 3),
        tries_used_up=is_set(state, 4),
        enhanced_erase=is_set(state, 5),
        maximum_level=is_set(state, 8),
        erase=_erase_time(words[89]) if supported else None,
        enhanced=_erase_time(words[90]) if supported and is_set(state, 5) else None,
    )


def _erase_time(word: int) -> EraseTime | None:
    """Return the time of an erase: counted in 2 minutes, all ones is "longer than that"."""
    most = 0x7FFF if is_set(word, 15) else 0xFF
    count = word & most
    if count == 0:
        return None
    longer = count == most
    return EraseTime(minutes=2 * (count - longer), longer=longer)


def sanitize_status_of(registers: TaskFile, *, aborted: bool = False) -> AtaSanitizeStatus:
    """Return what SANITIZE STATUS EXT answered; `aborted` with the reason in the lowest of LBA."""
    flags, reason = registers.count >> 8, registers.lba & 0xFF if aborted else 0
    running = is_set(flags, 6) and not aborted
    return AtaSanitizeStatus(
        completed=is_set(flags, 7) and not aborted,
        running=running,
        failed=reason == 1,
        frozen=is_set(flags, 5) or reason == 3,
        antifreeze=is_set(flags, 4) or reason == 4,
        progress=registers.lba & 0xFFFF if running else None,
    )
