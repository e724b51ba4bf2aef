"""A cell ends when five slices in a row are steady; one that should come back is given longer."""

import math
from fractions import Fraction

from teijo.analysis.replicates import standard_error
from teijo.analysis.slices import Slices, is_over, is_steady, rate_over, ratio_of
from teijo.terms.result import StepResult
from tests.methods.canned import flow


def slices(*rates: int) -> list[Fraction]:
    return [Fraction(each) for each in rates]


def cell(*rates_mb_s: int) -> Slices:
    return Slices(
        answers=tuple(
            StepResult(started_ns=0, elapsed_ns=10**9, results=(flow("read", each, 10**6),))
            for each in rates_mb_s
        )
    )


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


def test_an_interval_allows_for_slices_that_resemble_their_neighbours() -> None:
    found = cell(1, 1, 100, 102, 98, 101, 99)
    alone = 2.776 * standard_error(found.rates) / 100  # t(0.975, 4), of any table
    assert found.rate == 100
    assert found.throughput.high is not None
    # 3.2 times the error, and 2.5 degrees of freedom where there were 4.
    wider = math.log(found.throughput.high / 100) / alone
    assert 3.2 < wider < 4.5


def test_a_ratio_of_two_cells_allows_for_what_steady_cells_of_one_rate_may_differ_by() -> None:
    slow, fast = cell(100, 101, 99, 100, 100), cell(110, 111, 109, 110, 110)
    within, strict = ratio_of(slow, fast), ratio_of(slow, fast, tolerance=0.0)
    assert within is not None
    assert strict is not None
    assert within.ratio == strict.ratio == 1.1
    assert strict.shown
    assert not within.shown
    assert ratio_of(cell(100), fast) is None
