"""Pages of what was measured of a load: its course over time, and the distribution of its times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from teijo import units
from teijo.analysis import percentile
from teijo.analysis.course import POINTS_MOST
from teijo.analysis.quantities import IOPS
from teijo.document import model
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import Intervals, OperationResult, StepResult

DIRECTION = "Direction"
TIMES = tuple(
    model.Column(name=name, unit="ms", digits=4)
    for name in ("min", "mean", *map(percentile.percentile_name, percentile.HEADLINE), "max")
)
"""The columns that `times_of` fills."""
_OVER_TIME = (
    IOPS,
    Figure(name="Throughput", unit="MB/s", digits=2),
    Figure(name="Mean latency", unit="ms", digits=4),
)


@dataclass(frozen=True, kw_only=True)
class Flow:
    """What one line of a chart is of: an operation in each of the steps (passes) it was done in."""

    name: str
    parts: tuple[tuple[StepResult, OperationResult], ...]

    @property
    def latency(self) -> Histogram | None:
        """The times of all parts; None where none was timed."""
        timed = [part.latency for _, part in self.parts if part.latency is not None]
        return merged(timed) if timed else None

    @property
    def response(self) -> Histogram | None:
        """The times from the intended start, of an open loop."""
        timed = [part.response for _, part in self.parts if part.response is not None]
        return merged(timed) if timed else None


def flows_of(name: str, answers: Iterable[StepResult], operations: Sequence[str]) -> list[Flow]:
    """Return a flow for each of some operations over steps, named "NAME operation" of several."""
    kept = list(answers)
    found = []
    for operation in operations:
        parts = tuple((answer, part) for answer in kept for part in answer.of(operation))
        if any(part.count for _, part in parts):
            own = say("{name} {operation}", name=name, operation=operation)
            found.append(Flow(name=own if len(operations) > 1 else name, parts=parts))
    return found


def times_of(latency: Histogram) -> tuple[model.Value, ...]:
    """Return minimum, mean, headline percentiles and maximum in ms, None for none."""
    if not latency.count:
        return (None,) * len(TIMES)
    return (
        ms(latency.min_ns),
        ms(latency.mean_ns),
        *(None if value is None else ms(value) for _, value in percentile.percentiles_ns(latency)),
        ms(latency.max_ns),
    )


def times_table(flows: Sequence[Flow], *, edge: str = DIRECTION) -> model.Table:
    """Return the times of each flow in a row; `edge` is the word for what a flow is."""
    rows = tuple(
        (flow.name, flow.latency.count, *times_of(flow.latency))
        for flow in flows
        if flow.latency is not None
    )
    columns = (model.Column(name=edge), model.Column(name="Count", digits=0), *TIMES)
    return model.Table(columns=columns, rows=rows, caption="Times")


def time_section(flows: Sequence[Flow], *, edge: str = DIRECTION) -> model.Section:
    """Return rates and times over time; a flow's steps follow each other on one axis."""
    title = "Over time"
    points = [(flow.name, *row) for flow in flows for row in _per_interval(flow)]
    if not points:
        text = "The engine kept no time series of this run."
        return model.Section(title=title, blocks=(model.Paragraph(text=text),))
    names, ends_s, *measured = zip(*points, strict=True)
    ends = Edge(name="Time", unit="s", digits=3, places=ends_s, from_zero=True)
    charts = []
    for figure, values in zip(_OVER_TIME, measured, strict=True):
        grid = Grid(
            leading=(Beside(column=model.Column(name=edge), values=names),),
            rows=ends,
            columns=(Line(figure=figure, values=values, parts=names, style="line"),),
        )
        over_time = say("{name} over time", name=figure.name)
        table, note = grid.table(folded=True), _joined_note(flows)
        charts.append(grid.chart(over_time, figure, table=table, note=note))
    return model.Section(title=title, blocks=tuple(charts))


