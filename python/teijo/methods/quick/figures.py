"""The figures of a quick look: each test's mean over its passes, with an interval and a trend."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.analysis import measures
from teijo.analysis.mean import Mean, first_apart, mean_of, trend_of
from teijo.methods.quick.settings import PHASE, QuickSettings, Stimulus, cell_name
from teijo.terms.record import Record
from teijo.terms.result import Direction, StepResult

NS_PER_US = 1000


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
    return {"mean": mean.value, "plus_minus": mean.half}


def passes_of(
    settings: QuickSettings, record: Record
) -> dict[tuple[Stimulus, Direction], list[StepResult]]:
    """Return the answers of each test that was measured at all, in order of its passes."""
    names = {cell_name(*place): place for place in settings.cells}
    passes: dict[tuple[Stimulus, Direction], list[StepResult]] = {}
    for step, answer in record.measured(PHASE):
        if step.cell in names:
            passes.setdefault(names[step.cell], []).append(answer)
    return passes


def figures_of(settings: QuickSettings, record: Record) -> tuple[QuickFigure, ...]:
    """Return the figures of every test that was measured, in order of the table."""
    passes = passes_of(settings, record)
    return tuple(
        _figure(stimulus, direction, passes[stimulus, direction])
        for stimulus, direction in settings.cells
        if (stimulus, direction) in passes
    )


def _figure(stimulus: Stimulus, direction: Direction, answers: Sequence[StepResult]) -> QuickFigure:
    rates = [answer.iops for answer in answers]
    resolution = 1 / max(1, min(answer.ios for answer in answers))
    latencies = [measures.latency_ns_mean(answer) / NS_PER_US for answer in answers if answer.ios]
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
