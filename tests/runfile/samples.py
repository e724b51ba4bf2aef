"""A small run with one of everything, and a way to write it."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from teijo.runfile.recorder import Recorder
from teijo.terms.census import Census, ContentSample
from teijo.terms.finding import Cell, Findings, Scalar, SteadyState, Window
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.reading import Reading
from teijo.terms.record import Record, RunInfo, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, Intervals, OperationResult, StepResult, Witness
from teijo.terms.step import Idle, Measure, Precondition, Purge, Step
from teijo.terms.verification import Fault, Faults, Verification, Written
from teijo.terms.workload import Access, ActiveRange, Rate, Stream, Workload

SECOND = 1_000_000_000

MIXED = Workload(
    streams=(
        Stream(
            name="oltp",
            read_percent=65,
            block_size_bytes=8192,
            threads=2,
            queue_depth=16,
            active_range=ActiveRange(share_percent=75, amount_bytes=1 << 30, segments=4),
        ),
        Stream(
            name="log",
            read_percent=0,
            block_size_bytes=65536,
            access=Access.SEQUENTIAL,
            rate=Rate(ios_per_second=12.5),
        ),
    )
)


READINGS = (
    Reading(step=1, at_ns=0, cost_ns=70_000_000, error="status 0x4002 “no”"),
    Reading(
        step=4,
        at_ns=10 * SECOND + 5,
        cost_ns=13_000_000,
        counters={"temperature_kelvin": 310, "host_writes_bytes": 2**63 - 1},
    ),
    Reading(step=6, at_ns=21 * SECOND, cost_ns=0, counters={"temperature_kelvin": 0}),
)


WITNESS = Witness(
    wall_ns=2 * SECOND,
    cpu_ns=SECOND // 2,
    worker_cpu_ns=SECOND // 3,
    worker_delay_ns=1_000,
    busiest_worker=0.125,
    workers=3,
    in_flight_mean=32.5,
    in_flight_asked=33,
    stream_in_flight_mean=(31.75, 0.75),
    stream_in_flight_asked=(32, 1),
    backend="io_uring",
    look_gap_ns_max=100_000_000,
    turn_gap_ns_max=2_000_000,
    made_ns=3_000_000,
    judged_ns=4_000_000,
    turns=40,
    submit_calls=30,
    min_complete=1,
    io_wq_workers=0,
    techniques=("single-issuer", "tsc-clock"),
    drift_ppm=-0.25,
    places=((4, 1), (0, 0)),
)


VERIFICATION = Verification(
    sectors=1000,
    sectors_unjudged=7,
    faults=(
        Faults(fault=Fault.STALE, sectors=9, first_bytes=(4096, 1 << 45)),
        Faults(fault=Fault.ZERO, sectors=1, first_bytes=(512,)),
    ),
)
CENSUS = (
    Census(stream="oltp", operation="read", ios=5, hashes=(3, 2**53 - 1), counts=(4, 1)),
    Census(
        stream="oltp",
        operation="write",
        ios=1,
        hashes=(7,),
        counts=(1,),
        content=ContentSample(
            writes=8,
            pieces=16,
            repeated_within=0,
            repeated_between=3,
            sampled_bytes=65536,
            deflated_bytes=65500,
            prints=(1, 2**53 - 1),
        ),
    ),
)
WRITTEN = Written(
    order="shuffled",
    key=2**64 - 1,
    block_bytes=65536,
    start_bytes=0,
    segments=1,
    segment_bytes=1 << 30,
    stride_bytes=1 << 30,
    from_bytes=0,
    to_bytes=3 << 29,
    generation=5 << 40,
)


def histogram(*latencies_ns: int) -> Histogram:
    """Return the histogram of a few latencies below 2048 ns, where buckets are exact."""
    values, counts = np.unique(np.array(latencies_ns, np.int64), return_counts=True)
    return Histogram(
        (values, counts.astype(np.int64)), sum(latencies_ns), min(latencies_ns), max(latencies_ns)
    )


def series(*ios: int, first: int = 0) -> Intervals:
    """Return a time series with these counts."""
    counts = np.array(ios, np.int64)
    return Intervals(
        length_ns=SECOND,
        index=np.arange(first, first + len(ios), dtype=np.int64),
        ios=counts,
        bytes=counts * 8192,
        errors=counts * 0,
        latency_ns_sum=counts * 500,
        latency_ns_min=counts * 0 + 100,
        latency_ns_max=counts * 0 + 900,
    )


def record() -> Record:
    """Return a run with every kind of step, a gap, failed I/Os and an empty result."""
    steps: list[tuple[Step, StepResult | Gap]] = [
        (Purge(), StepResult(started_ns=0, elapsed_ns=5, detail={"method": "shredder ✂"})),
        (
            Precondition(workload=MIXED, total_bytes=1 << 21),
            StepResult(started_ns=9, elapsed_ns=SECOND, gap_ns=4, cursors={"log": 1 << 40}),
        ),
        (Idle(duration_ns=SECOND), StepResult(started_ns=SECOND + 20, elapsed_ns=SECOND)),
        (measure(1), measured(1)),
        (measure(2), Gap()),
        (measure(2), measured(2)),
    ]
    return Record(
        run=RunInfo(
            id="0001",
            method="paper",
            spec="2.0.2-client",
            settings={"rounds": 2, "sizes": [4096, 8192], "deep": {"a": None, "b": 0.5}},
            seed=2**53 - 1,
            engine="native (paper)",
            version="0.1.0",
            started_at="2026-01-02T03:04:05+00:00",
        ),
        geometry=Geometry(capacity_bytes=1 << 40, nominal_capacity_bytes=1 << 41),
        identity=Identity(
            kind="block",
            target="/dev/disk/by-id/x",
            model="Modèle “X” 512",
            serial="S/N 1",
            facts={"link": "16 GT/s × 4", "empty": ""},
        ),
        environment={"kernel": "Linux 6.1", "cpu": "two of them"},
        steps=tuple(
            StepRecord(seq=seq, step=step, seed=seq * 1_000_003, answer=answer)
            for seq, (step, answer) in enumerate(steps, start=1)
        ),
        remarks=(
            Remark(kind=RemarkKind.SIMULATED, text="of paper"),
            *(
                remark
                for _, answer in steps
                if isinstance(answer, StepResult)
                for remark in answer.remarks
            ),
        ),
        readings=READINGS,
    )


def measure(number: int) -> Measure:
    """Return the one cell of a round."""
    return Measure(workload=MIXED, duration_ns=2 * SECOND, round_number=number, cell="65/35 8 KiB")


def measured(number: int) -> StepResult:
    """Return an answer with reads, writes, an empty direction and failed I/Os."""
    return StepResult(
        started_ns=number * 10 * SECOND,
        elapsed_ns=2 * SECOND,
        results=(
            OperationResult(
                stream="oltp",
                operation="read",
                count=4,
                bytes=4 * 8192,
                errors={5: 2, 0: 1},
                latency=histogram(100, 200, 200, 900 + number),
                intervals=series(3, 1),
            ),
            OperationResult(
                stream="oltp",
                operation="write",
                count=0,
                bytes=0,
                errors={},
                latency=EMPTY,
                intervals=series(),
            ),
            OperationResult(
                stream="log",
                operation="write",
                count=1,
                bytes=65536,
                errors={},
                latency=histogram(1500),
                response=histogram(1900),
                backlog_max=7,
                backlog_end=0,
            ),
        ),
        commands=(
            OperationResult(
                stream="log",
                operation="discard",
                count=2,
                bytes=2 * 65536,
                errors={95: 1},
                latency=histogram(300, 400),
            ),
        ),
        witness=WITNESS,
        verification=VERIFICATION,
        written=(WRITTEN,),
        census=CENSUS,
        cursors={"log": 65536},
        health_before={"host_writes_bytes": 10, "temperature_kelvin": 300},
        health_after={"host_writes_bytes": 20, "temperature_kelvin": 301},
        remarks=(Remark(kind=RemarkKind.IO_ERRORS, text="3 I/Os failed", step=2 + 2 * number),),
    )


def open_run(path: Path, content: Record | None = None) -> Recorder:
    """Write a record's steps to an open run file, and give its recorder."""
    content = content or record()
    header = replace(content, steps=(), remarks=content.remarks[:1])
    recorder = Recorder.create(path, header)
    for each in content.steps:
        if isinstance(each.answer, Gap):
            recorder.record_gap(each.seq, each.step, each.seed, each.answer, interval_ns=SECOND)
        else:
            recorder.begin(each.seq, each.step, each.seed, interval_ns=SECOND)
            recorder.record(each.seq, each.answer)
        own = [reading for reading in content.readings if reading.step == each.seq]
        recorder.keep_readings(*own)
    return recorder


