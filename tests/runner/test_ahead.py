"""The one bar of a run: what is done of what is expected, with a range, and never backwards."""

from dataclasses import replace

import pytest

from teijo.runner.ahead import FILL_SHARE, SHARE_MOST, Ahead, Span, bounds
from teijo.runner.events import Event, Judged, RunStarted, StepDone, StepStarted
from teijo.runner.extent import Extent, Preview
from teijo.terms.step import Measure, Perform, Precondition, Purge
from teijo.terms.watch import RoundsLeft, Watch
from teijo.terms.work import SqlBench
from tests.cli.events import MEASURE, PRECONDITION, SECOND, judged, progress, result, started

MINUTE = 60 * SECOND


def told(ahead: Ahead, *events: tuple[int, Event]) -> None:
    """Tell events, each at its second of the person's clock."""
    for second, event in events:
        ahead.tell(event, second * SECOND)


def previewed(least: int, expected: int, most: int) -> Preview:
    """Return a preview of runs of so many seconds."""

    def extent(seconds: int) -> Extent:
        return Extent(steps=1, duration_ns=seconds * SECOND, written_bytes=0, intervals=0)

    ends = {"least": extent(least), "expected": extent(expected), "most": extent(most)}
    return Preview(**ends, capacity_bytes=2**30, assumed="nothing")


def begun(**facts: object) -> RunStarted:
    return replace(started(), **facts)  # type: ignore[arg-type]


def span(least: int, expected: int, most: int) -> Span:
    return Span(least_ns=least * SECOND, expected_ns=expected * SECOND, most_ns=most * SECOND)


def test_nothing_is_known_before_the_method_has_said_where_it_stands() -> None:
    ahead = Ahead()
    told(ahead, (0, begun()), (0, StepStarted(seq=1, step=MEASURE)))
    assert (ahead.left(SECOND), ahead.share(SECOND)) == (None, 0.0)


def test_a_real_run_is_waited_for_as_long_as_its_steps_last() -> None:
    ahead = Ahead()
    told(
        ahead,
        (0, begun(ahead=previewed(100, 200, 600))),
        (0, judged(100 * SECOND, 600 * SECOND)),
        (0, StepStarted(seq=1, step=MEASURE)),
        (20, progress(MEASURE, 20 * SECOND, 4096)),
    )
    assert ahead.left(20 * SECOND) == span(80, 180, 580)
    assert ahead.share(20 * SECOND) == pytest.approx(20 / 200)


def test_a_work_that_takes_longer_than_was_expected_is_waited_for_at_its_own_pace() -> None:
    ahead, work = Ahead(), Perform(work=SqlBench(test="create", operation="x", place=0, count=100))
    told(
        ahead,
        (0, begun()),
        (0, judged(10 * SECOND, 10 * SECOND)),
        (0, StepStarted(seq=1, step=work)),
        (20, replace(progress(MEASURE, 20 * SECOND, 4096), step=work, share=0.25)),
    )
    assert ahead.left(20 * SECOND) == span(60, 60, 60)
    assert ahead.share(20 * SECOND) == pytest.approx(0.25)


def test_the_bar_never_goes_backwards_where_more_is_left_than_was_expected() -> None:
    ahead, shares = Ahead(), []
    told(ahead, (0, begun()))
    for least in (100, 60, 500, 10, 400, 0):
        told(
            ahead,
            (0, judged(least * SECOND, least * SECOND)),
            (0, StepStarted(seq=1, step=MEASURE)),
            (10, StepDone(seq=1, step=MEASURE, answer=result(10 * SECOND))),
        )
        shares.append(ahead.share(10 * SECOND))
    assert shares == sorted(shares)
    assert shares[1] == shares[2], "it waits"
    assert shares[-1] == SHARE_MOST, "all of it is done only when it has ended"


def test_virtual_time_is_stretched_to_the_time_of_the_person_who_waits() -> None:
    ahead = Ahead()
    told(
        ahead,
        (3, begun(virtual=True)),  # opening the target says nothing about the pace of the steps
        (3, judged(180 * SECOND, 180 * SECOND)),
        (3, StepStarted(seq=1, step=MEASURE)),
        (9, StepDone(seq=1, step=MEASURE, answer=result(60 * SECOND))),
    )
    assert ahead.left(9 * SECOND) == span(12, 12, 12)
    assert ahead.share(9 * SECOND) == pytest.approx(1 / 3)


def test_a_simulated_fill_says_nothing_of_how_long_measuring_takes() -> None:
    ahead = Ahead()
    watch = Judged(watch=Watch(phase="precondition", remaining_ns_least=9, remaining_ns_most=9))
    told(ahead, (0, begun(virtual=True)), (0, watch), (0, StepStarted(seq=1, step=PRECONDITION)))
    told(ahead, (5, progress(PRECONDITION, 5 * SECOND, 250)))
    assert ahead.left(5 * SECOND) is None
    assert 0 < ahead.share(5 * SECOND) <= FILL_SHARE


