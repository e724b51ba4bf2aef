"""What PTS LAT measures and finds: its settings, cells, determination and figures as data."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import LATENCY, LATENCY_MAX
from teijo.document.curve import Curve
from teijo.document.phrase import say
from teijo.methods import load
from teijo.methods.forms import whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.pages import ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.pts.loop import cell_curve, histogram_scalars, tracking_curves, window_scalars
from teijo.methods.pts.matrix import MatrixFound, MatrixSettings, determined
from teijo.methods.rounds import Rounds
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Scalar, SteadyState
from teijo.terms.histogram import merged
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch

TRACKED = MatrixCell(read_percent=0, block_size_bytes=4 * units.KIB)
"""Steady state is determined on the average latency of RND 4 KiB 0/100."""
SELF_CHECK_NAME = "average latency × IOPS, the cell furthest from 1"


class LatSettings(MatrixSettings, frozen=True):
    """The numbers of one LAT run, on the device at hand. The load of the test is 1 × 1."""

    content: load.DataPattern
    mixes_read_percent: shared.Mixes
    block_sizes_bytes: shared.BlockSizes
    rounds_most: shared.RoundsMost
    histogram_minutes: shared.HistogramMinutes
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: shared.PreconditionBlock
    precondition_threads: Annotated[
        int, Knob(whole(1, load.THREADS_MOST), "precondition_threads=4")
    ] = meaning("thread count of the preconditioning; the test's own is 1")
    precondition_queue_depth: Annotated[
        int, Knob(whole(1, load.QUEUE_DEPTH_MOST), "precondition_qd=32")
    ] = meaning("outstanding I/Os of each thread of the preconditioning; the test's own is 1")

    @property
    def threads(self) -> int:
        """Thread count of the test: it is latency at one I/O."""
        return 1

    @property
    def queue_depth(self) -> int:
        """Queue depth of the test."""
        return 1

    @property
    def precondition_load(self) -> tuple[int, int]:
        """Threads and queue depth of the preconditioning, which differs from the test's."""
        return (self.precondition_threads, self.precondition_queue_depth)

    @property
    def histogram_ns(self) -> int:
        """How long the run for the histogram takes; nothing where there is none."""
        return (self.histogram_minutes or 0) * self.minute_ns


def determination(rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the average latency in ms over the unbroken rounds."""
    variable = say("average latency, {stimulus}", stimulus=TRACKED.stimulus)
    # Exact: with a slope excursion rounded to 0.1 ms, a mean below 0.5 ms could never fail.
    return determined(rounds, {variable: TRACKED}, "ms", measures.exact_latency_ms)


def one_io_share(answer: StepResult) -> float | None:
    """Return average latency × IOPS: with one I/O outstanding it is the share of the time that
    it was, 1 but for the host's own pauses. None where no I/O completed.
    """
    if not answer.ios:
        return None
    return measures.latency_ns_mean(answer) / units.NS_PER_S * answer.iops


def furthest_share(answers: Iterable[StepResult]) -> float | None:
    """Return the share of the answer in which it is furthest from 1, None where none has I/Os."""
    shares = [share for each in answers if (share := one_io_share(each)) is not None]
    return max(shares, key=lambda share: abs(share - 1), default=None)


class LatFound(MatrixFound[LatSettings]):
    """What a record of the test shows: every cell over the window, and the histogram's run."""

    compared_figures = (LATENCY, LATENCY_MAX)

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination of the tracking variable."""
        return determination(self.course)

    def five_nines_ms(self, key: MatrixCell) -> float | None:
        """Return 5 9s of all a cell's I/Os in the window's rounds; None of too few."""
        # Merged first: a percentile of several rounds is not the mean of their percentiles.
        return five_nines_ms(merged(measures.latency_of(answer) for answer in self.at(key)))

    def share(self, key: MatrixCell) -> float | None:
        """Return average latency × IOPS of a cell, of the round in which it is furthest from 1."""
        return furthest_share(self.at(key))

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """5 9s of the tracked cell, the histogram's levels, the self-check, what was written."""
        has_run = self.settings.histogram_minutes is not None
        nines = say("{stimulus}, 99.999 % (5 9s) over the window", stimulus=TRACKED.stimulus)
        nines_ms = self.five_nines_ms(TRACKED) if self.window else None
        share = furthest_share(answer for each in self.window for _, answer in each.cells)
        return (
            Scalar(name=nines, value=nines_ms, unit="ms"),
            *(histogram_scalars(self.histogram_run) if has_run else ()),
            Scalar(name=SELF_CHECK_NAME, value=share, unit=""),
            *window_scalars(self.record, self.window),
        )

    @property
    def headlines(self) -> Sequence[Scalar]:
        """ART and MRT of the reads and of the writes of 4 KiB."""
        return [
            Scalar(name=name, value=ms(latency_ns), unit="ms")
            for key, cell in self.over_window.items()
            if key.block_size_bytes == TRACKED.block_size_bytes and key.read_percent in (0, 100)
            for name, latency_ns in (
                (say("{cell}, ART", cell=key.stimulus), cell.latency_ns_mean),
                (say("{cell}, MRT", cell=key.stimulus), cell.latency_ns_max),
            )
        ]

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """Mean and maximum latency of every cell, and how the run came to its window."""
        return (
            cell_curve(self.cells, "Mean latency", "ms", lambda cell: ms(cell.latency_ns_mean)),
            cell_curve(self.cells, "Maximum latency", "ms", lambda cell: ms(cell.latency_ns_max)),
            *tracking_curves(self.states),
        )

    @property
    def watch_measuring(self) -> Watch:
        """How far the rounds have come, or that they are over and the histogram's run is due."""
        run = self.watch_of_histogram(TRACKED.name, self.settings.histogram_minutes)
        return run if self.is_over else super().watch_measuring.followed_by(run)
