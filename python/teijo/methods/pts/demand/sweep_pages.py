"""The plots of the sweep over threads and queue depths: tracking, demand variation, demand
intensity, CPU, and IOPS against the total outstanding I/Os.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo.analysis.demand import DemandPoint
from teijo.analysis.quantities import IOPS
from teijo.document.grid import Edge, Figure, Grid, matrix
from teijo.document.model import (
    Axis,
    Column,
    Rule,
    Section,
    Series,
    Table,
    Value,
    XYChart,
)
from teijo.document.phrase import say
from teijo.methods.pages import NOT_KNOWN, ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.demand.found import DemandFound
from teijo.methods.pts.demand.settings import stimulus_with
from teijo.methods.pts.demand.stages import SweepCell, named_points
from teijo.methods.pts.report import ART, by_round, plot
from teijo.terms.result import StepResult

SWEEP_NOTE = "Arithmetic mean over the rounds of the measurement window."


def tracking_section(found: DemandFound) -> Section:
    """Return the IOPS at the greatest queue depth by round, the tracking variable among them."""
    deepest, whole = found.settings.queue_depth, found.course.whole

    def chart() -> XYChart:
        grid = matrix(
            by_round(whole),
            whole,
            sorted(found.settings.thread_counts, reverse=True),
            lambda each, threads: each.at(_key(threads, deepest)).iops,
            figure=lambda threads: Figure(name=_threads_name(threads), unit="IOPS"),
        )
        return grid.chart(
            say("IOPS at QD {queue_depth} by round", queue_depth=deepest),
            IOPS,
            spans=window_pages.window_spans(found),
            note=say(
                "Steady state is determined on TC {threads} QD {queue_depth}.",
                threads=found.settings.threads,
                queue_depth=deepest,
            ),
        )

    return plot("Demand Variation, IOPS tracking", chart if whole else None)


def variation_section(found: DemandFound) -> Section:
    """Return demand variation: IOPS against queue depth, one line a thread count."""

    def chart() -> XYChart:
        grid = _by_depth(found, 1, lambda tc, qd: found.over_window[_key(tc, qd)].iops)
        table = grid.table(_caption("IOPS"))
        return grid.chart(_over(found, "IOPS"), IOPS, table=table, note=SWEEP_NOTE)

    return plot("Demand Variation", chart if found.over_window else None)


def intensity_section(found: DemandFound) -> Section:
    """Return demand intensity: mean response time against IOPS, one line a thread count."""
    title = "Demand Intensity"
    if not found.over_window:
        return plot(title, None)
    limit = ms(found.settings.latency_limit_ns)
    counts, depths = _rising(found)
    cells = {
        threads: [found.over_window[_key(threads, depth)] for depth in depths] for threads in counts
    }
    chart = XYChart(
        title=_over(found, "ART against IOPS"),
        x=replace(IOPS.axis(), from_zero=True),
        y=ART.axis(log=True),
        series=tuple(
            Series(
                name=_threads_name(threads),
                x=tuple(cell.iops for cell in row),
                y=tuple(ms(cell.latency_ns_mean) or None for cell in row),
            )
            for threads, row in cells.items()
        ),
        table=_points_table(found),
        rules=(
            Rule(name=say("{limit:g} ms", limit=limit), value=limit, style="dotted"),
            *_marks(found, lambda point: point.iops),
        ),
        note="ART counts reads and writes together, each I/O once; mean over the window's rounds.",
    )
    means = _by_depth(found, 4, lambda tc, qd: ms(found.over_window[_key(tc, qd)].latency_ns_mean))
    return Section(title=title, blocks=(chart, means.table(_caption("ART (ms)"))))


def outstanding_section(found: DemandFound) -> Section:
    """Return IOPS against the total outstanding I/Os."""

    def chart() -> XYChart:
        counts, depths = _rising(found)
        return XYChart(
            title=_over(found, "IOPS against total OIO"),
            x=Axis(name="Total OIO (TC × QD)", scale="log"),
            y=IOPS.axis(),
            series=tuple(
                Series(
                    name=_threads_name(threads),
                    x=tuple(threads * depth for depth in depths),
                    y=tuple(found.over_window[_key(threads, depth)].iops for depth in depths),
                )
                for threads in counts
            ),
            table=_points_table(found),
            rules=_marks(found, lambda point: point.outstanding_ios),
            note=SWEEP_NOTE,
        )

    return plot("IOPS against total OIO", chart if found.over_window else None)


def cpu_section(found: DemandFound) -> Section:
    """Return the CPU that the sweep took, where anybody gave an account of it."""
    title = "System CPU"
    if not found.window:
        return plot(title, None)
    grid = _by_depth(found, 2, lambda tc, qd: _cpu_percent(found.at(_key(tc, qd))))
    if all(share is None for line in grid.lines for share in line.values):
        text = say("CPU: {value}. Nobody gave an account of it in this run.", value=NOT_KNOWN)
        return plot(title, None, empty=text)
    chart = grid.chart(
        "CPU time of this program by queue depth, one line a thread count",
        Figure(name="CPU", unit="% of one processor"),
        table=grid.table(say("CPU (% of one processor) by TC and QD")),
        note="User and kernel time of the program that makes the I/O by the time that went by; "
        "other programs and the kernel's own threads are not in it.",
    )
    return Section(title=title, blocks=(chart,))


def _cpu_percent(answers: Sequence[StepResult]) -> float | None:
    witnesses = [answer.witness for answer in answers]
    shares = [
        100 * witness.cpu_ns / witness.wall_ns
        for witness in witnesses
        if witness is not None and witness.wall_ns
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _key(threads: int, queue_depth: int) -> SweepCell:
    return SweepCell(threads=threads, queue_depth=queue_depth)


def _rising(found: DemandFound) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return thread counts and queue depths, the smallest first."""
    settings = found.settings
    return tuple(sorted(settings.thread_counts)), tuple(sorted(settings.queue_depths))


