"""What every handler works on: the device, the run file, the clock and the cursors of one run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import strerror
from typing import Final

from teijo.device.device import Device
from teijo.device.memory_limit import MemoryLimit
from teijo.document.phrase import say
from teijo.engine.plan import VerifyPlan
from teijo.engine.session import Ceilings, StuckIo
from teijo.runfile.recorder import Recorder
from teijo.runner.budget import Budget
from teijo.runner.clocks import Clocks
from teijo.runner.events import Observer
from teijo.runner.health_watch import HealthWatch
from teijo.runner.interrupt import Interrupt
from teijo.terms.drive_warning import MEANINGS, DriveWarning, shown_in, told_in
from teijo.terms.platform import Platform
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Health, StepResult
from teijo.terms.seed import stamp_run
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.verification import Written
from teijo.units import NS_PER_S, format_duration

STUCK_NAMED: Final = 8
GENERATION_BITS: Final = 40
"""Stamps of a step without an order count its writes: so many that no step reaches the next."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a handler hands back. `failure` says why the device can go no further, "" if it can."""

    result: StepResult
    failure: str = ""


@dataclass(kw_only=True)
class Stage:
    """One run under way.

    `origin_ns` is the session's clock at the run's zero; `ended_ns` the end of the last step on
    the run's clock, None before the first; `cursors` say where sequential streams go on.
    While `replaying`, recorded steps are executed again and nothing is written.
    """

    device: Device
    observer: Observer
    interrupt: Interrupt
    run_seed: int
    origin_ns: int
    ended_ns: int | None = None
    written_by: Recorder | None = None
    """What writes the run file; None where nothing is recorded."""
    replaying: bool = False
    seed: int = 0
    """The last step's seed: a step that continues its stimulus has the same."""
    goes_on: bool = False
    """Whether the last step left its stimulus running."""
    cursors: dict[str, int] = field(default_factory=dict)
    written: tuple[Written, ...] = ()
    """What verified writes left on the device, as formulas."""
    resumptions: int = 0
    """How often the run was taken up again on a device that keeps what was written."""
    health: Health = field(default_factory=dict)
    """The device's counters after the last step."""
    last: Step | None = None
    """The step before, None before the first that took place."""
    looked_ns: int | None = None
    """When the device was asked for its own counters last, on the run's clock; None if never."""
    ceilings: Ceilings | None = None
    """What the host can do with no device at all; None where that is not the question."""
    platform: Platform | None = None
    """What it can do in each cell of the method, as it was before the first step."""
    notes: set[str] = field(default_factory=set)
    """What the engine said already."""
    said: set[Remark] = field(default_factory=set)
    """What was said of the device in every configuration so far."""
    warned: set[tuple[str, DriveWarning]] | None = None
    """What the device was seen to warn of so far, with the member; None before the first look."""
    budget: Budget | None = None
    """What the run may write; None where nobody set a limit."""
    io_timeout_ns: int = 120 * NS_PER_S
    """An I/O that is older ends the run."""
    cpus: tuple[int, ...] = ()
    """The processors that workers are kept on, in their order; none: the kernel chooses."""
    memory: MemoryLimit = field(default_factory=MemoryLimit)
    """What work on files and statements is held to, where a step says so."""
    clocks: Clocks = field(default_factory=Clocks)
    """The host's, looked at after each step."""
    watch: HealthWatch | None = None
    """What asks a real drive while it is driven; None where nobody does."""
    gate: Callable[[], None] | None = None
    """What the first step waits for when all else is ready; None once it was passed."""

    def pass_gate(self) -> None:
        """Wait for the moment at which the first step is to begin, if there is one."""
        gate, self.gate = self.gate, None
        if gate is not None:
            gate()

    @property
    def recorder(self) -> Recorder:
        """What writes the run file; it is not asked for where nothing is recorded."""
        assert self.written_by is not None
        return self.written_by

    def now_ns(self) -> int:
        """Return the run's clock."""
        return self.device.session.now_ns() - self.origin_ns

    def gap_ns(self, started_ns: int) -> int:
        """Return how long the device rested before a step that started then."""
        return 0 if self.ended_ns is None else max(0, started_ns - self.ended_ns)

    def settle(self, step: Step, result: StepResult) -> None:
        """Take over what the next step builds on."""
        self.ended_ns = result.started_ns + result.elapsed_ns
        self.goes_on = isinstance(step, Measure) and step.open_ended
        self.cursors.update(result.cursors)
        self.health = result.health_after
        self.last = step
        if _overwrites(step):
            self.written = ()
        self.written += result.written
        if self.budget is not None:
            self.budget.settle(step, result)

    def miss(self, step: Step) -> None:
        """Forget what a step that was cut short, or never begun, leaves unknown."""
        self.ended_ns = None
        self.last = None
        if _overwrites(step):
            self.written = ()

    def verify_plan(self, seq: int) -> VerifyPlan:
        """Return the stamps of step `seq`: above those of all earlier steps and attempts.

        A step that was cut short left stamps behind that nobody counted; the attempt after it has
        a higher number, as the steps after any step have.
        """
        return VerifyPlan(
            run=stamp_run(self.run_seed),
            generation=(seq + self.resumptions) << GENERATION_BITS,
            written=self.written,
        )

    def new_warnings(self, *looks: Health) -> tuple[Remark, ...]:
        """Return a remark for each warning in the counters that the drive did not give before."""
        if self.warned is None:
            # Of what it warned as it was opened, the run has a remark already.
            before = told_in(self.device.identity.facts.get("health", ""))
            self.warned = {each for look in looks for each in shown_in(look) if each[1] in before}
        fresh = sorted({each for look in looks for each in shown_in(look)} - self.warned)
        self.warned.update(fresh)
        return tuple(_warning_remark(member, warning) for member, warning in fresh)

    def new_notes(self, notes: tuple[str, ...]) -> tuple[Remark, ...]:
        """Return a remark for each thing the engine had to do differently, once a run."""
        fresh = [note for note in dict.fromkeys(notes) if note not in self.notes]
        self.notes.update(fresh)
        return tuple(Remark(kind=RemarkKind.ENGINE_FALLBACK, text=note) for note in fresh)