def test_the_first_moments_of_a_simulated_run_tell_no_time_left() -> None:
    ahead = Ahead()
    told(ahead, (0, begun(virtual=True)), (0, StepStarted(seq=1, step=MEASURE)))
    told(ahead, (0, judged(4 * SECOND, 4 * SECOND)), (0, progress(MEASURE, 46_000, 4096)))
    assert ahead.left(SECOND // 50) is None, "20 ms for 46 µs would make 29 minutes of 4 seconds"


def test_a_purge_takes_its_own_time_and_is_no_pace_of_the_run() -> None:
    ahead = Ahead()
    told(
        ahead,
        (0, begun()),
        (0, StepStarted(seq=1, step=Purge())),
        (60, StepDone(seq=1, step=Purge(), answer=result(0))),
        (60, judged(10 * SECOND, 10 * SECOND)),
        (60, StepStarted(seq=2, step=MEASURE)),
        (61, progress(MEASURE, 1 * SECOND, 4096)),
    )
    assert ahead.left(61 * SECOND) == span(9, 9, 9)


def test_bytes_that_are_left_take_as_long_as_the_last_ones() -> None:
    ahead = Ahead()
    told(
        ahead,
        (0, begun(ahead=previewed(10, 20, 20))),
        (0, judged(10 * SECOND, 20 * SECOND)),
        (0, StepStarted(seq=1, step=PRECONDITION)),
        (5, progress(PRECONDITION, 5 * SECOND, 250)),
    )
    assert ahead.left(5 * SECOND) == span(25, 35, 35)


def test_bytes_of_which_none_is_written_yet_take_what_the_preview_leaves_for_them() -> None:
    ahead = Ahead()
    watch = Watch(
        phase="purge",
        remaining_ns_least=10 * SECOND,
        remaining_ns_most=10 * SECOND,
        remaining_bytes=1000,
    )
    told(ahead, (0, begun(ahead=previewed(110, 110, 110))), (0, Judged(watch=watch)))
    assert ahead.left(0) == span(110, 110, 110)


def test_a_step_that_lasts_longer_than_planned_leaves_no_negative_time() -> None:
    ahead = Ahead()
    told(ahead, (0, begun()), (0, judged(SECOND, SECOND)), (0, StepStarted(seq=1, step=MEASURE)))
    told(ahead, (5, progress(MEASURE, 5 * SECOND, 1)))
    assert ahead.left(5 * SECOND) == span(0, 0, 0)


def test_a_real_run_that_goes_on_begins_where_its_bar_was_left() -> None:
    ahead = Ahead()
    told(ahead, (0, begun(resumed=True, recorded_ns=300 * SECOND)))
    told(ahead, (0, judged(100 * SECOND, 100 * SECOND)))
    assert ahead.share(0) == pytest.approx(300 / 400)


def test_steps_that_a_simulated_device_repeats_are_ahead_until_they_are_done() -> None:
    ahead = Ahead()
    told(
        ahead,
        (0, begun(resumed=True, virtual=True, recorded_ns=120 * SECOND)),
        (0, judged(60 * SECOND, 60 * SECOND)),
        (0, StepStarted(seq=1, step=MEASURE, replayed=True, recorded_ns=60 * SECOND)),
    )
    assert ahead.share(0) == 0.0
    told(ahead, (3, StepStarted(seq=2, step=MEASURE, replayed=True, recorded_ns=60 * SECOND)))
    assert ahead.share(3 * SECOND) == pytest.approx(60 / 180)
    assert ahead.left(3 * SECOND) == span(6, 6, 6)
    told(ahead, (6, judged(60 * SECOND, 60 * SECOND)), (6, StepStarted(seq=3, step=MEASURE)))
    assert ahead.share(6 * SECOND) == pytest.approx(120 / 180)


def test_a_forecast_of_the_rounds_narrows_the_range() -> None:
    left = RoundsLeft(low=2, median=3, high=6, confidence=0.9, never=0.0)
    watch = Watch(
        phase="round",
        round_number=6,
        rounds_least=6,
        rounds_most=25,
        remaining_ns_least=1 * MINUTE,
        remaining_ns_most=20 * MINUTE,
    )
    assert bounds(watch, 0.5) == (MINUTE, round(10.5 * MINUTE), 20 * MINUTE)
    narrowed = bounds(replace(watch, rounds_left=left), 0.5)
    assert narrowed == (2 * MINUTE, 3 * MINUTE, 6 * MINUTE)
    one_of_several = replace(watch, rounds_left=left, part="lat")
    assert bounds(one_of_several, 0.5)[1] == round(10.5 * MINUTE), "later tests have their own"


def test_what_is_measured_and_what_is_filled_have_a_pace_each() -> None:
    ahead = Ahead()
    step: Precondition | Measure
    told(ahead, (0, begun(virtual=True)))
    for second, step in ((0, PRECONDITION), (1, MEASURE)):
        told(ahead, (second, StepStarted(seq=1, step=step)))
        told(ahead, (second + 1, StepDone(seq=1, step=step, answer=result(10 * SECOND))))
    told(ahead, (2, judged(10 * SECOND, 10 * SECOND)), (2, StepStarted(seq=3, step=MEASURE)))
    told(ahead, (6, progress(MEASURE, 5 * SECOND, 1)))
    found = ahead.left(6 * SECOND)
    assert found is not None
    assert found.expected_ns == round(5 * SECOND * 5 / 15), "5 s waited for 15 of measuring"
