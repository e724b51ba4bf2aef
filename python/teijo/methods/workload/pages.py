"""The report of a free workload: headline numbers, the time series, the latency distribution."""

from collections.abc import Mapping, Sequence

import numpy as np

from teijo import units
from teijo.analysis import measures, percentile
from teijo.analysis.quantities import IOPS
from teijo.document import model
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing
from teijo.document.phrase import Verbatim, listed, say
from teijo.methods.pages import ms, threads_by_depth
from teijo.methods.report import study_report
from teijo.methods.verification_page import verification_section
from teijo.methods.workload.found import WorkloadFound, stimulus_name
from teijo.methods.workload.settings import WorkloadSettings
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import Intervals, OperationResult, StepResult

POINTS_MOST = 1440
"""Points of a line; a day by the minute."""
_DIRECTION = model.Column(name="Direction")
_TIMES = tuple(
    model.Column(name=name, unit="ms", digits=4)
    for name in ("min", "mean", *map(percentile.percentile_name, percentile.HEADLINE), "max")
)
_OVER_TIME = (
    IOPS,
    Figure(name="Throughput", unit="MB/s", digits=2),
    Figure(name="Mean latency", unit="ms", digits=4),
)
DISTRIBUTION: Fields[tuple[str, float, float]] = (
    ("Direction", "", None, lambda row: row[0]),
    ("Latency", "ms", 5, lambda row: ms(row[2])),
    ("I/Os as slow or slower", "%", 6, lambda row: row[1] * 100),
    ("Percentile", "", 6, lambda row: (1 - row[1]) * 100),
)
"""Of a direction's points: the share of I/Os that are as slow or slower, and the latency in ns."""


