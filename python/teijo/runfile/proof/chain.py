"""The chain from step to step: numbers, times, seeds, cursors, the device's counters."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.runfile.proof.flaw import Check, Flaw, Flaws, engine_is_fio, is_simulated
from teijo.terms.configured import geometry_in
from teijo.terms.geometry import Geometry
from teijo.terms.placing import begins_at, place
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap, Health, StepResult
from teijo.terms.seed import seed_of
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.terms.workload import Access, Stream
from teijo.units import NS_PER_S

_GROWING: Final = frozenset(
    {"kernel_reads", "kernel_read_bytes", "kernel_writes", "kernel_write_bytes"}
    | {"kernel_discard_bytes", "kernel_flushes", "host_reads_bytes", "host_writes_bytes"}
)
"""Counters of a real device that nothing but a new boot or another device sets back."""
_OWN: Final = frozenset({"nand_reads_bytes", "nand_writes_bytes", "erases"})
"""Counters of a simulated device that grow without a host where another one writes to it."""
_WALL_SLACK: Final = 2 * NS_PER_S
"""The dates of a run have whole seconds, and the clock of the day is mended a little."""
_WALL_SHARE: Final = 1000

NOT_PURGED: Final = "none"


def order_flaws(record: Record) -> Flaws:
    """Give each step whose number is not the one after that of the step before it."""
    for place_, each in enumerate(record.steps, start=1):
        if each.seq != place_:
            text = say("step {seq} stands in place {place}", seq=each.seq, place=place_)
            yield Flaw(check=Check.ORDER, text=text, step=each.seq)
            return


def clock_flaws(record: Record) -> Flaws:
    """Give each step that begins or ends where it cannot."""
    ended_ns, rested = 0, True
    before: StepRecord | None = None
    for each in record.steps:
        match each.answer:
            case Gap():
                rested = True
            case StepResult() as answer:
                yield from _start_flaws(each, answer, ended_ns, rested=rested)
                yield from _stimulus_flaws(each, answer, before)
                yield from _length_flaws(each, answer)
                ended_ns, rested = answer.started_ns + answer.elapsed_ns, False
        before = each
    yield from _date_flaws(record, ended_ns)


def _start_flaws(each: StepRecord, answer: StepResult, ended_ns: int, *, rested: bool) -> Flaws:
    """`rested` says that nobody knows how long the device was left alone before."""
    since_ns = answer.started_ns - ended_ns
    if since_ns < 0 or answer.gap_ns != (0 if rested else since_ns):
        text = say(
            "it starts {since:,} ns after the end of the step before, with a gap of {gap:,} ns",
            since=since_ns,
            gap=answer.gap_ns,
        )
        yield Flaw(check=Check.CLOCK, text=text, step=each.seq)


def _stimulus_flaws(each: StepRecord, answer: StepResult, before: StepRecord | None) -> Flaws:
    step = each.step
    if not (isinstance(step, Measure) and step.continues):
        return
    first = None if before is None else before.step
    joins = (
        isinstance(first, Measure)
        and first.open_ended
        and first.workload == step.workload
        and before is not None
        and isinstance(before.answer, StepResult)
    )
    if not joins or answer.gap_ns:
        text = "it continues a stimulus that the step before it did not leave open"
        yield Flaw(check=Check.CLOCK, text=text, step=each.seq)


def _length_flaws(each: StepRecord, answer: StepResult) -> Flaws:
    match each.step:
        case Measure(duration_ns=asked_ns) | Idle(duration_ns=asked_ns):
            excused = each.ended_early or "failure" in answer.detail
            if answer.elapsed_ns < asked_ns and not excused:
                text = say(
                    "it took {took:,} ns of the {asked:,} ns that were asked for",
                    took=answer.elapsed_ns,
                    asked=asked_ns,
                )
                yield Flaw(check=Check.CLOCK, text=text, step=each.seq)
        case Purge() | Precondition() | Configure() | Perform():
            pass


def _date_flaws(record: Record, ended_ns: int) -> Flaws:
    """Hold the dates against the run's clock, where one process and one clock made both."""
    run = record.run
    kinds = {remark.kind for remark in record.remarks}
    if not run.ended_at or kinds & {RemarkKind.RESUMED, RemarkKind.CLOCK_STEPPED}:
        return
    try:
        span = datetime.fromisoformat(run.ended_at) - datetime.fromisoformat(run.started_at)
    except (ValueError, TypeError):
        text = "the run's dates are none"
        yield Flaw(check=Check.CLOCK, text=text)
        return
    dates_ns = int(span.total_seconds()) * NS_PER_S
    longest_ns = dates_ns + _WALL_SLACK + ended_ns // _WALL_SHARE
    # Virtual time may be far longer than the day.
    if dates_ns < -_WALL_SLACK or (not is_simulated(record) and ended_ns > longest_ns):
        text = say(
            "its steps take {clock:,.0f} s, and by its dates it took {dates:,.0f} s",
            clock=ended_ns / NS_PER_S,
            dates=dates_ns / NS_PER_S,
        )
        yield Flaw(check=Check.CLOCK, text=text)


