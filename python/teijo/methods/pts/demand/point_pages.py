"""The operating points of DIRTH and the composite workload: how they were chosen, and for each
its pre-write and its response-time histogram.
"""

from collections.abc import Mapping

from teijo.analysis import measures
from teijo.analysis.demand import (
    STATE_SHARE,
    DemandPoint,
    OperatingPoints,
    RestedPoint,
    rested_points,
)
from teijo.analysis.quantities import IOPS
from teijo.document.grid import Edge, Grid, Line
from teijo.document.model import Block, Column, Paragraph, Section, Table, Value
from teijo.document.phrase import Verbatim, say, sentences
from teijo.methods.pages import ms
from teijo.methods.pts.demand.found import DemandFound, PointRun
from teijo.methods.pts.demand.settings import DemandSettings, stimulus_with
from teijo.methods.pts.demand.stages import POINT_NAMES, demand_points, named_points, place_of
from teijo.methods.pts.histogram_pages import five_nines_ms, histogram_section
from teijo.methods.pts.report import answered, plot

NOT_YET = "Not measured yet."


def summary_blocks(found: DemandFound) -> list[Block]:
    """Return the operating points: in the sweep, and over their histograms."""
    points, runs = found.points, found.runs
    if points is None:
        return [Paragraph(text="No operating points: no point of a whole round completed an I/O.")]
    rows = tuple(_row(name, point, runs.get(name)) for name, point in named_points(points))
    columns = (
        Column(name="Operating point"),
        Column(name="TC", digits=0),
        Column(name="QD", digits=0),
        Column(name="IOPS in the sweep", digits=1),
        Column(name="ART in the sweep", unit="ms", digits=4),
        Column(name="IOPS", digits=1),
        Column(name="ART", unit="ms", digits=4),
        Column(name="5 9s", unit="ms", digits=3),
        Column(name="MRT", unit="ms", digits=3),
    )
    table = Table(columns=columns, rows=rows, caption="Operating points")
    words = (*_choice_words(found.settings, points), *_apart_words(points, runs))
    return [table, *(Paragraph(text=text) for text in words)]


def order_blocks(found: DemandFound) -> list[Block]:
    """Return why points of less demand gave more than the greatest, where some did."""
    points = demand_points(found.over_window)
    rested = rested_points(points)
    if not rested:
        return []
    best, full = max(rested, key=lambda each: each.share), points[0]
    written = _written(found, best, full)
    told = say(
        "{point} gave {share:.1f} times the IOPS of {full}, with fewer I/Os outstanding. {cause}: "
        "it follows {after}, in which the drive had time to clear space ahead, and a minute is too "
        "short to use that up. {count} of the {all} points are above {full} by more than "
        "{limit:.0f} % and follow a lighter one. What such a demand sustains is seen where no "
        "lighter one comes before it (threads={threads}, queue_depth={depth}).",
        point=_place(best.point),
        share=best.share,
        cause=_cause(written),
        full=_place(full),
        after=_place(best.after),
        count=len(rested),
        all=len(points),
        limit=100 * STATE_SHARE,
        threads=Verbatim(f"{full.threads},{best.point.threads}"),
        depth=str(best.point.queue_depth),
    )
    if written is None:
        return [Paragraph(text=told)]
    counted = say(
        "By its own counters it wrote to its memory, for each byte of the host's, {light:.1f} "
        "bytes at {after}, {own:.1f} at {point}, {most:.1f} at {full}.",
        light=written[0],
        own=written[1],
        most=written[2],
        after=_place(best.after),
        point=_place(best.point),
        full=_place(full),
    )
    return [Paragraph(text=sentences((told, counted)))]


def _written(
    found: DemandFound, best: RestedPoint, full: DemandPoint
) -> tuple[float, float, float] | None:
    """Return the write amplification before, at, and without the rest; None if it is not told."""
    light, own, most = (
        measures.write_amplification(found.at(place_of(point)))
        for point in (best.after, best.point, full)
    )
    if light is None or own is None or most is None:
        return None
    return light, own, most


def _cause(written: tuple[float, float, float] | None) -> str:
    """Say that the order is why where the drive counted that it tidied up before, not at, the
    point; else that it may be.
    """
    if written is not None and written[1] < written[2] < written[0]:
        return say("The order of the sweep does that, not the demand")
    return say("The order of the sweep may do that, not the demand")


