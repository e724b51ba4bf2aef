"""Configure: the device becomes another, or a hook changes it; the run's clock goes on."""

from teijo.runner.stage import Outcome, Stage
from teijo.terms.result import StepResult
from teijo.terms.step import Configure


def configure(stage: Stage, step: Configure) -> Outcome:
    """Configure the device. A signal waits: nobody wants a device that is half configured.

    What must be said of every run on the new device is said once, where it was not said before.

    Raises:
        PlanError: this kind of device cannot be configured so.
        HostError: the hook failed, or the target cannot be opened after it.
        IdentityError: it is another device after it.
    """
    started_ns = stage.now_ns()
    stage.said.update(stage.device.remarks())
    done = stage.device.configure(step)
    # The new device's session counts from a zero of its own.
    stage.origin_ns = stage.device.session.now_ns() - started_ns - done.elapsed_ns
    if stage.watch is not None:
        stage.watch.reopen(stage.device.log_reader())
    stage.cursors.clear()
    fresh = tuple(one for one in stage.device.remarks() if one not in stage.said)
    stage.said.update(fresh)
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=done.elapsed_ns,
            gap_ns=stage.gap_ns(started_ns),
            detail=dict(done.detail),
            remarks=fresh,
        )
    )
