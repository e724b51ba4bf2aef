"""A run of a whole day, second by second in both directions: small, quick to open, reportable."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teijo.document.model import XYChart
from teijo.methods.parts import document_of, findings_of
from teijo.methods.workload.found import step_of
from teijo.methods.workload.method import FreeWorkload
from teijo.runfile import reader
from teijo.terms.histogram import Histogram, bucket_width_ns
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.units import MIB
from tests.methods.canned import DRIVE, record_of
from tests.runfile.samples import SECOND, WITNESS, open_run

METHOD = FreeWorkload()
DAY_S = 86_400


def direction(name: str, seed: int) -> OperationResult:
    """Return a day of a busy drive: every second differs in everything that is counted."""
    draw = np.random.default_rng(seed)
    ios = draw.integers(40_000, 60_000, DAY_S)
    spread = (10 ** draw.uniform(4, 9, 8000)).astype(np.int64).tolist()
    values = np.unique([value - value % bucket_width_ns(value) for value in spread])
    counts = np.full(len(values), int(ios.sum()) // len(values), np.int64)
    counts[0] += int(ios.sum()) - int(counts.sum())
    low, high = int(values[0]), int(values[-1])
    latency = Histogram((values, counts), int((values * counts).sum()), low, high)
    return OperationResult(
        stream="main",
        operation=name,
        count=int(ios.sum()),
        bytes=int(ios.sum()) * 4096,
        errors={},
        latency=latency,
        response=latency,
        backlog_max=0,
        backlog_end=0,
        intervals=Intervals(
            length_ns=SECOND,
            index=np.arange(DAY_S, dtype=np.int64),
            ios=ios,
            bytes=ios * 4096,
            errors=ios * 0,
            latency_ns_sum=ios * draw.integers(90_000, 110_000, DAY_S),
            latency_ns_min=draw.integers(8_000, 12_000, DAY_S),
            latency_ns_max=draw.integers(10**6, 10**9, DAY_S),
        ),
    )


def day() -> Record:
    asked = METHOD.settings("", {"rw": "randrw", "seconds": "24h", "rate": "100000"}, DRIVE)
    answer = StepResult(
        started_ns=0,
        elapsed_ns=DAY_S * SECOND,
        results=(direction("read", 1), direction("write", 2)),
        witness=replace(WITNESS, wall_ns=DAY_S * SECOND),
    )
    step = StepRecord(seq=1, step=step_of(asked), seed=1, answer=answer)
    return replace(record_of(METHOD, asked, (step,)), remarks=())


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recorder = open_run(tmp_path_factory.mktemp("day") / "run", day())
    recorder.end("done")
    return recorder.seal()


def test_the_run_file_of_a_day_is_at_most_20_mb(sealed: Path) -> None:
    assert 4 * MIB < sealed.stat().st_size <= 20_000_000


def test_a_day_is_read_back_second_by_second(sealed: Path) -> None:
    assert reader.read(sealed).steps == day().steps


def test_the_report_of_a_day_has_a_point_a_minute_and_loses_no_io(sealed: Path) -> None:
    record = reader.read(sealed)
    document = document_of(record)
    (section,) = [each for each in document.sections if each.title == "Over time"]
    charts = [block for block in section.blocks if isinstance(block, XYChart)]
    for chart in charts:
        assert [len(one.x) for one in chart.series] == [1440, 1440]
        assert chart.note == "Each point is 1 min 00 s long."
    iops = [level or 0.0 for one in charts[0].series for level in one.y]
    assert sum(iops) * 60 == pytest.approx(findings_of(record).cells[0].iops * DAY_S)