def _place(point: DemandPoint) -> str:
    return Verbatim(place_of(point).name)


def sections(found: DemandFound) -> list[Section]:
    """Return two pages for each point: its pre-write, and its response-time histogram."""
    return [
        section
        for name in POINT_NAMES
        for section in (
            _prewrite_section(found.settings, name, found.runs.get(name)),
            _histogram_section(found.settings, name, found.runs.get(name)),
        )
    ]


def _row(name: str, point: DemandPoint, run: PointRun | None) -> tuple[Value, ...]:
    label = say("{name}IOPS", name=name)
    swept = (point.threads, point.queue_depth, point.iops, ms(point.latency_ns_mean))
    if run is None or run.histogram is None:
        return (label, *swept, None, None, None, None)
    latency = measures.latency_of(run.histogram)
    return (
        label,
        *swept,
        run.histogram.iops,
        ms(latency.mean_ns),
        five_nines_ms(latency),
        ms(latency.max_ns),
    )


def _choice_words(settings: DemandSettings, points: OperatingPoints) -> list[str]:
    """Return how the points were found, and what is unusual about them."""
    limit = ms(settings.latency_limit_ns)
    words: list[str] = []
    if points.within_limit:
        words.append(
            say(
                "MaxIOPS has the highest IOPS of the points with an ART below {limit:g} ms; "
                "MidIOPS is the point nearest to {target:,.1f} IOPS, halfway between Max and Min.",
                limit=limit,
                target=points.target_iops,
            )
        )
    else:
        words.append(
            say(
                "No point of the sweep has an ART below {limit:g} ms. The point of the lowest ART, "
                "{art:,.3f} ms, stands in for MaxIOPS; MidIOPS is the point nearest to "
                "{target:,.1f} IOPS.",
                limit=limit,
                art=ms(points.maximum.latency_ns_mean),
                target=points.target_iops,
            )
        )
    places = [point for _, point in named_points(points)]
    if len(set(places)) < len(places):
        words.append(
            "Some of the three are one and the same point: more demand gave no more IOPS in time."
        )
    return words


def _apart_words(points: OperatingPoints, runs: Mapping[str, PointRun]) -> list[str]:
    """Return where a point over its histogram is not what the sweep took it for."""
    words: list[str] = []
    for name, point in named_points(points):
        run = runs.get(name)
        if run is None or run.histogram is None:
            continue
        share = run.histogram.iops / point.iops
        if abs(share - 1) > STATE_SHARE:
            words.append(
                say(
                    "{name}IOPS: after its pre-write the drive gave {share:.0f} % of the IOPS it "
                    "gave at this point of the sweep, where other loads come before it.",
                    name=name,
                    share=100 * share,
                )
            )
    return words


def _stimulus(settings: DemandSettings, read_percent: int, run: PointRun) -> str:
    return say(
        "{stimulus} TC {threads} QD {queue_depth}",
        stimulus=stimulus_with(settings, read_percent),
        threads=run.place.threads,
        queue_depth=run.place.queue_depth,
    )


def _prewrite_section(settings: DemandSettings, name: str, run: PointRun | None) -> Section:
    title = say("{name}IOPS: pre-writes", name=name)
    if run is None or not run.prewrite:
        return plot(title, None, empty=NOT_YET)
    iops = tuple(answer.iops for answer in run.prewrite)
    grid = Grid(
        rows=Edge(name="Minute", digits=0, places=tuple(range(1, len(iops) + 1))),
        columns=(
            Line(figure=IOPS, name=_stimulus(settings, 0, run), values=iops),
            *answered(run.prewrite)[1:],
        ),
    )
    chart = grid.chart("IOPS of the pre-write by minute", IOPS, table=grid.table(folded=True))
    return Section(title=title, blocks=(chart,))


def _histogram_section(settings: DemandSettings, name: str, run: PointRun | None) -> Section:
    title = say("{name}IOPS: response-time histogram", name=name)
    if run is None or run.histogram is None:
        return plot(title, None, empty=NOT_YET)
    stimulus = _stimulus(settings, settings.read_percent, run)
    return histogram_section(title, stimulus, measures.latency_of(run.histogram))
