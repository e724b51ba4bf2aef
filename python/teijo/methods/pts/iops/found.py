"""What PTS IOPS measures and finds: its settings, cells, determination and figures as data."""

from collections.abc import Sequence
from functools import cached_property

from teijo.analysis import measures
from teijo.analysis.quantities import IOPS
from teijo.conformance.versions import version_of
from teijo.document.curve import Curve
from teijo.document.model import Axis
from teijo.document.phrase import say
from teijo.methods.pts import settings as shared
from teijo.methods.pts.loop import scalars_of, tracking_curves, window_scalars
from teijo.methods.pts.matrix import MatrixFound, MatrixSettings, determined
from teijo.methods.rounds import Rounds
from teijo.terms.cell import MatrixCell, mix_name
from teijo.terms.finding import Scalar, SteadyState
from teijo.units import KIB

DRAWN_READ_PERCENTS = (0, 65, 100)
"""The mixes that a comparison draws; its tables have all of them."""
SELECT_PERFORMANCE = tuple(
    MatrixCell(read_percent=mix, block_size_bytes=kib * KIB)
    for mix, kib in ((0, 4), (100, 4), (65, 64), (0, 1024), (100, 1024))
)
"""The few cells that people ask for first."""


class IopsSettings(MatrixSettings, shared.LoadSettings, frozen=True):
    """The numbers of one IOPS run, on the device at hand."""

    mixes_read_percent: shared.Mixes
    block_sizes_bytes: shared.BlockSizes
    rounds_most: shared.RoundsMost
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: shared.PreconditionBlock


def tracked(settings: IopsSettings) -> tuple[MatrixCell, ...]:
    """Return the version's tracking variables that this matrix has."""
    cells = settings.matrix
    return tuple(cell for cell in version_of(settings.spec).tracking if cell in cells)


def determination(settings: IopsSettings, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the version's tracking variables over the unbroken rounds."""
    variables = {cell.stimulus: cell for cell in tracked(settings)}
    # All must be steady in one window: 1.x tracks one variable, 2.0 three.
    return determined(rounds, variables, "IOPS", measures.exact_iops)


class IopsFound(MatrixFound[IopsSettings]):
    """What a record of the test shows: every cell over the measurement window."""

    compared_figures = (IOPS,)

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
        shown = (each for each in self.over_window.items() if each[0] in SELECT_PERFORMANCE)
        return scalars_of((key.stimulus, cell.iops, "IOPS") for key, cell in shown)

    @property
    def matrix(self) -> tuple[MatrixCell, ...]:
        """All cells: their IOPS are compared as a matrix too."""
        return self.keys

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """IOPS by block size at a few mixes, and how the run came to its window."""
        drawn = (mix for mix in DRAWN_READ_PERCENTS if mix in self.settings.mixes_read_percent)
        return (*map(self._curve, drawn), *tracking_curves(self.states))

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
