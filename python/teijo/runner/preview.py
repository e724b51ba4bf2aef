"""Preview: a method talks to three devices on paper, and what they were driven to is compared."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from teijo.analysis.measures import written_in
from teijo.device.device import Device
from teijo.engine.plan import Plan
from teijo.errors import PlanError
from teijo.methods.method import AnyMethod
from teijo.methods.settings import Settings
from teijo.runner.compile import compile_load
from teijo.runner.drive import Conversation
from teijo.runner.extent import Extent, Preview
from teijo.runner.paper import Paper, Rates, Share, always_full, restless, settling
from teijo.runner.replay import check_asked
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Access, Stream, Workload
from teijo.units import NS_PER_S, format_size

_MOST_STEPS: Final = 200_000
_TRIAL_NS: Final = 50_000_000


def preview(
    method: AnyMethod,
    settings: Settings,
    geometry: Geometry,
    rates: Rates | None = None,
    *,
    after: Record | None = None,
    replayable: bool = False,
) -> Preview:
    """Return how far a run goes at least, as expected, and at most, without touching a device.

    `after` is the record of a run that goes on: only what is still ahead counts. Where it was
    left, a device that is not `replayable` has a gap.

    Raises:
        PlanError: the run has too many steps.
        RunFileError: the method asks for other steps than the recorded.
    """
    rates = rates or Rates()
    least, expected, most = (
        _extent(method, settings, geometry, rates, share, after, replayable=replayable)
        for share in (always_full, settling, restless)
    )
    ends = (least, expected, most)
    return Preview(
        least=_each(min, ends),
        expected=expected,
        most=_each(max, ends),
        capacity_bytes=geometry.capacity_bytes,
        assumed=rates.text(of_blocks=geometry.has_capacity),
        spent_bytes=0 if after is None else written_bytes(after.steps) or 0,
    )


def rates_of(record: Record) -> Rates | None:
    """Return the highest rates a record holds, None where it holds none."""
    fast = [each.bytes * NS_PER_S // each.elapsed_ns for each in record.answers if each.bytes]
    many = [round(each.iops) for each in record.answers if each.ios]
    if not many:
        return None
    return Rates(
        # Statements move no bytes that are counted.
        bytes_per_second=max(fast, default=Rates().bytes_per_second),
        ios_per_second=max(many),
        source="seen in this run",
    )


def rates_tried(device: Device) -> Rates:
    """Return the rates of a device that costs nothing to try, driven for a moment while fresh."""
    fast = Stream(
        read_percent=0, block_size_bytes=131_072, access=Access.SEQUENTIAL, queue_depth=32
    )
    many = Stream(read_percent=100, block_size_bytes=4096, queue_depth=32)
    trials = [_trial(stream, device.geometry) for stream in (fast, many)]
    moved, counted = (device.session.run(plan).result for plan in trials)
    return Rates(
        bytes_per_second=max(1, moved.bytes * NS_PER_S // moved.elapsed_ns),
        ios_per_second=max(1, counted.ios * NS_PER_S // counted.elapsed_ns),
        source="tried on the fresh simulation; the time is virtual, a run takes far less",
    )


def _trial(stream: Stream, geometry: Geometry) -> Plan:
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=_TRIAL_NS)
    return compile_load(step, geometry, {}, seed=1)


def written_bytes(steps: Sequence[StepRecord]) -> int | None:
    """Return the bytes that recorded steps wrote, None where statements did."""
    answered = ((each.step, each.answer) for each in steps)
    return written_in((step, answer) for step, answer in answered if isinstance(answer, StepResult))


def _extent(
    method: AnyMethod,
    settings: Settings,
    geometry: Geometry,
    rates: Rates,
    share: Share,
    after: Record | None,
    *,
    replayable: bool,
) -> Extent:
    conversation = Conversation(method.steps(settings, geometry))
    paper = Paper(capacity_bytes=geometry.capacity_bytes, rates=rates, share=share)
    if after is not None:
        _catch_up(conversation, paper, after, replayable=replayable)
    steps = 0
    while conversation.step is not None:
        if steps == _MOST_STEPS:
            raise PlanError(
                f"The plan has more than {_MOST_STEPS:,} steps on a device of "
                f"{format_size(geometry.capacity_bytes)}.",
                remedy="Measure less: fewer rounds, a longer minute, or a smaller range.",
            )
        steps += 1
        conversation.answer(paper.carry_out(conversation.step))
    return Extent(
        steps=steps,
        duration_ns=paper.now_ns,
        written_bytes=paper.written_bytes,
        intervals=paper.intervals,
    )


def _catch_up(
    conversation: Conversation, paper: Paper, record: Record, *, replayable: bool
) -> None:
    for exchange in record.steps:
        check_asked(conversation, exchange, record.run.version)
        if isinstance(exchange.answer, StepResult):
            paper.settle(exchange.step, exchange.answer)
        conversation.answer(exchange.answer)
    if record.steps and conversation.step is not None and not replayable:
        conversation.answer(Gap())


def _each(choose: Callable[[Iterable[int]], int], ends: Sequence[Extent]) -> Extent:
    """Return the extreme of each figure by itself."""
    written = [end.written_bytes for end in ends if end.written_bytes is not None]
    return Extent(
        steps=choose(end.steps for end in ends),
        duration_ns=choose(end.duration_ns for end in ends),
        written_bytes=choose(written) if len(written) == len(ends) else None,
        intervals=choose(end.intervals for end in ends),
    )
