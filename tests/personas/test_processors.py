"""How busy processors were between two looks at /proc/stat."""

import pytest

from teijo.personas.processors import Processors, busy_between, ticks_in

BEFORE = "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n"
AFTER = "cpu  1 2 3 4\ncpu0 120 10 60 850 50 5 5 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nctxt 5\n"


def test_shares_are_of_the_time_between():
    first, second = busy_between(ticks_in(BEFORE), ticks_in(AFTER))
    # 30 in user mode, 20 in the kernel, 50 idle of 100.
    assert (first.user, first.kernel, first.idle, first.used) == (30.0, 20.0, 50.0, 50.0)
    assert (second.used, second.idle) == (0.0, 100.0)


def test_lines_cut_short_are_left_out():
    assert ticks_in("cpu0 1 2 3\n\ncpufreq 1 2 3 4 5 6 7 8\n".replace("\n\n", "\n")) == {}


def test_without_a_look_nothing_is_known():
    processors = Processors()
    assert processors.busy == ()
    processors.begin()
    processors.end()
    for each in processors.busy:
        assert each.user + each.kernel + each.idle == pytest.approx(100.0)
