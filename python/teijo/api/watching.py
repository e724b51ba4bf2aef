"""A run of another process, watched and stopped by its growing file alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from teijo.api.reading import of_a_file
from teijo.methods.parts import watch_of
from teijo.runfile import reader, stop_request
from teijo.runfile.names import Names
from teijo.runfile.reader import RunningStep
from teijo.runner import events
from teijo.runner.run_state import Follower, RunState
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge
from teijo.units import megabytes_per_second, per_second


@dataclass(frozen=True)
class Watched:
    """A run by its file, of whichever process and machine; see `watch`."""

    names: Names

    def state(self) -> RunState:
        """Return the run as far as its file tells: up to the last second of the running step.

        All of the file is read each time. In virtual time nobody can say here how long a person
        waits: `time_left` is None.

        Raises:
            teijo.errors.RunFileError: there is none, or it is damaged.
        """
        path = reader.locate(self.names.open)
        record, running = reader.read(path), reader.read_running(path)
        hands = _Hands()
        follower = Follower(hands)
        for moment_ns, event in _events(record, running, path):
            hands.ns = max(hands.ns, moment_ns)
            follower.tell(event)
        state = follower.state
        return replace(state, time_left=None) if _is_virtual(record) else state

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


class _Hands:
    """The run's own clock, at the last event."""

    ns = 0

    def __call__(self) -> int:
        return self.ns


def _events(
    record: Record, running: RunningStep | None, path: Path
) -> Iterator[tuple[int, events.Event]]:
    """Yield the events that led to a record, each at its moment on the run's clock."""
    now_ns = 0
    yield (
        0,
        events.RunStarted(
            run=record.run,
            geometry=record.geometry,
            identity=record.identity,
            path=path,
            resumed=any(one.kind is RemarkKind.RESUMED for one in record.remarks),
            virtual=_is_virtual(record),
        ),
    )
    for remark in record.remarks:
        yield 0, events.Remarked(remark=remark)
    for each in record.steps:
        yield now_ns, events.StepStarted(seq=each.seq, step=each.step)
        if isinstance(each.answer, StepResult):
            now_ns = each.answer.started_ns + each.answer.elapsed_ns
        yield now_ns, events.StepDone(seq=each.seq, step=each.step, answer=each.answer)
    with of_a_file(record):
        growing = replace(record, run=replace(record.run, ending="running"))
        yield now_ns, events.Judged(watch=watch_of(growing))
    if record.run.ending != "running":
        yield now_ns, events.Ended(ending=record.run.ending, path=path, error=record.run.error)
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
