"""A run that holds begins when it is told, and records how late; it waits for nobody for ever."""

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.api.watching import Watched
from teijo.errors import Interrupted, TeijoError
from teijo.runfile import start_request
from teijo.runfile.names import Names
from teijo.runfile.start_request import Start
from teijo.runner import hold
from teijo.runner.events import Event, RunStarted, StepDone, StepStarted
from teijo.runner.handlers import lap
from teijo.runner.interrupt import Interrupt
from teijo.terms.result import Gap, StepResult
from teijo.units import NS_PER_S

SETTINGS = {"seconds": "1", "rw": "randread"}


def told(path: Path, start: Start) -> threading.Thread:
    """Tell a run to begin as soon as it has a file that says it waits."""
    names = Names.of(path)

    def tell() -> None:
        watched, asked = Watched(names), ""
        while asked != hold.WAITING:
            with suppress(TeijoError):  # it is not there yet
                record = watched.look().record
                asked = record.environment.get(hold.ASKED, "")
        start_request.tell(names, record.run.id, start)

    thread = threading.Thread(target=tell)
    thread.start()
    return thread


def test_a_run_begins_when_it_is_told_and_records_both_moments(tmp_path: Path) -> None:
    path = tmp_path / "held.teijo"
    at_ns = time.time_ns() + NS_PER_S
    thread = told(path, Start(at_ns=at_ns, ahead_ns=1_500_000, error_ns=250_000))
    run = api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=SETTINGS, seed=1,
                  hold=True)  # fmt: skip
    thread.join()
    facts = run.record.environment
    assert facts[hold.ASKED] == hold.written(at_ns)
    assert facts[hold.CLOCK] == "+0.001500 s ± 0.000250 s"
    assert hold.clock_error_s(facts) == pytest.approx(0.00025)
    late_s = hold.late_s(facts)
    assert late_s is not None
    assert late_s >= 0.0
    assert not Names.of(path).start.exists()
    free = api.run("workload", "sim:slc-a?capacity=1GiB", output=tmp_path / "free.teijo",
                   settings=SETTINGS, seed=1)  # fmt: skip
    assert [each.answer for each in free.record.steps] == [each.answer for each in run.record.steps]
    assert hold.late_s(free.record.environment) is None


def test_a_moment_that_has_passed_begins_at_once(tmp_path: Path) -> None:
    path = tmp_path / "held.teijo"
    thread = told(path, Start(at_ns=time.time_ns() - NS_PER_S))
    run = api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=SETTINGS, hold=True)
    thread.join()
    late_s = hold.late_s(run.record.environment)
    assert late_s is not None
    assert late_s >= 1.0
    assert hold.CLOCK not in run.record.environment


def test_a_run_that_nobody_tells_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hold, "MOST_S", 0)
    path = tmp_path / "held.teijo"
    with pytest.raises(Interrupted, match="Nobody told"):
        api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=SETTINGS, hold=True)
    assert api.resume(Names.of(path).open).record.run.ending == "done"


def test_a_run_that_holds_hears_a_wish_to_stop(tmp_path: Path) -> None:
    path, interrupt = tmp_path / "held.teijo", Interrupt()

    def observer(event: Event) -> None:
        if isinstance(event, RunStarted):
            interrupt.request("a test")

    with pytest.raises(Interrupted, match="a test"):
        api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=SETTINGS, hold=True,
                observer=observer, interrupt=interrupt)  # fmt: skip
    assert Names.of(path).open.exists()


def test_all_is_prepared_before_the_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, seen = tmp_path / "held.teijo", []
    compile_load, wait = lap.compile_load, hold.Gate.__call__

    def planned(*given: Any, **more: Any) -> Any:
        seen.append("planned")
        return compile_load(*given, **more)

    def waited(gate: hold.Gate) -> None:
        seen.append("waited")
        wait(gate)

    def observer(event: Event) -> None:
        if isinstance(event, StepStarted | StepDone):
            seen.append(type(event).__name__)

    monkeypatch.setattr(lap, "compile_load", planned)
    monkeypatch.setattr(hold.Gate, "__call__", waited)
    thread = told(path, Start(at_ns=time.time_ns()))
    api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=SETTINGS, hold=True,
            observer=observer)  # fmt: skip
    thread.join()
    assert seen[:4] == ["StepStarted", "planned", "waited", "StepDone"]
    assert seen.count("waited") == 1


def test_a_step_that_waited_began_when_the_engine_set_its_threads_going() -> None:
    gate = hold.Gate(at_ns=0, interrupt=Interrupt(), now_ns=lambda: 50)
    gate()
    wall_ns, run_ns = gate.passed_ns
    assert run_ns == 50
    assert gate.begun_ns(StepResult(started_ns=70, elapsed_ns=1)) == wall_ns + 20
    # Neither a clock that lags nor a step that did not take place begins before the wait is over.
    assert gate.begun_ns(StepResult(started_ns=40, elapsed_ns=1)) == wall_ns
    assert gate.begun_ns(Gap()) == wall_ns


def test_a_moment_is_written_to_the_microsecond() -> None:
    assert hold.written(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123456Z"
    facts = {hold.ASKED: hold.written(10**18), hold.BEGUN: hold.written(10**18 + 12_345_000)}
    assert hold.late_s(facts) == pytest.approx(0.012345, abs=1e-9)
    assert hold.late_s({hold.ASKED: hold.WAITING, hold.BEGUN: "x"}) is None


def test_what_a_clock_may_be_off_is_read_from_what_was_recorded() -> None:
    assert hold.clock_error_s({hold.CLOCK: "+0.001500 s ± 0.000250 s"}) == pytest.approx(0.00025)
    for other in ({}, {hold.CLOCK: "± nan s"}, {hold.CLOCK: "± -1.000000 s"}, {hold.CLOCK: "1"}):
        assert hold.clock_error_s(other) == 0.0
