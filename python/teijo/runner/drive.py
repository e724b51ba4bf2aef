"""The conversation: a method asks for steps, a device answers, the run file keeps both."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from teijo.analysis import validity
from teijo.document.phrase import say
from teijo.errors import DeviceError, HostAway
from teijo.methods.method import Steps
from teijo.runner.compile import interval_ns
from teijo.runner.events import Remarked, StepDone, StepStarted
from teijo.runner.handlers.configure import configure
from teijo.runner.handlers.idle import idle
from teijo.runner.handlers.lap import run_load
from teijo.runner.handlers.perform import perform
from teijo.runner.handlers.purge import purge
from teijo.runner.looks import look_after, look_at_the_end, look_before
from teijo.runner.stage import Outcome, Stage, data_remarks, error_remarks
from teijo.terms import seed as seeds
from teijo.terms.record import Ending, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import DRAIN, Answer, Gap, StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.units import format_duration


class Conversation:
    """A conversation and its state: `step` is asked for, or `ending` was reached."""

    def __init__(self, steps: Steps) -> None:
        """Ask for the first step."""
        self._steps = steps
        self.step: Step | None = None
        self.ending: Ending | None = None
        self._advance(lambda: next(steps))

    def answer(self, answer: Answer) -> None:
        """Send an answer; ask for the next step."""
        self._advance(lambda: self._steps.send(answer))

    def _advance(self, ask: Callable[[], Step]) -> None:
        try:
            self.step = ask()
        except StopIteration as stop:
            self.step, self.ending = None, stop.value
            assert self.ending is not None, "a conversation ends with how it ended"


def drive(
    stage: Stage, conversation: Conversation, seq: int, report: Callable[[StepRecord], None]
) -> Ending:
    """Carry out what is asked for, from step number `seq` on, until the method has its answer.

    `report` is called with every exchange once it is on the disk.

    Raises:
        DeviceError: the device failed; what it answered before is recorded.
        StuckDevice: it does not answer; the running step is abandoned.
        IdentityError: it is another device by now.
        HostAway: a host of the run is gone; the running step is recorded as a gap.
        HostError: the run file cannot be written.
        Interrupted, KeyboardInterrupt: somebody asked to stop, or the write budget is used up;
            the running step is abandoned.
    """
    if stage.watch is not None and conversation.step is not None:
        stage.watch.now(seq)
    while conversation.step is not None:
        step = conversation.step
        seed = seed_of(stage, seq, step)
        if stage.watch is not None:
            stage.watch.check()
        stage.interrupt.check()
        if stage.budget is not None:
            stage.budget.check(step)
        stage.recorder.begin(seq, step, seed, interval_ns=interval_ns(step))
        stage.observer(StepStarted(seq=seq, step=step))
        try:
            outcome = carry_out(stage, seq, step, seed)
        except HostAway as away:
            report(_gap(stage, seq, step, seed, away))
            raise
        jumps = clock_remarks(stage)  # first: a kill between the two must not lose it
        # On the disk before anybody hears of it: what was acknowledged outlives a power cut.
        stage.recorder.record(seq, outcome.result)
        stage.settle(step, outcome.result)
        for remark in (*jumps, *outcome.result.remarks):
            stage.observer(Remarked(remark=remark))
        stage.observer(StepDone(seq=seq, step=step, answer=outcome.result))
        report(StepRecord(seq=seq, step=step, seed=seed, answer=outcome.result))
        if outcome.failure:
            raise DeviceError(
                f"The device failed in step {seq} ({step.phase}): {outcome.failure}.",
                remedy="What was measured is kept. Look at the kernel log and at the drive's own.",
            )
        conversation.answer(outcome.result)
        if conversation.step is None:
            look_at_the_end(stage, seq, outcome.result)
            if stage.watch is not None:
                stage.watch.now(seq)
        seq += 1
    assert conversation.ending is not None
    return conversation.ending


def _gap(stage: Stage, seq: int, step: Step, seed: int, away: HostAway) -> StepRecord:
    """Record that a step came to no answer, and by whom and when; a resume goes on behind it."""
    gap = Gap(reason=away.message)
    stage.miss(step)
    stage.recorder.record_gap(seq, step, seed, gap, interval_ns=interval_ns(step))
    stage.observer(StepDone(seq=seq, step=step, answer=gap))
    return StepRecord(seq=seq, step=step, seed=seed, answer=gap)


def carry_out(stage: Stage, seq: int, step: Step, seed: int) -> Outcome:
    """Carry out one step: the device's counters before and after, and its answer between."""
    goes_on = isinstance(step, Measure) and step.continues
    watch = stage.watch
    if watch is not None and not goes_on:
        watch.rest()
    stage.seed = seed
    stage.device.session.limit_io(stage.io_timeout_ns)  # a configured device has a new session
    stage.device.session.pin(stage.cpus)
    drain = {} if goes_on else _drained(stage)
    # Between two pieces of one stimulus nothing else is done, so the counters are the last ones.
    before = stage.health if goes_on else look_before(stage, step)
    # A configured device is another, or made anew, and counts from 0.
    counts = {} if isinstance(step, Configure) else stage.device.counts()
    stage.device.check()  # right before anything is written: reading counters may take seconds
    # Those that have a plan are at the gate when it is made.
    if not isinstance(step, Measure | Precondition):
        stage.pass_gate()
    match step:
        case Purge():
            outcome = purge(stage, seq, step)
        case Measure() | Precondition():
            outcome = run_load(stage, seq, step, seed)
        case Idle():
            outcome = idle(stage, step)
        case Configure():
            outcome = configure(stage, step)
        case Perform():
            outcome = perform(stage, seq, step, seed)
    if not outcome.failure:
        _check_still_the_same(stage)
    after = look_after(stage, has_failed=bool(outcome.failure))
    told = () if watch is None else watch.fresh()
    result = replace(
        outcome.result,
        detail={**outcome.result.detail, **drain, **_counted(counts, stage.device.counts())},
        health_before=before,
        health_after=after,
        remarks=tuple(
            replace(remark, step=seq)
            for remark in (
                *outcome.result.remarks,
                *data_remarks(outcome.result),
                *error_remarks(outcome.result),
                *stage.new_warnings(before, after, *told),
                *_sleep_remarks(stage, outcome.result),
                *_stop_remarks(stage),
            )
        ),
    )
    if watch is not None:
        slowed = watch.remarks_on(seq, step, result)
        result = replace(result, remarks=(*result.remarks, *slowed))
    if isinstance(step, Measure | Precondition):
        own = tuple(replace(one, step=seq) for one in validity.remarks_on(step, result))
        result = replace(result, remarks=(*result.remarks, *own))
    return replace(outcome, result=result)


