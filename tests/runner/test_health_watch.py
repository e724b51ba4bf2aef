"""A drive that is watched: rows of its own words, none from a rest, and remarks where it slowed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from teijo.errors import DriveWarned
from teijo.methods.method import AnyMethod
from teijo.methods.pts.hir.method import Hir
from teijo.runfile import reader
from teijo.runner import health_watch
from teijo.runner.events import unobserved
from teijo.runner.run import Order, begin
from teijo.terms.reading import Reading
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle, Measure
from tests.runner.acts import resume_paper
from tests.runner.fakes import (
    SECOND,
    FakeDevice,
    Faults,
    PaperMethod,
    PaperSettings,
    answer_at_once,
)

COOL = {"temperature_kelvin": 310, "warning_limit_kelvin": 350, "thermal_1_transitions": 4}


class WatchedSettings(PaperSettings):
    watch_ns: int | None = 10 * SECOND
    stop: str = "never"


class Watched(PaperMethod):
    settings_type = WatchedSettings


@dataclass
class Drive:
    """A drive whose log is asked by the thread of a watch; the paper's clock says when."""

    device: FakeDevice = field(default_factory=lambda: FakeDevice(replayable=False))
    counters: dict[str, int] = field(default_factory=lambda: dict(COOL))
    asked: list[int] = field(default_factory=list)
    error: str = ""

    def __post_init__(self) -> None:
        self.device.log = self.read

    def read(self) -> Mapping[str, int]:
        self.asked.append(len(self.device.session.plans))
        if self.error:
            raise OSError(5, self.error)
        return dict(self.counters)


def run(
    path: Path, drive: Drive, settings: PaperSettings, method: AnyMethod | None = None
) -> Record:
    order = Order(
        method=method or Watched(),
        spec="",
        settings=settings,
        seed=11,
        device=drive.device,
        output=path,
        engine="native",
    )
    return reader.read(begin(order, unobserved))


