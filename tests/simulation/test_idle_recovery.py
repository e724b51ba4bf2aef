"""HIR end to end on simulated drives, held to a fluid of three limits that knows no blocks.

Blocks of 32 pages keep the cleaning of one (about 30 ms) short against a burst of 167 ms: a fluid
has no grain. The pool, the buffer and the rates are parameters of the drive; only its steady rate
is measured, without a rest, on either side of each wait state.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo import api

DRIVE = (
    "sim:mlc-a?capacity=1GiB&pages_per_block=32&program_us=1000&erase_us=375&op_percent=28"
    "&gc=greedy"
)
PAGES = 2**30 // 4096
FRESH_IOPS = 16 / 1e-3
"""Sixteen dies that program a page in 1 ms."""
BUFFER_PAGES = 4 * 2**20 // 4096
IDLE_WAIT_S = 0.010
BURST_S = 2 / 12
"""A twelfth of a minute of 2 s."""
SETTINGS = {"minute": "2s", "bursts": "60", "baseline_minutes": "20"}
TOLERANCE = 0.10


def fluid_iops(*, steady_iops: float, idle_s: float, pool_pages: float) -> float:
    """Return IOPS of a burst: the least of what time, flash and pool allow."""
    by_time = steady_iops * (BURST_S + idle_s - IDLE_WAIT_S)
    by_flash = FRESH_IOPS * BURST_S + BUFFER_PAGES
    by_pool = steady_iops * BURST_S + pool_pages * (1 - steady_iops / FRESH_IOPS) + BUFFER_PAGES
    return min(by_time, by_flash, by_pool) / BURST_S


@dataclass(frozen=True)
class Outcome:
    """Bursts of each wait state, in the standard's seconds, beside what the fluid says."""

    measured: dict[int, float]
    fluid: dict[int, float]


def outcome(folder: Path, *, idle: str, pool_percent: float) -> Outcome:
    run = api.run(
        "pts.hir",
        f"{DRIVE}&idle_pool_percent={pool_percent}",
        output=folder / "run",
        settings={**SETTINGS, "idle": idle},
        seed=1,
    )
    assert run.record.run.ending == "steady"
    found = {each.name: each.value or 0.0 for each in run.findings.scalars}
    (window,) = (state.window for state in run.findings.steady_states)
    assert window is not None
    before = window.average
    measured, fluid = {}, {}
    for idle_s in map(int, idle.split(",")):
        after = found[f"idle {idle_s} s: baseline after"]
        measured[idle_s] = found[f"idle {idle_s} s: mean of the bursts"]
        fluid[idle_s] = fluid_iops(
            steady_iops=(before + after) / 2,
            idle_s=idle_s / 30,
            pool_pages=PAGES * pool_percent / 100,
        )
        before = after
    return Outcome(measured=measured, fluid=fluid)


def test_the_fluid_has_three_limits():
    # 6,000 IOPS: 0.3233 s × 6,000; then 2,667 + 1,024 pages; then 1,000 + 0.625 × 1,311 + 1,024.
    slow = {"steady_iops": 6_000.0, "pool_pages": 1e9}
    assert fluid_iops(idle_s=5 / 30, **slow) == pytest.approx(6_000 * 0.32333 * 6, rel=1e-4)
    assert fluid_iops(idle_s=50 / 30, **slow) == pytest.approx(22_144)
    small = fluid_iops(idle_s=50 / 30, steady_iops=6_000.0, pool_pages=1_311)
    assert small == pytest.approx((1_000 + 819.4 + 1_024) * 6, rel=1e-3)


def test_a_rest_gives_what_the_fluid_says_until_the_burst_is_too_short_for_it(tmp_path):
    found = outcome(tmp_path, idle="5,10,50", pool_percent=2)
    assert found.measured == pytest.approx(found.fluid, rel=TOLERANCE)
    assert found.fluid[50] == pytest.approx(FRESH_IOPS + BUFFER_PAGES / BURST_S)


def test_a_small_pool_is_used_up_and_a_longer_rest_gives_no_more(tmp_path):
    found = outcome(tmp_path, idle="10,50", pool_percent=0.5)
    assert found.measured == pytest.approx(found.fluid, rel=TOLERANCE)
    assert found.measured[50] < 1.1 * found.measured[10]


def test_a_drive_that_never_cleans_ahead_gains_its_buffer_and_no_more(tmp_path):
    found = outcome(tmp_path, idle="10,50", pool_percent=0)
    assert found.measured == pytest.approx(found.fluid, rel=TOLERANCE)
    assert found.measured[50] < 1.03 * found.measured[10]
