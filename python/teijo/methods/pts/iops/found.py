"""What PTS IOPS measures and finds: its settings, cells, determination and figures as data."""

from collections.abc import Sequence
from functools import cached_property

from teijo.analysis import measures
from teijo.analysis.quantities import IOPS, Quantity
from teijo.analysis.steady_state import Tracked, determine
from teijo.conformance.versions import version_of
from teijo.document.curve import Curve
from teijo.document.model import Axis
from teijo.document.phrase import Verbatim, say
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import PtsRoundsFound
from teijo.methods.pts.loop import tracking_curves, window_scalars
from teijo.methods.pts.matrix import matrix_of, preconditioning, round_of
from teijo.methods.rounds import Rounds, before_rounds, rounds_watch
from teijo.terms.cell import MatrixCell, mix_name
from teijo.terms.finding import Scalar, SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure
from teijo.terms.watch import Watch
from teijo.terms.workload import Workload
from teijo.units import KIB

DRAWN_READ_PERCENTS = (0, 65, 100)
"""The mixes that a comparison draws; its tables have all of them."""
SELECT_PERFORMANCE = tuple(
    MatrixCell(read_percent=mix, block_size_bytes=kib * KIB)
    for mix, kib in ((0, 4), (100, 4), (65, 64), (0, 1024), (100, 1024))
)
"""The few cells that people ask for first."""


class IopsSettings(shared.PtsSettings, frozen=True):
    """The numbers of one IOPS run, on the device at hand."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    mixes_read_percent: shared.Mixes
    block_sizes_bytes: shared.BlockSizes
    rounds_most: shared.RoundsMost
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: shared.PreconditionBlock


def matrix(settings: IopsSettings) -> tuple[MatrixCell, ...]:
    """Return the cells of a round, in the mandated order."""
    return matrix_of(settings.mixes_read_percent, settings.block_sizes_bytes)


def tracked(settings: IopsSettings) -> tuple[MatrixCell, ...]:
    """Return the version's tracking variables that this matrix has."""
    cells = matrix(settings)
    return tuple(cell for cell in version_of(settings.spec).tracking if cell in cells)


def cells(settings: IopsSettings, number: int) -> tuple[Measure, ...]:
    """Return the cells of a round, a minute each."""
    return round_of(settings, matrix(settings), number)


def wipc(settings: IopsSettings, geometry: Geometry) -> tuple[Workload, int]:
    """Return the stimulus of the preconditioning and its volume in bytes."""
    return preconditioning(
        settings,
        geometry,
        times=settings.precondition_times,
        block_size_bytes=settings.precondition_block_bytes,
    )


def determination(settings: IopsSettings, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the version's tracking variables over the unbroken rounds."""
    return determine(
        [each.number for each in rounds.unbroken],
        [
            Tracked(
                variable=cell.stimulus,
                unit="IOPS",
                values=tuple(measures.exact_iops(each.at(cell)) for each in rounds.unbroken),
            )
            for cell in tracked(settings)
        ],
    )


class IopsFound(PtsRoundsFound[IopsSettings, MatrixCell]):
    """What a record of the test shows: every cell over the measurement window."""

    @cached_property
    def keys(self) -> tuple[MatrixCell, ...]:
        """The cells of the matrix."""
        return matrix(self.settings)

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination of the tracking variables."""
        return determination(self.settings, self.course)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """What was written, and over the window its amplification and gaps."""
        return window_scalars(self.record, self.window)

    @property
    def headlines(self) -> Sequence[Scalar]:
        """IOPS of the cells that people ask for first."""
        return [
            Scalar(name=key.stimulus, value=cell.iops, unit="IOPS")
            for key, cell in self.over_window.items()
            if key in SELECT_PERFORMANCE
        ]

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of every cell."""
        return self.compared(((key, Verbatim(key.stimulus)) for key in self.keys), (IOPS,))

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """IOPS by block size at a few mixes, and how the run came to its window."""
        return (*map(self._curve, self._drawn_mixes), *tracking_curves(self.states))

    @property
    def matrix(self) -> tuple[MatrixCell, ...]:
        """All cells."""
        return self.keys

    @property
    def _drawn_mixes(self) -> list[int]:
        return [mix for mix in DRAWN_READ_PERCENTS if mix in self.settings.mixes_read_percent]

    def _curve(self, mix: int) -> Curve:
        keys = sorted(self.over_window, key=lambda key: key.block_size_bytes)
        return Curve(
            title=say("IOPS at R/W {mix} by block size", mix=mix_name(mix)),
            x=Axis(name="Block size", unit="KiB", scale="log"),
            y=Axis(name="IOPS", scale="log"),
            points=tuple(
                (key.block_size_bytes / KIB, self.over_window[key].iops)
                for key in keys
                if key.read_percent == mix
            ),
        )

    @cached_property
    def watch(self) -> Watch:
        """Where the rounds stand, or what comes before them."""
        settings, geometry = self.settings, self.record.geometry
        watch = rounds_watch(cells(settings, 1), self.course, self.states, settings.rounds_most)
        left = 0 if self.is_preconditioned else wipc(settings, geometry)[1]
        return before_rounds(self.record, watch, left)
