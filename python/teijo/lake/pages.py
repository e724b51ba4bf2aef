"""The report of a lake: what it holds, and what its five views answer, the most telling first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from teijo.document import model
from teijo.document.grid import Edge, Figure, Grid, Line
from teijo.document.phrase import Verbatim, say

ROWS_MOST: Final = 40
"""Rows of a view in the report; all of them are an answer of `teijo lake sql`."""
_LINES_MOST: Final = 8
_USUAL: Final = "figure IN ('iops', 'throughput', 'mean latency')"
_DIGITS: Final = 3
_DATE: Final = "%Y-%m-%d"
TITLE: Final = "Lake"

Ask = Callable[[str], Any]
"""Answers a question in SQL with an Arrow table."""
_Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _View:
    """How a view is shown: which rows first, which columns, and what is said of it."""

    name: str
    title: str
    says: str
    none: str
    columns: tuple[tuple[str, str, int | None], ...]
    """Column of the view, its heading, and the digits of its numbers."""
    order: str
    where: str = "true"


_PLACE: Final = (
    ("method", "Method", None),
    ("part", "Part", None),
    ("cell", "Cell", None),
    ("figure", "Figure", None),
)
_UNIT: Final = (("unit", "Unit", None),)
_COUNTS: Final = (("runs", "Runs", 0), ("drives", "Drives", 0))
_VIEWS: Final = (
    _View(
        name="model_over_time",
        title="Models over time",
        says="Each model by month: the median of its runs, the least and the most of them.",
        none="No figure of a run is in the lake.",
        columns=(
            ("model", "Model", None), *_PLACE, *_UNIT, ("month", "Month", None), *_COUNTS,
            ("least", "Least", _DIGITS), ("median", "Median", _DIGITS),
            ("most", "Most", _DIGITS),
        ),
        order="runs DESC, model, method, part, cell, figure, unit, month",
        where=_USUAL,
    ),
    _View(
        name="firmware_against_firmware",
        title="Firmware against firmware",
        says="Of one model: the median of all runs with a later firmware against that with an "
        "earlier one. Drives and settings may differ too; `teijo compare` judges two runs.",
        none="No model has runs with two firmwares.",
        columns=(
            ("model", "Model", None), *_PLACE, *_UNIT, ("firmware_a", "Earlier", None),
            ("firmware_b", "Later", None), ("runs_a", "Runs earlier", 0),
            ("runs_b", "Runs later", 0), ("median_a", "Median earlier", _DIGITS),
            ("median_b", "Median later", _DIGITS), ("change_percent", "Change, %", 1),
        ),
        order="abs(change_percent) DESC, model, method, part, cell, figure",
        where=_USUAL,
    ),
    _View(
        name="slower_than_last_year",
        title="Slower than last year",
        says="Drives that were worse in the last year of their runs than in the year before, where "
        "the intervals at 95 % of the two leave each other out.",
        none="No drive that was measured in two years that follow each other got slower.",
        columns=(
            ("model", "Model", None), ("serial", "Serial no", None), *_PLACE, *_UNIT,
            ("year", "Year", None), ("before", "Before", _DIGITS), ("now", "Now", _DIGITS),
            ("slower_percent", "Slower, %", 1),
        ),
        order="slower_percent DESC, serial, method, cell, figure",
        where=_USUAL,
    ),
    _View(
        name="throttled_runs",
        title="Throttled runs",
        says="Runs in which the drive slowed itself down, the latest first.",
        none="No run was throttled.",
        columns=(
            ("started_at", "Started", None), ("model", "Model", None),
            ("serial", "Serial no", None), ("firmware", "Firmware", None),
            ("host", "Host", None), ("method", "Method", None), ("steps", "Steps", 0),
            ("run_id", "Run", None),
        ),
        order="started_at DESC, run_id",
    ),
    _View(
        name="fleet_spread",
        title="Spread within fleets",
        says="Runs that name the same campaign or fleet: how far the drives of a model lie apart, "
        "as a share of their median, and which of them is the slowest.",
        none="No run names a campaign or a fleet (--group).",
        columns=(
            ("group_campaign", "Campaign", None), ("group_fleet", "Fleet", None),
            ("model", "Model", None), *_PLACE, *_UNIT, *_COUNTS, ("least", "Least", _DIGITS),
            ("median", "Median", _DIGITS), ("most", "Most", _DIGITS),
            ("spread_percent", "Spread, %", 1), ("slowest_drive", "Slowest drive", None),
        ),
        order="spread_percent DESC NULLS LAST, model, method, part, cell, figure",
        where=_USUAL,
    ),
)  # fmt: skip
_HOLDS: Final = """
SELECT count(*) AS runs, count(DISTINCT serial) AS drives, count(DISTINCT model) AS models,
    count(DISTINCT host) AS hosts, count(DISTINCT method) AS methods, min(started_at) AS first,
    max(started_at) AS last, count(*) FILTER (provenance = 'simulated') AS simulated