def _drained(stage: Stage) -> dict[str, str]:
    """End what is still in flight; return how long that took after the last step, for the next."""
    stage.device.session.finish()
    if not stage.goes_on or stage.ended_ns is None:
        return {}
    return {DRAIN: str(max(0, stage.now_ns() - stage.ended_ns))}


def _check_still_the_same(stage: Stage) -> None:
    """Make sure that one and the same device answered the whole of a step.

    Raises:
        IdentityError: another took its place meanwhile; whose numbers they are, nobody knows.
    """
    with suppress(DeviceError):  # gone after its last answer: the next step says so
        stage.device.check()


def clock_remarks(stage: Stage) -> tuple[Remark, ...]:
    """Record that the clock was set during the run: its dates do not tell how long it took."""
    text = stage.clocks.step_text()
    if not text:
        return ()
    remark = Remark(kind=RemarkKind.CLOCK_STEPPED, text=text)
    stage.recorder.remark(remark)
    return (remark,)


def _sleep_remarks(stage: Stage, result: StepResult) -> tuple[Remark, ...]:
    """Return a remark where the host slept since the last step and no lap witnessed it.

    A device in virtual time does not notice, and gives the same answer when it is asked again.
    """
    witnessed_ns = 0 if result.witness is None else result.witness.slept_ns
    slept_ns = stage.clocks.slept_ns() - witnessed_ns
    if stage.device.replayable or slept_ns <= validity.SLEEP_NS_MOST:
        return ()
    slept = format_duration(slept_ns)
    text = say("The host slept for {time} before the step or in it.", time=slept)
    return (Remark(kind=RemarkKind.CLOCK_STEPPED, text=text),)


def _stop_remarks(stage: Stage) -> tuple[Remark, ...]:
    """Return a remark where somebody stopped the program; virtual time stopped as well."""
    stopped_ns = stage.clocks.stopped_ns()
    if stage.device.replayable or not stopped_ns:
        return ()
    stopped = format_duration(stopped_ns)
    text = say("The program was stopped for {time} before the step or in it.", time=stopped)
    return (Remark(kind=RemarkKind.CLOCK_STEPPED, text=text),)


def _counted(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, str]:
    """Return what a simulated device counted in between, for a step's detail."""
    grown = {name: count - before.get(name, 0) for name, count in after.items()}
    return {f"count.{name}": str(count) for name, count in grown.items() if count}


def seed_of(stage: Stage, seq: int, step: Step) -> int:
    """Return the seed of the step at place `seq` of a run that has come as far as `stage`."""
    return seeds.seed_of(stage.run_seed, seq, step, before=stage.seed)
