"""What PTS WSAT measures and finds: minutes and stop rules, the saturation curve, steady state."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import IOPS, LATENCY, Quantity, of_series
from teijo.analysis.saturation import Sample, Saturation, saturation_of
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.curve import Curve
from teijo.document.grid import Edge
from teijo.document.model import Axis, Column, Table, Value
from teijo.document.phrase import Verbatim, say
from teijo.methods.forms import BLOCK_SIZE, MIX, number, optional, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import ChecksFound, MinutesFound
from teijo.methods.pts.loop import by_minute, checked, histogram_scalars, scalars_of
from teijo.methods.pts.matrix import minute_of, stimulus
from teijo.methods.rounds import rounds_left, steady_words
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell, Scalar, SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.step import MINUTE, Measure
from teijo.terms.watch import RoundsLeft, Watch

PLATEAU_NAME = "fresh out of the box (FOB), mean of the plateau"
LEVEL_NAME = "level at the end, mean of the last fifth"
Stop = Literal["steady", "capacity", "minutes"]


class WsatSettings(shared.LoadSettings, frozen=True):
    """The numbers of one WSAT run, on the device at hand."""

    read_percent: Annotated[int, Knob(MIX, "mix=0/100")] = meaning("R/W mix of the stimulus")
    block_size_bytes: Annotated[int, Knob(BLOCK_SIZE, "block_size=4KiB", ("bs",))] = meaning(
        "block size of the stimulus"
    )
    capacity_times: Annotated[
        float, Knob(number(0.001, units.MEGA), "capacity_times=20", judges=True)
    ] = meaning("user capacities written at most")
    minutes_most: Annotated[int, Knob(whole(1, units.MEGA), "max_minutes=360", judges=True)] = (
        meaning("the standard's minutes at most")
    )
    check_minutes: Annotated[
        int | None, Knob(optional(whole(1, 10_000)), "check_every=30", judges=True)
    ] = meaning("minutes between the check minutes that steady state is determined on, or none")
    # Not in the run files of its first days, whose runs had none.
    histogram_minutes: shared.HistogramMinutes = None

    @property
    def cell(self) -> MatrixCell:
        """What is driven in every minute, and in the run for the histogram."""
        return MatrixCell(read_percent=self.read_percent, block_size_bytes=self.block_size_bytes)


def minute(settings: WsatSettings, number: int) -> Measure:
    """Return one minute of the continuous stimulus, numbered from 1."""
    workload = stimulus(settings, settings.cell)
    return minute_of(settings, workload, number, cell=settings.cell.name)


def why_stop(
    settings: WsatSettings,
    geometry: Geometry,
    answers: Sequence[StepResult],
    written_bytes: int,
) -> Stop | None:
    """Return which of the version's stop rules ends the run after these minutes, if any.

    `written_bytes` is what they wrote in all; steady state is looked at in check minutes only.
    """
    count, every = len(answers), settings.check_minutes
    checked = every is not None and count > 0 and count % (every + 1) == 0
    if checked and is_steady(determination(settings, answers)):
        return "steady"
    if written_bytes >= _limit_bytes(settings, geometry):
        return "capacity"
    return "minutes" if count >= settings.minutes_most else None


def _limit_bytes(settings: WsatSettings, geometry: Geometry) -> float:
    return settings.capacity_times * geometry.capacity_bytes


def check_answers(settings: WsatSettings, answers: Sequence[StepResult]) -> list[StepResult]:
    """Return the check minutes: with a check every 30 minutes, minutes 31, 62, 93 and so on."""
    every = settings.check_minutes
    # A check follows its minutes: a round of 30 + 1 is 31 long.
    return [] if every is None else list(answers[every :: every + 1])


def determinable(settings: WsatSettings, answers: Sequence[StepResult]) -> bool:
    """Return whether the version determines steady state, and enough check minutes came for it."""
    return len(check_answers(settings, answers)) >= WINDOW_ROUNDS


def determination(settings: WsatSettings, answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination over the check minutes; none where the version asks for none."""
    if settings.check_minutes is None:
        return ()
    variable = say("check minute, {stimulus}", stimulus=settings.cell.stimulus)
    return checked(variable, check_answers(settings, answers))


