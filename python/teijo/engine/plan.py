"""What the engine is asked for: the streams of a step, placed in bytes, and how long it lasts.

The same plan drives the native engine and fio. Its addresses are those of the whole target;
`Layout` says which member they lie on, as `volume.rs`.
"""

from dataclasses import dataclass
from typing import Final, Literal

from teijo.errors import DeviceError, PlanError
from teijo.terms.result import Direction
from teijo.terms.verification import Written
from teijo.terms.workload import Stream
from teijo.units import NS_PER_S

DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How one address space lies over the members of a target, in the order of the descriptors.

    Concatenated members follow each other, each with all of its `member_bytes`. Striped ones take
    turns, `chunk_bytes` at a time, over as many whole chunks as the smallest of them holds.
    """

    kind: Literal["single", "concatenated", "striped"]
    member_bytes: tuple[int, ...]
    chunk_bytes: int = 0

    def __post_init__(self) -> None:
        """Refuse a layout over which no address could be laid.

        Raises:
            PlanError: a single target of several members, or a stripe without a chunk.
        """
        if not self.member_bytes or min(self.member_bytes) <= 0:
            raise PlanError(
                f"Members of {self.member_bytes} B make no target",
                remedy="Name at least one target, and none that is empty.",
            )
        if self.kind == "single" and len(self.member_bytes) > 1:
            raise PlanError(
                f"{len(self.member_bytes)} members are no single target",
                remedy="Say whether they are concatenated or striped.",
            )
        if self.kind == "striped" and not 0 < self.chunk_bytes <= min(self.member_bytes):
            raise PlanError(
                f"A chunk of {self.chunk_bytes} B cannot be striped over members of "
                f"{min(self.member_bytes)} B",
                remedy="Give a chunk that every member holds at least once, as 64KiB.",
            )

    @property
    def capacity_bytes(self) -> int:
        """What the whole target holds."""
        match self.kind:
            case "single" | "concatenated":
                return sum(self.member_bytes)
            case "striped":
                chunks = min(self.member_bytes) // self.chunk_bytes
                return chunks * self.chunk_bytes * len(self.member_bytes)


@dataclass(frozen=True, kw_only=True)
class VerifyPlan:
    """Stamps of `run` in every write; `generation` is above those of all earlier steps.

    `written` is what the earlier steps of the run left behind; reads are held to it.
    """

    run: int
    generation: int
    written: tuple[Written, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """A stream and where it lies: `segments` pieces of `segment_bytes`, `stride_bytes` apart.

    `cursor_bytes` is where an ordered one begins; `seed` is its own. Its active range is not looked
    at any more.
    """

    stream: Stream
    cursor_bytes: int
    start_bytes: int
    segments: int
    segment_bytes: int
    stride_bytes: int
    seed: int
    verify: VerifyPlan | None = None

    def moves(self, direction: Direction) -> bool:
        """Whether the stream reads, or writes, at all."""
        share = self.stream.read_percent
        return share < 100 if direction == "write" else share > 0

    @property
    def end_bytes(self) -> int:
        """The first byte after the range."""
        return self.start_bytes + (self.segments - 1) * self.stride_bytes + self.segment_bytes


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One lap: exactly one of `duration_ns` and `total_bytes` bounds it."""

    streams: tuple[StreamPlan, ...]
    duration_ns: int | None = None
    total_bytes: int | None = None
    interval_ns: int = NS_PER_S
    open_ended: bool = False
    continues: bool = False

    def __post_init__(self) -> None:
        assert (self.duration_ns is None) != (self.total_bytes is None), "one bound, not two"


def check_fits(plan: Plan, capacity_bytes: int, logical_block_bytes: int) -> None:
    """Refuse a plan that reaches beyond the target, or into its logical blocks.

    Raises:
        PlanError: a block size or an offset is no multiple of the logical block size.
        DeviceError: the target ends before the range does.
    """
    for placed in plan.streams:
        _check_widths(placed.stream)
        if placed.end_bytes > capacity_bytes:
            raise DeviceError(
                f"The target holds {capacity_bytes} B, and the range ends at {placed.end_bytes}",
                remedy="It was larger before: check the device, or the file behind it.",
            )
        sizes = [*placed.stream.sizes_bytes, placed.start_bytes, placed.cursor_bytes]
        sizes += [placed.segment_bytes, placed.stride_bytes, placed.stream.alignment_bytes]
        sizes.append(placed.stream.thread_stride_bytes or 0)
        if wrong := [size for size in sizes if size % logical_block_bytes]:
            raise PlanError(
                f"{wrong[0]} B is no multiple of the logical block of {logical_block_bytes} B",
                remedy="Change the block size or the active range.",
            )


def _check_widths(stream: Stream) -> None:
    """Refuse numbers that have no room in the engine; it refuses what is too much by itself."""
    percents = (stream.read_percent, stream.discard_percent, stream.content_percent)
    counts = [stream.threads, stream.queue_depth, stream.alignment_bytes]
    counts += [
        stream.flush_every_writes,
        *stream.sizes_bytes,
        *(share for _, share in stream.block_mix),
    ]
    # The binding would refuse wider numbers by a bare TypeError.
    stride_bytes = stream.thread_stride_bytes or 0
    if max(percents) > 100 or max(counts) >= 1 << 32 or stride_bytes >= 1 << 63:
        raise PlanError(
            f"Stream {stream.name} asks for more than 100 % or 2^32 of something",
            remedy="Check its shares, threads, depth, block sizes and weights.",
        )
