"""One plan on the engine: watched, its intervals recorded as they finish, its lap as an answer."""

from dataclasses import asdict, replace

from teijo.engine.plan import Plan
from teijo.engine.session import Buckets, DirectionLap, IntervalColumns, Lap
from teijo.engine.session import Progress as Look
from teijo.runner.ceiling import ceiling_of
from teijo.runner.clocks import asleep_ns
from teijo.runner.events import Progress
from teijo.runner.stage import Outcome, Stage
from teijo.terms.histogram import Histogram
from teijo.terms.result import IN_FLIGHT, Intervals, OperationResult, StepResult, Witness
from teijo.terms.step import Measure, Precondition
from teijo.terms.verification import Fault, Faults, Verification, Written
from teijo.units import megabytes_per_second, per_second


def run_plan(stage: Stage, seq: int, step: Measure | Precondition, plan: Plan) -> Outcome:
    """Drive the device by `plan` and return what it answered.

    Raises:
        Interrupted: somebody asked to stop; the lap is abandoned.
        DeviceError: the device cannot be driven at all.
    """
    watcher = _Watcher(stage, seq, step, plan)
    before_ns = asleep_ns()
    lap = stage.device.session.run(plan, watcher.look)
    slept_ns = asleep_ns() - before_ns
    stage.interrupt.check()
    started_ns = lap.started_ns - stage.origin_ns
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=lap.elapsed_ns,
            gap_ns=stage.gap_ns(started_ns),
            results=tuple(_stream_result(part, plan) for part in lap.directions),
            commands=tuple(
                replace(_stream_result(part, plan), intervals=None) for part in lap.commands
            ),
            cursors=dict(lap.cursors),
            detail=_detail(lap),
            remarks=stage.new_notes(lap.notes),
            verification=_verification(lap),
            written=tuple(Written(**asdict(each)) for each in lap.written),
            witness=_witness(
                lap,
                look_gap_ns_max=watcher.gap_ns_max,
                slept_ns=max(0, slept_ns),
                ceiling_iops=ceiling_of(step, stage.ceilings),
            ),
        ),
        failure=lap.failure,
    )


class _Watcher:
    """Looks at a running lap: keeps its finished intervals, and tells the observer."""

    def __init__(self, stage: Stage, seq: int, step: Measure | Precondition, plan: Plan) -> None:
        self._stage = stage
        self._seq = seq
        self._step = step
        self._plan = plan
        self._last = Look(elapsed_ns=0, ios=0, bytes=0, errors=0)
        self.gap_ns_max = 0

    def look(self, now: Look) -> bool:
        """Return whether the lap may go on."""
        stage, last = self._stage, self._last
        if now.finished and not stage.replaying:
            stage.recorder.append(self._seq, now.finished)
        since_ns = now.elapsed_ns - last.elapsed_ns
        self.gap_ns_max = max(self.gap_ns_max, since_ns)
        stage.observer(
            Progress(
                seq=self._seq,
                step=self._step,
                elapsed_ns=now.elapsed_ns,
                share=self._share(now),
                ios=now.ios,
                bytes=now.bytes,
                errors=now.errors,
                iops_now=per_second(now.ios - last.ios, since_ns),
                mb_s_now=megabytes_per_second(now.bytes - last.bytes, since_ns),
                iops=per_second(now.ios, now.elapsed_ns),
                mb_s=megabytes_per_second(now.bytes, now.elapsed_ns),
            )
        )
        self._last = now
        budget, interrupt = stage.budget, stage.interrupt
        if budget is not None and not budget.fits(now) and not interrupt.requested:
            interrupt.request(budget.reason)
        return not interrupt.requested

    def _share(self, now: Look) -> float:
        if self._plan.duration_ns is not None:
            return min(1.0, now.elapsed_ns / max(1, self._plan.duration_ns))
        return min(1.0, now.bytes / max(1, self._plan.total_bytes or 1))


def _detail(lap: Lap) -> dict[str, str]:
    detail = {"failure": lap.failure} if lap.failure else {}
    if lap.in_flight_mean is not None:
        detail[IN_FLIGHT] = f"{lap.in_flight_mean:.6f}"
    return detail


def _verification(lap: Lap) -> Verification | None:
    found = lap.verification
    if found is None:
        return None
    return Verification(
        sectors=found.sectors,
        sectors_unjudged=found.sectors_unjudged,
        faults=tuple(
            Faults(fault=Fault(word), sectors=sectors, first_bytes=tuple(sorted(places)))
            for word, sectors, places in found.faults
        ),
    )


def _witness(
    lap: Lap, *, look_gap_ns_max: int, slept_ns: int, ceiling_iops: float | None
) -> Witness | None:
    if lap.witness is None:
        return None
    return Witness(
        **asdict(lap.witness),
        look_gap_ns_max=look_gap_ns_max,
        slept_ns=slept_ns,
        ceiling_iops=ceiling_iops,
    )


def _stream_result(part: DirectionLap, plan: Plan) -> OperationResult:
    return OperationResult(
        stream=part.stream,
        operation=part.direction,
        count=part.ios,
        bytes=part.bytes,
        errors=dict(part.errors),
        latency=Histogram(
            part.bucket_values_ns,
            part.bucket_counts,
            part.latency_ns_sum,
            part.latency_ns_min,
            part.latency_ns_max,
        ),
        intervals=_intervals(part.intervals, plan.interval_ns),
        response=None if part.response is None else _histogram(part.response),
        backlog_max=part.backlog_max,
        backlog_end=part.backlog_end,
    )


def _histogram(buckets: Buckets) -> Histogram:
    return Histogram(
        buckets.values_ns, buckets.counts, buckets.sum_ns, buckets.min_ns, buckets.max_ns
    )


def _intervals(columns: IntervalColumns, length_ns: int) -> Intervals:
    return Intervals(
        length_ns=length_ns,
        index=columns.index,
        ios=columns.ios,
        bytes=columns.bytes,
        errors=columns.errors,
        latency_ns_sum=columns.latency_ns_sum,
        latency_ns_min=columns.latency_ns_min,
        latency_ns_max=columns.latency_ns_max,
    )
