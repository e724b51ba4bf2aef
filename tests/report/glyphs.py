"""Which letters a font has: its cmap, read by hand (OpenType 1.9, formats 4 and 12)."""

import struct
from pathlib import Path


def letters_of(font: Path) -> frozenset[int]:
    """Return the code points that a font has a glyph for."""
    data = font.read_bytes()
    (count,) = struct.unpack_from(">H", data, 4)
    tables = {
        data[at : at + 4]: struct.unpack_from(">I", data, at + 8)[0]
        for at in range(12, 12 + 16 * count, 16)
    }
    cmap = tables[b"cmap"]
    (count,) = struct.unpack_from(">H", data, cmap + 2)
    found: set[int] = set()
    for place in range(count):
        (offset,) = struct.unpack_from(">I", data, cmap + 4 + 8 * place + 4)
        found |= _of_format_12(data, cmap + offset) | _of_format_4(data, cmap + offset)
    return frozenset(found)


def _of_format_12(data: bytes, at: int) -> set[int]:
    if struct.unpack_from(">H", data, at)[0] != 12:
        return set()
    (count,) = struct.unpack_from(">I", data, at + 12)
    groups = [struct.unpack_from(">II", data, at + 16 + 12 * group) for group in range(count)]
    return {code for first, last in groups for code in range(first, last + 1)}


def _of_format_4(data: bytes, at: int) -> set[int]:
    """Return the segments' codes; a subset of a font has none that lead to no glyph."""
    if struct.unpack_from(">H", data, at)[0] != 4:
        return set()
    count = struct.unpack_from(">H", data, at + 6)[0] // 2
    ends = struct.unpack_from(f">{count}H", data, at + 14)
    starts = struct.unpack_from(f">{count}H", data, at + 16 + 2 * count)
    return {
        code
        for first, last in zip(starts, ends, strict=True)
        for code in range(first, last + 1)
        if code != 0xFFFF
    }
