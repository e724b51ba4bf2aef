"""Resume: the recorded answers are given to the method again until it asks for something new."""

from pathlib import Path

from teijo.device.device import Device
from teijo.document.phrase import say
from teijo.errors import IdentityError, RunFileError
from teijo.outside.text import shell_path
from teijo.runfile.codec import rows_of
from teijo.runner.compile import interval_ns
from teijo.runner.drive import Conversation, carry_out, seed_of
from teijo.runner.events import StepDone, StepStarted
from teijo.runner.stage import Stage
from teijo.terms.configured import geometry_in, identity_in
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import RESUMED, Gap, StepResult
from teijo.terms.step import Configure, Step, step_to_json


def catch_up(stage: Stage, conversation: Conversation, record: Record) -> StepRecord | None:
    """Bring method and device to where the record ends, and mark the run as going on.

    A device that can be replayed carries out the recorded steps again, and must give the very
    same answers; then nothing is missing. Any other was left alone for an unknown time: that is
    the gap that is returned, recorded as the answer to what was asked next. A run that had no
    answer yet simply begins again.

    `check_identity` has been asked before.

    Raises:
        IdentityError: it answers differently.
        RunFileError: the method asks for another step than the recorded.
        Interrupted: somebody asked to stop; the record is as it was.
    """
    stage.replaying = True
    resumed = [each for each in record.remarks if each.kind is RemarkKind.RESUMED]
    # A device that is made anew has no stamps of an attempt before.
    stage.resumptions = 0 if stage.device.replayable else len(resumed) + 1
    for exchange in record.steps:
        check_asked(conversation, exchange, record.run.version)
        # Nothing is asked behind a step that somebody ended early, and nobody knows the moment.
        if stage.device.replayable and not exchange.ended_early:
            _execute_again(stage, exchange, record.run.version)
        _take_over(stage, exchange)
        conversation.answer(exchange.answer)
    stage.replaying = False
    done = len(record.steps)
    # Written only now: a stop or another answer before leaves the record as it was.
    stage.recorder.go_on(Remark(kind=RemarkKind.RESUMED, text=_remark(done, stage)))
    stage.recorder.remark(*_warnings_since(record, stage.device))
    if done == 0 or stage.device.replayable:
        return None
    # Nobody knows how long the device was left alone, so the run's clock stood still.
    stage.origin_ns = stage.device.session.now_ns() - _ended_ns(record)
    stage.ended_ns = None
    if conversation.step is None or _was_left_in_a_gap(stage, record):
        return None
    return _leave_gap(stage, conversation, conversation.step, done + 1)


def _was_left_in_a_gap(stage: Stage, record: Record) -> bool:
    """Return whether a run stopped in a gap, told by whoever made it, and began nothing after."""
    last = record.steps[-1].answer
    told = isinstance(last, Gap) and last.reason != RESUMED
    return told and stage.recorder.under_way() is None


def _warnings_since(record: Record, device: Device) -> list[Remark]:
    """Return what the drive warns of by now and did not when the run began."""
    warnings = (one for one in device.remarks() if one.kind is RemarkKind.DRIVE_WARNS)
    return [one for one in warnings if one not in record.remarks]


def _ended_ns(record: Record) -> int:
    """Return the run's clock at the end of the last answer, whatever gaps follow it."""
    return max((answer.started_ns + answer.elapsed_ns for answer in record.answers), default=0)


def _remark(done: int, stage: Stage) -> str:
    if done == 0:
        return "Stopped in its first step, which was carried out again from its start."
    if stage.device.replayable:
        return say(
            "Resumed after step {step}; steps 1 to {last} were executed again, all as recorded.",
            step=done,
            last=done,
        )
    return say(
        "Resumed after step {step}; the device was left alone for an unknown time.", step=done
    )


def _leave_gap(stage: Stage, conversation: Conversation, step: Step, seq: int) -> StepRecord:
    seed = seed_of(stage, seq, step)
    gap = Gap()
    stage.miss(step)
    stage.recorder.record_gap(seq, step, seed, gap, interval_ns=interval_ns(step))
    stage.observer(StepDone(seq=seq, step=step, answer=gap))
    conversation.answer(gap)
    return StepRecord(seq=seq, step=step, seed=seed, answer=gap)


