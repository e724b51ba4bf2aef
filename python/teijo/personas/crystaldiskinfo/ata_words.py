"""IDENTIFY DEVICE as the original prints it: sizes, interface, versions, features, time units.

CrystalDiskInfo 9.9.2, AtaSmart.cpp: AddDisk, GetTransferMode, GetTimeUnitType, GetAtaMinorVersion.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.disk import MB, less_rounding

WORDS: Final = 256
NOTHING: Final = "----"
_NOT_TOLD: Final = (0x0000, 0xFFFF)
_LEAST_MB: Final = 49
_MOST_LBA28: Final = 0x0FFFFFFF
_UDMA: Final = ("16", "25", "33", "44", "66", "100", "133")
_SATA: Final = {1: "SATA/150", 2: "SATA/300", 3: "SATA/600"}
_MINOR: Final[Mapping[int, str]] = {
    0x0001: "ATA (ATA-1) X3T9.2 781D prior to revision 4",
    0x0002: "ATA-1 published, ANSI X3.221-1994",
    0x0003: "ATA (ATA-1) X3T10 781D revision 4",
    0x0004: "ATA-2 published, ANSI X3.279-1996",
    0x0005: "ATA-2 X3T10 948D prior to revision 2k",
    0x0006: "ATA-3 X3T10 2008D revision 1",
    0x0007: "ATA-2 X3T10 948D revision 2k",
    0x0008: "ATA-3 X3T10 2008D revision 0",
    0x0009: "ATA-2 X3T10 948D revision 3",
    0x000A: "ATA-3 published, ANSI X3.298-199x",
    0x000B: "ATA-3 X3T10 2008D revision 6",
    0x000C: "ATA-3 X3T13 2008D revision 7 and 7a",
    0x000D: "ATA/ATAPI-4 X3T13 1153D version 6",
    0x000E: "ATA/ATAPI-4 T13 1153D version 13",
    0x000F: "ATA/ATAPI-4 X3T13 1153D version 7",
    0x0010: "ATA/ATAPI-4 T13 1153D version 18",
    0x0011: "ATA/ATAPI-4 T13 1153D version 15",
    0x0012: "ATA/ATAPI-4 published, ANSI INCITS 317-1998",
    0x0013: "ATA/ATAPI-5 T13 1321D version 3",
    0x0014: "ATA/ATAPI-4 T13 1153D version 14",
    0x0015: "ATA/ATAPI-5 T13 1321D version 1",
    0x0016: "ATA/ATAPI-5 published, ANSI INCITS 340-2000",
    0x0017: "ATA/ATAPI-4 T13 1153D version 17",
    0x0018: "ATA/ATAPI-6 T13 1410D version 0",
    0x0019: "ATA/ATAPI-6 T13 1410D version 3a",
    0x001A: "ATA/ATAPI-7 T13 1532D version 1",
    0x001B: "ATA/ATAPI-6 T13 1410D version 2",
    0x001C: "ATA/ATAPI-6 T13 1410D version 1",
    0x001D: "ATA/ATAPI-7 published ANSI INCITS 397-2005.",
    0x001E: "ATA/ATAPI-7 T13 1532D version 0",
    0x001F: "ACS-3 Revision 3b",
    0x0021: "ATA/ATAPI-7 T13 1532D version 4a",
    0x0022: "ATA/ATAPI-6 published, ANSI INCITS 361-2002",
    0x0027: "ATA8-ACS version 3c",
    0x0028: "ATA8-ACS version 6",
    0x0029: "ATA8-ACS version 4",
    0x0031: "ACS-2 Revision 2",
    0x0033: "ATA8-ACS version 3e",
    0x0039: "ATA8-ACS version 4c",
    0x0042: "ATA8-ACS version 3f",
    0x0052: "ATA8-ACS version 3b",
    0x005E: "ACS-4 Revision 5",
    0x006D: "ACS-3 Revision 5",
    0x0082: "ACS-2 published, ANSI INCITS 482-2012",
    0x009C: "ACS-4 published, ANSI INCITS 529-2018",
    0x0107: "ATA8-ACS version 2d",
    0x010A: "ACS-3 published, ANSI INCITS 522-2014",
    0x0110: "ACS-2 Revision 3",
    0x011B: "ACS-3 Revision 4",
}


class Words:
    """The 256 words, and what is said by them; missing bytes count as 0.

    `model`, `firmware` and `serial` have no spaces at their ends.
    """

    def __init__(self, raw: bytes) -> None:
        """Take the bytes as the drive sent them."""
        self._raw = raw.ljust(2 * WORDS, b"\0")[: 2 * WORDS]
        self.serial, self.firmware = self._text(10, 20), self._text(23, 27)
        self.model = self._text(27, 47)

    def __getitem__(self, number: int) -> int:
        """Return one word."""
        return int.from_bytes(self._raw[2 * number : 2 * number + 2], "little")

    def _text(self, start: int, end: int) -> str:
        field = self._raw[2 * start : 2 * end]
        turned = bytes(field[at ^ 1] for at in range(len(field)))
        return visible(turned.partition(b"\0")[0].decode("latin-1")).strip()

    def _has(self, word: int, bit: int, *, since: int) -> bool:
        """Return whether a bit is set, of a drive of this major version or later."""
        return self.major >= since and bool(self[word] >> bit & 1)

    def _number(self, start: int, count: int) -> int:
        return int.from_bytes(self._raw[2 * start : 2 * (start + count)], "little")

    @cached_property
    def major(self) -> int:
        """The number of the newest ATA standard it claims, 0 where it claims none."""
        word = self[80]
        if word in _NOT_TOLD:
            return 0
        return max((bit for bit in range(1, 15) if word >> bit & 1), default=0)

    @property
    def standard(self) -> str:
        """The newest standard by name, empty where the drive does not tell."""
        if self[80] in _NOT_TOLD:
            return ""
        if self.major >= 9:
            return f"ACS-{self.major - 7}"
        if self.major == 8:
            return "ATA8-ACS"
        if self.major >= 4:
            return f"ATA/ATAPI-{self.major}"
        return f"ATA-{self.major}" if self.major else NOTHING

    @property
    def revision(self) -> str:
        """The revision of it by name."""
        word = self[81]
        return NOTHING if word in _NOT_TOLD else _MINOR.get(word, f"---- [{word:04X}h]")

    @property
    def smart(self) -> bool:
        """Whether it has SMART."""
        return self._has(82, 0, since=3)

    @property
    def solid_state(self) -> bool:
        """Whether it says that it does not rotate."""
        return self.major >= 7 and self[217] == 1

    @property
    def rpm(self) -> int | None:
        """How fast it rotates, None where it does not say."""
        return self[217] if self.major >= 7 and 0x401 <= self[217] < 0xFFFF else None

    @property
    def apm(self) -> str:
        """The level of power management, and whether it is on."""
        return self._level(91, 3, since=3)

    @property
    def aam(self) -> str:
        """The level of acoustic management, and whether it is on."""
        return self._level(94, 9, since=5)

    def _level(self, word: int, bit: int, *, since: int) -> str:
        if not self._has(83, bit, since=since):
            return NOTHING
        return f"{self[word]:04X}h [{'ON' if self[86] >> bit & 1 else 'OFF'}]"

    @property
    def features(self) -> tuple[str, ...]:
        """What the original calls features, in its order."""
        told = (
            ("S.M.A.R.T.", self.smart),
            ("APM", self._has(83, 3, since=3)),
            ("AAM", self._has(83, 9, since=5)),
            ("NCQ", self._has(76, 8, since=6)),
            ("TRIM", self._has(169, 0, since=7)),
            ("DevSleep", self._has(78, 8, since=7)),
            ("Streaming", self._has(84, 4, since=7)),
            ("GPL", self._has(84, 5, since=7)),
        )
        return tuple(name for name, has in told if has)

    @property
    def interface(self) -> str:
        """Serial or parallel ATA, empty where neither is told."""
        if self[76] not in _NOT_TOLD:
            return "Serial ATA"
        return "Parallel ATA" if self[88] & 0x7F else ""

    @property
    def transfer_modes(self) -> tuple[str, str]:
        """The mode now, and the fastest."""
        now = most = "PIO/DMA" if self[63] & 0x0700 else ""
        for bit, name in enumerate(_UDMA):
            most = f"UDMA/{name}" if self[88] >> bit & 1 else most
            now = f"UDMA/{name}" if self[88] >> 8 + bit & 1 else now
        if self[76] not in _NOT_TOLD:
            now = most = _SATA[1]
        if self[76] >> 4 & 1:
            now = most = NOTHING
        else:
            fastest = max((bit for bit in _SATA if self[76] >> bit & 1), default=0)
            now, most = (NOTHING, _SATA[fastest]) if fastest else (now, most)
        return _SATA.get(self[77] >> 1 & 0b111, now), most

    @property
    def _is_fast(self) -> bool:
        """Whether the fastest mode is SATA of 3 Gb/s or more."""
        return not self[76] >> 4 & 1 and bool(self[76] & 0b1100)

    @property
    def queue_depth(self) -> int | None:
        """How many commands it queues; None of a word that is out of range."""
        return self[75] + 1 if self[75] < 32 else None

    @property
    def buffer_bytes(self) -> int:
        """Its buffer, by the word that new drives have not."""
        return self[21] * 512

    @property
    def cache_mb(self) -> int:
        """Its non-volatile cache."""
        return self._number(215, 2) * 512 // 2**20 if self._has(214, 0, since=7) else 0

    @property
    def has_lba48(self) -> bool:
        """Whether it takes addresses of 48 bits."""
        return self._has(83, 10, since=5)

    @property
    def _block_bytes(self) -> int:
        large = self[106] & 0xC000 == 0x4000 and self[106] & 0xF != 3 and self[106] & 0x1000
        words = self._number(117, 2)
        return words * 2 if large and words not in (0, 256) else 512

    @cached_property
    def _chs_sectors(self) -> int:
        return min(self[1], 16383) * min(self[3], 16) * min(self[6], 63)

    @cached_property
    def chs_mb(self) -> int:
        """Its size by cylinders, heads and sectors."""
        size = self._chs_sectors * 512
        return less_rounding(size) if size // MB > 1000 else size // MB

    @cached_property
    def lba28_mb(self) -> int:
        """Its size by addresses of 28 bits."""
        return _size_mb((self._number(60, 2) & _MOST_LBA28) * 512)

    @cached_property
    def _lba48_mb(self) -> int:
        return _size_mb(self._number(100, 3) * self._block_bytes) if self.has_lba48 else 0

    @property
    def lba48_mb(self) -> int:
        """Its size by addresses of 48 bits, 0 where it is not that of those of 28 as it must be."""
        odd = self._number(60, 2) < _MOST_LBA28 and self.lba28_mb != self._lba48_mb
        return 0 if self.has_lba48 and odd else self._lba48_mb

    @property
    def size_mb(self) -> int:
        """The size that counts."""
        if self._number(60, 2) > _MOST_LBA28:
            return 0
        if self._lba48_mb > self.lba28_mb:
            return self._lba48_mb
        return max(self.lba28_mb, self.chs_mb)

    @property
    def sectors(self) -> int:
        """How many sectors it has."""
        if self._lba48_mb:
            return self._number(100, 3)
        return self._number(60, 2) & _MOST_LBA28 if self.lba28_mb else self._chs_sectors

    @property
    def per_hour(self) -> int:
        """How many of its units of power-on time make an hour."""
        model = self.model.upper()
        if model.startswith("FUJITSU"):
            return 1 if self.major >= 8 else 3600
        if model.startswith("HITACHI_DK"):
            return 60
        if model.startswith("MAXTOR"):
            new = ("MAXTOR 6H", "MAXTOR 7H500", "MAXTOR 6L0", "MAXTOR 4K")
            return 1 if self._is_fast or model.startswith(new) else 60
        if model.startswith("SAMSUNG") and not self._is_fast:
            # "CP100-10": the last three are a number below 0.
            last = _leading_number(self.firmware[-3:])
            old = ("SAMSUNG SV", "SAMSUNG SP", "SAMSUNG HM", "SAMSUNG MP")
            return 120 if -39 <= last <= -23 or model.startswith(old) else 1
        cfd = ("CFD_CSSD-S6TM128NMPQ", "CFD_CSSD-S6TM256NMPQ")
        if model.startswith(cfd) and self.firmware.startswith(("VM21", "VN21")):
            return 6
        if any(name in model for name in ("PX-128M2P", "PX-256M2P")):
            return 6 if _leading_decimal(self.firmware) < 1.059 else 1
        return 1

    @property
    def in_minutes(self) -> bool:
        """Whether the original is not sure that a Maxtor counts its time in minutes."""
        return self.model.upper().startswith("MAXTOR") and self.per_hour == 60

    @property
    def doubled_temperature(self) -> bool:
        """Whether its temperature is twice what it is."""
        digits = _leading_number(self.firmware.replace(".", ""))
        return self.model.startswith("ADATA SSD") and digits == 346


def _size_mb(size_bytes: int) -> int:
    return less_rounding(size_bytes) if size_bytes // MB > _LEAST_MB else 0


def _leading_number(text: str) -> int:
    """Return the whole number that a text begins with, 0 without one."""
    text = text.strip()
    sign = text[:1] if text[:1] in ("-", "+") else ""
    digits = ""
    for letter in text[len(sign) :]:
        if not ("0" <= letter <= "9"):
            break
        digits += letter
    return int(sign + digits) if digits else 0


def _leading_decimal(text: str) -> float:
    """Return the decimal number that a text begins with, 0 without one."""
    whole, point, rest = text.strip().partition(".")
    if not whole.isascii() or not whole.isdigit():
        return float(_leading_number(whole))
    digits = ""
    for letter in rest if point else "":
        if not ("0" <= letter <= "9"):
            break
        digits += letter
    return float(f"{whole}.{digits or 0}")
