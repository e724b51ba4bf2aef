"""What an original prints of a test, beside the mean of the same passes and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from teijo.analysis.mean import Mean, mean_of
from teijo.document import model
from teijo.document.grid import Fields, Figure, listing
from teijo.document.phrase import say

MEANING = (
    "The original prints one statistic of its passes. The mean of the same passes stands beside "
    "it; ± is the half-width of its 95 % interval, by Student's t from the scatter between the "
    "passes. One pass shows no scatter, so nothing can be said of it."
)


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """One figure of one test: `told` is what the original prints, by `rule` ("maximum of 5").

    `values` are those of its passes in the figure's unit; `resolution` is the share of a value
    that one I/O is. A longest call is not `alike` a mean: nobody asks by how much it is better.
    """

    test: str
    figure: Figure
    rule: str
    told: float | None
    values: tuple[float, ...]
    resolution: float = 0.0
    alike: bool = True

    @cached_property
    def mean(self) -> Mean | None:
        """The mean of the passes with its interval; None where there are none."""
        return mean_of(self.values, resolution=self.resolution)

    @property
    def flatters_percent(self) -> float | None:
        """By how much the printed figure is better than the mean, in percent; negative: worse.

        None where nothing is printed, of a single pass, or where there is nothing to relate to.
        """
        if self.told is None or len(self.values) < 2 or not self.alike:
            return None
        if self.mean is None or not self.mean.value:
            return None
        apart = (self.told / self.mean.value - 1) * 100
        return apart if self.figure.more_is_faster else -apart


def statistics_tables(statistics: Sequence[Statistic]) -> list[model.Block]:
    """Return a table for each figure, in the order they are first met, and what ± means."""
    figures = dict.fromkeys(each.figure for each in statistics)
    tables: list[model.Block] = [
        _table(figure, [each for each in statistics if each.figure == figure]) for figure in figures
    ]
    return [*tables, model.Paragraph(text=MEANING)] if tables else []


def _table(figure: Figure, statistics: Sequence[Statistic]) -> model.Table:
    fields: Fields[Statistic] = (
        ("Test", "", None, lambda row: row.test),
        ("Statistic", "", None, lambda row: row.rule),
        ("As printed", figure.unit, figure.digits, lambda row: row.told),
        ("Mean", figure.unit, figure.digits, _value),
        ("±", figure.unit, figure.digits, _half_width),
        ("Passes", "", 0, lambda row: len(row.values)),
        ("Better than the mean by", "%", 1, lambda row: row.flatters_percent),
    )
    return listing(statistics, fields, caption=say("{figure}", figure=figure.name))


def _value(row: Statistic) -> float | None:
    return None if row.mean is None else row.mean.value


def _half_width(row: Statistic) -> float | None:
    return None if row.mean is None else row.mean.half_width
