"""A comparison as programs read it, held to rates that are known because they were drawn."""

import json

import pytest

from teijo.compare.comparison import compared
from teijo.compare.for_programs import comparison_json
from tests.compare.drawn import record, side


def test_each_figure_has_the_ratio_of_the_rates_that_were_drawn() -> None:
    sides = [side("slow", record(1)), side("fast", record(2, iops=20_000))]
    told = comparison_json(compared(sides))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [each["name"] for each in told["sides"]] == ["slow", "fast"]
    (pairing,) = told["tests"][0]["pairings"]
    assert (pairing["first"], pairing["second"]) == ("slow", "fast")
    rates = [each for each in pairing["figures"] if each["figure"] == "IOPS"]
    assert len(rates) > 3
    for each in rates:
        assert each["ratio"] == pytest.approx(2, rel=0.05)
        assert each["second"] / each["first"] == pytest.approx(2, rel=0.05)
        assert each["ratio_low"] < each["ratio"] < each["ratio_high"]
        assert each["verdict"] == "faster"
    assert pairing["verdicts"]["faster"] >= len(rates)
    assert told["deviations"] == []


def test_what_was_allowed_to_differ_is_told_with_its_word() -> None:
    deep = record(2, overrides={"queue_depth": "4"})
    told = comparison_json(compared([side("a", record(1)), side("b", deep)], ["oio"]))
    (deviation,) = told["deviations"]
    assert (deviation["condition"], deviation["allowed_as"]) == ("queue_depth", "oio")
    assert deviation["values"]["b"] == "4"
