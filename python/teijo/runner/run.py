"""A run from its beginning, or from where it stopped, to its sealed file. Every end has its way.

done            the ending is recorded, the file sealed
device error    ending "failed", sealed: nothing more can come of it
wrong data      as a device error, at the end of all steps: reads did not hold what was written
usage, unsafe   as a device error; if nothing was measured yet, no file is left
interrupted     ending "interrupted", the file stays open for `resume`; so too when the device
                is another by now or does not answer: the right one may come back
host error      the file stays open as the last transaction left it
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic_ns
from typing import Final, NoReturn
from uuid import uuid4

from teijo.device import hook_consent
from teijo.device.device import Device
from teijo.device.hook_consent import Hook
from teijo.device.working import WorkingDevice
from teijo.errors import (
    DeviceError,
    DriveWarned,
    IdentityError,
    Interrupted,
    InvalidMeasurement,
    StoppedAtOnce,
    StuckDevice,
    TeijoError,
    UnsafeError,
    UsageError,
)
from teijo.methods.method import AnyMethod
from teijo.methods.parts import watch_of
from teijo.methods.settings import Settings
from teijo.outside.text import shell_path
from teijo.runfile import program, stop_request
from teijo.runfile.recorder import Recorder
from teijo.runfile.space import estimate_bytes
from teijo.runner import hold
from teijo.runner.budget import FACT, OPTION, Budget
from teijo.runner.clocks import Clocks
from teijo.runner.drive import Conversation, clock_remarks, drive
from teijo.runner.environment import describe_host
from teijo.runner.events import Ended, Judged, Observer, RunStarted, Stopping
from teijo.runner.extent import Preview, refuse_beyond
from teijo.runner.health_watch import HealthWatch, log_to_watch
from teijo.runner.interrupt import Interrupt
from teijo.runner.pinning import recorded
from teijo.runner.placement import lies_on
from teijo.runner.platform import platform_facts
from teijo.runner.preview import preview, rates_of
from teijo.runner.replay import catch_up, check_consistent, check_identity
from teijo.runner.stage import Stage, stuck_text
from teijo.terms.platform import platform_in
from teijo.terms.provenance import Group, provenance_of
from teijo.terms.record import Ending, Record, RunInfo, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.shared import options_in
from teijo.terms.verification import joined
from teijo.units import NS_PER_S

IO_TIMEOUT_NS: Final = 120 * NS_PER_S
"""Longer than the kernel itself gives a drive: 30 s an attempt, and a reset or two."""
_ALL_JUDGED: Final = 100
"""Up to so many steps, each is followed by a look at the method's progress."""
_LOOK_SHARE: Final = 20
"""Beyond, the time from one look to the next is so many times that of a look: 5 % of it all."""