def pages(found: WorkloadFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings, answer = found.settings, found.answer
    bound = (
        units.format_size(settings.total_bytes)
        if settings.total_bytes is not None
        else units.format_duration(settings.duration_ns or 0)
    )
    return study_report(
        found,
        title="Workload",
        subtitle=stimulus_name(settings),
        group="Workload",
        test=(*_stimulus_rows(settings), ("Ends after", bound)),
        sections=[] if answer is None else _sections(found, answer),
        empty="The workload has not taken place yet.",
    )


def _sections(found: WorkloadFound, answer: StepResult) -> list[model.Section]:
    verified = verification_section(found.record.steps)
    return [
        _result_section(found, answer),
        *([] if verified is None else [verified]),
        _time_section(answer),
        _latency_section(answer),
    ]


def _stimulus_rows(settings: WorkloadSettings) -> tuple[tuple[str, str], ...]:
    if settings.streams:
        return tuple((Verbatim(each.name), each.title) for each in settings.streams)
    return (
        ("Access", say("{rw}, {percent} % read", rw=settings.rw, percent=settings.read_percent)),
        ("Block size", settings.block_name),
        ("OIO", threads_by_depth(settings.threads, settings.queue_depth)),
    )


def _headline(found: WorkloadFound, answer: StepResult) -> str:
    scalars = {scalar.name: scalar.value or 0.0 for scalar in found.scalars}
    headline = say(
        "{iops:,.0f} IOPS, {throughput:,.1f} MB/s, mean {mean}, p99 {p99}",
        iops=scalars["IOPS"],
        throughput=scalars["throughput"],
        mean=units.format_latency(scalars["latency mean"]),
        p99=units.format_latency(measures.latency_of(answer).quantile_ns(0.99)),
    )
    response = measures.response_of(answer)
    if response is None or found.settings.streams:
        return headline
    latency = units.format_latency(response.quantile_ns(0.99))
    return say("{headline} (response {latency})", headline=headline, latency=latency)


def _result_section(found: WorkloadFound, answer: StepResult) -> model.Section:
    parts = {_name(answer, part): (part,) for part in answer.results}
    rows = [_row(name, answer, flows) for name, flows in parts.items()]
    if len(rows) > 1:
        rows.append(_row("all", answer, answer.results))
    rows += [_row(_name(answer, part), answer, (part,)) for part in answer.commands]
    columns = (
        _DIRECTION,
        model.Column(name="I/Os", digits=0),
        model.Column(name="IOPS", digits=1),
        model.Column(name="Throughput", unit="MB/s", digits=2),
        *_TIMES,
        model.Column(name="Failed", unit="I/Os", digits=0),
    )
    table = model.Table(columns=columns, rows=tuple(rows), caption="Result")
    blocks: tuple[model.Block, ...] = (
        model.Verdict(text=_headline(found, answer), good=None),
        table,
    )
    blocks += _open_loop_blocks(found.settings, answer)
    if kinds := listed(dict.fromkeys(remark.kind.value for remark in answer.remarks)):
        text = say("To be read with the remarks on this step: {kinds}.", kinds=kinds)
        blocks += (model.Paragraph(text=text),)
    if answer.commands:
        aside = "Flushes and discards move no data: they are in no figure of the rows above them."
        blocks += (model.Paragraph(text=aside),)
    failed = measures.errors_of(answer)
    if failed:
        told: str = "1 I/O failed; it is counted in no rate and no latency."
        if failed > 1:
            told = say(
                "{failed:,} I/Os failed; they are counted in no rate and no latency.", failed=failed
            )
        blocks += (model.Paragraph(text=told), *_error_tables(answer))
    return model.Section(title="Result", blocks=blocks)


def _name(answer: StepResult, part: OperationResult) -> str:
    """Return what a part of the answer is called: its stream is named where there are several."""
    several = len({each.stream for each in answer.results}) > 1
    if not several:
        return part.operation
    stream = Verbatim(part.stream)
    return say("{stream} {direction}", stream=stream, direction=part.operation)


def _open_loop_blocks(settings: WorkloadSettings, answer: StepResult) -> tuple[model.Block, ...]:
    """Return service and response side by side, for every stream that ran at a rate."""
    asked = {name: one.ios_per_second for name, one in settings.stimuli if one.ios_per_second}
    if not asked:
        text = (
            "The loop is closed: an I/O is due when it is issued, so its response time is its "
            "latency, and is not printed twice."
        )
        return (model.Paragraph(text=text),)
    rows: list[tuple[model.Value, ...]] = []
    for part in answer.results:
        if part.stream not in asked:
            continue
        name = _name(answer, part)
        rows.append((name, "service", *_times(part.timed)))
        if part.response is not None:
            rows.append((name, "response", *_times(part.response)))
    columns = (_DIRECTION, model.Column(name="Time"), *_TIMES)
    text = "Service counts from the issue of an I/O, response from the moment it was due."
    if all(part.response is None for part in answer.results):
        text += " This engine measures no response."
    table = model.Table(columns=columns, rows=tuple(rows), caption="Service and response")
    return (table, _schedule_table(asked, answer), model.Paragraph(text=text))


def _schedule_table(asked: Mapping[str, float], answer: StepResult) -> model.Table:
    def achieved(parts: Sequence[OperationResult]) -> float:
        done = sum(part.count + sum(part.errors.values()) for part in parts)
        return units.per_second(done, answer.elapsed_ns)

    rows = [(name, [part for part in answer.results if part.stream == name]) for name in asked]
    fields: Fields[tuple[str, list[OperationResult]]] = (
        ("Stream", "", None, lambda row: Verbatim(row[0])),
        ("Asked", "I/Os per second", 1, lambda row: asked[row[0]]),
        ("Achieved", "I/Os per second", 1, lambda row: achieved(row[1])),
        ("Backlog at most", "I/Os", 0, lambda row: row[1][0].backlog_max if row[1] else None),
        ("Backlog at the end", "I/Os", 0, lambda row: row[1][0].backlog_end if row[1] else None),
    )
    return listing(rows, fields, caption="Schedule")


def _times(latency: Histogram) -> tuple[model.Value, ...]:
    """Return minimum, mean, headline percentiles and maximum in ms, None for none."""
    if not latency.count:
        return (None,) * (3 + len(percentile.HEADLINE))
    return (
        ms(latency.min_ns),
        ms(latency.mean_ns),
        *(None if value is None else ms(value) for _, value in percentile.percentiles_ns(latency)),
        ms(latency.max_ns),
    )


def _row(
    name: str, answer: StepResult, parts: Sequence[OperationResult]
) -> tuple[model.Value, ...]:
    ios = sum(part.count for part in parts)
    size = sum(part.moved_bytes for part in parts)
    return (
        name,
        ios,
        units.per_second(ios, answer.elapsed_ns),
        units.megabytes_per_second(size, answer.elapsed_ns),
        *_times(merged(part.timed for part in parts)),
        sum(sum(part.errors.values()) for part in parts),
    )


def _time_section(answer: StepResult) -> model.Section:
    title = "Over time"
    points = [
        (_name(answer, part), *row)
        for part in answer.results
        for row in _per_interval(answer, part)
    ]
    if not points:
        text = "The engine kept no time series of this run."
        return model.Section(title=title, blocks=(model.Paragraph(text=text),))
    names, ends_s, *measured = zip(*points, strict=True)
    edge = Edge(name="Time", unit="s", digits=3, places=ends_s, from_zero=True)
    charts = []
    for figure, values in zip(_OVER_TIME, measured, strict=True):
        grid = Grid(
            leading=(Beside(column=_DIRECTION, values=names),),
            rows=edge,
            columns=(Line(figure=figure, values=values, parts=names, style="line"),),
        )
        over_time = say("{name} over time", name=figure.name)
        table, note = grid.table(folded=True), _joined_note(answer)
        charts.append(grid.chart(over_time, figure, table=table, note=note))
    return model.Section(title=title, blocks=tuple(charts))


def _joined_note(answer: StepResult) -> str:
    """Say how long a point of the chart is, where it is longer than the run file's interval."""
    for part in answer.results:
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


def _per_interval(answer: StepResult, part: OperationResult) -> list[Interval]:
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
        end_s = (begin + lasts) / units.NS_PER_S
        mean = total / ios / units.NS_PER_MS if ios else None
        rate = units.per_second(ios, lasts)
        rows.append((end_s, rate, units.megabytes_per_second(size, lasts), mean))
    return rows


def _latency_section(answer: StepResult) -> model.Section:
    title = "Latency distribution"
    times = [
        (name, times)
        for part in answer.results
        for name, times in (
            (_name(answer, part), part.latency),
            (say("{name}, response", name=_name(answer, part)), part.response),
        )
    ]
    curves = [(name, percentile.curve_ns(one)) for name, one in times if one and one.count]
    if not curves:
        return model.Section(title=title, blocks=(model.Paragraph(text="No I/O completed."),))
    table = listing(
        [(direction, *point) for direction, points in curves for point in points],
        DISTRIBUTION,
        caption="The distribution of every I/O's latency",
        folded=True,
    )
    chart = model.XYChart(
        title="Share of I/Os as slow or slower",
        x=model.Axis(name="Latency", unit="ms", scale="log"),
        y=model.Axis(name="I/Os as slow or slower", unit="%", scale="log"),
        series=tuple(
            model.Series(
                name=direction,
                x=tuple(ms(value) or None for _, value in points),  # a logarithmic axis has no 0
                y=tuple(share * 100 for share, _ in points),
                style="line",
            )
            for direction, points in curves
        ),
        table=table,
        note="10 % is p90, 1 % p99, 0.1 % p99.9; the line ends at the slowest I/O.",
    )
    return model.Section(title=title, blocks=(chart,))


def _error_tables(answer: StepResult) -> tuple[model.Block, ...]:
    errors = [
        (part, number, count)
        for part in (*answer.results, *answer.commands)
        for number, count in sorted(part.errors.items())
    ]
    fields: Fields[tuple[OperationResult, int, int]] = (
        ("Stream", "", None, lambda error: Verbatim(error[0].stream)),
        ("Direction", "", None, lambda error: error[0].operation),
        ("errno (0: short I/O)", "", None, lambda error: str(error[1])),
        ("I/Os", "", 0, lambda error: error[2]),
    )
    return (listing(errors, fields, caption="Failed I/Os by error"),) if errors else ()
