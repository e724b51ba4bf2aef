"""Curves of several runs over one pair of axes: bars while they have room, gaps where one lacks."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from teijo.compare.plots import plots_of
from teijo.document.curve import Curve
from teijo.document.model import Axis


def bars(count: int, title: str = "Throughput") -> Curve:
    points = tuple((f"cell {n}", float(n)) for n in range(count))
    axes = Axis(name="Cell", scale="category"), Axis(name="Throughput", unit="MB/s")
    return Curve(title=title, x=axes[0], y=axes[1], points=points, style="bars")


@dataclass(frozen=True)
class Runs:
    """As much of a match as plots look at: the curves of each run."""

    runs: tuple[tuple[Curve, ...], ...]
    entries: Any = field(init=False)

    def __post_init__(self) -> None:
        found = [SimpleNamespace(found=SimpleNamespace(comparison_curves=run)) for run in self.runs]
        entries = [SimpleNamespace(label=f"R{n}", part=part) for n, part in enumerate(found, 1)]
        object.__setattr__(self, "entries", tuple(entries))


@pytest.mark.parametrize(("cells", "style", "scale"), [(6, "bars", "linear"), (7, "points", "log")])
def test_bars_become_points_on_a_log_axis_where_their_numbers_have_no_room(
    cells: int, style: str, scale: str
) -> None:
    (plot,) = plots_of(Runs(((bars(cells),), (bars(cells),))))  # type: ignore[arg-type]
    assert {series.style for series in plot.series} == {style}
    assert plot.y.scale == scale


def test_a_run_without_a_curve_has_a_name_and_no_points_and_its_own_places_are_added() -> None:
    (plot,) = plots_of(Runs(((bars(3),), (), (bars(4),))))  # type: ignore[arg-type]
    assert [(series.name, len(series.x)) for series in plot.series] == [
        ("R1", 3), ("R2", 0), ("R3", 4),
    ]  # fmt: skip
    assert plot.table is not None
    assert plot.table.rows[-1] == ("cell 3", None, None, 3.0)
