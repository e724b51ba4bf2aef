"""Purge: back to "never written" where the device can; where it cannot, the run says so."""

from teijo.device.watched import Progress
from teijo.document.phrase import say
from teijo.runner.events import Purging
from teijo.runner.stage import Outcome, Stage
from teijo.terms.purge import NONE, WORDS, PurgeResult
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Purge

NOT_PURGED = "none"
"""What `detail["method"]` says of a purge that did not take place."""


def purge(stage: Stage, seq: int, step: Purge) -> Outcome:
    """Purge the device by the step's method, or leave it as it is where that is NONE.

    A first signal waits: a half-purged drive may be locked.

    Raises:
        UnsafeError: the device was not opened for destruction, or is in use by now.
        DeviceError: the purge failed.
        StuckDevice: it does not come back.
        StoppedAtOnce: a second signal came, and it does not come back.
    """
    method, started_ns = step.method, stage.now_ns()
    done = (
        None
        if method == NONE
        else stage.device.purge(method, stage.io_timeout_ns, progress=_told(stage, seq, step))
    )
    ended_ns = stage.now_ns()
    kind = RemarkKind.NOT_PURGED if done is None else RemarkKind.PURGE_CLAIMED
    remarks = tuple(one for one in stage.device.remarks() if one.kind is kind)
    if done is not None:
        stage.cursors.clear()
    elif not remarks:
        text = (
            "purge=none: the device began in the state it was found in."
            if method == NONE
            else "The device cannot be purged: it began in the state it was found in."
        )
        remarks = (Remark(kind=kind, text=text),)
    return Outcome(
        result=StepResult(
            started_ns=started_ns,
            elapsed_ns=ended_ns - started_ns,
            gap_ns=stage.gap_ns(started_ns),
            detail={WORDS: NOT_PURGED} if done is None else done.detail(),
            remarks=(*remarks, *_doubts(done)),
        )
    )


def _told(stage: Stage, seq: int, step: Purge) -> Progress:
    """Return what hears how far the drive is, and tells it where it is another percent."""
    last = -1

    def progress(done: int, total: int) -> None:
        nonlocal last
        percent = 100 * done // total if total else last
        if percent != last:
            last = percent
            stage.observer(Purging(seq=seq, step=step, share=min(done / total, 1.0)))

    return progress


def _doubts(done: PurgeResult | None) -> tuple[Remark, ...]:
    """Return what keeps a purge from being one that the standard means."""
    if done is None:
        return ()
    found = []
    if done.is_cryptographic:
        text = "The key was changed: what is read now is not necessarily what was never written."
        found.append(Remark(kind=RemarkKind.PURGE_CRYPTOGRAPHIC, text=text))
    if done.stamps_written > done.stamps_gone:
        text = say(
            "{kept} of {written} stamps that were written before the purge are still there.",
            kept=done.stamps_written - done.stamps_gone,
            written=done.stamps_written,
        )
        found.append(Remark(kind=RemarkKind.PURGE_UNPROVEN, text=text))
    return tuple(found)
