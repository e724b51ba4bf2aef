"""A short run as its observer sees it, for the tests of what is told about it."""

from pathlib import Path

from teijo.runner.events import (
    Ended,
    Event,
    Judged,
    LayingOut,
    Progress,
    Remarked,
    RunStarted,
    StepDone,
    StepStarted,
)
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import RunInfo
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Precondition, Purge, Step
from teijo.terms.watch import Watch
from teijo.terms.workload import Stream, Workload

SECOND = 10**9
PATH = Path("run.teijo.open")
LAYING_OUT = LayingOut(done_bytes=2**30, total_bytes=2**32)
WRITES = Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),))
PRECONDITION = Precondition(workload=WRITES, total_bytes=1000)
MEASURE = Measure(
    workload=WRITES,
    duration_ns=60 * SECOND,
    phase="round",
    round_number=3,
    cell="0/100 4 KiB",
)


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns


def started() -> RunStarted:
    return RunStarted(
        run=RunInfo(
            id="r1",
            method="pts.iops",
            spec="2.0.2-client",
            settings={},
            seed=1,
            engine="simulated",
            version="0.1.0",
            started_at="2026-01-02T12:00:05Z",
        ),
        geometry=Geometry(capacity_bytes=2**30, nominal_capacity_bytes=2**30),
        identity=Identity(kind="simulated", target="sim:mlc-a", model="MLC-A"),
        path=PATH,
        resumed=False,
    )


def progress(step: Step, elapsed_ns: int, bytes_: int, share: float = 0.5) -> Progress:
    return Progress(
        seq=2,
        step=step,
        elapsed_ns=elapsed_ns,
        share=share,
        ios=10,
        bytes=bytes_,
        errors=0,
        iops_now=3210.4,
        mb_s_now=13.15,
        iops=3000.0,
        mb_s=12.3,
    )


def judged(least: int, most: int) -> Judged:
    return Judged(
        watch=Watch(
            phase="round",
            round_number=3,
            rounds_least=5,
            rounds_most=25,
            steady="2 of 3 tracking variables steady",
            remaining_ns_least=least,
            remaining_ns_most=most,
        )
    )


def result(elapsed_ns: int) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns)


def short_run() -> list[Event]:
    simulated = Remark(kind=RemarkKind.SIMULATED, text="A model, no drive.")
    return [
        started(),
        Remarked(remark=simulated),
        StepStarted(seq=1, step=Purge()),
        StepDone(seq=1, step=Purge(), answer=result(SECOND)),
        judged(5 * SECOND, 25 * SECOND),
        StepStarted(seq=2, step=MEASURE),
        progress(MEASURE, SECOND, 4096),
        StepDone(seq=2, step=MEASURE, answer=Gap()),
        Ended(ending="steady", path=Path("run.teijo")),
    ]
