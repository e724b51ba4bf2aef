"""What a host does to a device, relative to the device: shares, not bytes; no clock, no path."""

from dataclasses import dataclass
from enum import StrEnum

from teijo.terms.geometry import Geometry


class Access(StrEnum):
    """Order of the offsets within the active range."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"
    SHUFFLED = "shuffled"
    """Every block once per pass, in an order drawn anew for every pass."""
    ZONED = "zoned"
    ZIPF = "zipf"
    PARETO = "pareto"


class Content(StrEnum):
    """What is written. Random content is unique in every sector of every write."""

    RANDOM = "random"
    """A random base and a fresh stamp in every sector."""
    REFILL = "refill"
    """Every byte fresh."""
    COMPRESSIBLE = "compressible"
    DEDUPABLE = "dedupable"
    ZERO = "zero"
    ONE_BLOCK = "one-block"
    """One random block, the same in every write of every thread: CrystalDiskMark's `-Z<size>`."""
    COUNTING = "counting"
    """The bytes 0 to 255 over and over, as DiskSpd writes where nothing else is asked."""


class Schedule(StrEnum):
    """Arrivals of an open loop."""

    FIXED = "fixed"
    POISSON = "poisson"


@dataclass(frozen=True, kw_only=True)
class ActiveRange:
    """The LBAs a workload may touch (PTS: ActiveRange).

    `share_percent` of the user capacity from LBA 0. With `amount_bytes`, only that many bytes of
    the range are touched, spread over `segments` equal pieces (PTS: ActiveRange Amount).
    """

    share_percent: int = 100
    amount_bytes: int | None = None
    segments: int = 1
    first_byte: int = 0
    """Where the range begins; the share is of what lies behind it."""
    length_bytes: int | None = None
    """How long the range is, in place of a share; None takes the share."""

    def __post_init__(self) -> None:
        assert 0 < self.share_percent <= 100, self.share_percent
        assert self.first_byte >= 0, self.first_byte
        assert self.length_bytes is None or self.length_bytes > 0, self.length_bytes
        assert self.length_bytes is None or self.share_percent == 100, "a length, or a share of it"
        assert self.segments >= 1, self.segments
        assert self.amount_bytes is not None or self.segments == 1, "segments need an amount"

    def span_bytes(self, capacity_bytes: int, align_bytes: int) -> int:
        """Return the length of the LBA range, rounded down to whole aligned blocks; 0 for none.

        It is the share of what lies behind the first byte, or the length that was asked for.
        """
        room_bytes = max(0, capacity_bytes - self.first_byte)
        if self.length_bytes is None:
            span_bytes = room_bytes * self.share_percent // 100
        else:
            span_bytes = self.length_bytes if self.length_bytes <= room_bytes else 0
        return span_bytes // align_bytes * align_bytes

    def span_on(self, geometry: Geometry) -> int:
        """Return that length on a device, in whole physical blocks."""
        return self.span_bytes(geometry.capacity_bytes, geometry.physical_block_bytes)


WHOLE_RANGE = ActiveRange()


@dataclass(frozen=True, kw_only=True)
class Rate:
    """An open loop: I/Os are due on a schedule, whether or not the device keeps up."""

    ios_per_second: float
    schedule: Schedule = Schedule.FIXED


@dataclass(frozen=True, kw_only=True)
class Stream:
    """One stimulus with its own statistics: `threads` × `queue_depth` outstanding I/Os (OIO)."""

    name: str = "main"
    read_percent: int
    block_size_bytes: int
    access: Access = Access.RANDOM
    threads: int = 1
    queue_depth: int = 1
    active_range: ActiveRange = WHOLE_RANGE
    content: Content = Content.RANDOM
    rate: Rate | None = None
    block_mix: tuple[tuple[int, int], ...] = ()
    """(size in bytes, weight) of each size of a mix; `block_size_bytes` is the largest then."""
    skew: float = 0.0
    """Exponent of a Zipf access, or the share h of a Pareto access."""
    zones: tuple[tuple[float, float], ...] = ()
    """(share of the accesses, share of the range) of each zone of a zoned access."""
    content_percent: int = 0
    """Share of zeros of compressible content, of repeated pieces of dedupable content."""
    flush_every_writes: int = 0
    """A flush follows every so many writes of a thread; 0 is never."""
    discard_percent: int = 0
    """Share of discards among all I/Os; `read_percent` parts the rest."""
    alignment_bytes: int = 0
    """Grid of the offsets; 0 is the block size. A smaller grid shifts I/Os off their own."""
    verified: bool = False
    """Writes carry stamps, and reads are held to those of this run, of earlier steps too."""
    repeats: str = ""
    """Steps whose streams name the same word here have the same offsets and contents: random ones
    are drawn from one seed, ordered ones begin at the start of the range. Empty: each step its own.
    """
    thread_stride_bytes: int | None = None
    """Each thread of a sequential stream has a cursor of its own, which begins so many bytes behind
    that of the thread before; 0: all begin together. None: all threads share one cursor."""
    write_through: bool = False
    """Each write is on the medium before it is answered (FUA, RWF_DSYNC)."""
    census: bool = False
    """Which blocks were touched is counted, for `StepResult.census`."""

    def __post_init__(self) -> None:
        assert 0 <= self.read_percent <= 100, self.read_percent
        assert 0 <= self.discard_percent <= 100, self.discard_percent
        sizes = [size for size, _ in self.block_mix]
        assert not sizes or max(sizes) == self.block_size_bytes, self.block_mix
        assert (self.access is Access.ZONED) == bool(self.zones), self.zones
        assert self.block_size_bytes > 0, self.block_size_bytes
        assert 0 <= self.alignment_bytes <= self.block_size_bytes, self.alignment_bytes
        assert self.thread_stride_bytes is None or self.thread_stride_bytes >= 0
        assert self.threads >= 1, self.threads
        assert self.queue_depth >= 1, self.queue_depth

    @property
    def outstanding_ios(self) -> int:
        """Total OIO: thread count × queue depth."""
        return self.threads * self.queue_depth

    @property
    def sizes_bytes(self) -> tuple[int, ...]:
        """Every block size."""
        return tuple(size for size, _ in self.block_mix) or (self.block_size_bytes,)

    @property
    def block_bytes_mean(self) -> float:
        """Bytes of an I/O on average, by the weights of a mix."""
        mix = self.block_mix or ((self.block_size_bytes, 1),)
        return sum(size * weight for size, weight in mix) / sum(weight for _, weight in mix)

    @property
    def writes(self) -> bool:
        """Whether any I/O of this stream writes, or discards what was written."""
        return self.read_percent < 100 or self.discard_percent > 0


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One or more streams at the same time."""

    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        names = [stream.name for stream in self.streams]
        assert names, "a workload has a stream"
        assert len(set(names)) == len(names), f"two streams have one name: {names}"
        words = {stream.repeats for stream in self.streams}
        assert len(words) == 1, f"the streams of a step repeat one word, or none does: {words}"

    @property
    def repeats(self) -> str:
        """The word that all streams repeat; empty where the step has offsets of its own."""
        return self.streams[0].repeats

    @property
    def writes(self) -> bool:
        """Whether any stream writes."""
        return any(stream.writes for stream in self.streams)
