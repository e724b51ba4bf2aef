"""What a run measured, as a page is told: the window of the report, and counters in words."""

import pytest

from teijo import api
from teijo.analysis.drive_course import Counter
from teijo.speech import tongue
from teijo.terms.finding import SteadyState
from teijo.web import counter_words
from teijo.web.measured_json import variable_json

VALUES = (1000.0, 1100.0, 950.0, 1050.0, 900.0)


def determined(*values: float) -> SteadyState:
    (state,) = api.steady({"RND 4 KiB": values}, "IOPS")
    return state


def test_a_window_has_the_operands_of_the_standard() -> None:
    told = variable_json(determined(*VALUES), 2)
    window = told["window"]
    assert window["rounds"] == [1, 2, 3, 4, 5]
    assert window["average"] == 1000
    assert window["share"] == pytest.approx([100, 110, 95, 105, 90])
    # The line through (1, 1000) … (5, 900) falls by 25 a round: 100 over the window, 10 %.
    assert window["line"] == pytest.approx([105, 102.5, 100, 97.5, 95])
    assert (window["range"], window["range_ok"]) == ("20.00 % of 20 %", True)
    assert (window["slope"], window["slope_ok"]) == ("10.00 % of 10 %", True)
    assert window["steady"]


def test_before_there_is_a_window_the_rounds_are_counted() -> None:
    told = variable_json(determined(*VALUES[:3]), 2)
    assert (told["rounds"], told["window"]) == (3, None)


def test_a_counter_that_fell_is_told_as_one() -> None:
    counters = (Counter(name="available_spare_percent", first=100, now=98),
                Counter(name="host_writes_bytes", first=10**9, now=3 * 10**9),
                Counter(name="not_for_people", first=1, now=2))  # fmt: skip
    written, spare = counter_words.named(counters)
    assert (written["first"], written["now"], written["difference"]) == (
        "1.000 GB", "3.000 GB", "+2.000 GB",
    )  # fmt: skip
    assert (spare["first"], spare["now"], spare["difference"]) == ("100 %", "98 %", "-2 %")


def test_every_counter_and_limit_has_a_name_in_japanese() -> None:
    texts, _ = tongue.catalogue("ja")
    names = {name for name, _ in counter_words.NAMES.values()}
    assert sorted((names | {*counter_words.LIMIT_NAMES.values()}) - texts.keys()) == []
