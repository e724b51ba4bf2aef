"""Idle: leave the device alone for a time."""

from teijo.runner.stage import Outcome, Stage
from teijo.terms.result import StepResult
from teijo.terms.step import Idle


def idle(stage: Stage, step: Idle) -> Outcome:
    """Let the device rest. The first request to stop ends the rest at once.

    Raises:
        KeyboardInterrupt: somebody asked.
    """
    started_ns = stage.now_ns()
    with stage.interrupt.waiting():
        stage.interrupt.check()
        stage.device.idle(step.duration_ns, stage.interrupt.look)
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=stage.now_ns() - started_ns,
            gap_ns=stage.gap_ns(started_ns),
        )
    )
