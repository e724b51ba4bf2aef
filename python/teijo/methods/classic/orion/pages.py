"""The report of ORION's test: its own three numbers, every point, the curves, time and latency."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from teijo import units
from teijo.analysis import little, measures
from teijo.document import model
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing
from teijo.document.phrase import Verbatim, say, sentences
from teijo.methods.classic import hidden
from teijo.methods.classic.orion.found import (
    LARGE_MBPS,
    SMALL_IOPS,
    SMALL_LATENCY,
    OrionFound,
    Side,
)
from teijo.methods.classic.orion.points import Point
from teijo.methods.classic.orion.settings import OrionSettings
from teijo.methods.classic.orion.unsaid import entries
from teijo.methods.classic.orion.workload import MEASURE
from teijo.methods.classic.statistic import statistics_tables
from teijo.methods.report import study_report
from teijo.methods.series_pages import Flow, latency_section, time_section, times_table
from teijo.terms.result import StepResult

POINT: Final = "Point"
_ROWS_MOST: Final = 40
_DEEP: Final = 20
"""A load beyond which an axis is logarithmic."""
_LINES_MOST: Final = 8
"""Lines of a chart; a whole grid of loads has more."""
ONE_PASS: Final = (
    "Each point was measured once, as the original does it. The interval in the tables below is "
    "within that one pass: from five batches of its time series, allowing for the likeness of "
    "neighbours. It says how far the level wandered within the pass, and nothing of another pass. "
    "Where a point is too short for that, the interval cannot be known."
)
PASSES: Final = (
    "The original's number is of the first pass; the interval of each point is Student's t over "
    "its passes."
)
ORDER: Final = (
    "Points were measured in the original's order: by small load, and by large load within one, "
    "both growing. So whatever a drive does as time goes by is mixed with the load."
)
LITTLE: Final = (
    "In flight is IOPS × mean latency, which is the load by Little's law. A point that is not "
    "within 0.8 and 1.05 of its load is marked: its figures contradict each other."
)


def pages(found: OrionFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    identity, settings = found.record.identity, found.settings
    sections: list[model.Section] = []
    if found.sides:
        shown = _shown(found)
        flows = [flow for side in shown for flow in _flows(side)]
        sections = [
            _result_section(found),
            _points_section(found),
            *_curves_section(found),
            _times_section(found),
            time_section(flows, edge=POINT),
            latency_section(flows, edge=POINT),
            hidden.section(entries(found)),
            _passes_section(found),
        ]
    return study_report(
        found,
        title="Oracle ORION",
        subtitle=identity.model or identity.target,
        group="Oracle ORION",
        test=_test_rows(settings),
        sections=sections,
        empty="No point has been measured yet.",
    )


def _test_rows(settings: OrionSettings) -> tuple[tuple[str, str], ...]:
    loads = settings.loads
    return (
        ("Run", Verbatim(f"{settings.run}, {loads.shape}")),
        ("Small I/O", units.format_size(settings.size_small_bytes)),
        (
            "Large I/O",
            Verbatim(f"{units.format_size(settings.size_large_bytes)}, {settings.large_type}"),
        ),
        ("Writes", say("{percent} %", percent=settings.write_percent)),
        ("Each point", units.format_duration(settings.duration_ns)),
        ("Points", str(loads.total - 1)),
        ("Passes", str(settings.passes)),
        ("Strict", settings.strict),
    )


def headline(found: OrionFound) -> str:
    """Return the original's three numbers in one line, as many of them as there are."""
    parts = []
    if (side := found.most_large) is not None:
        parts.append(
            say(
                "Maximum Large MBPS={mbps:.2f} @ {point}",
                mbps=side.mbps[0],
                point=Verbatim(side.point.name),
            )
        )
    if (side := found.most_small) is not None:
        parts.append(
            say(
                "Maximum Small IOPS={iops:.0f} @ {point}",
                iops=side.iops[0],
                point=Verbatim(side.point.name),
            )
        )
    if (side := found.quickest_small) is not None:
        parts.append(
            say(
                "Minimum Small Latency={latency:.2f} ms @ {point}",
                latency=side.latency_ms[0],
                point=Verbatim(side.point.name),
            )
        )
    return _semicolons(parts)


