"""A slow drive among simulated ones is named, and good ones are not: real runs, seeds fixed.

`benchmarks/fleet_outliers.py` counts both in a hundred fleets of forty.
"""

import pytest

from benchmarks.fleet_outliers import Judged, Measured, fleet_of, interval

SLOW_PERCENT = 4.4
"""So much longer for all it does: about 5 % slower, all figures together."""


def test_a_slow_drive_of_twelve_is_named_and_no_good_one_is() -> None:
    measured = fleet_of(3, 12, spread=0.2, slow=SLOW_PERCENT)
    found = measured.judged
    assert found.found
    assert (found.alike, found.others) == (0, 0)
    assert 4 < found.loss_percent < 6
    assert Measured.from_json(measured.as_json()).judged == found


@pytest.mark.long
def test_in_ten_fleets_of_forty_nearly_every_slow_drive_is_named_and_hardly_a_good_one() -> None:
    fleets = [fleet_of(at, 40, spread=0.8, slow=SLOW_PERCENT).judged for at in range(10)]
    assert rate(fleets, found=True) >= 0.9
    assert rate(fleets, found=False) <= 0.1


def rate(fleets: list[Judged], *, found: bool) -> float:
    """Return the share of fleets whose slow drive was named, or of which a good one was."""
    return sum(each.found if found else each.alike > 0 for each in fleets) / len(fleets)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 0.03622), (5, 0.01643, 0.11284), (95, 0.88717, 0.98357), (100, 0.96378, 1.0)],
)
def test_the_interval_of_a_share_is_that_of_the_tables(count: int, low: float, high: float) -> None:
    assert interval(count, 100) == pytest.approx((low, high), abs=1e-4)