def _over(found: DemandFound, what: str) -> str:
    stimulus = stimulus_with(found.settings, found.settings.read_percent)
    return say("{what}, {stimulus}, one line a thread count", what=what, stimulus=stimulus)


def _threads_name(threads: int) -> str:
    return say("TC {threads}", threads=threads)


def _marks(found: DemandFound, place: Callable[[DemandPoint], float]) -> tuple[Rule, ...]:
    """Return the operating points, to be drawn up a plot of the found."""
    if found.points is None:
        return ()
    return tuple(
        Rule(name=say("{name}IOPS", name=name), value=place(point), at="x", style="dashed")
        for name, point in named_points(found.points)
    )


def _by_depth(found: DemandFound, digits: int, at: Callable[[int, int], float | None]) -> Grid:
    """Return a figure of every (thread count, queue depth), a line for each thread count."""
    counts, depths = _rising(found)
    return matrix(
        Edge(
            name="QD",
            drawn_as="Queue depth (QD)",
            digits=0,
            places=depths,
            scale="log",
            from_zero=True,
        ),
        depths,
        counts,
        lambda depth, threads: at(threads, depth),
        figure=lambda threads: Figure(name=_threads_name(threads), digits=digits),
    )


def _caption(name: str) -> str:
    return say("{name} by thread count and queue depth", name=name)


def _points_table(found: DemandFound) -> Table:
    """Return every point of the sweep as a row, from little demand to much."""
    keys = sorted(found.over_window, key=lambda key: (key.outstanding_ios, key.threads))
    return Table(
        columns=(
            Column(name="TC", digits=0),
            Column(name="QD", digits=0),
            Column(name="Total OIO", digits=0),
            Column(name="IOPS", digits=1),
            Column(name="Throughput", unit="MB/s", digits=2),
            Column(name="ART", unit="ms", digits=4),
            Column(name="MRT", unit="ms", digits=3),
            Column(name="In flight by TOIO", digits=4),
        ),
        rows=tuple(_point_row(found, key) for key in keys),
        caption="Every point of the sweep",
        folded=True,
    )


def _point_row(found: DemandFound, key: SweepCell) -> tuple[Value, ...]:
    cell = found.over_window[key]
    return (
        key.threads,
        key.queue_depth,
        key.outstanding_ios,
        cell.iops,
        cell.throughput_mb_s,
        ms(cell.latency_ns_mean),
        ms(cell.latency_ns_max),
        found.in_flight[key],
    )