def _semicolons(parts: Sequence[str]) -> str:
    first, *rest = parts
    return say("{first}; {rest}", first=first, rest=_semicolons(rest)) if rest else first


def _result_section(found: OrionFound) -> model.Section:
    settings = found.settings
    said = [PASSES if settings.passes > 1 else ONE_PASS]
    if settings.order == "original":
        said.append(ORDER)
    blocks: list[model.Block] = [
        model.Verdict(text=headline(found), good=None),
        *statistics_tables(found.statistics),
        model.Paragraph(text=sentences(said)),
    ]
    return model.Section(title="Result", blocks=tuple(blocks))


def _points_section(found: OrionFound) -> model.Section:
    blocks: list[model.Block] = []
    if found.small:
        blocks.append(_small_table(tuple(found.small.values())))
    if found.large:
        blocks.append(_large_table(tuple(found.large.values())))
    if any(_apart_from_little(side) for side in found.small.values()):
        blocks.append(model.Paragraph(text=LITTLE))
    return model.Section(title="Every point", blocks=tuple(blocks))


def _ends(side: Side, figure: Figure) -> tuple[float | None, float | None]:
    estimate = side.estimate(figure)
    return (None, None) if estimate is None else (estimate.low, estimate.high)


def _mean(side: Side, figure: Figure) -> float | None:
    estimate = side.estimate(figure)
    return None if estimate is None else estimate.mean


def _fields(figure: Figure) -> Fields[Side]:
    def low(side: Side) -> float | None:
        return _ends(side, figure)[0]

    def high(side: Side) -> float | None:
        return _ends(side, figure)[1]

    return (
        (figure.name, figure.unit, figure.digits, lambda side: _mean(side, figure)),
        ("From (95 %)", figure.unit, figure.digits, low),
        ("To (95 %)", figure.unit, figure.digits, high),
    )


def _small_table(sides: Sequence[Side]) -> model.Table:
    fields: Fields[Side] = (
        ("Small", "", 0, lambda side: side.point.small),
        ("Large", "", 0, lambda side: side.point.large),
        *_fields(SMALL_IOPS),
        *_fields(SMALL_LATENCY),
        ("In flight", "", 2, lambda side: side.by_little),
    )
    marked = [(row, 8) for row, side in enumerate(sides) if _apart_from_little(side)]
    return listing(sides, fields, caption="Small I/Os", marked=marked)


def _large_table(sides: Sequence[Side]) -> model.Table:
    fields: Fields[Side] = (
        ("Small", "", 0, lambda side: side.point.small),
        ("Large", "", 0, lambda side: side.point.large),
        *_fields(LARGE_MBPS),
        ("Mean latency", "ms", 3, lambda side: side.latency_ms[0]),
    )
    return listing(sides, fields, caption="Large I/Os")


def _apart_from_little(side: Side) -> bool:
    return not little.agrees(side.by_little / side.load)


def _curves_section(found: OrionFound) -> list[model.Section]:
    charts = [
        *_charts(
            found.small,
            "Outstanding small I/Os",
            (SMALL_IOPS, SMALL_LATENCY),
            load=lambda point: point.small,
            beside=lambda point: point.large,
            name=lambda count: say("Large={count}", count=count),
        ),
        *_charts(
            found.large,
            "Outstanding large I/Os",
            (LARGE_MBPS,),
            load=lambda point: point.large,
            beside=lambda point: point.small,
            name=lambda count: say("Small={count}", count=count),
        ),
    ]
    return [model.Section(title="By load", blocks=tuple(charts))] if charts else []