def new_run_id() -> str:
    """Return a name that no other run has."""
    return str(uuid4())


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to run: a method with its settings, on an open device, into a file.

    `max_drive_writes` bounds what is written, in user capacities; None does not. `run_id` is the
    one by which a file under measurement is marked, `hook` the one the device was opened with, and
    `facts` are more that is recorded with the environment, `group` what the run belongs to. A
    device that does not answer an I/O for `io_timeout_ns` ends the run. One that is to `hold` waits
    before its first step until it is told when to begin.
    """

    method: AnyMethod
    spec: str
    settings: Settings
    seed: int
    device: Device
    output: Path
    engine: str
    max_drive_writes: float | None = None
    run_id: str = field(default_factory=new_run_id)
    hook: Hook | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    group: Group = field(default_factory=dict)
    io_timeout_ns: int = IO_TIMEOUT_NS
    hold: bool = False


def begin(order: Order, observer: Observer, interrupt: Interrupt | None = None) -> Path:
    """Carry out a run from its first step and return the sealed file's path.

    Raises:
        TeijoError: the run ended early; the head of this file says what is left behind.
    """
    clocks = Clocks()  # before the date of the beginning is taken
    ahead = preview(order.method, order.settings, order.device.geometry)
    budget = None
    if order.max_drive_writes is not None:
        refuse_beyond(order.max_drive_writes, ahead)
        budget = _budget(order.max_drive_writes, order.device)
    header = _header(order, budget)
    recorder = Recorder.create(
        order.output,
        header,
        reserve_bytes=_room(ahead),
        lies_on_device=partial(lies_on, order.device.identity),
    )
    act = _Act(
        order.method,
        order.settings,
        order.device,
        recorder,
        header,
        observer,
        budget,
        order.hook,
        order.io_timeout_ns,
        clocks,
        _holds=order.hold,
    )
    return act.run(interrupt or Interrupt(), ahead, resumed=False)


def resume(
    record: Record,
    recorder: Recorder,
    method: AnyMethod,
    settings: Settings,
    device: Device,
    observer: Observer,
    interrupt: Interrupt | None = None,
    *,
    max_drive_writes: float | None = None,
    hook: Hook | None = None,
    io_timeout_ns: int = IO_TIMEOUT_NS,
) -> Path:
    """Carry a stopped run on from its record and return the sealed file's path.

    The limit of what is written stays as it was, unless another is given; all that was written
    before counts.

    Raises:
        UnsafeError: more than that limit is expected to be written.
        RunFileError: the limit it holds is none, or this version of the method asks for other
            steps than the recorded.
        IdentityError: it is another device, or a simulated one that answers differently.
        TeijoError: the run ended early again.
    """
    recorder.reserve(_room(preview(method, settings, device.geometry)))
    if max_drive_writes is None:
        budget = Budget.of(record.environment, device.geometry.capacity_bytes)
    else:
        budget = _budget(max_drive_writes, device)
    # A device that is made anew has lost what abandoned steps wrote.
    if budget is not None and not device.replayable:
        budget.spent_bytes = recorder.abandoned_bytes()
    ahead = preview(
        method,
        settings,
        device.geometry,
        rates_of(record),
        after=record,
        replayable=device.replayable,
    )
    act = _Act(method, settings, device, recorder, record, observer, budget, hook, io_timeout_ns)
    return act.run(interrupt or Interrupt(), ahead, resumed=True)


@dataclass
class _Act:
    """One run under way, with its record as it grows."""

    _method: AnyMethod
    _settings: Settings
    _device: Device
    _recorder: Recorder
    _record: Record
    _observer: Observer
    _budget: Budget | None
    _hook: Hook | None
    _io_timeout_ns: int
    clocks: Clocks = field(default_factory=Clocks)
    _holds: bool = False
    _gate: hold.Gate | None = None
    _untouched: bool = False
    _stage: Stage | None = None
    _seen: int = 0
    _next_look_ns: int = 0

    def __post_init__(self) -> None:
        self._steps = list(self._record.steps)

    def run(self, interrupt: Interrupt, ahead: Preview, *, resumed: bool) -> Path:
        """Carry out the run, and seal its file; or leave it as the head of this file says."""
        names, run = self._recorder.names, self._record.run.id
        interrupt.notify = lambda name: self._observer(Stopping(signal=name))
        interrupt.stand_still = self.clocks.stand_still
        stop_request.clear(names, run)  # one that came after the end of the run before
        interrupt.elsewhere = lambda: stop_request.asked(names, run)
        try:
            with interrupt.listening():
                stage, conversation = self._prepared(interrupt, ahead, resumed=resumed)
                stage.watch = self._watched(stage)
                if self._holds:
                    start = hold.told(self._recorder, run, interrupt)
                    stage.gate = self._gate = hold.Gate(start.at_ns, interrupt, stage.now_ns)
                ending = drive(stage, conversation, len(self._steps) + 1, self._recorded)
                self._check_end()
                return self._end(ending)
        except (Interrupted, KeyboardInterrupt, IdentityError, StuckDevice) as stop:
            self._interrupted(stop)
        except (DeviceError, UsageError, UnsafeError, InvalidMeasurement) as error:
            self._failed(error)
        finally:
            if self._stage is not None:
                self._stage.memory.leave()
                if self._stage.watch is not None:
                    self._stage.watch.end()
            stop_request.clear(names, run)
            self._recorder.close()

    def _prepared(
        self, interrupt: Interrupt, ahead: Preview, *, resumed: bool
    ) -> tuple[Stage, Conversation]:
        """Return the run where its next step is asked for, caught up with its record."""
        stage = self._stage = Stage(
            device=self._device,
            written_by=self._recorder,
            observer=self._observer,
            interrupt=interrupt,
            run_seed=self._record.run.seed,
            origin_ns=self._device.session.now_ns(),
            clocks=self.clocks,
            ceilings=self._device.session.ceilings(),
            platform=platform_in(self._record.environment),
            budget=self._budget,
            io_timeout_ns=self._io_timeout_ns,
            cpus=recorded(self._record.environment),
        )
        self._observer(
            RunStarted(
                run=self._record.run,
                geometry=self._device.geometry,
                identity=self._device.identity,
                path=self._recorder.names.open,
                resumed=resumed,
                ahead=ahead,
                virtual=self._device.replayable,
                recorded_ns=sum(answer.elapsed_ns for answer in self._answers),
            )
        )
        if resumed:
            # Not yet caught up, an error leaves the file as it was: another device may be right.
            self._untouched = True
            check_identity(self._record, self._device, self._recorder.under_way())
            check_consistent(self._record, self._recorder.names.open)
        # Of the device as it was in the beginning: a hook may have made it another since then.
        conversation = Conversation(self._method.steps(self._settings, self._record.geometry))
        if resumed:
            self._check_budget(ahead)
            self._judge()
            gap = catch_up(stage, conversation, self._record)
            self._untouched = False
            if gap is not None:
                self._steps.append(gap)
            if self._budget is not None:
                self._recorder.note(FACT, self._budget.fact)
        self._judge()
        return stage, conversation

    def _watched(self, stage: Stage) -> HealthWatch | None:
        """Return what watches the drive, as the settings ask; None where they or it do not."""
        found = log_to_watch(self._settings, self._device, self._recorder)
        if found is None:
            return None
        return HealthWatch(
            found[0],
            interval_ns=found[1],
            stops=getattr(self._settings, "stop", "never") == "warning",
            now_ns=stage.now_ns,
            recorder=self._recorder,
            observer=self._observer,
            interrupt=stage.interrupt,
            silence_ns=self._io_timeout_ns,
        )

    def _check_end(self) -> None:
        """Judge the last step, complete what is in flight, and hold reads against writes."""
        if self._seen != len(self._steps):
            self._judge()
        self._device.session.finish()
        self._tidy()
        self._check_data()

    def _tidy(self) -> None:
        """Remove what the work made before the end is recorded: after it nobody resumes the run."""
        if isinstance(self._device, WorkingDevice):
            self._device.close()

    def _check_budget(self, ahead: Preview) -> None:
        """Make sure that what is left of the run fits in, before any of it is begun.

        Raises:
            UnsafeError: it does not.
        """
        if self._budget is not None:
            spent = ahead.spent_bytes + self._budget.spent_bytes
            refuse_beyond(self._budget.drive_writes, replace(ahead, spent_bytes=spent))

    def _check_data(self) -> None:
        """Make sure that all verified reads held what was written.

        Raises:
            InvalidMeasurement: they did not; the run is complete all the same.
        """
        answered = (each.verification for each in self._answers)
        found = joined(each for each in answered if each is not None)
        if found.faults:
            raise InvalidMeasurement(
                f"{found.text}.",
                remedy="The run file is complete: `teijo report` shows each class and place.",
            )

    @property
    def _answers(self) -> list[StepResult]:
        return [each.answer for each in self._steps if isinstance(each.answer, StepResult)]

    def _recorded(self, exchange: StepRecord) -> None:
        self._steps.append(exchange)
        if self._gate is not None:  # only now, for it may wait for a disk
            self._recorder.note(hold.BEGUN, hold.written(self._gate.begun_ns(exchange.answer)))
            self._gate = None
        if len(self._steps) <= _ALL_JUDGED or monotonic_ns() >= self._next_look_ns:
            self._judge()

    def _judge(self) -> None:
        """Report the method's progress. It reads the whole record, so it must not be asked often:
        of a record of thousands of short steps it would take longer than the steps.
        """
        self._seen = len(self._steps)
        began_ns = monotonic_ns()
        self._observer(Judged(watch=watch_of(self._so_far(), self._method)))
        ended_ns = monotonic_ns()
        self._next_look_ns = ended_ns + _LOOK_SHARE * (ended_ns - began_ns)

    def _so_far(self) -> Record:
        """Return the record as it has grown; the file of a run that goes on says how it stopped."""
        run = replace(self._record.run, ending="running")
        return replace(self._record, run=run, steps=tuple(self._steps))

    def _end(self, ending: Ending) -> Path:
        if ending == "not steady":
            self._recorder.remark(
                Remark(
                    kind=RemarkKind.NOT_STEADY,
                    text="Steady state was not reached; the report shows the last rounds.",
                )
            )
        self._note_clock()
        self._recorder.end(ending)
        self._untouched = True  # it has ended so, even if its sealing fails
        return self._sealed(ending)

    def _note_clock(self) -> None:
        """Record a clock that was set after the last step: the date of the end goes by it."""
        if self._stage is not None:
            clock_remarks(self._stage)

    def _sealed(self, ending: Ending, error: str = "") -> Path:
        path = self._recorder.seal()
        self._observer(Ended(ending=ending, path=path, error=error))
        return path

    def _failed(self, error: TeijoError) -> NoReturn:
        if self._untouched:
            raise error
        self._tidy()
        if not self._steps and not isinstance(error, DeviceError):
            self._recorder.discard()
            raise error
        self._note_clock()
        self._recorder.end("failed", error.message)
        self._sealed("failed", error.message)
        raise error

    def _interrupted(self, stop: BaseException) -> NoReturn:
        path = self._recorder.names.open
        match stop:
            case StuckDevice():
                message = "The device does not answer."
            case TeijoError(message=message):
                pass
            case _:
                message = "Stopped at once by a signal."
        stuck = stuck_text(self._device.session.stuck()) or _waiting(stop)
        if not self._untouched:
            if stuck:
                self._recorder.remark(Remark(kind=RemarkKind.IO_STUCK, text=stuck))
            self._recorder.remark(Remark(kind=RemarkKind.INTERRUPTED, text=message))
            self._recorder.end("interrupted", message)
        self._observer(Ended(ending="interrupted", path=path, error=message))
        if isinstance(stop, IdentityError):
            raise stop
        warned = DriveWarned if isinstance(stop, DriveWarned) else Interrupted
        kind = StuckDevice if isinstance(stop, StuckDevice) else warned
        said = f"{message} {stuck}".rstrip()
        error = kind(
            f"{said} {len(self._steps)} finished steps are kept in {path}.",
            remedy=f"Continue with: teijo resume {shell_path(path)}{self._more()}",
        )
        # A process does not end while a device keeps one of its threads: its parent leaves for it.
        error.has_stuck_ios = bool(self._device.session.stuck()) or _is_left(stop)
        raise error from stop

    def _more(self) -> str:
        """Return what must be added to go on: hosts, a hook's digest, a higher limit of writes."""
        more = options_in(self._record.environment)
        more += "" if self._hook is None else f" {hook_consent.OPTION} {self._hook.digest}"
        if self._budget is None or not self._budget.stopped:
            return more
        return f"{more} {OPTION} N, where N is above {self._budget.drive_writes:g}"


