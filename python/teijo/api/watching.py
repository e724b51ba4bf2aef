"""A run of another process, watched and stopped by its growing file alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from teijo.api.reading import of_a_file
from teijo.methods.parts import found_in, states_of, watch_in
from teijo.runfile import reader, stop_request
from teijo.runfile.following import FileFollower, Grown, News
from teijo.runfile.names import Names
from teijo.runfile.reader import RunningStep
from teijo.runner import events
from teijo.runner.run_state import Follower, RunState
from teijo.terms.finding import SteadyState
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge
from teijo.units import megabytes_per_second, per_second


@dataclass(frozen=True, kw_only=True)
class Look:
    """A run at one moment, for a face that draws it.

    `record` is the run so far, with every step that has an answer; `running` the step under way
    with its finished intervals, None for none. Times in ns on the run's clock, time series as
    `Intervals` (int64 columns of one length) by (stream, operation), read-only where they are of
    the running step. `new` is what the look before had not; where it is `anew`, what was drawn
    before is to be forgotten. `states` are the determinations of steady state so far that the run
    goes by, of the test under way. Nothing of it is copied for a look, and all of it may be kept.
    """

    state: RunState
    record: Record
    running: RunningStep | None
    new: News
    states: tuple[SteadyState, ...] = ()


@dataclass(frozen=True)
class Watched:
    """A run by its file, of whichever process and machine; see `watch`.

    Several threads may use it.
    """

    names: Names
    _eye: "_Eye" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Begin to follow the file; it is not read yet."""
        object.__setattr__(self, "_eye", _Eye(self.names))

    def state(self) -> RunState:
        """Return the run as far as its file tells: up to the last second of the running step.

        The first call reads all of the file, later ones what has been added since, and all of it
        again when the run has ended or goes on. In virtual time nobody can say here how long a
        person waits: `time_left` is None. The state follows from the file alone, whoever looked
        before: its `share` falls where more turns out to be left than was expected.

        Raises:
            teijo.errors.RunFileError: there is none, or it is damaged.
        """
        return self._eye.state()

    def look(self) -> Look:
        """Return the state with the run behind it, and what is new since the last `look`.

        It reads as `state` does, whose calls take nothing away from what is new here. Of several
        threads that look, each is told of what no other was.

        Raises:
            teijo.errors.RunFileError: there is none, or it is damaged. The next look that finds a
                whole file begins anew.
        """
        return self._eye.look()

    def stop(self) -> None:
        """Ask the run to stop, as `Running.stop`; it looks once a second. An ended one is left.

        Raises:
            teijo.errors.RunFileError: there is no such file, or it is damaged.
            teijo.errors.HostError: nothing can be written beside it.
        """
        record = reader.read(reader.locate(self.names.open))
        if record.run.ending == "running":
            stop_request.ask(self.names, record.run.id)


def watch(path: Path | str) -> Watched:
    """Return a run of another process by its file: NAME, NAME.teijo or NAME.teijo.open.

    Raises:
        teijo.errors.RunFileError: there is none.
    """
    reader.locate(path)
    return Watched(Names.of(path))


class _Eye:
    """What the looks at one run share, one at a time."""

    def __init__(self, names: Names) -> None:
        self._lock = Lock()
        self._file = FileFollower(names)
        self._looked: Grown | None = None
        self._past: _Past | None = None

    def state(self) -> RunState:
        """Return the run as its file tells it now."""
        with self._lock:
            return self._state_of(self._file.look())

    def look(self) -> Look:
        """Return that with what is new since the last time."""
        with self._lock:
            grown = self._file.look()
            state = self._state_of(grown)
            new, self._looked = grown.since(self._looked), grown
            return Look(
                state=state,
                record=grown.record,
                running=grown.running,
                new=new,
                states=() if self._past is None else self._past.states,
            )

    def _state_of(self, grown: Grown) -> RunState:
        if self._past is None or not self._past.goes_on(grown):
            self._past = _Past(grown)
        return self._past.state(grown)