FROM runs
"""
_CHARTED: Final = f"""
WITH usual AS (FROM model_over_time WHERE figure = 'iops'), widest AS (
    SELECT model, method, part FROM usual GROUP BY ALL HAVING count(DISTINCT month) > 1
    ORDER BY sum(runs) DESC, model, method, part LIMIT 1
), cells AS (
    SELECT cell FROM usual JOIN widest USING (model, method, part)
    GROUP BY cell ORDER BY cell LIMIT {_LINES_MOST}
)
SELECT model, method, month, cell, any_value(unit) AS unit, median(median) AS median
FROM usual JOIN widest USING (model, method, part) JOIN cells USING (cell)
GROUP BY model, method, month, cell ORDER BY month, cell
"""


def pages(place: str, ask: Ask) -> model.Document:
    """Return the whole report of the lake at a place."""
    held = ask(_HOLDS).to_pylist()[0]
    sections = [_overview(held)]
    for view in _VIEWS:
        sections.append(_section(view, ask))
        if view.name == "model_over_time" and (chart := _chart(ask)) is not None:
            sections.append(model.Section(title=chart.title, blocks=(chart,)))
    return model.Document(name="lake", header=_header(place, held), sections=tuple(sections))


def _header(place: str, held: _Row) -> model.Header:
    return model.Header(
        title=say("{title} – Report Page", title=TITLE),
        subtitle="All that was ever measured",
        organisation="Teijo",
        revision="",
        top=(
            ("Lake", Verbatim(place)),
            ("Runs", Verbatim(f"{held['runs']:,}")),
            ("First run", _date(held["first"])),
            ("Last run", _date(held["last"])),
        ),
        groups=(),
        stamp="SIMULATED DEVICE" if held["simulated"] == held["runs"] else "",
    )


def _overview(held: _Row) -> model.Section:
    names = (
        ("runs", "Runs"), ("drives", "Drives"), ("models", "Models"), ("hosts", "Hosts"),
        ("methods", "Methods"), ("simulated", "Simulated runs"),
    )  # fmt: skip
    rows = tuple((heading, Verbatim(f"{held[name]:,}")) for name, heading in names)
    text = (
        "Figures of different runs stand side by side here. Settings and hosts may differ between "
        "them: what looks apart is a reason to measure again, and no proof."
    )
    return model.Section(
        title="What the lake holds",
        blocks=(model.Facts(rows=rows), model.Paragraph(text=text)),
    )


def _section(view: _View, ask: Ask) -> model.Section:
    question = f"FROM {view.name} WHERE {view.where}"
    rows = ask(f"{question} ORDER BY {view.order} LIMIT {ROWS_MOST}").to_pylist()
    if not rows:
        return model.Section(title=view.title, blocks=(model.Paragraph(text=view.none),))
    blocks: list[model.Block] = [model.Paragraph(text=view.says), _table(view, rows)]
    if len(rows) == ROWS_MOST:
        rest = say(
            "These are the first {count} rows at most. All of them: {command}",
            count=ROWS_MOST,
            command=Verbatim(f'teijo lake sql "FROM {view.name}"'),
        )
        blocks.append(model.Paragraph(text=rest))
    return model.Section(title=view.title, blocks=tuple(blocks))


def _table(view: _View, rows: Sequence[_Row]) -> model.Table:
    """Return the rows, without columns that are empty in all of them."""
    shown = [each for each in view.columns if any(row[each[0]] not in (None, "") for row in rows)]
    return model.Table(
        columns=tuple(model.Column(name=heading, digits=digits) for _, heading, digits in shown),
        rows=tuple(tuple(_value(row[name], digits) for name, _, digits in shown) for row in rows),
        caption=view.title,
    )


def _value(value: Any, digits: int | None) -> model.Value:
    match value:
        case int() if digits is None:  # a year
            return Verbatim(value)
        case int() | float() | None:
            return value
        case datetime():
            return _date(value)
        case _:
            return Verbatim(value)


def _chart(ask: Ask) -> model.XYChart | None:
    """Return the rates of the model with most runs over its months, None where there is one."""
    rows: list[_Row] = ask(_CHARTED).to_pylist()
    if not rows:
        return None
    months = tuple(dict.fromkeys(row["month"] for row in rows))
    medians = {(row["month"], row["cell"]): row["median"] for row in rows}
    lines = tuple(
        Line(
            figure=Figure(name=Verbatim(cell or rows[0]["method"]), unit=rows[0]["unit"]),
            values=tuple(medians.get((month, cell)) for month in months),
        )
        for cell in dict.fromkeys(row["cell"] for row in rows)
    )
    edge = Edge(name="Month", places=tuple(map(Verbatim, months)), scale="category")
    title = say(
        "{model}, {method}: median by month",
        model=Verbatim(rows[0]["model"]),
        method=Verbatim(rows[0]["method"]),
    )
    return Grid(rows=edge, columns=lines).chart(title, Figure(name="IOPS"))


def _date(value: datetime | None) -> str:
    return Verbatim(value.strftime(_DATE)) if value is not None else "not known"