def _warning_remark(member: str, warning: DriveWarning) -> Remark:
    text = say(
        "the drive says {name} since this step: {meaning}",
        name=warning.value,
        meaning=MEANINGS[warning],
    )
    named = say("member {number}: {text}", number=member, text=text) if member else text
    return Remark(kind=RemarkKind.DRIVE_WARNS, text=named)


def _overwrites(step: Step) -> bool:
    """Return whether a step may leave something else in the place of what was stamped."""
    match step:
        case Purge() | Configure():
            return True
        case Measure() | Precondition():
            return any(each.writes and not each.verified for each in step.workload.streams)
        case Idle() | Perform():
            return False


def data_remarks(result: StepResult) -> tuple[Remark, ...]:
    """Return a remark that counts what verified reads found wrong, none if nothing was."""
    found = result.verification
    if found is None or not found.faults:
        return ()
    return (Remark(kind=RemarkKind.WRONG_DATA, text=f"{found.text}."),)


def stuck_text(stuck: Sequence[StuckIo]) -> str:
    """Name the I/Os that did not come back: the oldest few, and how many there are; "" for none."""
    if not stuck:
        return ""
    named = [
        f"{each.operation} of {each.length_bytes:,} B at byte {each.offset_bytes:,} "
        f"for {format_duration(each.age_ns)}"
        for each in stuck[:STUCK_NAMED]
    ]
    more = "" if len(stuck) <= STUCK_NAMED else ", …"
    return say(
        "I/Os without an answer: {n}. The oldest: {ios}.",
        n=len(stuck),
        ios=", ".join(named) + more,
    )


def error_remarks(result: StepResult) -> tuple[Remark, ...]:
    """Return a remark that names the failed I/Os of a step, none if all went well."""
    counts: dict[int, int] = {}
    for part in (*result.results, *result.commands):
        for errno, count in part.errors.items():
            counts[errno] = counts.get(errno, 0) + count
    if not any(counts.values()):
        return ()
    causes = ", ".join(
        f"{count} × {strerror(errno) if errno else 'short or empty transfer'}"
        for errno, count in sorted(counts.items())
        if count
    )
    failed = sum(counts.values())
    text = (
        say("1 I/O failed: {causes}.", causes=causes)
        if failed == 1
        else say("{count} I/Os failed: {causes}.", count=failed, causes=causes)
    )
    return (Remark(kind=RemarkKind.IO_ERRORS, text=text),)