def seed_flaws(record: Record) -> Flaws:
    """Give each step whose seed does not follow from the run's."""
    before = 0
    for each in record.steps:
        if each.seed != seed_of(record.run.seed, each.seq, each.step, before=before):
            text = "its seed is not the one that follows from the run's"
            yield Flaw(check=Check.SEEDS, text=text, step=each.seq)
        before = each.seed


@dataclass
class _Course:
    """Where a sequential stream began its stimulus, and what it has moved since."""

    begun_bytes: int
    moved_bytes: int = 0
    failed: int = 0


def cursor_flaws(record: Record) -> Flaws:
    """Give each sequential stream that stopped elsewhere than its start and its bytes say.

    Failed blocks may lie between, and those in flight where a stimulus is left open: of a real
    device nobody knows how many, so it is asked when the stimulus ends. fio is not asked: what it
    skips it does not tell.
    """
    cursors: dict[str, int] = {}
    courses: dict[str, _Course] = {}
    geometry = record.geometry
    for each in [] if engine_is_fio(record) else record.steps:
        match each.answer:
            case Gap():
                courses.clear()
            case StepResult() as answer:
                if isinstance(each.step, Configure):
                    geometry = geometry_in(answer.detail) or geometry
                if isinstance(each.step, Measure | Precondition):
                    bounds = (is_simulated(record), geometry)
                    yield from _load_flaws(bounds, each, each.step, answer, cursors, courses)
                    cursors.update(answer.cursors)
                elif _forgets(each.step, answer):
                    cursors.clear()


def _forgets(step: Step, answer: StepResult) -> bool:
    """Return whether streams begin anew after a step."""
    purged = isinstance(step, Purge) and answer.detail.get("method") != NOT_PURGED
    return purged or isinstance(step, Configure)


def _load_flaws(
    bounds: tuple[bool, Geometry],
    each: StepRecord,
    step: Measure | Precondition,
    answer: StepResult,
    cursors: Mapping[str, int],
    courses: dict[str, _Course],
) -> Flaws:
    """`bounds` are whether the device is simulated, and the sizes it has in this step."""
    simulated, geometry = bounds
    goes_on = isinstance(step, Measure) and step.continues
    left_open = isinstance(step, Measure) and step.open_ended
    for stream in step.workload.streams:
        # Of threads with cursors of their own only the first one's is known.
        alone = stream.threads == 1 or stream.thread_stride_bytes is None
        if stream.access is not Access.SEQUENTIAL or not alone:
            continue
        length = _length_bytes(stream, geometry)
        if length is None:
            text = say("stream {stream} does not fit in its range", stream=stream.name)
            yield Flaw(check=Check.CURSORS, text=text, step=each.seq)
            continue
        if not goes_on or stream.name not in courses:
            begun = cursors.get(stream.name, 0)
            courses[stream.name] = _Course(begun if goes_on else begins_at(stream, begun, length))
        course = courses[stream.name]
        parts = [part for part in (*answer.results, *answer.commands) if part.stream == stream.name]
        course.moved_bytes += sum(part.moved_bytes for part in parts if part.operation != "flush")
        course.failed += sum(sum(part.errors.values()) for part in parts)
        if not left_open or simulated:
            loose = course.failed + (stream.outstanding_ios if left_open else 0)
            stopped = answer.cursors.get(stream.name)
            yield from _stop_flaws(each.seq, stream, course, stopped, (loose, length))


