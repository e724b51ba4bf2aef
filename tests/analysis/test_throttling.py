"""What two readings of a drive say against the steps between them, and against no others."""

import pytest

from teijo.analysis.throttling import Span, remarks_on, warning_between
from teijo.terms.reading import Reading
from teijo.terms.remark import RemarkKind

S = 1_000_000_000
STEPS = [Span(seq=n, started_ns=n * 20 * S, ended_ns=(n + 1) * 20 * S) for n in range(5)]


def readings(**changed: tuple[int, int]) -> list[Reading]:
    """Return a reading each 10 s from 5 s on; a counter is 0 until (second, then value)."""
    return [
        Reading(
            step=second // 20,
            at_ns=second * S,
            cost_ns=S // 100,
            counters={"data": 1}
            | {name: value if second >= since else 0 for name, (since, value) in changed.items()},
        )
        for second in range(5, 100, 10)
    ]


def touched(found: list[Reading]) -> dict[int, list[str]]:
    told = {span.seq: [str(one.text) for one in remarks_on(span, found)] for span in STEPS}
    return {seq: texts for seq, texts in told.items() if texts}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("thermal_1_transitions", 3, "thermal state 1: entered 3 times, 0 s in it"),
        ("thermal_2_seconds", 7, "thermal state 2: entered 0 times, 7 s in it"),
        ("warning_temperature_minutes", 1, "above the warning temperature: 1 min"),
        ("critical_temperature_minutes", 2, "above the critical temperature: 2 min"),
        ("throttle_events", 9, "throttle events: 0, then 9"),
        ("power_cycles", 1, "power cycles: 0, then 1"),
        ("unsafe_shutdowns", 1, "unsafe shutdowns: 0, then 1"),
    ],
)
def test_a_counter_that_rose_within_a_step_touches_it_alone(
    name: str, value: int, text: str
) -> None:
    assert touched(readings(**{name: (55, value)})) == {2: [text]}


def test_a_counter_that_rose_between_readings_of_two_steps_touches_both() -> None:
    assert list(touched(readings(thermal_1_transitions=(65, 1)))) == [2, 3]


def test_a_status_touches_the_steps_in_which_it_was_read() -> None:
    assert list(touched(readings(throttle_status=(65, 2)))) == [3, 4]


@pytest.mark.parametrize(("kelvin", "is_hot"), [(349, False), (350, True), (400, True)])
def test_a_drive_is_hot_from_its_own_warning_temperature_on(kelvin: int, is_hot: bool) -> None:
    found = readings(temperature_kelvin=(85, kelvin), warning_limit_kelvin=(0, 350))
    assert list(touched(found)) == ([4] if is_hot else [])
    untold = readings(temperature_kelvin=(85, kelvin))
    assert touched(untold) == {}, "a drive without a limit says nothing of its heat"


def test_a_counter_that_fell_or_was_not_told_before_says_nothing() -> None:
    before = Reading(step=1, at_ns=0, cost_ns=0, counters={"media_errors": 5})
    after = Reading(step=1, at_ns=S, cost_ns=0, counters={"media_errors": 4, "power_cycles": 9})
    assert warning_between(before, after) == ""


@pytest.mark.parametrize(
    ("counters", "text"),
    [
        ({"media_errors": 6}, "media errors: 5, then 6"),
        ({"critical_warning": 0b110}, "critical warning: new bits 0x4"),
        ({"critical_warning": 0b010}, ""),
        ({"thermal_1_transitions": 1}, "thermal state 1: entered 1 times, 0 s in it"),
    ],
)
def test_a_warning_is_what_was_not_there_before(counters: dict[str, int], text: str) -> None:
    first = {"media_errors": 5, "critical_warning": 0b010, "thermal_1_transitions": 0}
    before = Reading(step=1, at_ns=0, cost_ns=0, counters=first)
    assert warning_between(before, Reading(step=1, at_ns=S, cost_ns=0, counters=first | counters)) \
        == text  # fmt: skip


def test_kinds_are_apart() -> None:
    found = remarks_on(STEPS[2], readings(power_cycles=(55, 1), throttle_events=(55, 1)))
    assert [one.kind for one in found] == [RemarkKind.THROTTLED, RemarkKind.POWER_CYCLED]
