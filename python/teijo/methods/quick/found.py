"""What a quick look finds: each test's mean over its passes, with an interval and a trend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from teijo import units
from teijo.analysis import measures
from teijo.analysis.mean import Mean, first_apart, mean_of, trend_of
from teijo.analysis.quantities import IOPS, LATENCY, Quantity, of_rounds
from teijo.document.phrase import Verbatim, say
from teijo.methods.found import Found
from teijo.methods.quick.settings import (
    PHASE,
    PREPARE,
    QuickSettings,
    Stimulus,
    cell_name,
    measure_of,
    preparation_of,
)
from teijo.terms.finding import Cell, Scalar
from teijo.terms.record import Record
from teijo.terms.result import Direction, StepResult
from teijo.terms.watch import Watch


@dataclass(frozen=True, kw_only=True)
class QuickFigure:
    """One test in one direction. `trend` is the last pass by the first, where all go one way;
    `first_by_rest` the first by the mean of the others, where it stands apart from them.
    """

    stimulus: Stimulus
    direction: Direction
    mb_s: Mean
    iops: Mean
    latency_us: Mean | None
    trend: float | None
    first_by_rest: float | None

    @property
    def name(self) -> str:
        """The name of the cell."""
        return cell_name(self.stimulus, self.direction)

    def as_values(self) -> dict[str, object]:
        """Return the figure as JSON-ready values; ± is the half-width of the 95 % interval."""
        return {
            "test": self.stimulus.name,
            "direction": self.direction,
            "mb_s": _values(self.mb_s),
            "iops": _values(self.iops),
            "latency_us": None if self.latency_us is None else _values(self.latency_us),
            "last_by_first_pass": self.trend,
            "first_by_other_passes": self.first_by_rest,
        }


def _values(mean: Mean) -> dict[str, object]:
    return {"mean": mean.value, "plus_minus": mean.half_width}


def _figure(stimulus: Stimulus, direction: Direction, answers: Sequence[StepResult]) -> QuickFigure:
    rates = [answer.iops for answer in answers]
    # A rate counts whole I/Os: no interval is narrower than one I/O of a pass.
    resolution = 1 / max(1, min(answer.ios for answer in answers))
    latencies = [
        measures.latency_ns_mean(answer) / units.NS_PER_US for answer in answers if answer.ios
    ]
    iops = mean_of(rates, resolution=resolution)
    mb_s = mean_of([measures.throughput_mb_s(each) for each in answers], resolution=resolution)
    assert iops is not None, "a test that was measured has an answer"
    assert mb_s is not None, "and moves as many bytes as it does"
    return QuickFigure(
        stimulus=stimulus,
        direction=direction,
        mb_s=mb_s,
        iops=iops,
        latency_us=mean_of(latencies),
        trend=trend_of(rates),
        first_by_rest=first_apart(rates),
    )


def _is_prepared(record: Record) -> bool:
    """Return whether the amount was written since the last gap."""
    prepared = False
    for each in record.steps:
        if not isinstance(each.answer, StepResult):
            prepared = False
        elif each.step.phase == PREPARE:
            prepared = True
    return prepared


class QuickFound(Found[QuickSettings]):
    """What a record of a quick look shows: the figures of every test that was measured."""

    @cached_property
    def passes(self) -> Mapping[tuple[Stimulus, Direction], list[StepResult]]:
        """The answers of each test that was measured at all, in order of its passes."""
        names = {cell_name(*place): place for place in self.settings.cells}
        passes: dict[tuple[Stimulus, Direction], list[StepResult]] = {}
        for step, answer in self.record.measured(PHASE):
            if step.cell in names:
                passes.setdefault(names[step.cell], []).append(answer)
        return passes

    @cached_property
    def figures(self) -> tuple[QuickFigure, ...]:
        """The figures of every test that was measured, in order of the table."""
        return tuple(
            _figure(*place, self.passes[place])
            for place in self.settings.cells
            if place in self.passes
        )

    @property
    def rounds(self) -> int:
        """The most passes of a test."""
        return max(map(len, self.passes.values()), default=0)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """How far the mean of each test may be off."""
        return tuple(
            Scalar(
                name=say("{test}, ± of the {what}", test=each.name, what=what),
                value=None if mean is None else mean.half_percent,
                unit="%",
            )
            for each in self.figures
            for what, mean in (("rate", each.iops), ("latency", each.latency_us))
        )

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Each test in each direction."""
        return tuple(
            measures.cell_over(
                (("test", each.stimulus.name), ("direction", str(each.direction))),
                self.passes[each.stimulus, each.direction],
            )
            for each in self.figures
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS and mean latency of each test: each pass is a batch."""
        return tuple(
            each
            for place, answers in self.passes.items()
            for each in of_rounds(Verbatim(cell_name(*place)), answers, (IOPS, LATENCY))
        )

    @property
    def watch_running(self) -> Watch:
        """Which pass of which test is under way."""
        settings, record = self.settings, self.record
        done = len(record.measured(PHASE))
        ahead = [
            (number, stimulus, direction)
            for stimulus, direction in settings.cells
            for number in range(1, settings.passes + 1)
        ][done:]
        # Only tests are parted by a rest; the passes of one follow each other.
        rests = sum(number == 1 for number, _, _ in ahead)
        left_ns = len(ahead) * settings.pass_ns + rests * settings.rest_ns
        watch = Watch(phase=PHASE, remaining_ns_least=left_ns, remaining_ns_most=left_ns)
        preparation = preparation_of(settings, record.geometry.capacity_bytes)
        if preparation is not None and not _is_prepared(record):
            return replace(watch, phase=PREPARE, remaining_bytes=preparation.total_bytes)
        if not ahead:
            return watch
        number, stimulus, direction = ahead[0]
        return replace(
            watch,
            round_number=number,
            rounds_least=settings.passes,
            rounds_most=settings.passes,
            cell=measure_of(settings, stimulus, direction, number).cell,
        )