def _length_bytes(stream: Stream, geometry: Geometry) -> int | None:
    try:
        segments, segment_bytes, _ = place(stream.active_range, geometry, stream.block_size_bytes)
    except PlanError:
        return None
    return segments * segment_bytes


def _stop_flaws(
    seq: int, stream: Stream, course: _Course, stopped: int | None, bounds: tuple[int, int]
) -> Flaws:
    """`bounds` are how many blocks may be in no count, and how long the stream's range is."""
    loose, length = bounds[0] * stream.block_size_bytes, bounds[1]
    moved, begun = course.moved_bytes, course.begun_bytes
    if stopped is None or (stopped - begun - moved) % length > loose:
        text = say(
            "stream {stream} moved {moved:,} B from {begun:,} on and stopped at {stopped}",
            stream=stream.name,
            moved=moved,
            begun=begun,
            stopped="nowhere" if stopped is None else f"{stopped:,}",
        )
        yield Flaw(check=Check.CURSORS, text=text, step=seq)


def _left_open(step: Step) -> bool:
    return isinstance(step, Measure) and (step.open_ended or step.continues)


def counter_flaws(record: Record) -> Flaws:
    """Give each step where the device's own counters do not go on, or grew by something else."""
    simulated = is_simulated(record)
    own = _works_alone(record)
    before: Health = {}
    for each in record.steps:
        if isinstance(each.answer, Gap):
            before = {}  # it was left alone for an unknown time
            continue
        answer = each.answer
        # Nobody else uses a simulated device; pieces of one stimulus share one reading.
        exact = simulated or (isinstance(each.step, Measure) and each.step.continues)
        yield from _step_back(each.seq, before, answer.health_before, exact=exact, own=own)
        # A configured device may be another, with counters of its own.
        if not isinstance(each.step, Configure):
            yield from _step_back(each.seq, answer.health_before, answer.health_after, exact=False)
        if simulated and isinstance(each.step, Measure | Precondition):
            yield from _growth_flaws(each.seq, each.step, answer)
        before = answer.health_after


def _works_alone(record: Record) -> bool:
    """Tell whether a simulated device is made of several, which hand data on between two steps.

    A cache tells of dirty data only in the steps in which they changed.
    """
    target = record.identity.target
    return (
        "(" in target
        or target.endswith(".toml")
        or any(
            name.rpartition(".")[2].startswith("dirty")
            for each in record.steps
            if isinstance(each.answer, StepResult)
            for name in each.answer.detail
        )
    )


def _step_back(seq: int, then: Health, now: Health, *, exact: bool, own: bool = False) -> Flaws:
    """Give the counters that went back; with `exact` also those that went on meanwhile, but for
    what a device does of its `own` between two steps.
    """
    for name, count in now.items():
        if name not in then or then[name] == count:
            continue
        word = name.rpartition(".")[2]
        alone = own and word in _OWN and count > then[name]
        if (exact and not alone) or (word in _GROWING and count < then[name]):
            text = say(
                "the device's {counter} was {then:,}, then {now:,}",
                counter=name,
                then=then[name],
                now=count,
            )
            yield Flaw(check=Check.COUNTERS, text=text, step=seq)


def _growth_flaws(seq: int, step: Measure | Precondition, answer: StepResult) -> Flaws:
    """Hold a simulated device's own count of bytes against the results."""
    streams = step.workload.streams
    failed = sum(sum(part.errors.values()) for part in answer.results)
    queued = sum(stream.outstanding_ios for stream in streams) if _left_open(step) else 0
    loose = max(stream.block_size_bytes for stream in streams) * (failed + queued)
    for name, direction in (("host_reads_bytes", "read"), ("host_writes_bytes", "write")):
        if name not in answer.health_before or name not in answer.health_after:
            continue
        grown = answer.health_after[name] - answer.health_before[name]
        moved = sum(part.moved_bytes for part in answer.results if part.operation == direction)
        if abs(grown - moved) > loose:
            text = say(
                "the device's {counter} grew by {grown:,}, and {moved:,} B were moved",
                counter=name,
                grown=grown,
                moved=moved,
            )
            yield Flaw(check=Check.COUNTERS, text=text, step=seq)