class _Past:
    """What has happened for good in a run, told to a follower once, event by event.

    What may be otherwise at the next look (the running step, the method's judgement, the end) is
    told to a branch of it, so a state is the same however often it was asked for before.
    """

    def __init__(self, grown: Grown) -> None:
        self._beginning = grown.beginning
        self._hands = _Hands()
        self._follower = Follower(self._hands)
        self._started = _started(grown)
        self._remarks: tuple[Remark, ...] = ()
        self._steps = 0
        self._now_ns = 0
        self._judged: tuple[Record, events.Judged] | None = None
        self.states: tuple[SteadyState, ...] = ()
        self._follower.tell(self._started)

    def goes_on(self, grown: Grown) -> bool:
        """Return whether a look only adds to what was told."""
        told = grown.record.remarks[: len(self._remarks)]
        return (
            grown.beginning == self._beginning
            and told == self._remarks
            and _started(grown) == self._started
        )

    def state(self, grown: Grown) -> RunState:
        """Return the run as a look shows it."""
        record = grown.record
        for remark in record.remarks[len(self._remarks) :]:
            self._follower.tell(events.Remarked(remark=remark))
        self._remarks = record.remarks
        for each in record.steps[self._steps :]:
            self._follower.tell(events.StepStarted(seq=each.seq, step=each.step))
            if isinstance(each.answer, StepResult):
                self._now_ns = each.answer.started_ns + each.answer.elapsed_ns
                self._hands.ns = max(self._hands.ns, self._now_ns)
            self._follower.tell(events.StepDone(seq=each.seq, step=each.step, answer=each.answer))
        self._steps = len(record.steps)
        if self._judged is None or self._judged[0] is not record:
            with of_a_file(record):
                growing = replace(record, run=replace(record.run, ending="running"))
                found = found_in(growing)
                self._judged = (record, events.Judged(watch=watch_in(found)))
                self.states = states_of(found)
        hands = _Hands(self._hands.ns)
        present = self._follower.branch(hands)
        present.tell(self._judged[1])
        for moment_ns, event in _present(grown, self._now_ns):
            hands.ns = max(hands.ns, moment_ns)
            present.tell(event)
        state = present.state
        return replace(state, time_left=None) if _is_virtual(record) else state


@dataclass
class _Hands:
    """The run's own clock, at the last event."""

    ns: int = 0

    def __call__(self) -> int:
        return self.ns


def _started(grown: Grown) -> events.RunStarted:
    record = grown.record
    return events.RunStarted(
        run=record.run,
        geometry=record.geometry,
        identity=record.identity,
        path=grown.path,
        resumed=any(one.kind is RemarkKind.RESUMED for one in record.remarks),
        virtual=_is_virtual(record),
    )


def _present(grown: Grown, now_ns: int) -> Iterator[tuple[int, events.Event]]:
    """Yield what is under way, or how it ended, each at its moment on the run's clock."""
    record, running = grown.record, grown.running
    if record.run.ending != "running":
        ending, error = record.run.ending, record.run.error
        yield now_ns, events.Ended(ending=ending, path=grown.path, error=error)
    elif running is not None and running.seq > len(record.steps):
        yield now_ns, events.StepStarted(seq=running.seq, step=running.step)
        look = _look(running)
        if look is not None:
            yield now_ns + look.elapsed_ns, look


def _look(running: RunningStep) -> events.Progress | None:
    """Return how far a step is by its finished intervals; None where there is none yet."""
    series = [each for each in running.intervals.values() if len(each.index)]
    if not series:
        return None
    length_ns, last = series[0].length_ns, max(int(each.index[-1]) for each in series)
    elapsed_ns = (last + 1) * length_ns
    ios = sum(int(each.ios.sum()) for each in series)
    moved = sum(int(each.bytes.sum()) for each in series)
    now = [each for each in series if int(each.index[-1]) == last]
    ios_now = sum(int(each.ios[-1]) for each in now)
    bytes_now = sum(int(each.bytes[-1]) for each in now)
    return events.Progress(
        seq=running.seq,
        step=running.step,
        elapsed_ns=elapsed_ns,
        share=_share(running, elapsed_ns, moved),
        ios=ios,
        bytes=moved,
        errors=sum(int(each.errors.sum()) for each in series),
        iops_now=per_second(ios_now, length_ns),
        mb_s_now=megabytes_per_second(bytes_now, length_ns),
        iops=per_second(ios, elapsed_ns),
        mb_s=megabytes_per_second(moved, elapsed_ns),
    )


def _share(running: RunningStep, elapsed_ns: int, moved_bytes: int) -> float:
    match running.step:
        case Measure(duration_ns=duration_ns):
            return min(1.0, elapsed_ns / max(1, duration_ns))
        case Precondition(total_bytes=total_bytes):
            return min(1.0, moved_bytes / max(1, total_bytes))
        case Purge() | Idle() | Configure() | Perform():
            return 0.0


def _is_virtual(record: Record) -> bool:
    return record.identity.kind == "simulated"