class WsatFound(MinutesFound[WsatSettings], ChecksFound[WsatSettings]):
    """What a record of the test shows: the saturation curve, minute by minute since the purge.

    Steady state is determined where the version asks for it, on check minutes.
    """

    @cached_property
    def checks(self) -> Sequence[StepResult]:
        """The check minutes."""
        return check_answers(self.settings, self.answers)

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination over the check minutes."""
        return determination(self.settings, self.answers)

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """The curve: one sample a minute, with what was written until its end."""
        minutes = zip(self.answers, self.written_until, strict=True)
        return tuple(Sample(iops=answer.iops, written_bytes=written) for answer, written in minutes)

    @cached_property
    def curve(self) -> Saturation | None:
        """What the curve shows; None before there is one."""
        return saturation_of(self.samples)

    @cached_property
    def stop(self) -> Stop | None:
        """The rule that ended the minutes, None as long as none has."""
        return why_stop(self.settings, self.record.geometry, self.answers, self.written_bytes)

    @property
    def converged(self) -> bool | None:
        """Whether steady state was reached; None where the version does not determine it, or
        another rule ended the run before it could be.
        """
        # Many drives have four capacities written long before five check minutes: not a NO.
        can_be = self.stop is None or determinable(self.settings, self.answers)
        return is_steady(self.states) if self.settings.check_minutes and can_be else None

    @property
    def steady_since(self) -> int | None:
        """How many minutes had gone by when the steady window's first check minute began."""
        window, every = self.steady_window, self.settings.check_minutes
        return None if window is None or every is None else window.first_round * (every + 1) - 1

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The check minutes of the steady window; without one, the last five minutes."""
        window = self.steady_window
        if window is not None:
            over, minutes = "check minutes", self.checks[window.first_round - 1 : window.last_round]
        else:
            over, minutes = f"last {WINDOW_ROUNDS} minutes", self.answers[-WINDOW_ROUNDS:]
        labels = (*self.settings.cell.labels, ("over", over))
        return (measures.cell_over(labels, minutes),) if minutes else ()

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The curve's figures, what was written, steady state, the histogram's levels."""
        amplification = measures.write_amplification(self.answers[-WINDOW_ROUNDS:])
        rows = [
            *([] if self.curve is None else _curve_rows(self.curve)),
            ("minutes measured", float(len(self.answers)), "min"),
            *self.written_rows,
            *self._steady_rows(),
            (f"write amplification, last {WINDOW_ROUNDS} minutes", amplification, ""),
        ]
        if self.settings.histogram_minutes is None:
            return scalars_of(rows)
        return (*scalars_of(rows), *histogram_scalars(self.histogram_run))

    @property
    def headlines(self) -> Sequence[Scalar]:
        """The plateau out of the box, and the level at the end."""
        return [each for each in self.scalars if each.name in (PLATEAU_NAME, LEVEL_NAME)]

    def _steady_rows(self) -> list[tuple[str, float | None, str]]:
        if self.settings.check_minutes is None:
            return []
        window, since = self.steady_window, self.steady_since
        written = self.written_until[since - 1] / units.GIGA if since else None
        return [
            ("steady state, mean of the window", window.average if window else None, "IOPS"),
            ("minutes to steady state", None if since is None else float(since), "min"),
            ("written to steady state", written, "GB"),
        ]

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of the plateau, and IOPS and mean latency of the last fifth of the minutes."""
        curve, answers = self.curve, self.answers
        if curve is None:
            return ()
        last = answers[-max(5, math.ceil(len(answers) / 5)) :]
        return (
            *of_series("FOB plateau", answers[: curve.plateau_samples], (IOPS,)),
            *of_series("last fifth of the minutes", last, (IOPS, LATENCY), steady=self.converged),
        )

    @cached_property
    def rulers(self) -> Mapping[str, Edge]:
        """What the curve is drawn against, by name: the place of the end of every minute."""
        capacity_bytes, written = self.record.geometry.capacity_bytes, self.written_until
        minutes = [float(number) for number in range(1, len(written) + 1)]
        gb = tuple(each / units.GIGA for each in written)
        fills = tuple(each / capacity_bytes for each in written)
        edge = partial(Edge, from_zero=True)
        return {
            "time": by_minute(self.settings.minute_ns, minutes),
            "TGBW": edge(name="Total written (TGBW)", unit="GB", digits=3, places=gb),
            "drive fills": edge(name="Drive fills", unit="user capacities", digits=4, places=fills),
        }

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """The minutes against time, what was written, and drive fills."""
        time, written, fills = self.rulers.values()
        numbers = tuple(range(1, len(self.answers) + 1))
        rates = tuple(answer.iops for answer in self.answers)
        means_ms = tuple(map(measures.latency_ms_mean, self.answers))

        def table(run: str) -> Table:
            name = Verbatim(run)
            columns = (
                Column(name="Minute", digits=0),
                Column(name=say("{run}, IOPS", run=name), digits=1),
                Column(name=say("{run}, ART", run=name), unit="ms", digits=4),
                Column(name=say("{run}, TGBW", run=name), unit="GB", digits=3),
                Column(name=say("{run}, drive fills", run=name), digits=4),
            )
            rows = zip(numbers, rates, means_ms, written.places, fills.places, strict=True)
            return Table(columns=columns, rows=tuple(rows), caption="Every minute")

        def curve(
            title: str, x: Edge, places: Sequence[Value], y: Axis, of: Sequence[float]
        ) -> Curve:
            points = tuple(zip(places, of, strict=True))
            return Curve(title=title, x=x.axis(), y=y, points=points, style="line", table=table)

        iops, latency = Axis(name="IOPS", scale="log"), Axis(name="ART", unit="ms", scale="log")
        return (
            curve("IOPS against time", time, numbers, iops, rates),
            curve("IOPS against total written", written, written.places, iops, rates),
            curve("IOPS against drive fills", fills, fills.places, iops, rates),
            curve("Mean latency against time", time, numbers, latency, means_ms),
        )

    @property
    def watch_measuring(self) -> Watch:
        """How far the minutes have come, or that the histogram's run is due."""
        settings, done = self.settings, len(self.answers)
        run = self.watch_of_histogram(settings.cell.name, settings.histogram_minutes)
        if self.stop is not None:
            return run
        written, limit = self.written_bytes, _limit_bytes(settings, self.record.geometry)
        # The capacity rule ends the run at the speed seen so far, unless it slows down further.
        by_capacity = done + 1 if not written else max(done, round(done * limit / written))
        by_steady, every = settings.minutes_most, settings.check_minutes
        if every is not None:
            by_steady = max(WINDOW_ROUNDS, len(self.checks) + 1) * (every + 1)
        least = max(min(settings.minutes_most, by_steady, by_capacity), done + 1)
        most = max(settings.minutes_most, done + 1)
        minutes = Watch(
            phase=MINUTE,
            round_number=done + 1,
            rounds_least=least,
            rounds_most=most,
            cell=settings.cell.name,
            steady=self.steady_words,
            remaining_ns_least=(least - done) * settings.minute_ns,
            remaining_ns_most=(most - done) * settings.minute_ns,
            rounds_left=self._minutes_left(min(most, by_capacity)),
        )
        return minutes.followed_by(run)

    @property
    def steady_words(self) -> str:
        """How far steady state is, in a few words; empty where the version does not ask for it."""
        if self.settings.check_minutes is None:
            return ""
        if self.rounds < WINDOW_ROUNDS:
            return say(
                "{rounds} of the first {window} check minutes",
                rounds=self.rounds,
                window=WINDOW_ROUNDS,
            )
        return steady_words(self.states, self.rounds)

    def _minutes_left(self, last_minute: int) -> RoundsLeft | None:
        """Return the minutes still to come by the forecast; without steady state the run ends at
        `last_minute`.
        """
        if self.settings.check_minutes is None:
            return None
        every, done = self.settings.check_minutes + 1, len(self.answers)
        so_far, limit = done // every, last_minute // every

        def minutes(checks: int) -> int:
            last = so_far + checks
            return (last_minute if last == limit else last * every) - done

        return rounds_left(self.states, limit_rounds=limit, counted=minutes)


def _curve_rows(curve: Saturation) -> list[tuple[str, float | None, str]]:
    settled, written = curve.settled_samples, curve.settled_bytes
    return [
        (PLATEAU_NAME, curve.plateau_iops, "IOPS"),
        (LEVEL_NAME, curve.level_iops, "IOPS"),
        ("minutes of the FOB plateau", float(curve.plateau_samples), "min"),
        ("written on the FOB plateau", curve.plateau_bytes / units.GIGA, "GB"),
        ("highest minute", curve.peak_iops, "IOPS"),
        ("minutes until settled on that level", None if settled is None else float(settled), "min"),
        ("written until settled", None if written is None else written / units.GIGA, "GB"),
    ]
