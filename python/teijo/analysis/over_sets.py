"""Cells of slices over growing sets: what of a cliff or a fall is beyond their scatter, and whether
two devices differ. Cells are by their set in bytes, ascending.
"""

import math
from collections.abc import Mapping
from typing import Final

from teijo.analysis.difference import difference_of
from teijo.analysis.slices import Slices, ratio_of
from teijo.analysis.tiering import Cliff, Fall, Rates, cliff_known, is_sharp

EQUAL: Final = 0.02
"""Rates of two devices that are nearer to each other than this share are taken as equal."""

Cells = Mapping[int, Slices]


def certain_cliff(cliff: Cliff, rates: Rates, cells: Cells) -> Cliff | None:
    """Return the cliff between the sets that are surely held and surely not; None without one."""
    (_, first), *others = cells.items()
    ratios = {each: ratio_of(first, cell) for each, cell in others}
    known = {each: ratio for each, ratio in ratios.items() if ratio is not None}
    return cliff_known(cliff, rates, known)


def is_certain(fall: Fall, rates: Rates, cells: Cells, again: Cells) -> bool:
    """Return whether what makes the fall a tier's is beyond the rates' scatter: that it is slower
    there at all, sharply so, and so again in the cells that were measured again.
    """
    cliff = fall.cliff
    back = ratio_of(again[fall.back_bytes], again[cliff.bad_bytes])
    if certain_cliff(cliff, rates, cells) is None or back is None or back.high >= 1:
        return False
    before = [(size, cell) for size, cell in cells.items() if size <= cliff.good_bytes]
    behind = [(size, cell) for size, cell in cells.items() if size >= cliff.bad_bytes]
    return any(
        (ratio := ratio_of(one, other)) is not None and is_sharp(ratio, large / small)
        for small, one in before
        for large, other in behind
    )


def nearest(cells: Cells, set_bytes: int) -> Slices | None:
    """Return the cell at a set, or at the measured one next to it; None without any."""
    near = min(cells, key=lambda each: abs(math.log(each / set_bytes)), default=None)
    return None if near is None else cells[near]


def levelled(tier: Cells, slow: Cells, *, held_bytes: int) -> tuple[float, float]:
    """Return both rates at the largest set that the tier is known to hold, or at the largest of
    all where it is known to hold none; the tier's twice where they do not differ. At a smaller set
    the slow device may answer from caches of its own.

    The sets were measured apart from each other, so how they scatter, the tier's up to that set,
    the slow device's from it on, says how well the rates are known; of one set its slices have to.
    """
    size = max((each for each in tier if each <= held_bytes), default=max(tier))
    beside = nearest(slow, size)
    assert beside is not None, "the slow device was measured alone"
    held = [cell.rate for each, cell in tier.items() if each <= held_bytes]
    found = difference_of(held, [cell.rate for each, cell in slow.items() if each >= size])
    if found is None:
        found = ratio_of(tier[size], beside, tolerance=0.0)
    if found is None or not found.shown or abs(found.ratio - 1) <= EQUAL:
        return tier[size].rate, tier[size].rate
    return tier[size].rate, beside.rate
