"""What cells over growing sets show beyond their scatter."""

from teijo.analysis.over_sets import certain_cliff, is_certain, levelled, nearest
from teijo.analysis.slices import Slices
from teijo.analysis.tiering import cliff_of, fall_of
from tests.analysis.test_slices import cell

CALM = (100, 101, 99, 100, 100)
SLOW = (10, 11, 10, 10, 9)
LOUD = (10, 190, 20, 180, 100)


def over(*cells: tuple[int, ...]) -> dict[int, Slices]:
    """Return cells over sets of 1, 2, 4 … bytes."""
    return {1 << place: cell(*rates) for place, rates in enumerate(cells)}


def rates_of(cells: dict[int, Slices]) -> list[tuple[int, float]]:
    return [(size, each.rate) for size, each in cells.items()]


def certain(cells: dict[int, Slices], again: dict[int, Slices]) -> bool:
    rates = rates_of(cells)
    fall = fall_of(rates, back=again[1].rate, again=again[4].rate, reads=True)
    assert fall is not None
    return is_certain(fall, rates, cells, again)


def test_a_fall_far_beyond_the_scatter_is_certain_if_it_is_there_again() -> None:
    cells = over(CALM, CALM, SLOW, SLOW)
    assert certain(cells, {1: cell(*CALM), 4: cell(*SLOW)})
    assert not certain(cells, {1: cell(*CALM), 4: cell(*CALM)})
    assert not certain(over(LOUD, LOUD, SLOW, SLOW), {1: cell(*CALM), 4: cell(*SLOW)})


def test_a_cliff_is_certain_between_sets_that_are_surely_held_and_surely_not() -> None:
    cells = over(CALM, (72, 70, 71, 73, 70), SLOW)
    cliff = cliff_of(rates_of(cells))
    assert cliff is not None
    found = certain_cliff(cliff, rates_of(cells), cells)
    assert found is not None
    assert (cliff.good_bytes, found.good_bytes, found.bad_bytes) == (2, 1, 4)


def test_the_nearest_set_is_so_by_its_ratio() -> None:
    cells = over(CALM, SLOW, CALM)
    assert nearest(cells, 3) is cells[4]
    assert nearest(cells, 2) is cells[2]
    assert nearest({}, 2) is None


def test_rates_that_do_not_differ_beyond_their_scatter_are_levelled() -> None:
    assert levelled(over(CALM, CALM), over(SLOW, SLOW), held_bytes=4) == (100, 10)
    assert levelled(over(CALM, CALM), over((101,) * 5, (99,) * 5), held_bytes=4) == (100, 100)
    assert levelled(over(CALM), over(LOUD), held_bytes=4) == (100, 100)
