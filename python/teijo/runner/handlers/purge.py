"""Purge: back to "never written" where the device can; where it cannot, the run says so."""

from teijo.runner.stage import Outcome, Stage
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult

NOT_PURGED = "none"
"""What `detail["method"]` says of a purge that did not take place."""


def purge(stage: Stage) -> Outcome:
    """Purge the device. A first signal waits: a half-purged drive may be locked.

    Raises:
        UnsafeError: the device was not opened for destruction, or is in use by now.
        DeviceError: the purge failed.
        StuckDevice: it does not come back.
        StoppedAtOnce: a second signal came, and it does not come back.
    """
    started_ns = stage.now_ns()
    done = stage.device.purge(stage.io_timeout_ns)
    ended_ns = stage.now_ns()
    kind = RemarkKind.NOT_PURGED if done is None else RemarkKind.PURGE_CLAIMED
    remarks = tuple(one for one in stage.device.remarks() if one.kind is kind)
    if done is not None:
        stage.cursors.clear()
    elif not remarks:
        text = "The device cannot be purged: it began in the state it was found in."
        remarks = (Remark(kind=kind, text=text),)
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=ended_ns - started_ns,
            gap_ns=stage.gap_ns(started_ns),
            detail={"method": NOT_PURGED if done is None else done.method},
            remarks=remarks,
        )
    )