def _joined_note(flows: Sequence[Flow]) -> str:
    """Say how long a point of the chart is, where it is longer than the run file's interval."""
    for flow in flows:
        for _, part in flow.parts:
            if part.intervals is not None and (joined := _joined(part.intervals)) > 1:
                length = units.format_duration(joined * part.intervals.length_ns)
                return say("Each point is {length} long.", length=length)
    return ""


def _joined(series: Intervals) -> int:
    """Return how many intervals make one point, so that there are at most POINTS_MOST."""
    last = int(series.index[-1]) if series.index.size else 0
    return -(-(last + 1) // POINTS_MOST)


Interval = tuple[float, float, float, float | None]
"""(end in s, IOPS, MB/s, mean latency in ms) of one interval."""


def _per_interval(flow: Flow) -> list[Interval]:
    rows: list[Interval] = []
    before_ns = 0
    for answer, part in flow.parts:
        rows += _of_step(answer, part, before_ns)
        before_ns += answer.elapsed_ns
    return rows


def _of_step(answer: StepResult, part: OperationResult, before_ns: int) -> list[Interval]:
    """Return the series of one stream and direction, intervals joined where there are too many.

    The last point is as long as the step went on in it. A remnant shorter than half a point
    (the last I/Os in flight coming home) is left out: its rate means nothing.
    """
    series = part.intervals
    if series is None or not series.index.size:
        return []
    joined = _joined(series)
    length = series.length_ns * joined
    index, at = np.unique(series.index // joined, return_inverse=True)
    columns = np.zeros((3, index.size), np.int64)
    for row, column in zip(columns, (series.ios, series.bytes, series.latency_ns_sum), strict=True):
        np.add.at(row, at, column)
    rows: list[Interval] = []
    for place, ios, size, total in zip(index.tolist(), *columns.tolist(), strict=True):
        begin = place * length
        lasts = min(length, answer.elapsed_ns - begin)
        if lasts <= 0 or (rows and 2 * lasts < length):
            continue
        end_s = (before_ns + begin + lasts) / units.NS_PER_S
        mean = total / ios / units.NS_PER_MS if ios else None
        rate = units.per_second(ios, lasts)
        rows.append((end_s, rate, units.megabytes_per_second(size, lasts), mean))
    return rows


def latency_section(flows: Sequence[Flow], *, edge: str = DIRECTION) -> model.Section:
    """Return the distribution of the times of each flow, of an open loop its responses as well."""
    title = "Latency distribution"
    times = [
        (name, one)
        for flow in flows
        for name, one in (
            (flow.name, flow.latency),
            (say("{name}, response", name=flow.name), flow.response),
        )
    ]
    curves = [(name, percentile.curve_ns(one)) for name, one in times if one and one.count]
    if not curves:
        return model.Section(title=title, blocks=(model.Paragraph(text="No I/O completed."),))
    fields: Fields[tuple[str, float, float]] = (
        (edge, "", None, lambda row: row[0]),
        ("Latency", "ms", 5, lambda row: ms(row[2])),
        ("I/Os as slow or slower", "%", 6, lambda row: row[1] * 100),
        ("Percentile", "", 6, lambda row: (1 - row[1]) * 100),
    )
    table = listing(
        [(name, *point) for name, points in curves for point in points],
        fields,
        caption="The distribution of every I/O's latency",
        folded=True,
    )
    chart = model.XYChart(
        title="Share of I/Os as slow or slower",
        x=model.Axis(name="Latency", unit="ms", scale="log"),
        y=model.Axis(name="I/Os as slow or slower", unit="%", scale="log"),
        series=tuple(
            model.Series(
                name=name,
                x=tuple(ms(value) or None for _, value in points),  # a logarithmic axis has no 0
                y=tuple(share * 100 for share, _ in points),
                style="line",
            )
            for name, points in curves
        ),
        table=table,
        note="10 % is p90, 1 % p99, 0.1 % p99.9; the line ends at the slowest I/O.",
    )
    return model.Section(title=title, blocks=(chart,))