def _charts(
    sides: Mapping[Point, Side],
    edge: str,
    figures: Iterable[Figure],
    *,
    load: Callable[[Point], int],
    beside: Callable[[Point], int],
    name: Callable[[int], str],
) -> list[model.XYChart]:
    """Return a chart of each figure by one load, a line for each load of the other I/Os."""
    loads = tuple(sorted({load(point) for point in sides}))
    if len(loads) < 2:
        return []
    others = sorted({beside(point) for point in sides})
    # A chart of all lines of a large grid is a thicket; the ends of it are kept.
    step = -(-len(others) // _LINES_MOST)
    kept = sorted({*others[::step], *others[-1:]})
    at = {(load(point), beside(point)): side for point, side in sides.items()}
    charts = []
    for figure in figures:
        lines = []
        for other in kept:
            row = [at.get((each, other)) for each in loads]
            if sum(side is not None for side in row) < 2:
                continue
            values = tuple(None if side is None else _mean(side, figure) for side in row)
            spread = tuple(None if side is None else _spread(side, figure) for side in row)
            lines.append(
                Line(figure=figure, values=values, name=name(other), sparse=True, spread=spread)
            )
        if lines:
            scale: model.Scale = "log" if loads[-1] > _DEEP else "linear"
            rows = Edge(name=edge, digits=0, places=loads, scale=scale)
            grid = Grid(rows=rows, columns=tuple(lines))
            title = say("{figure} by load", figure=figure.name)
            charts.append(grid.chart(title, figure, table=_line_table(grid)))
    return charts


def _line_table(grid: Grid) -> model.Table:
    """Return the lines as columns, each under the name that the chart has for it."""
    columns = tuple(
        Beside(
            column=model.Column(name=line.name, unit=line.figure.unit, digits=line.figure.digits),
            values=line.values,
        )
        for line in grid.lines
    )
    return Grid(rows=grid.rows, columns=columns).table(folded=True)


def _spread(side: Side, figure: Figure) -> tuple[float, float] | None:
    low, high = _ends(side, figure)
    return None if low is None or high is None else (low, high)


def _flows(side: Side) -> list[Flow]:
    parts = tuple((answer, part) for answer in side.answers for part in answer.results)
    reads = tuple(each for each in parts if each[1].operation == "read")
    writes = tuple(each for each in parts if each[1].operation == "write")
    if not (reads and writes):
        return [Flow(name=side.place, parts=parts)]
    return [
        Flow(name=say("{place} {operation}", place=side.place, operation=operation), parts=kept)
        for operation, kept in (("read", reads), ("write", writes))
    ]


def _shown(found: OrionFound) -> list[Side]:
    """Return the points whose course is drawn: the original's three and the highest loads alone."""
    last_small = max(
        (side for side in found.small.values() if not side.point.large),
        key=lambda side: side.load,
        default=None,
    )
    best = (found.most_large, found.most_small, found.quickest_small, last_small)
    return list({side.place: side for side in best if side is not None}.values())


def _times_section(found: OrionFound) -> model.Section:
    flows = [flow for side in found.sides for flow in _flows(side)]
    table = times_table(flows, edge=POINT)
    table = replace(table, folded=len(table.rows) > _ROWS_MOST)
    text = "Percentiles are of every I/O of a point, of all its passes together."
    return model.Section(title="Times of every point", blocks=(table, model.Paragraph(text=text)))


def _passes_section(found: OrionFound) -> model.Section:
    """Return every measurement in the order that it was made in."""
    rows = [
        (place, step.round_number or 0, step.cell or "", answer)
        for place, (step, answer) in enumerate(found.record.measured(MEASURE), start=1)
    ]
    fields: Fields[tuple[int, int, str, StepResult]] = (
        ("Order", "", 0, lambda row: row[0]),
        ("Pass", "", 0, lambda row: row[1]),
        (POINT, "", None, lambda row: Verbatim(row[2])),
        ("IOPS", "", 0, lambda row: row[3].iops),
        ("Throughput", "MB/s", 2, lambda row: measures.throughput_mb_s(row[3])),
        ("Mean latency", "ms", 4, lambda row: measures.latency_ms_mean(row[3])),
    )
    table = listing(rows, fields, caption="Every measurement, in its order", folded=True)
    return model.Section(title="Order of measuring", blocks=(table,))
