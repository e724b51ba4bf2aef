"""What DIRTH and the composite workload find: preconditioning, sweep, operating points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from teijo.analysis import measures
from teijo.analysis.demand import OperatingPoints, SweepCell, in_flight_share
from teijo.analysis.quantities import IOPS, Quantity, of_intervals
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.curve import Curve
from teijo.document.model import Axis, Column, Table
from teijo.document.phrase import Verbatim, say
from teijo.methods import rounds
from teijo.methods.pages import ms
from teijo.methods.phrases import is_steady
from teijo.methods.pts.demand import stages
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.found import PtsRoundsFound
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.pts.loop import scalars_of, tracking_curves, window_scalars
from teijo.terms.finding import Scalar, SteadyState, Window
from teijo.terms.result import Gap, StepResult
from teijo.terms.shared import hosts_in
from teijo.terms.step import HISTOGRAM, Measure, Purge
from teijo.terms.watch import Watch

POINTS = len(stages.POINT_NAMES)
SWEEP_NOTE = (
    "Of the points of the sweep with one total of outstanding I/Os the one with the most IOPS is "
    "drawn; the reports of the runs have all of them."
)


@dataclass(frozen=True, kw_only=True)
class PointRun:
    """What was measured at one operating point: the minutes of its pre-write, its histogram."""

    name: str
    demand: SweepCell
    prewrite: tuple[StepResult, ...]
    histogram: StepResult | None

    @property
    def figures(self) -> tuple[float | None, ...]:
        """IOPS, then ART, 5 9s and MRT in ms; nothing before the histogram."""
        if self.histogram is None:
            return ()
        latency = measures.latency_of(self.histogram)
        times_ms = (ms(latency.mean_ns), five_nines_ms(latency), ms(latency.max_ns))
        return (self.histogram.iops, *times_ms)


class DemandFound(PtsRoundsFound[DemandSettings, SweepCell]):
    """What a record of the test shows: the sweep over the window, what came before and after it."""

    @cached_property
    def keys(self) -> tuple[SweepCell, ...]:
        """The points of the sweep, from much demand to little."""
        return stages.sweep_of(self.settings)

    @cached_property
    def course(self) -> rounds.Rounds:
        """The rounds: a pre-write, then the sweep."""
        return rounds.rounds_of(self.exchanges, stages.cells_per_round(self.settings))

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination at the greatest demand."""
        return stages.determination(self.settings, self.course)

    @cached_property
    def minutes(self) -> Sequence[StepResult]:
        """The minutes of the preconditioning since its last gap."""
        own = (each for each in self.exchanges if each[0].phase == stages.PRECONDITION)
        return [answer for _, answer in rounds.minutes_of(own, stages.PRECONDITION)]

    @property
    def checks(self) -> int:
        """How many check minutes the preconditioning has."""
        return len(stages.check_minutes(self.settings, self.minutes))

    @cached_property
    def before(self) -> tuple[SteadyState, ...]:
        """The determination over the check minutes of the preconditioning."""
        return stages.precondition_determination(self.settings, self.minutes)

    @property
    def window_before(self) -> Window | None:
        """The window in which the preconditioning was steady."""
        return self.before[0].window if is_steady(self.before) else None

    @cached_property
    def points(self) -> OperatingPoints | None:
        """The operating points that the window shows, None where nothing was answered."""
        return stages.chosen_points(self.settings, self.over_window)

    @cached_property
    def runs(self) -> Mapping[str, PointRun]:
        """What was measured at the operating points, as far as it goes, in order."""
        measured: dict[int, list[rounds.Measured]] = {}
        for step, answer in self.exchanges:
            if not isinstance(step, Measure) or step.phase not in (stages.PREWRITE, HISTOGRAM):
                continue
            assert step.round_number is not None, "an operating point has its number"
            if isinstance(answer, Gap):
                # The point was measured again from the first minute of its pre-write.
                measured.pop(step.round_number, None)
            else:
                measured.setdefault(step.round_number, []).append((step, answer))
        runs = (_point_run(number, parts) for number, parts in sorted(measured.items()))
        return {run.name: run for run in runs}

    @cached_property
    def in_flight(self) -> Mapping[SweepCell, float]:
        """The I/Os in flight by the demand, over the window; empty before there is a round."""
        hosts = max(1, len(hosts_in(self.record.environment)))
        return {
            key: in_flight_share(self.at(key), hosts * key.outstanding_ios)
            for key in self.over_window
        }

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """What each point showed, the preconditioning, the window's figures."""
        window = self.window_before
        mean = None if window is None else window.average
        shares = self.in_flight.values()
        farthest = max(shares, key=lambda share: abs(share - 1), default=None)
        rows = (
            ("preconditioning, mean of its steady window", mean, "IOPS"),
            ("minutes of preconditioning", float(len(self.minutes)), "min"),
        )
        return (
            *(scalar for run in self.runs.values() for scalar in _scalars(run)),
            *scalars_of(rows),
            *window_scalars(self.record, self.window),
            *scalars_of([("I/Os in flight by TOIO, farthest from 1 in the sweep", farthest, "")]),
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
                load=run.demand.name,
            )
            for run in self.runs.values()
            if run.histogram is not None
        )
        sweep = self.compared(((key, Verbatim(key.name)) for key in self.keys), (IOPS,))
        return (*sweep, *(each for several in points for each in several))

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """The most IOPS of each total of outstanding I/Os, and how the run came to its window."""
        found = self.over_window.items()
        totals = sorted({key.outstanding_ios for key in self.over_window})
        groups = ([cell for key, cell in found if key.outstanding_ios == total] for total in totals)
        best = (max(group, key=lambda cell: cell.iops) for group in groups)
        rows = tuple(
            (total, cell.iops, ms(cell.latency_ns_mean))
            for total, cell in zip(totals, best, strict=True)
        )

        def table(run: str) -> Table:
            name = Verbatim(run)
            columns = (
                Column(name="Total OIO (TC × QD)", digits=0),
                Column(name=say("{run}, IOPS", run=name), digits=1),
                Column(name=say("{run}, ART", run=name), unit="ms", digits=4),
            )
            return Table(columns=columns, rows=rows)

        intensity = Curve(
            title="Demand intensity: ART against IOPS",
            x=Axis(name="IOPS"),
            y=Axis(name="ART", unit="ms", scale="log"),
            points=tuple((iops, art_ms) for _, iops, art_ms in rows),
            table=table,
            note=SWEEP_NOTE,
        )
        outstanding = Curve(
            title="IOPS against total OIO",
            x=Axis(name="Total OIO (TC × QD)", scale="log"),
            y=Axis(name="IOPS"),
            points=tuple((total, iops) for total, iops, _ in rows),
            table=table,
        )
        return (intensity, outstanding, *tracking_curves(self.states))

    @property
    def watch_running(self) -> Watch:
        """The stage under way, with the time of all that is still to come."""
        settings, points = self.settings, self._watch_of_points
        if self.converged or len(self.course.unbroken) >= settings.rounds_most:
            return points
        cells = stages.round_cells(settings, 1)
        sweep = rounds.rounds_watch(cells, self.course, self.states, settings.rounds_most)
        if not self.has_done(Purge):
            return Watch(phase="purge").followed_by(self._watch_before, sweep, points)
        # A gap may leave no cell of the first round: only the minutes tell whether it has begun.
        if self.rounds or stages.precondition_is_over(settings, self.minutes):
            return sweep.followed_by(points)
        return self._watch_before.followed_by(sweep, points)

    @property
    def _watch_before(self) -> Watch:
        """How far the preconditioning has come."""
        settings, checks, done = self.settings, self.checks, len(self.minutes)
        most, whole = settings.precondition_rounds_most, done // settings.precondition_minutes
        least = min(max(WINDOW_ROUNDS, checks + 1), most)

        def left_ns(count: int) -> int:
            # The last round has its check minute only.
            minutes = (count - 1) * settings.precondition_minutes + 1 - done if count else 0
            return minutes * settings.minute_ns

        return Watch(
            phase=stages.PRECONDITION,
            round_number=whole + 1,
            rounds_least=least,
            rounds_most=most,
            cell=f"minute {done + 1}",
            steady=rounds.steady_words(self.before, checks) if self.before else "",
            remaining_ns_least=left_ns(least),
            remaining_ns_most=left_ns(most),
            rounds_left=rounds.rounds_left(
                self.before, limit_rounds=most, counted=lambda more: checks + more - whole
            ),
        )

    @property
    def _watch_of_points(self) -> Watch:
        """How far the operating points have come."""
        settings, runs = self.settings, self.runs.values()
        finished = sum(run.histogram is not None for run in runs)
        begun = next((len(run.prewrite) for run in runs if run.histogram is None), 0)
        each = settings.point_prewrite_minutes + settings.histogram_minutes
        minutes = (POINTS - finished) * each - begun
        left_ns = max(0, minutes) * settings.minute_ns
        number = min(finished + 1, POINTS)
        return Watch(
            phase=stages.PREWRITE if begun < settings.point_prewrite_minutes else HISTOGRAM,
            round_number=number,
            rounds_least=POINTS,
            rounds_most=POINTS,
            cell=stages.POINT_NAMES[number - 1],
            steady=self.steady_words,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
        )


def _point_run(number: int, parts: Sequence[rounds.Measured]) -> PointRun:
    (stream,) = parts[0][0].workload.streams
    return PointRun(
        name=stages.POINT_NAMES[number - 1],
        demand=SweepCell(threads=stream.threads, queue_depth=stream.queue_depth),
        prewrite=tuple(answer for step, answer in parts if step.phase == stages.PREWRITE),
        histogram=next((answer for step, answer in parts if step.phase == HISTOGRAM), None),
    )


def _scalars(run: PointRun) -> tuple[Scalar, ...]:
    names = (
        (say("{point}: IOPS", point=run.name), "IOPS"),
        (say("{point}: ART", point=run.name), "ms"),
        (say("{point}: 5 9s", point=run.name), "ms"),
        (say("{point}: MRT", point=run.name), "ms"),
    )
    # Before its histogram a point has no figures.
    rows = zip(names, run.figures, strict=False)
    return scalars_of((name, value, unit) for (name, unit), value in rows)
