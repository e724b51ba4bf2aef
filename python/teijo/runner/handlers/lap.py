"""Measure and precondition: a plan on the engine, its intervals recorded, its lap as an answer."""

from dataclasses import replace

from teijo.engine.content import content_of
from teijo.engine.plan import Plan
from teijo.engine.session import Progress as Look
from teijo.runner.ceiling import ceiling_of
from teijo.runner.clocks import asleep_ns
from teijo.runner.compile import compile_load
from teijo.runner.events import Progress
from teijo.runner.stage import Outcome, Stage
from teijo.terms.census import Census
from teijo.terms.result import STOPPED, UNWRITTEN, StepResult
from teijo.terms.step import Measure, Precondition
from teijo.units import megabytes_per_second, per_second


def run_load(stage: Stage, seq: int, step: Measure | Precondition, seed: int) -> Outcome:
    """Drive the workload for its time, or until its bytes are moved, and return the answer.

    Raises:
        Interrupted: somebody asked to stop; the lap is abandoned.
        DeviceError: the device cannot be driven at all.
    """
    verify = stage.verify_plan(seq)
    plan = compile_load(step, stage.device.geometry, stage.cursors, seed, verify)
    unwritten = _unwritten(stage, step)
    watcher = _Watcher(stage, seq, step, plan)
    stage.pass_gate()
    before_ns = asleep_ns()
    lap = stage.device.session.run(plan, watcher.look)
    slept_ns = asleep_ns() - before_ns
    stopped = {}
    if isinstance(step, Measure) and step.ends_early and stage.interrupt.requested:
        stopped = {STOPPED: stage.interrupt.reason}
    else:
        if stage.watch is not None:
            stage.watch.check()
        stage.interrupt.check()
    started_ns = lap.result.started_ns - stage.origin_ns
    witness = lap.result.witness and replace(
        lap.result.witness,
        look_gap_ns_max=watcher.gap_ns_max,
        slept_ns=max(0, slept_ns),
        ceiling_iops=ceiling_of(step, stage.ceilings, stage.platform),
    )
    failure = {"failure": lap.failure} if lap.failure else {}
    result = replace(
        lap.result,
        started_ns=started_ns,
        gap_ns=stage.gap_ns(started_ns),
        detail={**lap.result.detail, **unwritten, **failure, **stopped},
        census=_with_content(lap.result, plan),
        remarks=stage.new_notes(lap.notes),
        witness=witness,
    )
    return Outcome(result=result, failure=lap.failure)


def _unwritten(stage: Stage, step: Measure | Precondition) -> dict[str, str]:
    """Return how much of a file was never written, before a step that reads and counts blocks."""
    reads = any(one.census and one.read_percent > 0 for one in step.workload.streams)
    found = stage.device.unwritten_bytes() if reads else None
    return {} if found is None else {UNWRITTEN: str(found)}


def _with_content(result: StepResult, plan: Plan) -> tuple[Census, ...]:
    """Return the census of a lap, with what was written beside where it was written."""
    placed = {one.stream.name: one for one in plan.streams}
    return tuple(
        replace(each, content=content_of(placed[each.stream]))
        if each.operation == "write"
        else each
        for each in result.census
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
        # At each look, so that a kill loses about a second of a long step.
        if now.finished and not stage.replaying:
            stage.recorder.append(self._seq, now.finished)
        since_ns = now.elapsed_ns - last.elapsed_ns
        self.gap_ns_max = max(self.gap_ns_max, since_ns)
        share, watch = self._share(now), stage.watch
        if watch is not None:
            watch.look(self._seq, self._step, stage.last, elapsed_ns=now.elapsed_ns, share=share)
        stage.observer(
            Progress(
                seq=self._seq,
                step=self._step,
                elapsed_ns=now.elapsed_ns,
                share=share,
                ios=now.ios,
                bytes=now.bytes,
                errors=now.errors,
                iops_now=per_second(now.ios - last.ios, since_ns),
                mb_s_now=megabytes_per_second(now.bytes - last.bytes, since_ns),
                iops=per_second(now.ios, now.elapsed_ns),
                mb_s=megabytes_per_second(now.bytes, now.elapsed_ns),
                temperature_kelvin=None if watch is None else watch.temperature_kelvin,
            )
        )
        self._last = now
        budget, interrupt = stage.budget, stage.interrupt
        interrupt.look()
        if budget is not None and not budget.fits(now) and not interrupt.requested:
            interrupt.request(budget.reason)
        return not interrupt.requested

    def _share(self, now: Look) -> float:
        if self._plan.duration_ns is not None:
            return min(1.0, now.elapsed_ns / max(1, self._plan.duration_ns))
        return min(1.0, now.bytes / max(1, self._plan.total_bytes or 1))
