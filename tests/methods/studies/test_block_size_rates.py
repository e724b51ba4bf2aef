"""How often the study `block-size` is wrong on a device whose rate wanders: sizes that are served
alike are not told apart, and no unit is named where there is none.
"""

import pytest

from teijo.methods.studies.block_size.found import BlockSizeFound
from tests.methods.canned import Canned, play
from tests.methods.studies.test_block_size import METHOD, QUICK, found_of
from tests.methods.studies.wandering import most_allowed, wander

FEW, MANY = 6, 100
WANDERS = [(0.0, 0.02), (0.8, 0.05), (0.99, 0.1)]


def studied(count: int, likeness: float, scatter: float) -> list[BlockSizeFound]:
    found = []
    for seed in range(count):
        following = wander(seed, likeness=likeness, scatter=scatter)
        device = Canned(rate=lambda _, following=following: 10_000 * following())
        found.append(found_of(play(METHOD, device, overrides=QUICK)))
    return found


def told_apart(found: list[BlockSizeFound]) -> tuple[int, int]:
    """Return how many ratios of neighbouring sizes leave out 1, and how many there are."""
    ratios = [
        each.ratio(point.size_bytes, 2 * point.size_bytes, point.load)
        for each in found
        for point in each.points
        if each.at(2 * point.size_bytes, point.load) is not None
    ]
    return sum(ratio is not None and ratio.shown for ratio in ratios), len(ratios)


def named(found: list[BlockSizeFound]) -> int:
    return sum(each.unit is not None and each.unit.unit_bytes is not None for each in found)


@pytest.mark.parametrize(("likeness", "scatter"), WANDERS)
def test_sizes_that_are_served_alike_are_not_told_apart(likeness: float, scatter: float) -> None:
    found = studied(FEW, likeness, scatter)
    shown, ratios = told_apart(found)
    assert shown <= most_allowed(ratios)
    assert named(found) <= most_allowed(FEW)


def test_a_wandering_level_widens_the_cells_and_not_the_ratios() -> None:
    (found,) = studied(1, 0.99, 0.1)
    cell, ratio = found.at(4096, 1), found.ratio(4096, 8192, 1)
    assert cell is not None
    assert ratio is not None
    assert cell.iops.low is not None
    assert cell.iops.low / cell.iops.mean < ratio.low / ratio.ratio


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("likeness", "scatter"), WANDERS)
def test_of_a_hundred_devices_at_most_one_ratio_in_twenty_is_told_apart(
    likeness: float, scatter: float
) -> None:
    found = studied(MANY, likeness, scatter)
    shown, ratios = told_apart(found)
    print(f"\n{likeness}, {scatter}: {shown} of {ratios} told apart, {named(found)} units named")
    assert shown <= most_allowed(ratios)
    assert named(found) <= most_allowed(MANY)