def _waiting(stop: BaseException) -> str:
    """Return what is known of a device that does not answer, where no I/O can be named."""
    match stop:
        case StuckDevice(message=message):
            return message
        case StoppedAtOnce(what=what):
            return what
        case _:
            return ""


def _is_left(stop: BaseException) -> bool:
    """Return whether something of this process waits for the device still."""
    match stop:
        case TeijoError(has_stuck_ios=left):
            return left
        case _:
            return isinstance(stop, StoppedAtOnce)


def _room(seen: Preview) -> int:
    """Return the bytes a run file needs at most."""
    return estimate_bytes(steps=seen.most.steps, intervals=seen.most.intervals)


def _budget(drive_writes: float, device: Device) -> Budget:
    return Budget(drive_writes=drive_writes, capacity_bytes=device.geometry.capacity_bytes)


def _header(order: Order, budget: Budget | None) -> Record:
    device = order.device
    run = RunInfo(
        id=order.run_id,
        method=order.method.id,
        spec=getattr(order.settings, "spec", order.spec),
        settings=order.settings.model_dump(mode="json"),
        seed=order.seed,
        engine=f"{order.engine} ({device.session.backend})",
        version=program.version(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        provenance=provenance_of(device.identity.kind),
        group=order.group,
    )
    return Record(
        run=run,
        geometry=device.geometry,
        identity=device.identity,
        environment=describe_host()
        | platform_facts(order.method, order.settings, device, recorded(order.facts))
        | dict(device.session.choices())
        | ({} if budget is None else {FACT: budget.fact})
        | dict(order.facts),
        steps=(),
        remarks=(
            *device.remarks(),
            *order.method.deviations(order.settings, device.geometry),
        ),
    )
