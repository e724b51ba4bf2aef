"""SMART data as the original takes it apart: rows in their order, with the thresholds beside."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from teijo.personas.crystaldiskinfo.disk import SECTOR_BYTES

NAMELESS: Final = "Vendor Specific"
NVME_NAMES: Final = "SmartNVMe"
_PLACES: Final = range(2, 2 + 30 * 12, 12)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attribute. `raw` is its six bytes, the lowest first; `reserved` the byte after them."""

    number: int
    value: int = 0
    worst: int = 0
    threshold: int = 0
    raw: bytes
    reserved: int = 0

    @property
    def count(self) -> int:
        """All six bytes as a number."""
        return int.from_bytes(self.raw, "little")

    @property
    def low(self) -> int:
        """The lowest four bytes as a number."""
        return int.from_bytes(self.raw[:4], "little")


def rows_of(data: bytes) -> tuple[Row, ...]:
    """Return the attributes of SMART READ DATA; an entry whose id is 0 is none."""
    data = data.ljust(SECTOR_BYTES, b"\0")
    return tuple(
        Row(
            number=data[at], value=data[at + 3], worst=data[at + 4], raw=data[at + 5 : at + 11],
            reserved=data[at + 11],
        )
        for at in _PLACES
        if data[at]
    )  # fmt: skip


def with_thresholds(
    rows: tuple[Row, ...], thresholds: bytes, *, by_reserved: bool
) -> tuple[Row, ...]:
    """Return the rows with the thresholds of the same ids; the last of an id counts.

    With `by_reserved` the byte after the raw value is the threshold, where no id fits.
    """
    thresholds = thresholds.ljust(SECTOR_BYTES, b"\0")
    limits = {thresholds[at]: thresholds[at + 1] for at in _PLACES if thresholds[at]}
    if by_reserved and not any(row.number in limits for row in rows):
        return tuple(replace(row, threshold=row.reserved) for row in rows)
    return tuple(replace(row, threshold=limits.get(row.number, 0)) for row in rows)


_NVME: Final = (
    (0x01, 0, 1), (0x02, 1, 2), (0x03, 3, 1), (0x04, 4, 1), (0x05, 5, 1), (0x06, 32, 6),
    (0x07, 48, 6), (0x08, 64, 6), (0x09, 80, 6), (0x0A, 96, 6), (0x0B, 112, 6), (0x0C, 128, 6),
    (0x0D, 144, 6), (0x0E, 160, 6), (0x0F, 176, 6),
)  # fmt: skip
"""Id, place in log 02h and length of the rows that each NVMe drive has."""
_LIMITS_AT: Final = slice(266, 270)
_THERMAL_AT: Final = slice(324, 328)


def nvme_rows(log: bytes, controller: bytes) -> tuple[Row, ...]:
    """Return log 02h as rows; those of temperature limits and sensors where the drive has such."""
    log, controller = log.ljust(SECTOR_BYTES, b"\0"), controller.ljust(SECTOR_BYTES, b"\0")
    places = [
        *_NVME,
        *(((0x10, 192, 4), (0x11, 196, 4)) if any(controller[_LIMITS_AT]) else ()),
        *((0x12 + n, at, 2) for n, at in enumerate(range(200, 216, 2)) if any(log[at : at + 2])),
        *(((0x1A + n, 216 + 4 * n, 4) for n in range(4)) if any(controller[_THERMAL_AT]) else ()),
    ]
    return tuple(
        Row(number=number, raw=log[at : at + length].ljust(6, b"\0"))
        for number, at, length in places
    )


def name_of(number: int, table: str) -> str:
    """Return what the original prints of an id, by its table of names."""
    return _names()[table].get(f"{number:02X}", NAMELESS)


@cache
def _names() -> Mapping[str, Mapping[str, str]]:
    """Return the tables; TOML reads a key of digits as text too."""
    return tomllib.loads(Path(__file__).with_name("attribute_names.toml").read_text("utf-8"))
