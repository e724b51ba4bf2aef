"""What a record of CrystalDiskMark's test shows: each row's score as the original takes it, and its
passes, of which the score is the best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from teijo import units
from teijo.analysis import measures
from teijo.analysis.extremes import expected_gain_percent, two_levels
from teijo.analysis.mean import Mean, first_apart, mean_of, trend_of
from teijo.analysis.quantities import LATENCY, THROUGHPUT, Quantity, of_rounds
from teijo.document.phrase import say
from teijo.methods.classic.crystaldiskmark.rows import Like, Place
from teijo.methods.classic.crystaldiskmark.settings import (
    FILL,
    PASS,
    PREPARING,
    CrystalDiskMarkSettings,
    Loads,
)
from teijo.methods.found import Found, Pick
from teijo.terms.finding import Cell, Scalar
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch


def transported_mb_s(answer: StepResult, like: Like) -> float:
    """Return a pass's rate as the original's window is told it, in MB/s of 10^6 bytes.

    Versions 5 and 8 are told it by an exit code, a whole number of kB/s; version 3 counts whole
    milliseconds.
    """
    if not answer.elapsed_ns:
        return 0.0
    if like == "3":
        return answer.bytes / 1000 / max(1, answer.elapsed_ns // units.NS_PER_MS)
    return answer.bytes * units.NS_PER_MS // answer.elapsed_ns / 1000


@dataclass(frozen=True, kw_only=True)
class Score:
    """One row in one column: its counted passes, and the one that the original throws away."""

    place: Place
    like: Like
    passes: tuple[StepResult, ...]
    discarded: StepResult | None
    is_strict: bool

    @cached_property
    def rates_mb_s(self) -> tuple[float, ...]:
        """The rate of each pass, as the window is told it."""
        return tuple(transported_mb_s(answer, self.like) for answer in self.passes)

    @cached_property
    def latencies_us(self) -> tuple[float, ...]:
        """The mean latency of each pass that had any I/O."""
        return tuple(
            measures.latency_ns_mean(answer) / units.NS_PER_US
            for answer in self.passes
            if answer.ios
        )

    @cached_property
    def resolution(self) -> float:
        """The share of a pass that one I/O is."""
        return 1 / max(1, min(answer.ios for answer in self.passes))

    @cached_property
    def mean_mb_s(self) -> Mean:
        """The mean of the passes, with its interval."""
        mean = mean_of(self.rates_mb_s, resolution=self.resolution)
        assert mean is not None, "a row that was measured has a pass"
        return mean

    @cached_property
    def score_mb_s(self) -> float:
        """The number in the window: the best pass. Strict: the mean."""
        return self.mean_mb_s.value if self.is_strict else max(self.rates_mb_s)

    @property
    def iops(self) -> float:
        """The score in I/Os per second, derived from it as the original does, not counted."""
        return self.score_mb_s * units.MEGA / self.place.row.block_size_bytes

    @cached_property
    def latency_us(self) -> float | None:
        """The latency in version 8's window: that of the pass with the least, whichever that is.

        Strict: the mean. None where no I/O was completed.
        """
        if not self.latencies_us:
            return None
        if self.is_strict:
            return sum(self.latencies_us) / len(self.latencies_us)
        return min(self.latencies_us)

    @property
    def best_pass(self) -> int:
        """The number of the pass that the score is of."""
        return self.rates_mb_s.index(max(self.rates_mb_s)) + 1

    @property
    def quickest_pass(self) -> int | None:
        """The number of the pass that the latency is of."""
        if len(self.latencies_us) < len(self.passes):
            return None
        return self.latencies_us.index(min(self.latencies_us)) + 1

    @property
    def discarded_mb_s(self) -> float | None:
        """The rate of the pass that the original throws away; None where there is none."""
        return None if self.discarded is None else transported_mb_s(self.discarded, self.like)

    @property
    def gain_percent(self) -> float | None:
        """By how much the best pass is above the mean of the passes."""
        mean = self.mean_mb_s.value
        return (max(self.rates_mb_s) / mean - 1) * 100 if mean else None

    @property
    def expected_gain_percent(self) -> float | None:
        """By how much it would be, if the passes scattered independently around one level."""
        return expected_gain_percent(self.rates_mb_s)

    @property
    def levels(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """The slow and the quick passes, where there are two kinds of them."""
        return two_levels(self.rates_mb_s)

    @property
    def trend(self) -> float | None:
        """The last pass by the first, where every pass is beyond the one before."""
        return trend_of(self.rates_mb_s)

    @property
    def first_by_rest(self) -> float | None:
        """The first pass by the mean of the others, where it stands apart from them."""
        return first_apart(self.rates_mb_s)


class CrystalDiskMarkFound(Found[CrystalDiskMarkSettings]):
    """What a record shows: the score of every row that was measured."""

    @cached_property
    def loads(self) -> Loads:
        """What was to be done to the device."""
        return Loads(self.settings, self.record.geometry.capacity_bytes)

    @cached_property
    def passes(self) -> Mapping[str, list[StepResult]]:
        """The counted passes of each cell by its name, in order."""
        passes: dict[str, list[StepResult]] = {}
        for step, answer in self.record.measured(PASS):
            passes.setdefault(step.cell or "", []).append(answer)
        return passes

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The scores there are, reads first, in the order of the window."""
        discarded = {step.cell: answer for step, answer in self.record.measured(PREPARING)}
        return tuple(
            Score(
                place=place,
                like=self.settings.like,
                passes=tuple(self.passes[place.name]),
                discarded=discarded.get(place.name),
                is_strict=self.settings.is_strict,
            )
            for place in self.settings.shown
            if place.name in self.passes
        )

    @property
    def pick(self) -> Pick:
        """The original's score is that of the best pass; strict: of none."""
        return "mean" if self.settings.is_strict else "best"

    @property
    def rounds(self) -> int:
        """The most passes of a row."""
        return max(map(len, self.passes.values()), default=0)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Each row's score, and how far the best pass flatters."""
        found = []
        for score in self.scores:
            row = score.place.name
            found += [
                Scalar(name=say("{row}, score", row=row), value=score.score_mb_s, unit="MB/s"),
                Scalar(
                    name=say("{row}, latency in the window", row=row),
                    value=score.latency_us,
                    unit="µs",
                ),
                Scalar(
                    name=say("{row}, best pass above the mean", row=row),
                    value=score.gain_percent,
                    unit="%",
                ),
            ]
        return found

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Each row in each column, as means over its passes."""
        return tuple(
            measures.cell_over(
                (("test", score.place.row.name), ("direction", score.place.column)), score.passes
            )
            for score in self.scores
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput and mean latency of each row: each pass is a batch."""
        return tuple(
            each
            for score in self.scores
            for each in of_rounds(score.place.name, score.passes, (THROUGHPUT, LATENCY))
        )

    @property
    def watch_running(self) -> Watch:
        """Which pass of which row is under way."""
        settings, loads = self.settings, self.loads
        steps = [each for place in settings.order for each in loads.passes(place)]
        done = len(self.record.measured())
        ahead = steps[done:]
        rests = sum(each.cell != other.cell for each, other in pairwise(ahead))
        left_ns = len(ahead) * settings.measure_ns + rests * settings.interval_ns
        watch = Watch(phase=PASS, remaining_ns_least=left_ns, remaining_ns_most=left_ns)
        if not any(each.step.phase == FILL for each in self.record.steps):
            size = sum(each.total_bytes for each in loads.preparations)
            return replace(watch, phase=FILL, remaining_bytes=size)
        if not ahead:
            return watch
        return replace(
            watch,
            phase=ahead[0].phase,
            round_number=ahead[0].round_number,
            rounds_least=settings.passes_counted,
            rounds_most=settings.passes_counted,
            cell=ahead[0].cell,
        )
