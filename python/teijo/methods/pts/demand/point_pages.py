"""The operating points of DIRTH and the composite workload: how they were chosen, and for each
its pre-write and its response-time histogram.
"""

from collections.abc import Sequence

from teijo.analysis import measures
from teijo.analysis.demand import STATE_SHARE, DemandPoint, greatest_demand, rested_points
from teijo.analysis.quantities import IOPS
from teijo.document.grid import Beside, Edge, Grid, Line
from teijo.document.model import Block, Column, Paragraph, Section, Style, Table, Value
from teijo.document.phrase import Verbatim, say, sentences
from teijo.methods.pages import ms
from teijo.methods.pts.demand import stages
from teijo.methods.pts.demand.found import DemandFound, PointRun
from teijo.methods.pts.demand.settings import stimulus_with
from teijo.methods.pts.histogram_pages import histogram_section
from teijo.methods.pts.report import answered, plot
from teijo.terms.result import StepResult

NOT_YET = "Not measured yet."


def summary_blocks(found: DemandFound) -> list[Block]:
    """Return the operating points: in the sweep, and over their histograms."""
    if found.points is None:
        return [Paragraph(text="No operating points: no point of a whole round completed an I/O.")]
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
    rows = tuple(
        _row(name, point, found.runs.get(name)) for name, point in stages.named_points(found.points)
    )
    table = Table(columns=columns, rows=rows, caption="Operating points")
    words = (*_choice_words(found), *_apart_words(found))
    return [table, *(Paragraph(text=text) for text in words)]


def order_blocks(found: DemandFound) -> list[Block]:
    """Return why points of less demand gave more than the greatest, where some did."""
    points = stages.demand_points(found.over_window)
    rested = rested_points(points)
    if not rested:
        return []
    best, full = max(rested, key=lambda each: each.share), greatest_demand(points)
    # How much the drive wrote for each byte: before the point, at it, and where it had no rest.
    light, own, most = (
        measures.write_amplification(found.at(point)) for point in (best.after, best.point, full)
    )
    cause = say("The order of the sweep may do that, not the demand")
    # Its counters show it: it cleaned ahead at the light point, and lived on that at this one.
    if light is not None and own is not None and most is not None and own < most < light:
        cause = say("The order of the sweep does that, not the demand")
    text = say(
        "{point} gave {share:.1f} times the IOPS of {full}, with fewer I/Os outstanding. {cause}: "
        "it follows {after}, in which the drive had time to clear space ahead, and a minute is too "
        "short to use that up. {count} of the {all} points are above {full} by more than "
        "{limit:.0f} % and follow a lighter one. What such a demand sustains is seen where no "
        "lighter one comes before it (threads={threads}, queue_depth={depth}).",
        point=_place(best.point),
        share=best.share,
        cause=cause,
        full=_place(full),
        after=_place(best.after),
        count=len(rested),
        all=len(points),
        limit=100 * STATE_SHARE,
        threads=Verbatim(f"{full.threads},{best.point.threads}"),
        depth=str(best.point.queue_depth),
    )
    if light is None or own is None or most is None:
        return [Paragraph(text=text)]
    counted = say(
        "By its own counters it wrote to its memory, for each byte of the host's, {light:.1f} "
        "bytes at {after}, {own:.1f} at {point}, {most:.1f} at {full}.",
        light=light,
        own=own,
        most=most,
        after=_place(best.after),
        point=_place(best.point),
        full=_place(full),
    )
    return [Paragraph(text=sentences((text, counted)))]


def _place(point: DemandPoint) -> str:
    return Verbatim(point.name)


def sections(found: DemandFound) -> list[Section]:
    """Return two pages for each point: its pre-write, and its response-time histogram."""
    return [
        page(found, name, found.runs.get(name))
        for name in stages.POINT_NAMES
        for page in (_prewrite_section, _histogram_section)
    ]


def minutes_grid(
    answers: Sequence[StepResult],
    name: str,
    *,
    drawn_as: str = "",
    beside: tuple[Beside, ...] = (),
    style: Style = "line and points",
) -> Grid:
    """Return the IOPS of minutes, with `beside`, ART and MRT in the table."""
    numbers = tuple(range(1, len(answers) + 1))
    iops = tuple(answer.iops for answer in answers)
    line = Line(figure=IOPS, name=name, values=iops, style=style)
    return Grid(
        rows=Edge(name="Minute", drawn_as=drawn_as, digits=0, places=numbers),
        columns=(*beside, line, *answered(answers)[1:]),
    )


def _row(name: str, point: DemandPoint, run: PointRun | None) -> tuple[Value, ...]:
    measured = run.figures if run is not None else ()
    return (
        say("{name}IOPS", name=name),
        point.threads,
        point.queue_depth,
        point.iops,
        ms(point.latency_ns_mean),
        *(measured or (None,) * 4),
    )


def _choice_words(found: DemandFound) -> list[str]:
    """Return how the points were found, and what is unusual about them."""
    points, limit = found.points, ms(found.settings.latency_limit_ns)
    assert points is not None, "there are points"
    if points.within_limit:
        text = say(
            "MaxIOPS has the highest IOPS of the points with an ART below {limit:g} ms; "
            "MidIOPS is the point nearest to {target:,.1f} IOPS, halfway between Max and Min.",
            limit=limit,
            target=points.target_iops,
        )
    else:
        text = say(
            "No point of the sweep has an ART below {limit:g} ms. The point of the lowest ART, "
            "{art:,.3f} ms, stands in for MaxIOPS; MidIOPS is the point nearest to "
            "{target:,.1f} IOPS.",
            limit=limit,
            art=ms(points.maximum.latency_ns_mean),
            target=points.target_iops,
        )
    if len({points.maximum, points.middle, points.minimum}) == len(stages.POINT_NAMES):
        return [text]
    same = "Some of the three are one and the same point: more demand gave no more IOPS in time."
    return [text, same]


def _apart_words(found: DemandFound) -> list[str]:
    """Return where a point over its histogram is not what the sweep took it for."""
    words: list[str] = []
    for name, point in stages.named_points(found.points):
        run = found.runs.get(name)
        if run is None or run.histogram is None:
            continue
        share = run.histogram.iops / point.iops
        # In the sweep a point after lighter load can be a burst that does not last.
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


def _stimulus(found: DemandFound, read_percent: int, run: PointRun) -> str:
    return say(
        "{stimulus} TC {threads} QD {queue_depth}",
        stimulus=stimulus_with(found.settings, read_percent),
        threads=run.demand.threads,
        queue_depth=run.demand.queue_depth,
    )


def _prewrite_section(found: DemandFound, name: str, run: PointRun | None) -> Section:
    title = say("{name}IOPS: pre-writes", name=name)
    if run is None or not run.prewrite:
        return plot(title, None, empty=NOT_YET)
    grid = minutes_grid(run.prewrite, _stimulus(found, 0, run))
    chart = grid.chart("IOPS of the pre-write by minute", IOPS, table=grid.table(folded=True))
    return Section(title=title, blocks=(chart,))


def _histogram_section(found: DemandFound, name: str, run: PointRun | None) -> Section:
    title = say("{name}IOPS: response-time histogram", name=name)
    if run is None or run.histogram is None:
        return plot(title, None, empty=NOT_YET)
    stimulus = _stimulus(found, found.settings.read_percent, run)
    return histogram_section(title, stimulus, measures.latency_of(run.histogram))
