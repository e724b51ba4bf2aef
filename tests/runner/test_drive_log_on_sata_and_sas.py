"""A run of paper on emulated SAS and SATA drives: asked, throttled, stopped, or said not to be."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo.device.health.drive_log import log_reader
from teijo.errors import DriveWarned
from teijo.methods.drive_settings import WatchInterval
from teijo.methods.pts.hir.method import Hir
from teijo.runner.health_watch import NOT_WATCHED, WATCHED
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.step import Idle
from tests.drives.disk import Knobs
from tests.drives.sg_in_process import Bench, SasBench, SataBench
from tests.runner.fakes import SECOND, Faults, PaperMethod, PaperSettings, answer_at_once
from tests.runner.test_health_watch import Drive, run

QUESTIONS = {"LOG SENSE", "SMART", "READ LOG EXT"}


class Settings(PaperSettings):
    watch_ns: WatchInterval = "auto"
    stop: str = "never"


class Asked(PaperMethod):
    settings_type = Settings


@pytest.fixture(autouse=True)
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_at_once(monkeypatch)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Bench]:
    return lambda kind, **knobs: kind(tmp_path, monkeypatch, Knobs(**knobs))


def on_paper(on: Bench) -> Drive:
    drive = Drive()
    drive.device.log = log_reader(on.fd)
    on.disk.seen.clear()
    return drive


def change(on: Bench, **knobs: Any) -> Callable[[], None]:
    def changed() -> None:
        on.disk.knobs = replace(on.disk.knobs, **knobs)

    return changed


def questions(on: Bench) -> list[str]:
    return [name for name in on.names() if name in QUESTIONS]


def watched(on: Bench, path: Path, act: dict[int, Callable[[], None]], **settings: Any) -> Record:
    drive = on_paper(on)
    drive.device.session.faults = Faults(during=act)
    return run(path, drive, Settings(seconds=60, **settings), Asked())


def test_a_sas_drive_is_watched_without_being_asked_for(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    on = bench(SasBench, temperature=41)
    record = watched(on, tmp_path / "run.teijo", {})
    assert len(record.readings) >= 6 * 6
    told = record.readings[-1].counters
    assert (told["temperature_kelvin"], told["warning_limit_kelvin"]) == (314, 343)
    assert (told["critical_warning"], told["media_errors"]) == (0, 0)
    assert set(questions(on)) == {"LOG SENSE"}
    assert WATCHED not in record.environment


def test_a_sas_drive_above_its_own_limit_throttles_the_steps_in_which_it_was(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    on = bench(SasBench)
    hot, cool = change(on, temperature=75), change(on, temperature=33)
    record = watched(on, tmp_path / "run.teijo", {4: hot, 5: cool})
    found = {one.step: str(one.text) for one in record.remarks if one.kind is RemarkKind.THROTTLED}
    steps = {one.step for one in record.readings if one.counters["temperature_kelvin"] == 348}
    assert set(found) == steps
    assert set(found.values()) == {"temperature 75 °C; the drive warns from 70 °C on"}


@pytest.mark.parametrize(
    ("kind", "settings"), [(SasBench, {}), (SataBench, {"watch_ns": 10 * SECOND})]
)
def test_a_drive_that_expects_to_fail_stops_the_run_that_asked_for_it(
    bench: Callable[..., Bench], tmp_path: Path, kind: type[Bench], settings: dict[str, Any]
) -> None:
    on = bench(kind)
    with pytest.raises(DriveWarned, match="critical warning: new bits 0x4"):
        watched(on, tmp_path / "run.teijo", {4: change(on, failing=True)}, stop="warning",
                **settings)  # fmt: skip


def test_a_sata_drive_is_not_asked_and_the_record_says_why(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    on = bench(SataBench)
    record = watched(on, tmp_path / "run.teijo", {})
    assert (record.readings, questions(on)) == ((), [])
    assert record.environment[WATCHED] == NOT_WATCHED


def test_a_sata_drive_is_watched_where_a_person_names_it(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    on = bench(SataBench, temperature=39)
    record = watched(on, tmp_path / "run.teijo", {}, watch_ns=10 * SECOND)
    assert len(record.readings) >= 6 * 6
    assert record.readings[-1].counters["temperature_kelvin"] == 312
    assert all(one.cost_ns >= 0 and not one.error for one in record.readings)
    assert questions(on).count("READ LOG EXT") == len(record.readings)
    assert WATCHED not in record.environment


def test_no_question_to_a_sas_drive_reaches_into_a_rest_of_hir(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    on = bench(SasBench)
    drive = on_paper(on)
    rests: list[tuple[int, int]] = []
    idle = drive.device.idle

    def rest(duration_ns: int, look: Callable[[], None]) -> None:
        before = len(on.disk.seen)
        idle(duration_ns, look)
        rests.append((before, len(on.disk.seen)))

    drive.device.idle = rest  # type: ignore[method-assign]
    settings = Hir().settings("", {"minute": "60s", "round_minutes": "1", "bursts": "20",
                                   "baseline_minutes": "2", "idle": "5,50"},
                              drive.device.geometry)  # fmt: skip
    record = run(tmp_path / "run.teijo", drive, settings, Hir())
    assert len([one for one in record.steps if isinstance(one.step, Idle)]) == len(rests) == 40
    assert len(questions(on)) > 20
    assert all(before == after for before, after in rests)
