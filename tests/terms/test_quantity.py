"""The figures that are compared: which of them is better, and that each has a unit of its own."""

from teijo.terms.quantity import FIGURES, IOPS, LATENCY, LATENCY_MAX, THROUGHPUT, Quantity


def test_more_is_faster_of_rates_and_slower_of_times() -> None:
    assert [figure.more_is_faster for figure in (IOPS, THROUGHPUT)] == [True, True]
    assert [figure.more_is_faster for figure in (LATENCY, LATENCY_MAX)] == [False, False]
    assert len({figure.name for figure in FIGURES}) == len(FIGURES) == 4


def test_a_quantity_of_one_run_has_no_error_of_others() -> None:
    quantity = Quantity(place="RND 4 KiB 0/100", figure=IOPS, value=2.0, batches=(1.0, 3.0))
    assert (quantity.runs, quantity.own_error, quantity.steady) == (1, 0.0, None)