def sealed_run(path: Path, content: Record | None = None) -> Path:
    """Write a record to a sealed file, and give its path."""
    recorder = open_run(path, content)
    recorder.end("steady")
    return recorder.seal()


def findings() -> Findings:
    """Return findings with one of everything, and a number JSON does not have."""
    window = Window(
        first_round=1,
        last_round=5,
        values=(1.0, 1.5, 1.25, 1.125, 1.0),
        average=1.175,
        range=0.5,
        range_limit=0.235,
        slope=-0.0375,
        intercept=1.2875,
        slope_excursion=0.15,
        slope_limit=0.1175,
        range_ok=False,
        slope_ok=False,
    )
    state = SteadyState(
        variable="IOPS",
        unit="IOPS",
        rounds=(1, 2, 3, 4, 5),
        values=window.values,
        windows=(window,),
        reached=None,
    )
    cell = Cell(
        labels=(("r/w mix", "65/35"), ("block size", "8 KiB")),
        iops=2.5,
        throughput_mb_s=0.02,
        latency_ns_mean=350.0,
        latency_ns_max=902,
    )
    return Findings(
        method="paper",
        spec="2.0.2-client",
        converged=False,
        rounds=5,
        window_rounds=(1, 5),
        steady_states=(state,),
        scalars=(
            Scalar(name="plateau", value=float("nan"), unit="IOPS"),
            Scalar(name="none", value=None, unit=""),
        ),
        cells=(cell,),
    )