def check_identity(record: Record, device: Device, under_way: Step | None = None) -> None:
    """Make sure a device is the one of the record; `under_way` is the step that was cut short.

    A block device is known by its names, not by its node; one that answers the same again only
    if its parameters are the same, by those too. A real device that a hook changed is the one it
    was after the last hook that ended. While a hook is at work nobody knows how far it came: what
    it may change is not asked then, and the same hook runs again before anything is measured.

    Raises:
        IdentityError: it is not; the message lists what differs.
        RunFileError: what it was after a hook is damaged.
    """
    identity = device.identity
    was, size, changing = record.identity, record.geometry, False
    names = ["kind", "model", "serial", "wwid", "firmware", "interface"]
    if device.replayable:
        names.append("facts")
    else:
        was, size, changing = _last_known(record, under_way)
    if changing:
        block = ["kind", "model", "serial", "wwid", "interface"]
        names = block if identity.kind == "block" else ["kind"]
    if identity.kind != "block":
        names.append("target")
    pairs: list[tuple[str, object, object]] = [
        (name, getattr(was, name), getattr(identity, name)) for name in names
    ]
    if not changing:
        pairs.append(("capacity", size, device.geometry))
    differing = [f"{name}: {was!r} then, {now!r} now" for name, was, now in pairs if was != now]
    if differing:
        raise IdentityError(
            f"{identity.target} is not the device this run began on ({'; '.join(differing)}).",
            remedy="Connect the device of the record, or begin a new run.",
        )


def _last_known(record: Record, under_way: Step | None) -> tuple[Identity, Geometry, bool]:
    """Return who a real device was last, how large, and whether a hook was cut short since."""
    was, size, changing = record.identity, record.geometry, False
    for each in record.steps:
        if not isinstance(each.step, Configure):
            continue
        match each.answer:
            case StepResult(detail=detail):
                try:
                    was, size = identity_in(detail, was), geometry_in(detail) or size
                except ValueError as error:
                    raise RunFileError(
                        f"What step {each.seq} says of the device is damaged: {error}.",
                        remedy="Begin a new run.",
                    ) from error
                changing = False
            case Gap():
                changing = changing or bool(each.step.hook)
    begun = isinstance(under_way, Configure) and bool(under_way.hook)
    return was, size, changing or begun


def check_consistent(record: Record, path: Path) -> None:
    """Make sure that what is gone on from can be true.

    Raises:
        RunFileError: numbers of it contradict each other.
    """
    for remark in record.remarks:
        if remark.kind is RemarkKind.RECORD_INCONSISTENT:
            where = "" if remark.step is None else f" in step {remark.step}"
            raise RunFileError(
                f"{path} contradicts itself{where}: {remark.text}.",
                remedy=f"See all of it: teijo verify {shell_path(path)}; begin a new run.",
            )


def check_asked(conversation: Conversation, exchange: StepRecord, version: str) -> None:
    """Make sure that a method asks for what was recorded.

    Raises:
        RunFileError: it does not.
    """
    if conversation.step is None or step_to_json(conversation.step) != step_to_json(exchange.step):
        raise RunFileError(
            f"At step {exchange.seq} this teijo asks for another step than was recorded.",
            remedy=f"Resume with the teijo that began the run, {version}.",
        )


def _execute_again(stage: Stage, exchange: StepRecord, version: str) -> None:
    stage.interrupt.check()
    answer = exchange.answer
    lasted_ns = answer.elapsed_ns if isinstance(answer, StepResult) else 0
    stage.observer(
        StepStarted(seq=exchange.seq, step=exchange.step, replayed=True, recorded_ns=lasted_ns)
    )
    again = carry_out(stage, exchange.seq, exchange.step, exchange.seed).result
    if rows_of(again) != rows_of(exchange.answer):
        raise IdentityError(
            f"The device gave another answer to step {exchange.seq} than was recorded.",
            remedy=f"Resume with the teijo that began the run, {version}.",
        )


def _take_over(stage: Stage, exchange: StepRecord) -> None:
    stage.seed = exchange.seed
    match exchange.answer:
        case StepResult() as result:
            stage.settle(exchange.step, result)
        case Gap():
            stage.miss(exchange.step)
