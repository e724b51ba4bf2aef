"""Bytes of drives made up for a test: an NVMe log, and ATA words with SMART attributes."""

import struct
from collections.abc import Sequence

from teijo.personas.crystaldiskinfo.disk import Disk

Rows = Sequence[tuple[int, int, int, int]]
"""Id, value, threshold, raw value."""


def nvme(spare: int, threshold: int, used: int, warning: int = 0, model: str = "Drive") -> Disk:
    log = bytes((warning, 0x30, 0x01, spare, threshold, used)).ljust(512, b"\0")
    controller = bytearray(4096)
    controller[24:64] = model.encode().ljust(40)
    return Disk(kind="nvme", model=model, identify=bytes(controller), smart=log)


def words(
    model: str, *, firmware: str = "1.0", ssd: bool, more: dict[int, int] | None = None
) -> bytes:
    """Return IDENTIFY DEVICE of a drive of ACS-2 with SMART."""
    told = [0] * 256
    for start, text, length in ((10, "S1", 20), (23, firmware, 8), (27, model, 40)):
        field = text.encode().ljust(length)
        for place in range(length // 2):
            told[start + place] = field[2 * place] << 8 | field[2 * place + 1]
    told[80], told[82], told[217] = 1 << 9, 1, 1 if ssd else 7200
    for number, value in (more or {}).items():
        told[number] = value
    return struct.pack("<256H", *told)


def ata(rows: Rows, *, model: str = "Drive", ssd: bool = False, **more: object) -> Disk:
    """Return a drive with these attributes; `thresholds=False` where it tells none."""
    data, limits = bytearray(512), bytearray(512)
    for place, (number, value, threshold, raw) in enumerate(rows):
        at = 2 + 12 * place
        data[at : at + 12] = struct.pack("<BHBB", number, 0, value, value) + (
            raw.to_bytes(6, "little") + b"\0"
        )
        limits[at : at + 2] = bytes((number, threshold))
    # So that the two are never the same.
    data[510], limits[510] = 1, 2
    read = more.pop("thresholds", True)
    return Disk(
        kind="ata",
        model=model,
        identify=words(model, ssd=ssd, **more),  # type: ignore[arg-type]
        smart=bytes(data),
        thresholds=bytes(limits) if read else b"",
    )


def with_ids(ids: str, *rows: tuple[int, int, int, int]) -> Rows:
    """Return rows of these ids that say nothing, and in the place of some of them others."""
    given = {row[0]: row for row in rows}
    first = [int(one, 16) for one in ids.split()]
    kept = [given.pop(one, (one, 100, 0, 0)) for one in first]
    return [*kept, *given.values()]
