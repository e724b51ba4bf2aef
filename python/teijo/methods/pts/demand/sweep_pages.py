"""The plots of the sweep over threads and queue depths: tracking, demand variation, demand
intensity, CPU, and IOPS against the total outstanding I/Os.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from teijo.analysis.demand import DemandPoint, OperatingPoints
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
from teijo.methods.pts.demand.settings import DemandSettings, stimulus_with
from teijo.methods.pts.demand.stages import cell_name, in_flight_shares, named_points
from teijo.methods.pts.report import ART, IOPS, by_round, plot
from teijo.methods.rounds import Round, Rounds
from teijo.terms.finding import Cell, Findings

SWEEP_NOTE = "Arithmetic mean over the rounds of the measurement window."


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The sweep over the window's rounds, as its plots need it. Cells are in settings' order."""

    settings: DemandSettings
    findings: Findings
    points: OperatingPoints | None
    window: tuple[Round, ...]

    def at(self, threads: int, queue_depth: int) -> Cell:
        """Return one cell."""
        labels = (("threads", str(threads)), ("queue depth", str(queue_depth)))
        return next(cell for cell in self.findings.cells if cell.labels == labels)

    def rising(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return thread counts and queue depths, the smallest first."""
        return tuple(sorted(self.settings.thread_counts)), tuple(sorted(self.settings.queue_depths))


def tracking_section(sweep: Sweep, rounds: Rounds) -> Section:
    """Return the IOPS at the greatest queue depth by round, the tracking variable among them."""
    deepest = sweep.settings.queue_depth

    def chart() -> XYChart:
        grid = matrix(
            by_round(rounds.whole),
            rounds.whole,
            sorted(sweep.settings.thread_counts, reverse=True),
            lambda each, threads: each.at(cell_name(threads, deepest)).iops,
            figure=lambda threads: Figure(name=_threads_name(threads), unit="IOPS"),
        )
        return grid.chart(
            say("IOPS at QD {queue_depth} by round", queue_depth=deepest),
            IOPS,
            spans=window_pages.window_spans(sweep.findings),
            note=say(
                "Steady state is determined on TC {threads} QD {queue_depth}.",
                threads=sweep.settings.threads,
                queue_depth=deepest,
            ),
        )

    return plot("Demand Variation, IOPS tracking", chart if rounds.whole else None)


def variation_section(sweep: Sweep) -> Section:
    """Return demand variation: IOPS against queue depth, one line a thread count."""

    def chart() -> XYChart:
        grid = _by_depth(sweep, 1, lambda tc, qd: sweep.at(tc, qd).iops)
        table = grid.table(_caption("IOPS"))
        return grid.chart(_over(sweep, "IOPS"), IOPS, table=table, note=SWEEP_NOTE)

    return plot("Demand Variation", chart if sweep.findings.cells else None)


def intensity_section(sweep: Sweep) -> Section:
    """Return demand intensity: mean response time against IOPS, one line a thread count."""
    title = "Demand Intensity"
    if not sweep.findings.cells:
        return plot(title, None)
    limit = ms(sweep.settings.latency_limit_ns)
    counts, depths = sweep.rising()
    cells = {threads: [sweep.at(threads, depth) for depth in depths] for threads in counts}
    chart = XYChart(
        title=_over(sweep, "ART against IOPS"),
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
        table=_points_table(sweep),
        rules=(
            Rule(name=say("{limit:g} ms", limit=limit), value=limit, style="dotted"),
            *_marks(sweep, lambda point: point.iops),
        ),
        note="ART counts reads and writes together, each I/O once; mean over the window's rounds.",
    )
    means = _by_depth(sweep, 4, lambda tc, qd: ms(sweep.at(tc, qd).latency_ns_mean))
    return Section(title=title, blocks=(chart, means.table(_caption("ART (ms)"))))


def outstanding_section(sweep: Sweep) -> Section:
    """Return IOPS against the total outstanding I/Os."""

    def chart() -> XYChart:
        counts, depths = sweep.rising()
        return XYChart(
            title=_over(sweep, "IOPS against total OIO"),
            x=Axis(name="Total OIO (TC × QD)", scale="log"),
            y=IOPS.axis(),
            series=tuple(
                Series(
                    name=_threads_name(threads),
                    x=tuple(threads * depth for depth in depths),
                    y=tuple(sweep.at(threads, depth).iops for depth in depths),
                )
                for threads in counts
            ),
            table=_points_table(sweep),
            rules=_marks(sweep, lambda point: point.outstanding_ios),
            note=SWEEP_NOTE,
        )

    return plot("IOPS against total OIO", chart if sweep.findings.cells else None)


def cpu_section(sweep: Sweep) -> Section:
    """Return the CPU that the sweep took, where anybody gave an account of it."""
    title, window = "System CPU", sweep.window
    if not window:
        return plot(title, None)
    grid = _by_depth(sweep, 2, lambda tc, qd: _cpu_percent(window, cell_name(tc, qd)))
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


def _cpu_percent(window: Sequence[Round], cell: str) -> float | None:
    witnesses = [each.at(cell).witness for each in window]
    shares = [
        100 * witness.cpu_ns / witness.wall_ns
        for witness in witnesses
        if witness is not None and witness.wall_ns
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _over(sweep: Sweep, what: str) -> str:
    stimulus = stimulus_with(sweep.settings, sweep.settings.read_percent)
    return say("{what}, {stimulus}, one line a thread count", what=what, stimulus=stimulus)


def _threads_name(threads: int) -> str:
    return say("TC {threads}", threads=threads)


def _marks(sweep: Sweep, place: Callable[[DemandPoint], float]) -> tuple[Rule, ...]:
    """Return the operating points, to be drawn up a plot of the sweep."""
    if sweep.points is None:
        return ()
    return tuple(
        Rule(name=say("{name}IOPS", name=name), value=place(point), at="x", style="dashed")
        for name, point in named_points(sweep.points)
    )


def _by_depth(sweep: Sweep, digits: int, at: Callable[[int, int], float | None]) -> Grid:
    """Return a figure of every (thread count, queue depth), a line for each thread count."""
    counts, depths = sweep.rising()
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


def _points_table(sweep: Sweep) -> Table:
    """Return every point of the sweep as a row, from little demand to much."""
    counts, depths = sweep.rising()
    shares = in_flight_shares(sweep.settings, sweep.window)
    places = sorted(((t, d) for t in counts for d in depths), key=lambda p: (p[0] * p[1], p[0]))
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
        rows=tuple(_point_row(sweep.at(*place), *place, shares[place]) for place in places),
        caption="Every point of the sweep",
        folded=True,
    )


def _point_row(cell: Cell, threads: int, queue_depth: int, in_flight: float) -> tuple[Value, ...]:
    return (
        threads,
        queue_depth,
        threads * queue_depth,
        cell.iops,
        cell.throughput_mb_s,
        ms(cell.latency_ns_mean),
        ms(cell.latency_ns_max),
        in_flight,
    )