@pytest.fixture(autouse=True)
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_at_once(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.teijo"


def faults(act: Mapping[int, Callable[[], None]]) -> Faults:
    return Faults(during=act)


def test_a_drive_is_asked_each_interval_and_what_it_told_is_in_the_file(path: Path) -> None:
    drive = Drive()
    drive.device.session.faults = faults({})
    record = run(path, drive, WatchedSettings(seconds=60))
    assert len(record.readings) == len(drive.asked)
    assert len(record.readings) >= 6 * 6
    assert all(reading.counters == COOL for reading in record.readings)
    assert {reading.step for reading in record.readings} >= set(range(4, 10))
    assert not [one for one in record.remarks if one.kind is RemarkKind.THROTTLED]


def test_one_slow_answer_leaves_no_drive_unwatched_for_the_rest_of_the_run(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = Drive()

    def reading(**told: Any) -> Reading:
        slow = {"cost_ns": 200 * SECOND} if len(drive.asked) == 3 else {}
        return Reading(**told | slow)

    monkeypatch.setattr(health_watch, "Reading", reading)
    drive.device.session.faults = faults({})
    record = run(path, drive, WatchedSettings(seconds=60))
    slowest = [each.cost_ns >= 100 * SECOND for each in record.readings]
    assert slowest.count(True) == 1
    assert len(slowest) - slowest.index(True) > 6


def test_a_drive_that_is_not_to_be_watched_is_never_asked(path: Path) -> None:
    drive = Drive()
    record = run(path, drive, WatchedSettings(watch_ns=None, seconds=60))
    assert (record.readings, drive.asked) == ((), [])


def test_a_hot_drive_is_throttled_in_the_very_steps_in_which_it_was(path: Path) -> None:
    drive = Drive()
    drive.device.session.faults = faults(
        {
            4: lambda: drive.counters.update(temperature_kelvin=360),
            5: lambda: drive.counters.update(temperature_kelvin=310),
        }
    )
    record = run(path, drive, WatchedSettings(seconds=60))
    found = {one.step: str(one.text) for one in record.remarks if one.kind is RemarkKind.THROTTLED}
    hot = next(reading.step for reading in record.readings if
               reading.counters["temperature_kelvin"] == 360)  # fmt: skip
    assert set(found) == {hot}
    assert found[hot] == "temperature 87 °C; the drive warns from 77 °C on"
    touched = next(each.answer for each in record.steps if each.seq == hot)
    assert isinstance(touched, StepResult)
    assert RemarkKind.THROTTLED in [one.kind for one in touched.remarks]


def test_a_transition_touches_the_steps_between_two_readings(path: Path) -> None:
    drive = Drive()
    left = [30]

    def count() -> None:
        left[0] -= 1
        if not left[0]:
            drive.counters["thermal_1_transitions"] += 2

    drive.device.session.faults = faults({4: count})
    record = run(path, drive, WatchedSettings(seconds=60))
    found = [one for one in record.remarks if one.kind is RemarkKind.THROTTLED]
    assert [str(one.text) for one in found] == ["thermal state 1: entered 2 times, 0 s in it"]
    first = next(each for each in record.readings if each.counters["thermal_1_transitions"] == 6)
    assert found[0].step == first.step


def test_no_question_reaches_into_a_rest_of_hir(path: Path) -> None:
    drive = Drive()
    method = Hir()
    settings = method.settings("", {"minute": "60s", "round_minutes": "1", "bursts": "20",
                                    "baseline_minutes": "2", "idle": "5,50"},
                               drive.device.geometry)  # fmt: skip
    resting = []
    drive.device.rest = lambda: resting.append(len(drive.asked))
    before = len(drive.asked)
    record = run(path, drive, settings, method)
    rests = [each for each in record.steps if isinstance(each.step, Idle)]
    assert len(rests) == len(resting) == 40
    assert before == 0
    bursts = {each.seq for each in record.steps if isinstance(each.step, Measure)}
    assert {one.step for one in record.readings[1:-1]} <= bursts
    assert len(record.readings) > 20
    idle = [(each.answer.started_ns, each.answer.started_ns + each.answer.elapsed_ns)
            for each in rests if isinstance(each.answer, StepResult)]  # fmt: skip
    for reading in record.readings[1:-1]:
        assert not any(begun < reading.ended_ns and reading.at_ns < ended for begun, ended in idle)


def test_a_drive_that_warns_stops_the_run_that_asked_for_it_and_it_goes_on(path: Path) -> None:
    drive = Drive()
    drive.device.session.faults = faults({4: lambda: drive.counters.update(media_errors=3)})
    drive.counters["media_errors"] = 2
    with pytest.raises(DriveWarned, match="media errors: 2, then 3") as stopped:
        run(path, drive, WatchedSettings(seconds=60, stop="warning"))
    assert stopped.value.exit_code == 12
    left = len(reader.read(path.with_name("run.teijo.open")).readings)
    drive.device.session.faults = faults({})
    record = resume_paper(path, drive.device, method=Watched())
    assert record.run.ending == "steady"
    assert len(record.readings) > left > 0


def test_a_log_that_cannot_be_read_is_said_once_and_every_time_kept(path: Path) -> None:
    drive = Drive(error="no such page")
    drive.device.session.faults = faults({})
    record = run(path, drive, WatchedSettings(seconds=60))
    assert {reading.error for reading in record.readings} == {"no such page"}
    (remark,) = [one for one in record.remarks if one.kind is RemarkKind.CHECK_BLIND]
    assert "no such page" in str(remark.text)


def test_a_power_cycle_of_the_drive_is_told(path: Path) -> None:
    drive = Drive()
    drive.counters["power_cycles"] = 7
    drive.device.session.faults = faults({5: lambda: drive.counters.update(power_cycles=8)})
    record = run(path, drive, WatchedSettings(seconds=60))
    found = [one for one in record.remarks if one.kind is RemarkKind.POWER_CYCLED]
    assert {str(one.text) for one in found} == {"power cycles: 7, then 8"}
