"""The plots of the sweep over threads and queue depths: tracking, demand variation, demand
intensity, CPU, and IOPS against the total outstanding I/Os.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teijo.analysis.demand import DemandPoint, OperatingPoints
from teijo.document.model import (
    Axis,
    Column,
    Paragraph,
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
from teijo.methods.rounds import Round, Rounds
from teijo.terms.finding import Cell, Findings

NO_ROUND = "No whole round yet."
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
    title = "Demand Variation, IOPS tracking"
    if not rounds.whole:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    deepest = sweep.settings.queue_depth
    numbers = tuple(each.number for each in rounds.whole)
    counts = sorted(sweep.settings.thread_counts, reverse=True)
    values = {
        threads: tuple(each.at(cell_name(threads, deepest)).iops for each in rounds.whole)
        for threads in counts
    }
    table = Table(
        columns=(
            Column(name="Round", digits=0),
            *(Column(name=_threads_name(threads), unit="IOPS", digits=1) for threads in counts),
        ),
        rows=tuple(zip(numbers, *values.values(), strict=True)),
    )
    chart = XYChart(
        title=say("IOPS at QD {queue_depth} by round", queue_depth=deepest),
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="IOPS"),
        series=tuple(
            Series(name=_threads_name(threads), x=numbers, y=values[threads]) for threads in counts
        ),
        table=table,
        spans=window_pages.window_spans(sweep.findings),
        note=say(
            "Steady state is determined on TC {threads} QD {queue_depth}.",
            threads=sweep.settings.threads,
            queue_depth=deepest,
        ),
    )
    return Section(title=title, blocks=(chart,))


def variation_section(sweep: Sweep) -> Section:
    """Return demand variation: IOPS against queue depth, one line a thread count."""
    title = "Demand Variation"
    if not sweep.findings.cells:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    counts, depths = sweep.rising()
    chart = XYChart(
        title=_over(sweep, "IOPS"),
        x=Axis(name="Queue depth (QD)", scale="log"),
        y=Axis(name="IOPS"),
        series=tuple(
            Series(
                name=_threads_name(threads),
                x=depths,
                y=tuple(sweep.at(threads, depth).iops for depth in depths),
            )
            for threads in counts
        ),
        table=_matrix(sweep, "IOPS", 1, lambda cell: cell.iops),
        note=SWEEP_NOTE,
    )
    return Section(title=title, blocks=(chart,))


def intensity_section(sweep: Sweep) -> Section:
    """Return demand intensity: mean response time against IOPS, one line a thread count."""
    title = "Demand Intensity"
    if not sweep.findings.cells:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    limit = ms(sweep.settings.latency_limit_ns)
    counts, depths = sweep.rising()
    series = tuple(
        Series(
            name=_threads_name(threads),
            x=tuple(sweep.at(threads, depth).iops for depth in depths),
            y=window_pages.drawn(
                [ms(sweep.at(threads, depth).latency_ns_mean) for depth in depths], log=True
            ),
        )
        for threads in counts
    )
    chart = XYChart(
        title=_over(sweep, "ART against IOPS"),
        x=Axis(name="IOPS"),
        y=Axis(name="ART", unit="ms", scale="log"),
        series=series,
        table=_points_table(sweep),
        rules=(
            Rule(name=say("{limit:g} ms", limit=limit), value=limit, style="dotted"),
            *_marks(sweep, lambda point: point.iops),
        ),
        note="ART counts reads and writes together, each I/O once; mean over the window's rounds.",
    )
    matrix = _matrix(sweep, "ART (ms)", 4, lambda cell: ms(cell.latency_ns_mean))
    return Section(title=title, blocks=(chart, matrix))


def outstanding_section(sweep: Sweep) -> Section:
    """Return IOPS against the total outstanding I/Os."""
    title = "IOPS against total OIO"
    if not sweep.findings.cells:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    counts, depths = sweep.rising()
    series = tuple(
        Series(
            name=_threads_name(threads),
            x=tuple(threads * depth for depth in depths),
            y=tuple(sweep.at(threads, depth).iops for depth in depths),
        )
        for threads in counts
    )
    chart = XYChart(
        title=_over(sweep, "IOPS against total OIO"),
        x=Axis(name="Total OIO (TC × QD)", scale="log"),
        y=Axis(name="IOPS"),
        series=series,
        table=_points_table(sweep),
        rules=_marks(sweep, lambda point: point.outstanding_ios),
        note=SWEEP_NOTE,
    )
    return Section(title=title, blocks=(chart,))


def cpu_section(sweep: Sweep) -> Section:
    """Return the CPU that the sweep took, where anybody gave an account of it."""
    title, window = "System CPU", sweep.window
    if not window:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    counts, depths = sweep.rising()
    shares = {
        (threads, depth): _cpu_percent(window, cell_name(threads, depth))
        for threads in counts
        for depth in depths
    }
    if all(share is None for share in shares.values()):
        text = say("CPU: {value}. Nobody gave an account of it in this run.", value=NOT_KNOWN)
        return Section(title=title, blocks=(Paragraph(text=text),))
    table = _table_of(
        sweep, say("CPU (% of one processor) by TC and QD"), 2, lambda tc, qd: shares[tc, qd]
    )
    chart = XYChart(
        title="CPU time of this program by queue depth, one line a thread count",
        x=Axis(name="Queue depth (QD)", scale="log"),
        y=Axis(name="CPU", unit="% of one processor"),
        series=tuple(
            Series(
                name=_threads_name(threads),
                x=depths,
                y=tuple(shares[threads, depth] for depth in depths),
            )
            for threads in counts
        ),
        table=table,
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


def _matrix(sweep: Sweep, name: str, digits: int, value: Callable[[Cell], float]) -> Table:
    caption = say("{name} by thread count and queue depth", name=name)
    return _table_of(sweep, caption, digits, lambda tc, qd: value(sweep.at(tc, qd)))


def _table_of(
    sweep: Sweep, caption: str, digits: int, value: Callable[[int, int], float | None]
) -> Table:
    counts, depths = sweep.rising()
    return Table(
        columns=(
            Column(name="QD", digits=0),
            *(Column(name=_threads_name(threads), digits=digits) for threads in counts),
        ),
        rows=tuple((depth, *(value(threads, depth) for threads in counts)) for depth in depths),
        caption=caption,
    )


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
