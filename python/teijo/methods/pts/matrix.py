"""The tests of rounds (IOPS, LAT, TP): a purge, the preconditioning, and rounds of the same cells
until steady state; IOPS and LAT over a matrix of R/W mixes and block sizes.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from teijo.analysis.quantities import Quantity
from teijo.analysis.steady_state import Number, Tracked, determine
from teijo.conformance import versions
from teijo.conformance.versions import Version
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim, say
from teijo.methods import phrases
from teijo.methods.load import check_blocks
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import PtsFound, PtsRoundsFound
from teijo.methods.pts.method import PtsMethod, more_rounds
from teijo.methods.rounds import Rounds, rounds_watch
from teijo.terms.cell import CellKey, MatrixCell
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import MINUTE, ROUND, Measure, Precondition, Step
from teijo.terms.watch import Watch
from teijo.terms.workload import Stream, Workload
from teijo.units import format_block_size


class RoundsSettings(shared.PtsSettings, frozen=True):
    """What the tests of rounds have in common. Each declares these fields, in its own order."""

    if TYPE_CHECKING:
        block_sizes_bytes: tuple[int, ...]
        rounds_most: int
        precondition_times: int
        precondition_block_bytes: int | None

    @property
    def precondition_load(self) -> tuple[int, int]:
        """Threads and queue depth of the preconditioning."""
        return (self.threads, self.queue_depth)


class MatrixSettings(RoundsSettings, frozen=True):
    """A test whose rounds go over a matrix."""

    if TYPE_CHECKING:
        mixes_read_percent: tuple[int, ...]

    @property
    def matrix(self) -> tuple[MatrixCell, ...]:
        """The cells of a round in the mandated order: mixes outside, block sizes inside."""
        return tuple(
            MatrixCell(read_percent=mix, block_size_bytes=block)
            for mix in self.mixes_read_percent
            for block in self.block_sizes_bytes
        )


S = TypeVar("S", bound=RoundsSettings)
M = TypeVar("M", bound=MatrixSettings)
F = TypeVar("F", bound=PtsFound[Any])
K = TypeVar("K", bound=CellKey)


def stimulus(settings: shared.PtsSettings, cell: MatrixCell) -> Workload:
    """Return what is driven in a cell: random I/O over the active range."""
    stream = Stream(
        read_percent=cell.read_percent,
        block_size_bytes=cell.block_size_bytes,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))


def minute_of(
    settings: shared.PtsSettings,
    workload: Workload,
    minute: int,
    *,
    cell: str,
    phase: str = MINUTE,
    number: int | None = None,
    first: int = 1,
    last: int | None = None,
) -> Measure:
    """Return a minute of a continuous stimulus that begins with the minute `first` and ends with
    `last`, which is None where that is not known beforehand.

    `number` is what the record counts it by, where that is not the minute.
    """
    return Measure(
        workload=workload,
        duration_ns=settings.minute_ns,
        phase=phase,
        round_number=minute if number is None else number,
        cell=cell,
        continues=minute > first,
        open_ended=minute != last,
    )


def round_of(
    settings: shared.PtsSettings, cells: Mapping[K, Workload], number: int
) -> tuple[Measure, ...]:
    """Return one round: a minute of the workload of each cell."""
    # No cell continues another, so that each has a seed of its own: the same LBAs every minute
    # overstate a steady state (measured with other programs: 1.5 to 3.6 times).
    return tuple(
        Measure(
            workload=workload,
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=number,
            cell=cell.name,
        )
        for cell, workload in cells.items()
    )


def matrix_round(settings: MatrixSettings, number: int) -> tuple[Measure, ...]:
    """Return one round over the matrix."""
    return round_of(settings, {cell: stimulus(settings, cell) for cell in settings.matrix}, number)


def wipc(
    settings: RoundsSettings, geometry: Geometry, block_size_bytes: int = 0
) -> tuple[Workload, int]:
    """Return the preconditioning (WIPC) and its volume in bytes: the user capacity so many times.

    The volume is the user capacity's, not the active range's, and the amount and segments do
    not restrict it: it goes over the whole share, again and again from its start.
    `block_size_bytes` is what it is written in where the settings leave that open.
    """
    threads, queue_depth = settings.precondition_load
    workload = phrases.sequential_writes(
        settings.precondition_block_bytes or block_size_bytes,
        # The standard has no restriction of LBAs for WIPC, so no amount and no segments.
        active_range=shared.share_of(settings),
        threads=threads,
        queue_depth=queue_depth,
        content=settings.content,
    )
    # Unverified: that twice the user capacity is meant also where the active range is 75 % of it.
    align = geometry.physical_block_bytes
    return workload, settings.precondition_times * (geometry.capacity_bytes // align * align)


def determined(
    rounds: Rounds, variables: Mapping[str, CellKey], unit: str, of: Callable[[StepResult], Number]
) -> tuple[SteadyState, ...]:
    """Return the determination of a figure of named cells over the unbroken rounds."""
    # None from before a gap: the device rested in it, and the window would join two states of it.
    tracked = (
        Tracked(
            variable=name, unit=unit, values=tuple(of(each.at(cell)) for each in rounds.unbroken)
        )
        for name, cell in variables.items()
    )
    return determine([each.number for each in rounds.unbroken], list(tracked))


def until_steady(
    settings: RoundsSettings,
    preconditioning: tuple[Workload, int],
    cells: phrases.Cells,
    judge: phrases.Judge,
) -> Generator[Step, Answer, tuple[SteadyState, ...]]:
    """Purge, precondition, and measure rounds until all tracking variables are steady."""
    yield from phrases.purge(settings.purge)
    if settings.precondition_times:
        yield from phrases.precondition(*preconditioning)
    # Nothing lies between WIPC and the first round: the standard allows no delay or other I/O.
    limit = settings.rounds_most
    return (yield from phrases.rounds_until_steady(cells, judge=judge, limit_rounds=limit))


class SteadyRoundsFound(PtsRoundsFound[S, K]):
    """What rounds until steady state show."""

    @property
    def is_over(self) -> bool:
        """Whether no further round follows."""
        # The limit counts anew after a gap, as the determination does.
        return self.converged or len(self.course.unbroken) >= self.settings.rounds_most

    @property
    def first_round(self) -> tuple[Measure, ...]:
        """The cells of the first round."""
        raise NotImplementedError

    @property
    def left_bytes(self) -> int:
        """What the preconditioning still has to write."""
        settings = self.settings
        if self.has_done(Precondition):
            return 0
        # Any block size will do: the volume is the same.
        return wipc(settings, self.record.geometry, settings.block_sizes_bytes[0])[1]

    @property
    def watch_measuring(self) -> Watch:
        """How far the rounds have come."""
        limit = self.settings.rounds_most
        return rounds_watch(self.first_round, self.course, self.states, limit)


class MatrixFound(SteadyRoundsFound[M, MatrixCell]):
    """What rounds over a matrix show: every cell over the measurement window."""

    compared_figures: ClassVar[tuple[Figure, ...]]

    @cached_property
    def keys(self) -> tuple[MatrixCell, ...]:
        """The cells of the matrix."""
        return self.settings.matrix

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The compared figures of every cell."""
        names = ((key, Verbatim(key.stimulus)) for key in self.keys)
        return self.compared(names, self.compared_figures)

    @property
    def first_round(self) -> tuple[Measure, ...]:
        """The cells of the first round."""
        return matrix_round(self.settings, 1)


