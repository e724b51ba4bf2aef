"""A cell ends when five slices in a row are steady; one that should come back is given longer."""

from fractions import Fraction

from teijo.analysis.slices import is_over, is_steady, rate_over


def slices(*rates: int) -> list[Fraction]:
    return [Fraction(each) for each in rates]


def test_five_slices_within_a_fifth_of_their_average_are_steady() -> None:
    assert is_steady(slices(100, 100, 100, 100, 100))
    assert not is_steady(slices(100, 100, 100, 100))
    assert not is_steady(slices(100, 100, 100, 100, 130))
    assert is_steady(slices(500, 9, 11, 10, 11, 9))


def test_a_cell_ends_when_it_is_steady_or_its_slices_are_used_up() -> None:
    assert is_over(slices(*[100] * 5), most=10)
    assert not is_over(slices(*range(10, 19)), most=10)
    assert is_over(slices(*range(10, 20)), most=10)


def test_a_cell_that_gets_faster_has_four_times_the_slices_to_come_back() -> None:
    rising = slices(*range(10, 50))
    assert not is_over(rising[:30], most=10, back_to=1000.0)
    assert is_over(rising, most=10, back_to=1000.0)
    assert is_over(slices(*[10] * 10), most=10, back_to=1000.0)
    assert is_over(slices(*[900] * 5), most=10, back_to=1000.0)
    assert not is_over(slices(*[600] * 5), most=10, back_to=1000.0)


def test_a_rate_is_that_of_the_last_five_slices() -> None:
    assert rate_over(slices(1000, 1, 2, 3, 4, 5)) == 3
    assert rate_over(slices(7)) == 7
