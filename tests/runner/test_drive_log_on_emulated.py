"""An emulated NVMe drive under a run of paper: its rows, its page, and a log never asked in a rest.

The run and the drive have one clock: that of the paper.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from teijo.device.commands import nvme
from teijo.device.health.drive_log import log_reader
from teijo.document.model import Facts, Section, XYChart
from teijo.methods.drive_page import drive_section
from teijo.methods.pts.hir.method import Hir
from teijo.report.language import Language, translator
from teijo.terms.reading import Reading
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.step import Idle
from tests.drives.in_process import NvmeBench
from tests.methods.documents import plotted_numbers, table_numbers
from tests.report.english import untranslated
from tests.runner.fakes import SECOND, FakeDevice, FakeSession, Faults, answer_at_once
from tests.runner.test_health_watch import Drive, WatchedSettings, run

GET_LOG = 0x02
THERMAL_MANAGEMENT = 0x10
LAPS = 1000
Made = Callable[..., NvmeBench]


@pytest.fixture(autouse=True)
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_at_once(monkeypatch)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []

    def build(**knobs: object) -> NvmeBench:
        made.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return made[-1]

    yield build
    for one in made:
        one.close()


def on_paper(bench: NvmeBench, *, second_bytes: int) -> Drive:
    """Return a watched device of paper whose log is the emulated drive's, in the paper's time."""
    drive = Drive()
    device = drive.device
    device.log = log_reader(bench.fds[1])
    session, began_ns = device.session, device.session.clock_ns

    def tick() -> None:
        bench.clock.now = max(bench.clock.now, (session.clock_ns - began_ns) / SECOND)
        bench.drive.count_media(written=second_bytes)

    session.faults = Faults(during=dict.fromkeys(range(1, LAPS), tick))
    return drive


def logs(bench: NvmeBench) -> list[float]:
    return [each["second"] for each in bench.sent if each["opcode"] == GET_LOG]


def facts_of(section: Section) -> dict[str, str]:
    (facts,) = (each for each in section.blocks if isinstance(each, Facts))
    return {name: str(value) for name, value in facts.rows}


def heated(bench: Made, path: Path, *, second_bytes: int = 20_000_000) -> Record:
    """Run on a drive that goes from 310 to 360 K; it begins to throttle at 340 K."""
    on = bench(temperature=((0.0, 310.0), (300.0, 360.0)), wctemp=370, cctemp=380)
    nvme.set_feature(on.fds[1], THERMAL_MANAGEMENT, 340 << 16)
    return run(path, on_paper(on, second_bytes=second_bytes), WatchedSettings(seconds=60))


def test_a_drive_that_heats_up_has_rows_of_it_and_the_step_is_throttled(
    bench: Made, tmp_path: Path
) -> None:
    record = heated(bench, tmp_path / "run.teijo")
    kelvins = [each.counters["temperature_kelvin"] for each in record.readings]
    entered = [each.counters["thermal_1_transitions"] for each in record.readings]
    assert (kelvins[0], kelvins[-1]) == (310, 360)
    assert kelvins == sorted(kelvins)
    assert (entered[0], entered[-1]) == (0, 1)
    turned = entered.index(1)
    assert kelvins[turned - 1] <= 340 <= kelvins[turned]
    slowed = {one.step or 0 for one in record.remarks if one.kind is RemarkKind.THROTTLED}
    assert record.readings[turned].step in slowed
    cool = [each.step for each in record.readings[: turned - 1]]
    assert min(slowed) >= max(cool)


def test_its_page_draws_what_it_told_over_the_time_of_the_iops(bench: Made, tmp_path: Path) -> None:
    record = heated(bench, tmp_path / "run.teijo")
    section = drive_section(record)
    assert section is not None
    charts = [each for each in section.blocks if isinstance(each, XYChart)]
    assert [each.title for each in charts] == [
        "IOPS over time", "Temperature over time", "Throttling over time",
        "Written by the host and to the NAND",
    ]  # fmt: skip
    assert {(each.x.name, each.x.unit) for each in charts} == {("Time", "s")}
    for chart in charts:
        assert plotted_numbers(chart) <= table_numbers(chart.table)
    rates, heat, throttled, written = charts
    assert heat.series[0].y[0] == 310 - 273
    assert heat.series[0].y[-1] == 360 - 273
    assert [each.value for each in heat.rules] == [370 - 273]
    assert [each.name for each in throttled.series] == ["Thermal state 1", "Throttle events"]
    assert rates.spans == heat.spans != ()
    assert rates.spans[0].name == "throttled"
    host, nand = (each.y[-1] for each in written.series)
    assert host is not None
    assert nand == pytest.approx(1.5 * host, rel=0.01)
    assert set(rates.series[0].y) - {0.0} != set()
    told = facts_of(section)
    assert told["Temperature"] == "37 to 87 °C"
    read_s = [each.at_ns / SECOND for each in record.readings]
    longest_s = max(after - before for before, after in pairwise(read_s))
    assert told["Longest time between two readings"] == f"{longest_s:,.1f} s"
    assert longest_s > 0
    assert told["Write amplification by its counters"].startswith("1.5")


def test_too_little_written_is_said_and_no_number_made_of_it(bench: Made, tmp_path: Path) -> None:
    section = drive_section(heated(bench, tmp_path / "run.teijo", second_bytes=1000))
    assert section is not None
    told = facts_of(section)["Write amplification by its counters"]
    assert told.startswith("cannot be known: ")
    assert told.endswith(" B written, counted 512,000 B at a time")


@pytest.mark.parametrize("second_bytes", [20_000_000, 1000])
def test_the_page_is_in_japanese_too(bench: Made, tmp_path: Path, second_bytes: int) -> None:
    record = heated(bench, tmp_path / "run.teijo", second_bytes=second_bytes)
    worn = [
        replace(each, counters={**each.counters, "media_errors": place})
        for place, each in enumerate(record.readings)
    ]
    blind = Reading(step=9, at_ns=worn[-1].ended_ns, cost_ns=1, error="EIO")
    section = drive_section(replace(record, readings=(*worn, blind)))
    assert section is not None
    assert "Media errors over time" in [getattr(each, "title", "") for each in section.blocks]
    assert untranslated(section, translator(Language.JAPANESE)) == set()


def test_an_unwatched_run_has_no_such_page(tmp_path: Path) -> None:
    record = run(tmp_path / "run.teijo", Drive(), WatchedSettings(watch_ns=None))
    assert drive_section(record) is None


def test_the_drive_saw_no_log_command_in_any_rest_of_hir(bench: Made, tmp_path: Path) -> None:
    on = bench()
    drive = on_paper(on, second_bytes=4096)
    device: FakeDevice = drive.device
    session: FakeSession = device.session
    began_ns = session.clock_ns
    rests: list[tuple[float, int]] = []

    def rest() -> None:
        on.clock.now = max(on.clock.now, (session.clock_ns - began_ns) / SECOND)
        rests.append((on.clock.now, len(on.sent)))

    device.rest = rest
    settings = Hir().settings("", {"minute": "60s", "round_minutes": "1", "bursts": "20",
                                   "baseline_minutes": "2", "idle": "5,50"},
                              device.geometry)  # fmt: skip
    record = run(tmp_path / "run.teijo", drive, settings, Hir())
    idle = [each.step.duration_ns / SECOND for each in record.steps if isinstance(each.step, Idle)]
    assert len(idle) == len(rests) == 40
    assert len(logs(on)) > 20
    for (start, sent), lasts in zip(rests, idle, strict=True):
        asked = [each["second"] for each in on.sent[sent:] if each["opcode"] == GET_LOG]
        assert all(second >= start + lasts for second in asked)
