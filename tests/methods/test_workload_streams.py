"""Several streams in one workload, and the two times of an open loop: asked, found, on the page."""

from dataclasses import replace

import pytest

from teijo.document.model import Paragraph, Table, XYChart
from teijo.errors import PlanError
from teijo.methods.knobs import describe
from teijo.methods.parts import document_of, findings_of
from teijo.methods.workload.found import step_of
from teijo.methods.workload.method import FreeWorkload
from teijo.methods.workload.settings import WorkloadSettings
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Access, Schedule
from tests.methods.canned import DRIVE, flow, latencies, record_of

METHOD = FreeWorkload()
ORION = {
    "stream.small": "rw=randread bs=4KiB qd=16",
    "stream.large": "rw=read bs=1MiB qd=4",
    "seconds": "2",
}


def settings(**overrides: str) -> WorkloadSettings:
    return METHOD.settings("", overrides, DRIVE)


def answered(asked: WorkloadSettings, *parts: OperationResult) -> Record:
    answer = StepResult(started_ns=0, elapsed_ns=2_000_000_000, results=parts)
    step = StepRecord(seq=1, step=step_of(asked), seed=1, answer=answer)
    return record_of(METHOD, asked, (step,), "done")


def tables(record: Record) -> dict[str, Table]:
    document = document_of(record)
    blocks = [block for section in document.sections for block in section.blocks]
    return {block.caption: block for block in blocks if isinstance(block, Table)}


def test_each_stream_is_a_stream_with_its_own_pattern_and_depth():
    step = step_of(settings(**ORION))
    assert isinstance(step, Measure)
    small, large = step.workload.streams
    assert (small.name, small.access, small.block_size_bytes) == ("small", Access.RANDOM, 4096)
    assert (large.name, large.access, large.block_size_bytes) == (
        "large",
        Access.SEQUENTIAL,
        1 << 20,
    )
    assert (small.queue_depth, large.queue_depth) == (16, 4)
    assert step.cell == "small: randread 4 KiB, 1 × 16 + large: read 1024 KiB, 1 × 4"


def test_what_stands_outside_holds_for_every_stream_that_does_not_say_otherwise():
    asked = settings(
        qd="8", read="70", rate="500", schedule="poisson",
        **{"stream.oltp": "rw=randrw", "stream.log": "rw=write qd=1 rate=none"},
    )  # fmt: skip
    (_, oltp), (_, log) = asked.stimuli
    assert (oltp.queue_depth, oltp.read_percent, oltp.ios_per_second) == (8, 70, 500)
    assert oltp.schedule is Schedule.POISSON
    assert (log.queue_depth, log.read_percent, log.ios_per_second) == (1, 0, None)


def test_a_person_reads_back_what_was_typed_and_can_type_it_again():
    asked = settings(**ORION)
    shown = next(each.value for each in describe(asked) if each.key == "stream")
    assert shown == "small: rw=randread bs=4KiB qd=16; large: rw=read bs=1MiB qd=4"
    assert settings(stream=shown, seconds="2").streams == asked.streams
    assert METHOD.settings_from(asked.model_dump(mode="json")) == asked


def test_one_writing_stream_asks_for_consent():
    assert not METHOD.writes(settings(**ORION))
    assert METHOD.writes(settings(**ORION, **{"stream.log": "rw=write"}))


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"stream.a b": "rw=read"}, ["no name of a stream"]),
        ({"stream.a": "rw"}, ["no KEY=VALUE"]),
        ({"stream.a": "qd=1 qd=2"}, ["stands twice"]),
        ({"stream.a": "seconds=5"}, ["Unknown setting 'seconds'"]),
        ({"stream.a": "depth=5"}, ["Unknown setting 'depth'", "qd"]),
        ({"stream.a": "rw=read read=50"}, ["does not go with", "rw=rw"]),
        ({"stream.a": "bs=1000"}, ["it is 1,000 bytes", "multiple of 512 bytes"]),
        ({"stream": "rw=read"}, ["NAME: KEY=VALUE"]),
        ({"stream.a": "threads=300", "stream.b": "threads=300"}, ["600 threads together"]),
    ],
)
def test_a_wrong_stream_is_named_with_its_reason_and_a_remedy(overrides, words):
    with pytest.raises(PlanError) as caught:
        METHOD.settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


