"""The clock of a host is held against this one, and the bound of the error holds."""

import time
from typing import Any

import pytest

from teijo.fleet import clock
from teijo.fleet.clock import compared


class Wire:
    """A host whose clock is ahead, behind a wire that takes its time on the way and back."""

    name = "far"

    def __init__(self, now: list[int], ahead_ns: int, there_ns: list[int], back_ns: list[int]):
        self.now, self.ahead_ns = now, ahead_ns
        self.there_ns, self.back_ns = iter(there_ns), iter(back_ns)

    def ask(self, what: str, *_given: Any) -> int:
        assert what == "clock_ns"
        self.now[0] += next(self.there_ns)
        read_ns = self.now[0] + self.ahead_ns
        self.now[0] += next(self.back_ns)
        return read_ns


@pytest.mark.parametrize("ahead_ns", [0, 10**9, -(10**15)])
@pytest.mark.parametrize(("there", "back"), [(50_000, 50_000), (100_000, 0), (0, 100_000)])
def test_the_error_is_within_its_bound_however_the_wire_divides_it(
    monkeypatch: pytest.MonkeyPatch, ahead_ns: int, there: int, back: int
) -> None:
    now = [1_700_000_000 * 10**9]
    monkeypatch.setattr(clock, "time", _Time(now))
    count = clock._ASKED
    slow = [there + 10**7 * (number != 7) for number in range(count)]
    found = compared(Wire(now, ahead_ns, slow, [back] * count))
    assert found.error_ns == (there + back + 1) // 2
    assert abs(found.ahead_ns - ahead_ns) <= found.error_ns


class _Time:
    def __init__(self, now: list[int]) -> None:
        self.now = now

    def time_ns(self) -> int:
        return self.now[0]


def test_a_host_that_is_this_one_has_this_clock() -> None:
    class Here:
        name = "here"

        def ask(self, _what: str, *_given: Any) -> int:
            return time.time_ns()

    found = compared(Here())
    assert abs(found.ahead_ns) <= found.error_ns
