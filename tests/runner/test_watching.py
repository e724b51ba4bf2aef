"""A run watched by its file again and again: each look tells what a first one would."""

from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

import teijo
from teijo.api.watching import Look, Watched
from teijo.errors import Interrupted, RunFileError
from teijo.runfile import reader
from teijo.runfile.recorder import Recorder
from teijo.runner.events import Event, Progress, StepDone, StepStarted
from teijo.terms.remark import Remark, RemarkKind
from tests.crash.runs import SHORT

SIM = "sim:mlc-a?capacity=64MiB&dies=2"
LONG = {"rw": "randread", "bs": "4KiB", "qd": "4", "seconds": "1h"}


def test_each_state_is_that_of_a_first_look(tmp_path: Path) -> None:
    looks: list[Look] = []
    watched: list[Watched] = []

    def look(event: Event) -> None:
        if not isinstance(event, StepStarted | StepDone | Progress) or event.seq > 14:
            return
        watched[:] = watched or [teijo.watch(tmp_path / "a")]
        looks.append(watched[0].look())
        fresh = teijo.watch(tmp_path / "a")
        assert looks[-1].state == watched[0].state() == fresh.state()
        assert looks[-1].record == reader.read(tmp_path / "a")
        assert looks[-1].running == reader.read_running(tmp_path / "a")

    made = teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1, observer=look)
    assert len(looks) > 20
    assert [each.new.anew for each in looks] == [True] + [False] * (len(looks) - 1)
    told = [step for each in looks for step in each.new.steps]
    assert told == list(made.record.steps[: len(told)])
    end = watched[0].look()
    assert (end.state.share, end.new.anew) == (1.0, True)
    assert end.state == teijo.watch(tmp_path / "a").state()
    assert end.record == made.record


def test_a_running_step_is_seen_second_by_second(tmp_path: Path) -> None:
    watched: list[Watched] = []
    looks: list[Look] = []

    def look(event: Event) -> None:
        if isinstance(event, Progress):
            watched[:] = watched or [teijo.watch(tmp_path / "a")]
            looks.append(watched[0].look())
            assert looks[-1].state == teijo.watch(tmp_path / "a").state()
            if sum(bool(each.new.intervals) for each in looks) == 2:
                raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, Interrupted)):
        teijo.run("workload", SIM, output=tmp_path / "a", settings=LONG, seed=1, observer=look)
    seconds = [
        number
        for each in looks
        for series in each.new.intervals.values()
        for number in series.index.tolist()
    ]
    assert seconds == list(range(len(seconds)))


def test_a_state_asked_for_between_takes_nothing_from_the_next_look(tmp_path: Path) -> None:
    made = teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1)
    watched = teijo.watch(made.path)
    watched.state()
    first, second = watched.look(), watched.look()
    assert first.new.anew
    assert first.new.steps == made.record.steps
    assert (second.new.anew, second.new.steps, second.new.remarks) == (False, (), ())


def test_two_watches_of_one_run_are_equal_and_can_be_told_apart_from_others(tmp_path: Path) -> None:
    made = teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1)
    one, other = teijo.watch(made.path), teijo.watch(tmp_path / "a")
    assert one == other
    assert len({one, other}) == 1
    assert replace(one) == one
    assert "lock" not in repr(one)


def test_a_run_that_stops_and_goes_on_is_watched_through_it(tmp_path: Path) -> None:
    started = teijo.start("workload", SIM, output=tmp_path / "a", settings=LONG, seed=1)
    next(event for event in started.events() if isinstance(event, Progress))
    watched = teijo.watch(tmp_path / "a")
    assert watched.look().state.ending == "running"
    started.stop()
    with pytest.raises(Interrupted):
        started.result()
    assert watched.look().state.ending == "interrupted"
    assert watched.state() == teijo.watch(tmp_path / "a").state()
    again = teijo.api.start_resume(tmp_path / "a")
    next(event for event in again.events() if isinstance(event, Progress))
    look = watched.look()
    assert (look.state.ending, look.new.anew) == ("running", True)
    assert look.state.started is not None
    assert look.state.started.resumed
    again.stop()
    with pytest.raises(Interrupted):
        again.result()
    assert watched.state() == teijo.watch(tmp_path / "a").state()


def test_threads_that_look_at_once_are_each_told_of_what_no_other_was(tmp_path: Path) -> None:
    made = teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1)
    watched, looks = teijo.watch(made.path), []
    threads = [Thread(target=lambda: looks.append(watched.look())) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(each.new.anew for each in looks) == 1
    assert len(looks) == 4


def test_a_file_that_is_gone_is_an_error_at_each_look(tmp_path: Path) -> None:
    made = teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1)
    watched = teijo.watch(made.path)
    watched.look()
    content = made.path.read_bytes()
    made.path.unlink()
    for act in (watched.look, watched.state, watched.stop):
        with pytest.raises(RunFileError, match="no run file"):
            act()
    made.path.write_bytes(content)
    assert watched.look().new.anew


def test_a_late_warning_of_an_old_step_is_held_against_its_numbers(tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 6:
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, Interrupted)):
        teijo.run("iops", SIM, output=tmp_path / "a", settings=SHORT, seed=1, observer=stop)
    watched = teijo.watch(tmp_path / "a")
    watched.look()
    recorder = Recorder.reopen(tmp_path / "a")
    recorder.remark(Remark(kind=RemarkKind.HOST_LIMITED, text="made up", step=5))
    look = watched.look()
    assert not look.new.anew
    assert look.record == reader.read(tmp_path / "a")
    kinds = [remark.kind for remark in look.new.remarks]
    assert kinds == [RemarkKind.HOST_LIMITED, RemarkKind.RECORD_INCONSISTENT]
    recorder.close()
