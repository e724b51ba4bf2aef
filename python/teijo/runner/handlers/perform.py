"""Perform: operations on files or statements, each timed by what carries them out."""

from teijo.device.working import WorkingDevice
from teijo.errors import PlanError
from teijo.runner.events import Progress
from teijo.runner.stage import Outcome, Stage
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.units import NS_PER_S, per_second

_LOOK_NS = NS_PER_S // 4


def perform(stage: Stage, seq: int, step: Perform, seed: int) -> Outcome:
    """Do the work, as far as nobody asks to stop.

    Raises:
        PlanError: the target has blocks, and no files or statements.
        Interrupted: somebody asked to stop; what was done is not counted.
        DeviceError: what carries the work out can go no further.
    """
    device = stage.device
    if not isinstance(device, WorkingDevice):
        raise PlanError(
            f"{device.identity.target} cannot do this work: {step.work.kind}",
            remedy="Name a target that can.",
        )
    started_ns = next_look_ns = stage.now_ns()

    def look(done: int) -> bool:
        nonlocal next_look_ns
        if (now_ns := stage.now_ns()) >= next_look_ns:
            next_look_ns = now_ns + _LOOK_NS
            stage.interrupt.look()
            stage.observer(_progress(seq, step, done, now_ns - started_ns))
        return not stage.interrupt.requested

    results = device.perform(step.work, seed, look)
    elapsed_ns = stage.now_ns() - started_ns
    stage.interrupt.check()
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=elapsed_ns,
            gap_ns=stage.gap_ns(started_ns),
            results=results,
        )
    )


def _progress(seq: int, step: Perform, done: int, elapsed_ns: int) -> Progress:
    rate = per_second(done, elapsed_ns)
    return Progress(
        seq=seq,
        step=step,
        elapsed_ns=elapsed_ns,
        share=done / step.work.count,
        ios=done,
        bytes=0,
        errors=0,
        iops_now=rate,
        mb_s_now=0.0,
        iops=rate,
        mb_s=0.0,
    )
