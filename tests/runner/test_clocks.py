"""A host that sleeps, and one whose time of day is set, as its clocks tell it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.runner.events import Event, StepStarted
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle
from tests.runner.acts import run_paper
from tests.runner.fakes import FakeDevice

SECOND = 10**9


class HostClocks:
    """The clocks of a host that can sleep and be set."""

    def __init__(self) -> None:
        self.now_ns, self.asleep_ns, self.set_ns = 1_000 * SECOND, 0, 0

    def read(self, clock: int) -> int:
        asleep_ns = 0 if clock == time.CLOCK_MONOTONIC else self.asleep_ns
        set_ns = self.set_ns if clock == time.CLOCK_REALTIME else 0
        return self.now_ns + asleep_ns + set_ns


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> HostClocks:
    made = HostClocks()
    monkeypatch.setattr(time, "clock_gettime_ns", made.read)
    return made


def during_the_rest(act: Callable[[], None]) -> Callable[[Event], None]:
    """Return an observer in whose time something happens while the device rests."""

    def observe(event: Event) -> None:
        if isinstance(event, StepStarted) and isinstance(event.step, Idle):
            act()

    return observe


def test_a_sleep_in_a_step_without_ios_is_told_of_that_step(
    tmp_path: Path, clocks: HostClocks
) -> None:
    def sleep() -> None:
        clocks.asleep_ns += 3 * SECOND

    record = run_paper(
        tmp_path / "run", FakeDevice(replayable=False), observer=during_the_rest(sleep)
    )
    (told,) = [one for one in record.remarks if one.kind is RemarkKind.CLOCK_STEPPED]
    assert "slept for 3" in told.text
    (rest,) = [each for each in record.steps if isinstance(each.step, Idle)]
    assert told.step == rest.seq
    assert isinstance(rest.answer, StepResult)
    assert rest.answer.remarks == (told,)


def test_a_device_in_virtual_time_does_not_notice_a_sleep(
    tmp_path: Path, clocks: HostClocks
) -> None:
    def sleep() -> None:
        clocks.asleep_ns += 3 * SECOND

    record = run_paper(tmp_path / "run", FakeDevice(), observer=during_the_rest(sleep))
    assert RemarkKind.CLOCK_STEPPED not in [one.kind for one in record.remarks]


@pytest.mark.parametrize(
    ("by_ns", "said"),
    [(3_600 * SECOND, "set forward"), (-60 * SECOND, "set back"), (SECOND // 2, "")],
)
def test_a_clock_that_is_set_is_told_of_the_whole_run(
    tmp_path: Path, clocks: HostClocks, by_ns: int, said: str
) -> None:
    def set_it() -> None:
        clocks.set_ns += by_ns

    record = run_paper(tmp_path / "run", observer=during_the_rest(set_it))
    told = [one for one in record.remarks if one.kind is RemarkKind.CLOCK_STEPPED]
    assert [one.step for one in told] == ([None] if said else [])
    assert all(said in one.text for one in told)
