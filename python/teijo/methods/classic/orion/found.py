"""What a record of ORION's test shows: each point's small and large I/Os, and the three maxima."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from teijo import units
from teijo.analysis import measures
from teijo.analysis.mean import mean_of
from teijo.analysis.quantities import (
    IOPS,
    LATENCY,
    THROUGHPUT,
    Quantity,
    of_intervals,
    of_rounds,
)
from teijo.analysis.repeats import estimate_of_run
from teijo.analysis.replicates import Estimate
from teijo.document.curve import Curve
from teijo.document.grid import Figure
from teijo.document.model import Axis
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic.orion.points import Point, points_of
from teijo.methods.classic.orion.settings import OrionSettings
from teijo.methods.classic.orion.workload import LARGE, MEASURE, PREPARE, SMALL
from teijo.methods.classic.statistic import Statistic
from teijo.methods.found import Found, Pick
from teijo.terms.finding import Cell, Scalar
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch

SMALL_IOPS: Final = Figure(name="Small IOPS", digits=0)
SMALL_LATENCY: Final = Figure(name="Small latency", unit="ms", digits=3, more_is_faster=False)
LARGE_MBPS: Final = Figure(name="Large MBPS", unit="MiB/s", digits=2)
"""ORION's MBPS are of 2^20 bytes."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """The small or the large I/Os of one point, with an answer for each pass, the first first."""

    point: Point
    stream: str
    answers: tuple[StepResult, ...]

    @property
    def place(self) -> str:
        """Its name among all figures: "Small=5 Large=0, small"."""
        return say("{point}, {stream}", point=Verbatim(self.point.name), stream=self.stream)

    @property
    def load(self) -> int:
        """How many I/Os, or large streams, are outstanding."""
        return self.point.small if self.stream == SMALL else self.point.large

    @property
    def first(self) -> StepResult:
        """The answer of the first pass, the only one of the original."""
        return self.answers[0]

    @property
    def iops(self) -> tuple[float, ...]:
        """IOPS of each pass."""
        return tuple(answer.iops for answer in self.answers)

    @property
    def mbps(self) -> tuple[float, ...]:
        """MiB/s of each pass."""
        return tuple(
            units.per_second(each.bytes, each.elapsed_ns) / units.MIB for each in self.answers
        )

    @property
    def latency_ms(self) -> tuple[float, ...]:
        """Mean latency of each pass in ms."""
        return tuple(map(measures.latency_ms_mean, self.answers))

    @property
    def resolution(self) -> float:
        """The share of a pass that one I/O is."""
        return 1 / max(1, min(answer.ios for answer in self.answers))

    @cached_property
    def latency(self) -> Histogram:
        """The latencies of all I/Os of all passes."""
        return merged(measures.latency_of(answer) for answer in self.answers)

    @property
    def by_little(self) -> float:
        """How many I/Os were in flight by Little's law: IOPS × mean latency, of the first pass."""
        return self.iops[0] * self.latency_ms[0] * units.NS_PER_MS / units.NS_PER_S

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Rate and mean latency: a pass is a batch; of one pass its own intervals are."""
        rate = IOPS if self.stream == SMALL else THROUGHPUT
        if len(self.answers) > 1:
            return of_rounds(self.place, self.answers, (rate, LATENCY))
        found = of_intervals(self.place, self.answers)
        if rate is IOPS or not found:
            return found
        # All of a stream's I/Os have one size, so its throughput is its rate times that.
        megabytes = self.first.bytes / self.first.ios / units.MEGA
        return (
            replace(
                found[0],
                figure=THROUGHPUT,
                value=found[0].value * megabytes,
                batches=tuple(each * megabytes for each in found[0].batches),
            ),
            *found[1:],
        )

    def estimate(self, figure: Figure) -> Estimate | None:
        """Return the mean of a figure with its interval, in ORION's unit; None where there is none.

        Of several passes it is Student's t over them; of one pass from batches of its intervals,
        allowing for their likeness, and without ends where it is too short to tell.
        """
        values = {
            SMALL_IOPS: self.iops, LARGE_MBPS: self.mbps, SMALL_LATENCY: self.latency_ms
        }[figure]  # fmt: skip
        if len(values) > 1:
            mean = mean_of(values, resolution=self.resolution)
            assert mean is not None, "several passes have a mean"
            assert mean.half_width is not None, "and an interval"
            low, high = mean.value - mean.half_width, mean.value + mean.half_width
            return Estimate(mean=mean.value, low=low, high=high, count=len(values))
        if not self.quantities:
            return None
        quantity = self.quantities[1 if figure is SMALL_LATENCY else 0]
        whole = Estimate(mean=values[0], low=None, high=None, count=1)
        within = estimate_of_run(quantity.batches, quantity.batch_samples)
        if within is None or within.low is None or within.high is None:
            return whole
        factor = units.MEGA / units.MIB if figure is LARGE_MBPS else 1.0
        return replace(whole, low=within.low * factor, high=within.high * factor)


def _of_stream(answer: StepResult, stream: str) -> StepResult:
    kept = tuple(part for part in answer.results if part.stream == stream)
    return replace(answer, results=kept)


def _statistic(side: Side, figure: Figure, rule: str, values: tuple[float, ...]) -> Statistic:
    return Statistic(
        test=Verbatim(side.point.name),
        figure=figure,
        rule=rule,
        told=values[0],
        values=values,
        resolution=side.resolution,
    )


class OrionFound(Found[OrionSettings]):
    """What a record of ORION's test shows."""

    @cached_property
    def passes(self) -> Mapping[Point, tuple[StepResult, ...]]:
        """The answers of each point that was measured at all, in the original's order of points."""
        found: dict[str | None, list[StepResult]] = {}
        for step, answer in self.record.measured(MEASURE):
            found.setdefault(step.cell, []).append(answer)
        return {
            point: tuple(found[point.name])
            for point in points_of(self.settings.loads)
            if point.name in found
        }

    @property
    def pick(self) -> Pick:
        """The original makes one pass, so its numbers are those of the first; strict: of none."""
        return "mean" if self.settings.strict == "on" else "first"

    def _sides(self, stream: str, load: Callable[[Point], int]) -> Mapping[Point, Side]:
        return {
            point: Side(
                point=point,
                stream=stream,
                answers=tuple(_of_stream(answer, stream) for answer in answers),
            )
            for point, answers in self.passes.items()
            if load(point)
        }

    @cached_property
    def small(self) -> Mapping[Point, Side]:
        """The small I/Os of each point that has any."""
        return self._sides(SMALL, lambda point: point.small)

    @cached_property
    def large(self) -> Mapping[Point, Side]:
        """The large I/Os of each point that has any."""
        return self._sides(LARGE, lambda point: point.large)

    @property
    def sides(self) -> tuple[Side, ...]:
        """All small and all large I/Os."""
        return (*self.small.values(), *self.large.values())

    @cached_property
    def most_large(self) -> Side | None:
        """The point of ORION's Maximum Large MBPS: of the first pass."""
        return max(self.large.values(), key=lambda side: side.mbps[0], default=None)

    @cached_property
    def most_small(self) -> Side | None:
        """The point of ORION's Maximum Small IOPS."""
        return max(self.small.values(), key=lambda side: side.iops[0], default=None)

    @cached_property
    def quickest_small(self) -> Side | None:
        """The point of ORION's Minimum Small Latency."""
        answered = (side for side in self.small.values() if side.first.ios)
        return min(answered, key=lambda side: side.latency_ms[0], default=None)

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """What the original prints, each beside the mean over the passes of the same point."""
        found = []
        if (side := self.most_large) is not None:
            rule = say("maximum of {count} points", count=len(self.large))
            found.append(_statistic(side, LARGE_MBPS, rule, side.mbps))
        if (side := self.most_small) is not None:
            rule = say("maximum of {count} points", count=len(self.small))
            found.append(_statistic(side, SMALL_IOPS, rule, side.iops))
        if (side := self.quickest_small) is not None:
            rule = say("minimum of {count} points", count=len(self.small))
            found.append(_statistic(side, SMALL_LATENCY, rule, side.latency_ms))
        return tuple(found)

    @property
    def rounds(self) -> int:
        """How many passes were measured whole."""
        whole = len(points_of(self.settings.loads))
        if len(self.passes) < whole:
            return 0
        return min(map(len, self.passes.values()), default=0)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The three numbers that the original's summary ends with."""
        names = {
            LARGE_MBPS: "maximum large MBPS",
            SMALL_IOPS: "maximum small IOPS",
            SMALL_LATENCY: "minimum small latency",
        }
        return tuple(
            Scalar(name=names[each.figure], value=each.told, unit=each.figure.unit or "IOPS")
            for each in self.statistics
        )

    @property
    def headlines(self) -> Sequence[Scalar]:
        """The same three."""
        return self.scalars

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The small and the large I/Os of each point."""
        return tuple(
            measures.cell_over((*side.point.labels, ("i/o", side.stream)), side.answers)
            for side in self.sides
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Rate and latency of small and of large I/Os at each point."""
        return tuple(each for side in self.sides for each in side.quantities)

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """IOPS of small I/Os alone, and MB/s of large ones alone, by their load."""
        return tuple(
            Curve(
                title=say("{figure} by load", figure=figure.name),
                x=Axis(name="Outstanding I/Os"),
                y=figure.axis(),
                points=points,
            )
            for figure, points in (
                (
                    SMALL_IOPS,
                    tuple((p.small, s.iops[0]) for p, s in self.small.items() if not p.large),
                ),
                (
                    LARGE_MBPS,
                    tuple((p.large, s.mbps[0]) for p, s in self.large.items() if not p.small),
                ),
            )
            if points
        )

    @property
    def watch_running(self) -> Watch:
        """Which point of which pass is under way."""
        settings = self.settings
        count = len(points_of(settings.loads))
        done = len(self.record.measured(MEASURE))
        left = max(0, count * settings.passes - done)
        left_ns = left * (settings.duration_ns + settings.ramp_ns)
        watch = Watch(phase=MEASURE, remaining_ns_least=left_ns, remaining_ns_most=left_ns)
        if settings.prepare == "yes" and not self.record.answers:
            return replace(watch, phase=PREPARE)
        if not left:
            return watch
        number, place = done // count + 1, done % count
        return replace(
            watch,
            round_number=number,
            rounds_least=settings.passes,
            rounds_most=settings.passes,
            cell=settings.points_in(number)[place].name,
        )
