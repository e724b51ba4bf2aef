"""The report of a free workload: headline numbers, the time series, the latency distribution."""

import itertools

import numpy as np

from teijo import units
from teijo.analysis import measures, percentile
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Document,
    Header,
    HeaderGroup,
    Paragraph,
    Section,
    Series,
    Table,
    Value,
    Verdict,
    XYChart,
)
from teijo.methods.pages import NOT_KNOWN, assemble, capacity_name, date_of, ms, stamp_of
from teijo.methods.workload import WorkloadSettings, answer_of, stimulus_name
from teijo.terms.finding import Findings
from teijo.terms.histogram import Histogram, merged
from teijo.terms.record import Record
from teijo.terms.result import Direction, StepResult

DIRECTIONS: tuple[Direction, ...] = ("read", "write")


def pages(settings: WorkloadSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    answer = answer_of(record)
    if answer is None:
        text = "The workload has not taken place yet."
        sections = [Section(title="Result", blocks=(Paragraph(text=text),))]
    else:
        sections = [
            _result_section(answer, findings),
            _time_section(answer),
            _latency_section(answer),
        ]
    return assemble(record, settings, _header(settings, record), sections)


def _header(settings: WorkloadSettings, record: Record) -> Header:
    identity = record.identity
    bound = (
        units.format_size(settings.total_bytes)
        if settings.total_bytes is not None
        else units.format_duration(settings.duration_ns or 0)
    )
    return Header(
        title="Workload",
        subtitle=stimulus_name(settings),
        organisation="",
        revision="",
        top=(
            ("Run", date_of(record.run.started_at)),
            ("Target", identity.target),
            ("Engine", record.run.engine),
        ),
        groups=(
            HeaderGroup(
                title="Device",
                tone="dut",
                rows=(
                    ("Model", identity.model or NOT_KNOWN),
                    ("Serial no", identity.serial or NOT_KNOWN),
                    ("Capacity", capacity_name(record)),
                    ("Write cache", identity.write_cache or NOT_KNOWN),
                ),
            ),
            HeaderGroup(
                title="Workload",
                tone="test",
                rows=(
                    ("rw", f"{settings.rw}, {settings.read_percent} % read"),
                    ("Block size", units.format_block_size(settings.block_size_bytes)),
                    ("OIO", f"{settings.threads} threads × QD {settings.queue_depth}"),
                    ("Ends after", bound),
                ),
            ),
        ),
        stamp=stamp_of(record),
    )


def _result_section(answer: StepResult, findings: Findings) -> Section:
    cell = findings.cells[0]
    latency = measures.latency_of(answer)
    headline = (
        f"{cell.iops:,.0f} IOPS, {cell.throughput_mb_s:,.1f} MB/s, "
        f"mean {units.format_latency(cell.latency_ns_mean)}, "
        f"p99 {units.format_latency(latency.quantile_ns(0.99))}"
    )
    rows = [
        _row(direction, answer, _latency(answer, direction))
        for direction in DIRECTIONS
        if answer.of(direction)
    ]
    if len(rows) > 1:
        rows.append(_row("all", answer, latency))
    percentiles = [percentile.percentile_name(percent) for percent in percentile.HEADLINE]
    columns = (
        Column(name="Direction"),
        Column(name="I/Os", digits=0),
        Column(name="IOPS", digits=1),
        Column(name="Throughput", unit="MB/s", digits=2),
        *(Column(name=name, unit="ms", digits=4) for name in ("min", "mean", *percentiles, "max")),
        Column(name="Failed", unit="I/Os", digits=0),
    )
    table = Table(columns=columns, rows=tuple(rows), caption="Result")
    blocks: tuple[Block, ...] = (Verdict(text=headline, good=None), table)
    failed = measures.errors_of(answer)
    if failed:
        text = f"{failed:,} I/Os failed; they are counted in no rate and no latency."
        blocks += (Paragraph(text=text), *_error_tables(answer))
    return Section(title="Result", blocks=blocks)


def _latency(answer: StepResult, direction: Direction) -> Histogram:
    return merged(result.latency for result in answer.of(direction))


def _row(name: str, answer: StepResult, latency: Histogram) -> tuple[Value, ...]:
    parts = answer.results if name == "all" else [r for r in answer.results if r.direction == name]
    ios = sum(part.ios for part in parts)
    size = sum(part.bytes for part in parts)
    return (
        name,
        ios,
        units.per_second(ios, answer.elapsed_ns),
        units.megabytes_per_second(size, answer.elapsed_ns),
        ms(latency.min_ns) if latency.count else None,
        ms(latency.mean_ns) if latency.count else None,
        *(None if value is None else ms(value) for _, value in percentile.percentiles_ns(latency)),
        ms(latency.max_ns) if latency.count else None,
        sum(sum(part.errors.values()) for part in parts),
    )


def _time_section(answer: StepResult) -> Section:
    title = "Over time"
    series = [
        (direction, _per_interval(answer, direction))
        for direction in DIRECTIONS
        if answer.of(direction)
    ]
    filled = [(name, rows) for name, rows in series if rows]
    if not filled:
        text = "The engine kept no time series of this run."
        return Section(title=title, blocks=(Paragraph(text=text),))
    charts: list[Block] = []
    for place, (name, unit, digits) in enumerate(
        (("IOPS", "", 1), ("Throughput", "MB/s", 2), ("Mean latency", "ms", 4)), start=1
    ):
        columns = (Column(name="Direction"), Column(name="Time", unit="s", digits=3))
        table = Table(
            columns=(*columns, Column(name=name, unit=unit, digits=digits)),
            rows=tuple(
                (direction, row[0], row[place]) for direction, rows in filled for row in rows
            ),
            folded=True,
        )
        charts.append(
            XYChart(
                title=f"{name} over time",
                x=Axis(name="Time", unit="s"),
                y=Axis(name=name, unit=unit),
                series=tuple(
                    Series(
                        name=direction,
                        x=tuple(row[0] for row in rows),
                        y=tuple(row[place] for row in rows),
                        style="line",
                    )
                    for direction, rows in filled
                ),
                table=table,
            )
        )
    return Section(title=title, blocks=tuple(charts))


Interval = tuple[float, float, float, float | None]
"""(end in s, IOPS, MB/s, mean latency in ms) of one interval."""


def _per_interval(answer: StepResult, direction: Direction) -> list[Interval]:
    """Return the series of one direction, all streams together.

    The last interval is as long as the step went on in it. A remnant shorter than half an
    interval (the last I/Os in flight coming home) is left out: its rate means nothing.
    """
    parts = [part.intervals for part in answer.of(direction) if part.intervals is not None]
    lengths = {part.length_ns for part in parts}
    if not parts or not any(part.index.size for part in parts):
        return []
    assert len(lengths) == 1, "streams of one step share their interval"
    length = lengths.pop()
    index = np.unique(np.concatenate([part.index for part in parts]))
    columns = np.zeros((3, index.size), np.int64)
    for part in parts:
        at = np.searchsorted(index, part.index)
        for row, column in zip(columns, (part.ios, part.bytes, part.latency_ns_sum), strict=True):
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


def _latency_section(answer: StepResult) -> Section:
    title = "Latency distribution"
    curves = [
        (direction, percentile.curve_ns(latency))
        for direction in DIRECTIONS
        if (latency := _latency(answer, direction)).count
    ]
    if not curves:
        return Section(title=title, blocks=(Paragraph(text="No I/O completed."),))
    table = Table(
        columns=(
            Column(name="Direction"),
            Column(name="Latency", unit="ms", digits=5),
            Column(name="I/Os as slow or slower", unit="%", digits=6),
            Column(name="Percentile", digits=6),
        ),
        rows=tuple(
            (direction, ms(value), share * 100, (1 - share) * 100)
            for direction, points in curves
            for share, value in points
        ),
        caption="The distribution of every I/O's latency",
        folded=True,
    )
    chart = XYChart(
        title="Share of I/Os as slow or slower",
        x=Axis(name="Latency", unit="ms", scale="log"),
        y=Axis(name="I/Os as slow or slower", unit="%", scale="log"),
        series=tuple(
            Series(
                name=direction,
                x=tuple(ms(value) or None for _, value in points),
                y=tuple(share * 100 for share, _ in points),
                style="line",
            )
            for direction, points in curves
        ),
        table=table,
        note="10 % is p90, 1 % p99, 0.1 % p99.9; the line ends at the slowest I/O.",
    )
    return Section(title=title, blocks=(chart,))


def _error_tables(answer: StepResult) -> tuple[Block, ...]:
    rows = tuple(
        itertools.chain.from_iterable(
            (
                (part.stream, part.direction, str(number), count)
                for number, count in sorted(part.errors.items())
            )
            for part in answer.results
        )
    )
    if not rows:
        return ()
    columns = (
        Column(name="Stream"),
        Column(name="Direction"),
        Column(name="errno (0: short I/O)"),
        Column(name="I/Os", digits=0),
    )
    return (Table(columns=columns, rows=rows, caption="Failed I/Os by error"),)
