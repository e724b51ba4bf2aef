"""Every method judges what was counted: the same I/Os in another unit or minute, same verdict."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teijo.analysis.slices import Slices, is_steady
from teijo.methods.parts import findings_of
from teijo.methods.pts.demand import stages
from teijo.methods.pts.demand.method import CBW
from teijo.methods.pts.hir import found as bursts
from teijo.methods.pts.hir.method import Hir
from teijo.methods.pts.iops import found as iops
from teijo.methods.pts.iops.method import Iops
from teijo.methods.pts.lat import found as lat
from teijo.methods.pts.tp import found as tp
from teijo.methods.pts.wsat import found as minutes
from teijo.methods.pts.wsat.method import Wsat
from teijo.methods.rounds import Round, Rounds
from teijo.terms.finding import SteadyState
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND, Measure, Step
from teijo.terms.workload import Stream, Workload
from tests.methods.canned import DRIVE, Canned, flow, play

WRITES = Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),))
STEP = Measure(workload=WRITES, duration_ns=1, phase=ROUND)
EDGE = (9, 11, 10, 11, 9)
"""A range of 2 about an average of 10: on the limit, and 0.2 of 1 in doubles is beyond it."""
OVER = (9_000_001, 11_000_002, 10_000_001, 11_000_000, 9_000_001)
TILT = (190, 195, 200, 205, 210)
"""A range and a slope excursion on their limits, both."""


def answer(ios: int, elapsed_ns: int) -> StepResult:
    # The longer an I/O takes, the fewer there are: latencies that average to `ios` units.
    part = flow("write", ios, 4096)
    timed = replace(part.latency, sum_ns=part.latency.count * ios * elapsed_ns)
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=(replace(part, latency=timed),))


def rounds_with(cell: str, answers: Sequence[StepResult]) -> Rounds:
    step = replace(STEP, cell=cell)
    return Rounds(
        whole=tuple(
            Round(number=number, cells=((step, each),))
            for number, each in enumerate(answers, start=1)
        )
    )


def iops_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    settings = Iops().settings("1.1-enterprise", {}, DRIVE)
    return iops.determination(settings, rounds_with("0/100 4 KiB", answers))


def sweep_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    settings = CBW.settings("", {}, DRIVE)
    cell = stages.greatest(settings).name
    return stages.determination(settings, rounds_with(cell, answers))


def tp_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    return tp.determination(4096, rounds_with("SEQ 4 KiB 0/100", answers))


def lat_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    return lat.determination(rounds_with(lat.TRACKED.name, answers))


def wsat_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    settings = Wsat().settings("2.0.2-enterprise", {"check_every": "1"}, DRIVE)
    return minutes.determination(settings, [each for each in answers for _ in range(2)])


def hir_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    settings = Hir().settings("", {"round_minutes": "1"}, DRIVE)
    return bursts.determination(settings, answers)


def preconditioning_of(answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    settings = CBW.settings("", {"precondition_minutes": "1"}, DRIVE)
    return stages.precondition_determination(settings, answers)


@pytest.mark.parametrize(
    "judge",
    [iops_of, sweep_of, tp_of, lat_of, wsat_of, hir_of, preconditioning_of],
    ids=lambda judge: judge.__name__.removesuffix("_of"),
)
@given(
    counts=st.lists(st.integers(90, 110), min_size=5, max_size=5),
    times=st.integers(1, 10**6),
    elapsed_ns=st.integers(1, 10**12),
)
@example(counts=list(EDGE), times=1, elapsed_ns=10_000_000_000)
@example(counts=list(EDGE), times=7, elapsed_ns=3_000_000_001)
@example(counts=list(TILT), times=1, elapsed_ns=7_000_000_000)
@example(counts=list(OVER), times=1, elapsed_ns=3_000_000_000)
def test_the_same_counts_have_the_same_verdict_in_any_time(
    judge: Callable[[Sequence[StepResult]], tuple[SteadyState, ...]],
    counts: list[int],
    times: int,
    elapsed_ns: int,
) -> None:
    (state,) = judge([answer(count * times, elapsed_ns) for count in counts])
    total = sum(counts)
    moment = sum((place - 2) * count for place, count in enumerate(counts))
    (window,) = state.windows
    assert window.range_ok == (25 * (max(counts) - min(counts)) <= total)
    assert window.slope_ok == (20 * abs(moment) <= total)


def slices_of(counts: Sequence[int], elapsed_ns: int) -> tuple[Fraction, ...]:
    return Slices(answers=tuple(answer(count, elapsed_ns) for count in counts)).exact


def test_the_slices_of_a_tier_are_judged_by_what_was_counted() -> None:
    for elapsed_ns in (1, 3_000_000_001, 10_000_000_000):
        assert is_steady(slices_of(EDGE, elapsed_ns))
        assert not is_steady(slices_of(OVER, elapsed_ns))


def on_the_edge(step: Step, minute_s: int) -> float:
    assert isinstance(step, Measure)
    number = step.round_number or 1
    return EDGE[(number - 1) % 5] / minute_s


@pytest.mark.parametrize("minute_s", [1, 3, 7, 10, 49])
def test_a_run_on_the_limit_ends_at_round_five_whatever_its_minute_is(minute_s: int) -> None:
    device = Canned(partial(on_the_edge, minute_s=minute_s), latency_ns=lambda *_: 1_000)
    overrides = {"minute": f"{minute_s}s"}
    run = play(Iops(), device, spec="2.0.2-client", overrides=overrides)
    assert run.ending == "steady"
    assert findings_of(run.record).window_rounds == (1, 5)
    again = Iops().rescored(run.record, "1.1-enterprise")
    assert findings_of(again).window_rounds == (1, 5)
