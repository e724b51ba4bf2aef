"""Nothing is compared in silence that was made otherwise."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from teijo.compare.comparison import compared
from teijo.compare.conditions import NotAlike, deviations_of
from teijo.compare.sides import Side, matches_of
from teijo.errors import UsageError
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from tests.compare.drawn import record, side

OTHERWISE: Mapping[str, tuple[Mapping[str, str], str]] = {
    "oio": ({"qd": "8"}, "queue_depth"),
    "range": ({"active_range": "50"}, "active_range"),
    "content": ({"content": "zero"}, "content"),
    "minute": ({"minute": "30s"}, "minute"),
    "precondition_times": ({"precondition_times": "1"}, "precondition_times"),
    "mixes": ({"mixes": "65/35,0/100"}, "mixes"),
}


def pair(other: Record) -> list[Side]:
    return [side("a", record(1)), side("b", other)]


@pytest.mark.parametrize("word", OTHERWISE)
def test_a_run_that_was_made_otherwise_is_refused_and_the_difference_listed(word: str) -> None:
    overrides, condition = OTHERWISE[word]
    sides = pair(record(2, overrides=overrides))
    with pytest.raises(NotAlike, match="not made alike") as refused:
        compared(sides)
    assert refused.value.exit_code == 2
    assert refused.value.asked == (word,)
    assert [each.condition for each in refused.value.refused] == [condition]
    assert f"iops: {condition}" in refused.value.message
    assert refused.value.remedy.endswith(f"--allow {word}")


@pytest.mark.parametrize("word", OTHERWISE)
def test_what_is_allowed_to_differ_is_compared_and_kept_as_a_deviation(word: str) -> None:
    overrides, condition = OTHERWISE[word]
    sides = pair(record(2, overrides=overrides))
    comparison = compared(sides, [word])
    (deviation,) = comparison.deviations
    assert (deviation.test, deviation.aspect, deviation.condition) == ("iops", word, condition)
    assert [label for label, _ in deviation.values] == ["a", "b"]


def test_another_version_and_another_engine_are_refused_too() -> None:
    other = record(2, spec="1.1-enterprise")
    with pytest.raises(UsageError, match="spec"):
        compared(pair(other))
    by_fio = record(2)
    by_fio = replace(by_fio, run=replace(by_fio.run, engine="fio-3.33"))
    with pytest.raises(UsageError, match=r"engine: a canned, b fio-3\.33"):
        compared(pair(by_fio))


def test_an_amount_and_its_segments_are_one_word() -> None:
    overrides = {"amount": "16GiB", "segments": "2048"}
    found = deviations_of(matches_of(pair(record(2, overrides=overrides))))
    assert {each.aspect for each in found} == {"amount"}
    assert {each.condition for each in found} == {"amount", "segments"}


def test_how_many_rounds_at_most_makes_no_difference() -> None:
    assert compared(pair(record(2, overrides={"rounds": "30"}))).deviations == ()


def test_a_scaled_devices_minute_is_the_one_it_stands_for() -> None:
    full, nominal = Geometry(capacity_bytes=2**38, nominal_capacity_bytes=2**38), 2**38
    scaled = Geometry(capacity_bytes=nominal // 30, nominal_capacity_bytes=nominal)
    runs = [side("a", record(1, geometry=full)), side("b", record(2, geometry=scaled))]
    assert not [each for each in deviations_of(matches_of(runs)) if each.aspect == "minute"]


def test_a_word_that_allows_nothing_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="--allow oil names nothing") as refused:
        compared(pair(record(2)), ["oil"])
    assert "oio" in refused.value.remedy
