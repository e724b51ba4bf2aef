"""What DIRTH and the composite workload find: preconditioning, sweep, operating points."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from teijo.analysis import measures
from teijo.analysis.demand import OperatingPoints, in_flight_share
from teijo.analysis.quantities import IOPS, Quantity, of_intervals
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.curve import Curve
from teijo.document.model import Axis, Column, Table
from teijo.document.phrase import Verbatim, say
from teijo.methods.pages import ms
from teijo.methods.phrases import is_steady
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.demand.stages import (
    POINT_NAMES,
    PRECONDITION,
    PREWRITE,
    SweepCell,
    cells_per_round,
    check_minutes,
    chosen_points,
    determination,
    precondition_determination,
    precondition_is_over,
    round_cells,
    sweep_of,
)
from teijo.methods.pts.found import PtsRoundsFound
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.pts.loop import tracking_curves, window_scalars
from teijo.methods.rounds import (
    Measured,
    Round,
    Rounds,
    rounds_left,
    rounds_of,
    rounds_watch,
    steady_words,
)
from teijo.terms.finding import Cell, Scalar, SteadyState, Window
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import HISTOGRAM, Measure, Purge
from teijo.terms.watch import Watch

SWEEP_NOTE = (
    "Of the points of the sweep with one total of outstanding I/Os the one with the most IOPS is "
    "drawn; the reports of the runs have all of them."
)


@dataclass(frozen=True, kw_only=True)
class PointRun:
    """What was measured at one operating point: the minutes of its pre-write, its histogram."""

    name: str
    place: SweepCell
    prewrite: tuple[StepResult, ...]
    histogram: StepResult | None


class DemandFound(PtsRoundsFound[DemandSettings, SweepCell]):
    """What a record of the test shows: the sweep over the window, what came before and after it."""

    @cached_property
    def keys(self) -> tuple[SweepCell, ...]:
        """The points of the sweep, from much demand to little."""
        return sweep_of(self.settings)

    @cached_property
    def course(self) -> Rounds:
        """The rounds: a pre-write, then the sweep."""
        return rounds_of(self.exchanges, cells_per_round(self.settings))

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination at the greatest demand."""
        return determination(self.settings, self.course)

    @cached_property
    def minutes(self) -> Sequence[StepResult]:
        """The minutes of the preconditioning since its last gap."""
        answers: list[StepResult] = []
        for step, answer in self.exchanges:
            if isinstance(step, Measure) and step.phase == PRECONDITION:
                if isinstance(answer, Gap):
                    answers.clear()
                else:
                    answers.append(answer)
        return answers

    @cached_property
    def before(self) -> tuple[SteadyState, ...]:
        """The determination over the check minutes of the preconditioning."""
        return precondition_determination(self.settings, self.minutes)

    @property
    def window_before(self) -> Window | None:
        """The window in which the preconditioning was steady."""
        return self.before[0].window if is_steady(self.before) else None

    def prewrites(self, measured: Round) -> Sequence[StepResult]:
        """Return the minutes of the pre-write that began a round."""
        return tuple(answer for _, answer in measured.cells[: self.settings.prewrite_minutes])

    @cached_property
    def points(self) -> OperatingPoints | None:
        """The operating points that the window shows, None where nothing was answered."""
        return chosen_points(self.settings, self.over_window)

    @cached_property
    def runs(self) -> Mapping[str, PointRun]:
        """What was measured at the operating points, as far as it goes, in order."""
        measured: dict[int, list[Measured]] = {}
        for step, answer in self.exchanges:
            if not isinstance(step, Measure) or step.phase not in (PREWRITE, HISTOGRAM):
                continue
            assert step.round_number is not None, "an operating point has its number"
            if isinstance(answer, Gap):
                measured.pop(step.round_number, None)
            else:
                measured.setdefault(step.round_number, []).append((step, answer))
        runs = (_point_run(number, parts) for number, parts in sorted(measured.items()))
        return {run.name: run for run in runs}

    @cached_property
    def in_flight(self) -> Mapping[SweepCell, float]:
        """The I/Os in flight by those asked for, over the window; empty before there is a round."""
        return {key: in_flight_share(self.at(key), key.outstanding_ios) for key in self.over_window}

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """What each point showed, the preconditioning, the window's figures."""
        window = self.window_before
        shares = self.in_flight.values()
        return (
            *(scalar for run in self.runs.values() for scalar in _point_scalars(run)),
            Scalar(
                name="preconditioning, mean of its steady window",
                value=None if window is None else window.average,
                unit="IOPS",
            ),
            Scalar(name="minutes of preconditioning", value=float(len(self.minutes)), unit="min"),
            *window_scalars(self.record, self.window),
            Scalar(
                name="I/Os in flight by TOIO, farthest from 1 in the sweep",
                value=max(shares, key=lambda share: abs(share - 1), default=None),
                unit="",
            ),
        )

    @property
    def headlines(self) -> Sequence[Scalar]:
        """IOPS and ART of each operating point."""
        return [each for each in self.scalars if each.name.endswith((": IOPS", ": ART"))]

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of every point of the sweep, and IOPS and mean latency of the operating points."""
        points = (
            of_intervals(
                say("{point}IOPS", point=run.name),
                [run.histogram],
                steady=self.converged,
                load=run.place.name,
            )
            for run in self.runs.values()
            if run.histogram is not None
        )
        sweep = self.compared(((key, Verbatim(key.name)) for key in self.keys), (IOPS,))
        return (*sweep, *(each for several in points for each in several))

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """The most IOPS of each total of outstanding I/Os, and how the run came to its window."""
        best: dict[int, Cell] = {}
        for key, cell in self.over_window.items():
            total = key.outstanding_ios
            if total not in best or cell.iops > best[total].iops:
                best[total] = cell
        cells = sorted(best.items())

        def table(run: str) -> Table:
            name = Verbatim(run)
            return Table(
                columns=(
                    Column(name="Total OIO (TC × QD)", digits=0),
                    Column(name=say("{run}, IOPS", run=name), digits=1),
                    Column(name=say("{run}, ART", run=name), unit="ms", digits=4),
                ),
                rows=tuple((total, cell.iops, ms(cell.latency_ns_mean)) for total, cell in cells),
            )

        intensity = Curve(
            title="Demand intensity: ART against IOPS",
            x=Axis(name="IOPS"),
            y=Axis(name="ART", unit="ms", scale="log"),
            points=tuple((cell.iops, ms(cell.latency_ns_mean)) for _, cell in cells),
            table=table,
            note=SWEEP_NOTE,
        )
        outstanding = Curve(
            title="IOPS against total OIO",
            x=Axis(name="Total OIO (TC × QD)", scale="log"),
            y=Axis(name="IOPS"),
            points=tuple((total, cell.iops) for total, cell in cells),
            table=table,
        )
        return (intensity, outstanding, *tracking_curves(self.states))

    @property
    def watch_running(self) -> Watch:
        """The stage under way, with the time of all that is still to come."""
        settings = self.settings
        if not self.has_done(Purge):
            return replace(self._ahead, phase="purge")
        # A gap may leave no cell of the first round: only the minutes tell whether it has begun.
        if not self.rounds and not precondition_is_over(settings, self.minutes):
            return self._watch_before()
        if not self.converged and len(self.course.unbroken) < settings.rounds_most:
            now = rounds_watch(
                round_cells(settings, 1), self.course, self.states, settings.rounds_most
            )
            points_ns = len(POINT_NAMES) * self._point_minutes * settings.minute_ns
            return replace(
                now,
                remaining_ns_least=now.remaining_ns_least + points_ns,
                remaining_ns_most=now.remaining_ns_most + points_ns,
            )
        return self._watch_of_points()

    @property
    def _point_minutes(self) -> int:
        return self.settings.point_prewrite_minutes + self.settings.histogram_minutes

    @property
    def _rounds_before_least(self) -> int:
        checks = len(check_minutes(self.settings, self.minutes))
        return min(max(WINDOW_ROUNDS, checks + 1), self.settings.precondition_rounds_most)

    @property
    def _ahead(self) -> Watch:
        """The preconditioning, with the time of all that follows."""
        settings = self.settings

        def left_ns(before: int, rounds: int) -> int:
            # The last round of the preconditioning has its check minute only.
            first = (before - 1) * settings.precondition_minutes + 1 if before else 0
            sweeps = rounds * cells_per_round(settings)
            points = len(POINT_NAMES) * self._point_minutes
            return (first - len(self.minutes) + sweeps + points) * settings.minute_ns

        return Watch(
            phase=PRECONDITION,
            remaining_ns_least=left_ns(self._rounds_before_least, WINDOW_ROUNDS),
            remaining_ns_most=left_ns(settings.precondition_rounds_most, settings.rounds_most),
        )

    def _watch_before(self) -> Watch:
        settings, done = self.settings, len(self.minutes)
        whole, so_far = (
            done // settings.precondition_minutes,
            len(check_minutes(settings, self.minutes)),
        )
        return replace(
            self._ahead,
            round_number=whole + 1,
            rounds_least=self._rounds_before_least,
            rounds_most=settings.precondition_rounds_most,
            cell=f"minute {done + 1}",
            steady=steady_words(self.before, so_far) if self.before else "",
            rounds_left=rounds_left(
                self.before,
                limit_rounds=settings.precondition_rounds_most,
                counted=lambda checks: so_far + checks - whole,
            ),
        )

    def _watch_of_points(self) -> Watch:
        settings, runs = self.settings, self.runs.values()
        finished = sum(run.histogram is not None for run in runs)
        begun = next((len(run.prewrite) for run in runs if run.histogram is None), 0)
        minutes = (len(POINT_NAMES) - finished) * self._point_minutes - begun
        place = min(finished, len(POINT_NAMES) - 1)
        left_ns = max(0, minutes) * settings.minute_ns
        return Watch(
            phase=PREWRITE if begun < settings.point_prewrite_minutes else HISTOGRAM,
            round_number=place + 1,
            rounds_least=len(POINT_NAMES),
            rounds_most=len(POINT_NAMES),
            cell=POINT_NAMES[place],
            steady=self.steady_words,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
        )


def _point_run(number: int, parts: Sequence[Measured]) -> PointRun:
    (stream,) = parts[0][0].workload.streams
    return PointRun(
        name=POINT_NAMES[number - 1],
        place=SweepCell(threads=stream.threads, queue_depth=stream.queue_depth),
        prewrite=tuple(answer for step, answer in parts if step.phase == PREWRITE),
        histogram=next((answer for step, answer in parts if step.phase == HISTOGRAM), None),
    )


def _point_scalars(run: PointRun) -> Iterator[Scalar]:
    if run.histogram is None:
        return
    latency = measures.latency_of(run.histogram)
    yield Scalar(name=say("{point}: IOPS", point=run.name), value=run.histogram.iops, unit="IOPS")
    yield Scalar(name=say("{point}: ART", point=run.name), value=ms(latency.mean_ns), unit="ms")
    yield Scalar(name=say("{point}: 5 9s", point=run.name), value=five_nines_ms(latency), unit="ms")
    yield Scalar(name=say("{point}: MRT", point=run.name), value=ms(latency.max_ns), unit="ms")
