"""Little's law against an article's table: which of its cells can be of the same calls."""

import pytest

from teijo.analysis.little import agreement, agrees, rate_by_law

MIB, BLOCK, THREADS = 1024 * 1024, 4096, 8
TABLE = {
    "SATA, sequential write": (83.826, 0.326),
    "SSD, sequential write": (251.427, 0.108),
    "ioDrive, sequential write": (535.675, 0.052),
    "SATA, random write": (4.727, 5.722),
    "SSD, random write": (170.547, 0.150),
    "ioDrive, random write": (593.659, 0.049),
    "SATA, sequential read": (158.834, 0.166),
    "SSD, sequential read": (712.450, 0.042),
    "ioDrive, sequential read": (437.936, 0.071),
    "SATA, random read": (2.264, 12.931),
    "SSD, random read": (98.142, 0.305),
    "ioDrive, random read": (120.311, 0.258),
}
"""MiB/s and mean ms of tiotest with 8 threads and 4 KiB, memory held to 512 MiB."""
WITH_16_GB = {
    "sequential write": (92.085, 0.004, 0.0118),
    "random write": (22.201, 0.003, 0.0021),
    "sequential read": (19339.364, 0.002, 1.238),
    "random read": (18175.686, 0.002, 1.163),
}
"""The same with 16 GB of memory, and the ratio that they have."""


def ratio_of(mib_s: float, mean_ms: float) -> float:
    ratio = agreement(mib_s * MIB / BLOCK, THREADS, mean_ms * 1e6)
    assert ratio is not None
    return ratio


@pytest.mark.parametrize("cell", TABLE.values(), ids=TABLE)
def test_every_cell_with_little_memory_agrees_with_its_latency(cell: tuple[float, float]) -> None:
    assert agrees(ratio_of(*cell))


@pytest.mark.parametrize("cell", WITH_16_GB.values(), ids=WITH_16_GB)
def test_no_cell_with_16_gb_does(cell: tuple[float, float, float]) -> None:
    mib_s, mean_ms, known = cell
    assert ratio_of(mib_s, mean_ms) == pytest.approx(known, rel=0.02)
    assert not agrees(ratio_of(mib_s, mean_ms))


def test_eight_in_flight_of_a_millisecond_are_8000_a_second() -> None:
    assert rate_by_law(8, 1_000_000) == 8000
    assert agreement(8000, 8, 1_000_000) == 1.0


def test_times_of_nothing_imply_no_rate() -> None:
    assert agreement(100, 8, 0) is None
