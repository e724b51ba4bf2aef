"""What a drive told over time: as the whole record has it, in few points however long it was."""

from dataclasses import replace

import pytest

from teijo.analysis.amplification import amplification
from teijo.analysis.drive_course import DriveCourse, HostCourse
from teijo.analysis.throttling import sessions
from teijo.terms.reading import Reading
from teijo.terms.result import Gap
from tests.runfile import samples
from tests.runfile.samples import SECOND

UNIT = 512_000


def reading(at_s: int, celsius: int, step: int = 1, written: int = 0) -> Reading:
    counters = {
        "temperature_kelvin": celsius + 273,
        "warning_limit_kelvin": 343,
        "host_writes_bytes": written * UNIT,
        "media_writes_bytes": 2 * written * UNIT,
    }
    return Reading(step=step, at_ns=at_s * SECOND, cost_ns=1, counters=counters)


def test_each_reading_is_a_point_while_there_are_few() -> None:
    course = DriveCourse()
    course.add([reading(0, 30), reading(10, 41)])
    assert [(each.at_s, each.celsius) for each in course.points] == [(0, 30), (10, 41)]
    assert course.limits_celsius == {"warning_limit_kelvin": 70}


@pytest.mark.parametrize("count", [7, 8, 9, 15, 16, 17, 33, 1000])
def test_more_are_joined_and_none_of_the_heat_is_lost(count: int) -> None:
    readings = [reading(at, 30 + at * 7919 % 40) for at in range(count)]
    course = DriveCourse(points_most=8)
    for each in readings:
        course.add([each])
    assert len(course.points) <= 8
    assert course.points[-1].at_s == count - 1
    width, heats = course.joined, [each.counters["temperature_kelvin"] - 273 for each in readings]
    expected = [max(heats[at : at + width]) for at in range(0, count, width)]
    assert [each.celsius for each in course.points] == expected


def test_a_line_begins_anew_where_nobody_watched() -> None:
    course = DriveCourse()
    course.add([reading(0, 30, step=1)])
    course.gap(1)
    course.add([reading(900, 50, step=2), reading(910, 51, step=2)])
    assert [each.begins for each in course.points] == [False, True, False]


def test_amplification_is_that_of_the_whole_record() -> None:
    readings = (reading(0, 30, 1, 0), reading(9, 30, 1, 50), reading(20, 30, 6, 70),
                reading(30, 30, 6, 200))  # fmt: skip
    record = replace(samples.record(), readings=readings)
    course = DriveCourse()
    for step in record.steps:
        if isinstance(step.answer, Gap):
            course.gap(step.seq)
    course.add(readings)
    assert course.amplification == amplification(sessions(record))
    assert course.amplification is not None
    assert course.amplification.host_bytes == (50 + 130) * UNIT


def test_a_counter_has_its_first_its_last_and_what_lies_between() -> None:
    course = DriveCourse()
    course.add([reading(0, 30, written=5), reading(1, 30, written=9)])
    (host,) = [each for each in course.counters if each.name == "host_writes_bytes"]
    assert (host.first, host.now, host.difference) == (5 * UNIT, 9 * UNIT, 4 * UNIT)


def test_a_drive_that_tells_nothing_has_no_points() -> None:
    course = DriveCourse()
    course.add([Reading(step=1, at_ns=0, cost_ns=1, error="no")])
    assert (course.points, course.counters, course.amplification) == ((), (), None)


def test_the_host_counts_the_runs_own_bytes_and_what_the_kernel_saw() -> None:
    course = HostCourse()
    for number, (before, after) in ((1, (100, 700)), (2, (900, 1500))):
        answer = replace(
            samples.measured(number),
            health_before={"kernel_write_bytes": before, "temperature_kelvin": 300},
            health_after={"kernel_write_bytes": after, "temperature_kelvin": 301},
        )
        course.end(answer)
    told = {each.name: (each.first, each.now) for each in course.counters}
    assert told == {
        "run_read_bytes": (0, 2 * 4 * 8192),
        "run_write_bytes": (0, 2 * 65536),
        "run_errors": (0, 2 * 4),
        "kernel_write_bytes": (100, 1500),
    }