def test_each_stream_has_its_row_its_cell_and_its_line():
    asked = settings(**ORION)
    small = replace(flow("read", 100, 4096), stream="small", latency=latencies(100, 5_000))
    large = replace(flow("read", 7, 1 << 20), stream="large", latency=latencies(7, 90_000))
    record = answered(asked, small, large)
    rows = tables(record)["Result"].rows
    assert [(row[0], row[1]) for row in rows] == [
        ("small read", 100), ("large read", 7), ("all", 107),
    ]  # fmt: skip
    cells = findings_of(record).cells
    assert [dict(cell.labels)["stream"] for cell in cells] == ["small", "large"]
    assert [cell.iops for cell in cells] == [50, 3.5]
    document = document_of(record)
    charts = [b for s in document.sections for b in s.blocks if isinstance(b, XYChart)]
    assert all({"small read", "large read"} == {one.name for one in c.series} for c in charts)


def open_loop() -> Record:
    stalled = replace(
        flow("write", 2000, 4096),
        latency=latencies(2000, 100_000),
        response=latencies(2000, 500_000_000),
        backlog_max=950,
        backlog_end=0,
    )
    return answered(settings(rw="randwrite", rate="1000", seconds="2"), stalled)


def test_service_and_response_stand_side_by_side():
    record = open_loop()
    service, response = tables(record)["Service and response"].rows
    assert (service[:2], response[:2]) == (("write", "service"), ("write", "response"))
    assert (service[3], response[3]) == (0.1, 500.0)
    assert tables(record)["Schedule"].rows == (("main", 1000.0, 1000.0, 950, 0),)
    found = {each.name: each.value for each in findings_of(record).scalars}
    assert found["response p99"] == pytest.approx(500e6, rel=1e-3)
    assert found["latency p99"] == pytest.approx(100e3, rel=1e-3)
    assert found["backlog max"] == 950


def test_both_curves_are_drawn():
    record = open_loop()
    document = document_of(record)
    (section,) = [each for each in document.sections if each.title == "Latency distribution"]
    (chart,) = section.blocks
    assert isinstance(chart, XYChart)
    assert [one.name for one in chart.series] == ["write", "write, response"]


def test_a_closed_loop_says_that_its_two_times_are_one_and_prints_one():
    record = answered(settings(seconds="2"), flow("read", 10, 4096))
    assert "Service and response" not in tables(record)
    result = document_of(record).sections[0]
    said = " ".join(block.text for block in result.blocks if isinstance(block, Paragraph))
    assert "loop is closed" in said


def test_remarks_on_the_step_are_named_beside_its_numbers():
    record = answered(settings(seconds="2"), flow("read", 10, 4096))
    (step,) = record.steps
    assert isinstance(step.answer, StepResult)
    limited = Remark(kind=RemarkKind.HOST_LIMITED, text="so", step=1)
    touched = replace(step, answer=replace(step.answer, remarks=(limited,)))
    record = replace(record, steps=(touched,))
    result = document_of(record).sections[0]
    said = " ".join(block.text for block in result.blocks if isinstance(block, Paragraph))
    assert "remarks on this step: host limited." in said


def test_an_engine_without_response_is_said_to_have_none():
    part = flow("read", 2000, 4096)
    record = answered(settings(rate="1000", seconds="2"), part)
    assert [row[1] for row in tables(record)["Service and response"].rows] == ["service"]
    result = document_of(record).sections[0]
    said = " ".join(block.text for block in result.blocks if isinstance(block, Paragraph))
    assert "measures no response" in said