class RoundsMethod(PtsMethod[S, F]):
    """A test of rounds."""

    @abstractmethod
    def in_rounds(self, version: Version) -> Mapping[str, Any]:
        """Return what the version has for the rounds of this test, with all its block sizes."""

    def ruled(self, version: Version, geometry: Geometry) -> Mapping[str, Any]:
        """Return the version's rounds, with the block sizes that this device can serve."""
        values = {
            "rounds_most": versions.ROUNDS_MOST,
            "precondition_times": versions.PRECONDITION_TIMES,
            "precondition_block_bytes": versions.PRECONDITION_BLOCK_BYTES,
            **self.in_rounds(version),
        }
        blocks, logical = values["block_sizes_bytes"], geometry.logical_block_bytes
        # 0.5 KiB is impossible on a 4Kn drive; `dropped` remarks it.
        return values | {"block_sizes_bytes": tuple(each for each in blocks if not each % logical)}

    def block_sizes_of(self, settings: S) -> tuple[int, ...]:
        """Return the block sizes of the rounds."""
        return settings.block_sizes_bytes

    def check(self, settings: S, geometry: Geometry) -> None:
        """Make sure that the device serves the rounds and their preconditioning."""
        super().check(settings, geometry)
        # Without a block of its own (TP) it is written in the test's, which were checked: 0 passes.
        check_blocks((settings.precondition_block_bytes or 0,), geometry)

    def free(self, settings: S, ruled: S) -> dict[str, object]:
        """Return that further rounds are allowed."""
        return more_rounds(settings, ruled)

    def dropped(self, version: Version, geometry: Geometry) -> Sequence[str]:
        """Return the block sizes that the device cannot serve (0.5 KiB on 4Kn)."""
        logical = geometry.logical_block_bytes
        words = format_block_size(logical)
        return tuple(
            self.dropped_words(format_block_size(block), words)
            for block in self.in_rounds(version)["block_sizes_bytes"]
            if block % logical
        )

    def dropped_words(self, block: str, logical: str) -> str:
        """Say that a block size is left out: the device's logical block is larger."""
        return say(
            "{block} cells dropped: the device's logical block is {logical}",
            block=block,
            logical=logical,
        )
