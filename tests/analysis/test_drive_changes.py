"""What changed of a drive between looks; nothing is made of what is not told."""

import pytest

from teijo.analysis.drive_changes import change, course
from teijo.terms.reading import Reading

UNIT = 512_000


def look(number: int, error: str = "", **counters: int) -> Reading:
    return Reading(step=number, at_ns=number * 10**10, cost_ns=5, counters=counters, error=error)


def told(number: int, written: int, media: int, **more: int) -> Reading:
    counters = {"temperature_kelvin": 300 + number, "media_errors": 2, "critical_warning": 0}
    return look(
        number,
        **{**counters, "host_writes_bytes": written * UNIT, "media_writes_bytes": media, **more},
    )


def test_a_change_is_the_difference_of_two_looks() -> None:
    since = change(told(0, 10, 1000), told(1, 110, 1000 + 150 * UNIT, media_errors=5))
    assert (since.elapsed_ns, since.celsius) == (10**10, 28)
    assert (since.host_bytes, since.media_bytes, since.media_errors) == (100 * UNIT, 150 * UNIT, 3)
    assert since.warnings == ("media errors: 2, then 5",)
    assert since.amplification is not None
    assert since.amplification.value == pytest.approx(1.5)


def test_what_one_look_does_not_tell_has_no_change() -> None:
    since = change(look(0, temperature_kelvin=300), look(1, host_writes_bytes=7))
    assert (since.celsius, since.host_bytes, since.media_bytes) == (None, None, None)
    assert (since.media_errors, since.warnings, since.amplification) == (None, (), None)


def test_a_counter_that_fell_counts_nothing() -> None:
    since = change(told(0, 9, 5000, media_errors=5), told(1, 8, 4000, media_errors=2))
    assert (since.host_bytes, since.media_bytes, since.media_errors) == (None, None, None)


def test_a_course_goes_from_the_first_to_the_last_that_was_told() -> None:
    readings = [told(0, 0, 0), look(1, error="EIO"), told(2, 40, 60 * UNIT), look(3, error="EIO")]
    whole = course(readings)
    assert (whole.looks, whole.blind) == (4, 2)
    assert (whole.coolest_celsius, whole.hottest_celsius) == (27, 29)
    assert whole.whole is not None
    assert (whole.whole.elapsed_ns, whole.whole.host_bytes) == (2 * 10**10, 40 * UNIT)


def test_one_look_alone_shows_no_change() -> None:
    assert course([told(0, 1, 1)]).whole is None
    nothing = course([])
    assert (nothing.looks, nothing.coolest_celsius, nothing.whole) == (0, None, None)
