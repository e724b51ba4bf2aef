"""Where sequential streams must have come to, by arithmetic: the oracle of coverage.

A stream that writes every byte of its range once before any twice ends where it began plus what
it moved, modulo the range. Only the last cursor comes from the engine.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from teijo.terms.geometry import Geometry
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition, Purge
from teijo.terms.workload import Access, ActiveRange, Stream


@dataclass(frozen=True, kw_only=True)
class Course:
    """A sequential stream over one step, in bytes of its range.

    `slack_bytes` were issued and not yet answered where the stimulus goes on in the next step.
    """

    seq: int
    is_precondition: bool
    range_bytes: int
    start_bytes: int
    moved_bytes: int
    end_bytes: int
    slack_bytes: int

    @property
    def in_order(self) -> bool:
        """Whether it ended where moving on without a jump ends."""
        off = (self.end_bytes - self.start_bytes - self.moved_bytes) % self.range_bytes
        # The range is a ring: a little too far back is nearly once around.
        return min(off, self.range_bytes - off) <= self.slack_bytes

    @property
    def passes(self) -> float:
        """How many times it went over its range."""
        return self.moved_bytes / self.range_bytes


def range_bytes_of(active_range: ActiveRange, geometry: Geometry) -> int:
    """Return how many bytes a range has that are touched: of an amount, only its segments'."""
    grain = geometry.physical_block_bytes
    span = active_range.span_bytes(geometry.capacity_bytes, grain)
    amount = active_range.amount_bytes
    if amount is None or amount >= span:
        return span
    # As terms/placing.py cuts it: every segment is whole blocks, and what is left goes untouched.
    return amount // active_range.segments // grain * grain * active_range.segments


def courses(steps: Iterable[StepRecord], geometry: Geometry) -> tuple[Course, ...]:
    """Return the course of every sequential stream in every step that took place, in order.

    A stream begins where the one of its name ended, at the next whole block; after a purge that
    took place, and past the end, at LBA 0.
    """
    return tuple(_courses(steps, geometry))


def _courses(steps: Iterable[StepRecord], geometry: Geometry) -> Iterator[Course]:
    cursors: dict[str, int] = {}
    for each in steps:
        answer, step = each.answer, each.step
        if not isinstance(answer, StepResult):
            continue
        if isinstance(step, Purge) and answer.detail.get("method") != "none":
            cursors.clear()
        if isinstance(step, Measure | Precondition):
            for stream in step.workload.streams:
                alone = stream.threads == 1 or stream.thread_stride_bytes is None
                if stream.access is not Access.SEQUENTIAL or not alone:
                    continue
                if stream.name in answer.cursors:
                    yield _course(each.seq, step, stream, answer, geometry, cursors)
        cursors.update(answer.cursors)


def _course(
    seq: int,
    step: Measure | Precondition,
    stream: Stream,
    answer: StepResult,
    geometry: Geometry,
    cursors: dict[str, int],
) -> Course:
    whole = range_bytes_of(stream.active_range, geometry)
    goes_on = isinstance(step, Measure) and (step.continues or step.open_ended)
    block = stream.block_size_bytes
    start = 0 if stream.repeats else -(-cursors.get(stream.name, 0) // block) * block
    # Its I/O never stopped, so nothing was moved to a whole block.
    if goes_on and isinstance(step, Measure) and step.continues:
        start = cursors.get(stream.name, 0)
    failed = sum(sum(part.errors.values()) for part in answer.results)
    return Course(
        seq=seq,
        is_precondition=isinstance(step, Precondition),
        range_bytes=whole,
        start_bytes=start if start < whole else 0,
        moved_bytes=sum(part.moved_bytes for part in answer.results if part.stream == stream.name),
        end_bytes=answer.cursors[stream.name],
        slack_bytes=block * (stream.outstanding_ios * goes_on + failed),
    )
