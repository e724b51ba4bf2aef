"""The report of DIRTH and the composite workload: its fifteen plots in the standard's order.

Those of the operating points are in point_pages.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from teijo import units
from teijo.analysis.demand import DemandPoint, SweepCell
from teijo.analysis.quantities import IOPS
from teijo.conformance.versions import version_of
from teijo.document import model
from teijo.document.grid import Beside, Edge, Figure, Grid, listing, matrix
from teijo.document.phrase import capitalised, say
from teijo.methods.pages import NOT_KNOWN, ms
from teijo.methods.phrases import is_steady
from teijo.methods.pts import report, window_pages
from teijo.methods.pts.demand import point_pages, stages
from teijo.methods.pts.demand.found import DemandFound
from teijo.methods.pts.demand.settings import stimulus_name, stimulus_with
from teijo.methods.pts.header import Loop
from teijo.terms.cell import mix_name
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult

CHECK = "Check minute"
SWEEP_NOTE = "Arithmetic mean over the rounds of the measurement window."
OUTSTANDING = "IOPS against total OIO"
SWEEP_TITLES = ("Demand Variation", "Demand Intensity", "System CPU", OUTSTANDING)


def pages(found: DemandFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    sweep = report.sections_of(SWEEP_TITLES, _sweep_blocks(found) if found.window else [])
    plots = [
        _precondition_section(found),
        _precondition_window_section(found),
        _prewrites_section(found),
        _tracking_section(found),
        *(window_pages.close_up_section(state, "Round") for state in found.states),
        *sweep[:-1],
        *point_pages.sections(found),
        sweep[-1],
    ]
    # The operating points have a table.
    facts = report.run_facts(found, form=",.6g", but=stages.POINT_NAMES, blanks=True)
    return report.report(
        found,
        _loop(found),
        summary=(
            window_pages.verdict_of(found.record, found),
            _precondition_verdict(found),
            window_pages.determination_table((*found.states, *found.before)),
            *point_pages.summary_blocks(found),
            *point_pages.order_blocks(found),
            facts,
        ),
        sections=report.numbered(plots),
        remarks=_precondition_remarks(found),
    )


def _names(found: DemandFound) -> tuple[str, str]:
    """Return the test's title and short name, which changed for the composite workload."""
    rule = version_of(found.settings.spec).demand
    assert rule is not None, "the version has this test"
    if found.record.run.method == "pts.dirth":
        return "Demand Intensity / Response Time Histogram", "DIRTH"
    match rule.composite_name:
        case "ECW":
            # With the class before it: Enterprise Composite Workload.
            return "Composite Workload", "ECW"
        case "CBW":
            return "Composite Block Size Workload", "CBW"


def _loop(found: DemandFound) -> Loop:
    settings, (title, short) = found.settings, _names(found)
    name, minute = stimulus_name(settings), units.format_duration(settings.minute_ns)
    return Loop(
        title=title,
        subtitle=say("{test} loop", test=short),
        workload_independent=_precondition_words(found),
        workload_dependent=say(
            "pre-write {minutes} min, {stimulus}",
            minutes=settings.prewrite_minutes,
            stimulus=stimulus_with(settings, 0),
        ),
        stimulus=(
            ("Stimulus", say("{stimulus}, {minute} each", stimulus=name, minute=minute)),
            ("R/W mix", mix_name(settings.read_percent)),
            ("TC, outer loop", ", ".join(map(str, settings.thread_counts))),
            ("QD, inner loop", ", ".join(map(str, settings.queue_depths))),
        ),
    )


def _precondition_words(found: DemandFound) -> str:
    if not found.before:
        return "none"
    stimulus, window = stimulus_with(found.settings, 0), found.window_before
    if window is None:
        return say("{stimulus}, not steady", stimulus=stimulus)
    return say(
        "{stimulus}, SS rounds {first}–{last}",
        stimulus=stimulus,
        first=window.first_round,
        last=window.last_round,
    )


def _precondition_remarks(found: DemandFound) -> tuple[Remark, ...]:
    """Return the remark that the rounds began on a drive that was not steady."""
    most = found.settings.precondition_rounds_most
    if not most or found.checks < most or is_steady(found.before):
        return ()
    text = say(
        "the preconditioning was not steady after its {minutes} minutes ({checks} check minutes)",
        minutes=len(found.minutes),
        checks=found.checks,
    )
    return (Remark(kind=RemarkKind.NOT_STEADY, text=text),)


def _precondition_verdict(found: DemandFound) -> model.Verdict:
    if not found.before:
        return model.Verdict(text="PRECONDITIONING: none", good=None)
    window = found.window_before
    if window is not None:
        text = say(
            "PRECONDITIONING: steady, check minutes {first}–{last}",
            first=window.first_round,
            last=window.last_round,
        )
        return model.Verdict(text=text, good=True)
    text = say("PRECONDITIONING: not steady in {count} check minutes", count=found.checks)
    return model.Verdict(text=text, good=None if found.before[0].window is None else False)


def _precondition_section(found: DemandFound) -> model.Section:
    settings, minutes = found.settings, found.minutes
    title, every = "Pre-conditioning IOPS", settings.precondition_minutes
    if not minutes:
        text = "No minute yet." if settings.precondition_rounds_most else "No preconditioning."
        return report.plot(title, None, empty=text)
    numbers = tuple(range(1, len(minutes) + 1))
    length = units.format_duration(settings.minute_ns)
    checks = tuple("yes" if number % every == 1 % every else "no" for number in numbers)
    grid = point_pages.minutes_grid(
        minutes,
        stimulus_with(settings, 0),
        drawn_as=say("Minute (of {length})", length=length),
        beside=(Beside(column=model.Column(name="Check minute"), values=checks),),
        style="line",
    )
    iops = grid.lines[0].values
    chart = grid.chart(
        "IOPS of the preconditioning by minute",
        IOPS,
        more=(
            model.Series(name="check minutes", x=numbers[::every], y=iops[::every], style="points"),
        ),
        table=grid.table(folded=True),
        spans=_window_spans(found),
    )
    return model.Section(title=title, blocks=(chart,))


def _window_spans(found: DemandFound) -> tuple[model.Span, ...]:
    """Return the window of the preconditioning to shade, over an axis of minutes."""
    window, every = found.window_before, found.settings.precondition_minutes
    if window is None:
        return ()
    first, last = (
        float((number - 1) * every + 1) for number in (window.first_round, window.last_round)
    )
    return (model.Span(name=window_pages.WINDOW_NAME, first=first, last=last),)


def _precondition_window_section(found: DemandFound) -> model.Section:
    title = "Pre-conditioning steady state window"
    if not found.before:
        return report.plot(title, None, empty="No preconditioning.")
    return replace(window_pages.close_up_section(found.before[0], CHECK), title=title)


def _prewrites_section(found: DemandFound) -> model.Section:
    settings, whole = found.settings, found.course.whole
    title = "Pre-writes between rounds"
    if not settings.prewrite_minutes:
        return report.plot(title, None, empty="No pre-writes.")

    def chart() -> model.XYChart:
        name = partial(say, "minute {number}")
        grid = matrix(
            report.by_round(whole),
            whole,
            range(1, settings.prewrite_minutes + 1),
            lambda each, minute: each.cells[minute - 1][1].iops,
            figure=lambda minute: Figure(name=capitalised(name(number=minute)), unit="IOPS"),
            name=lambda minute: name(number=minute),
        )
        note = say(
            "{stimulus} at TC {threads} QD {queue_depth}, before the sweep of every round.",
            stimulus=stimulus_with(settings, 0),
            threads=settings.threads,
            queue_depth=settings.queue_depth,
        )
        return grid.chart("IOPS of the pre-writes by round, one line a minute", IOPS, note=note)

    return report.plot(title, chart if whole else None)


def _tracking_section(found: DemandFound) -> model.Section:
    """Return the IOPS at the greatest queue depth by round, the tracking variable among them."""
    depth, most = found.settings.queue_depth, found.settings.threads
    counts = sorted(found.settings.thread_counts, reverse=True)
    return report.by_round_section(
        found,
        "Demand Variation, IOPS tracking",
        say("IOPS at QD {queue_depth} by round", queue_depth=depth),
        [SweepCell(threads=threads, queue_depth=depth) for threads in counts],
        lambda answer: answer.iops,
        y=IOPS,
        figure=lambda key: Figure(name=_threads_name(key.threads), unit="IOPS"),
        note=say(
            "Steady state is determined on TC {threads} QD {queue_depth}.",
            threads=most,
            queue_depth=depth,
        ),
    )


def _sweep_blocks(found: DemandFound) -> list[Sequence[model.Block]]:
    """Return what the sections of the sweep hold, in the order of their titles."""
    cells = found.over_window
    variation = _by_depth(found, 1, lambda key: cells[key].iops)
    means = _by_depth(found, 4, lambda key: ms(cells[key].latency_ns_mean))
    limit = ms(found.settings.latency_limit_ns)
    intensity = _curves(
        found,
        "ART against IOPS",
        x=replace(IOPS.axis(), from_zero=True),
        y=report.ART.axis(log=True),
        x_of=lambda point: point.iops,
        # A point that completed no I/O has no place on a logarithmic axis.
        y_of=lambda point: ms(point.latency_ns_mean) or None,
        rules=(model.Rule(name=say("{limit:g} ms", limit=limit), value=limit, style="dotted"),),
        note="ART counts reads and writes together, each I/O once; mean over the window's rounds.",
    )
    outstanding = _curves(
        found,
        OUTSTANDING,
        x=model.Axis(name="Total OIO (TC × QD)", scale="log"),
        y=IOPS.axis(),
        x_of=lambda point: point.outstanding_ios,
        y_of=lambda point: point.iops,
        note=SWEEP_NOTE,
    )
    table = variation.table(_caption("IOPS"))
    varied = variation.chart(_over(found, "IOPS"), IOPS, table=table, note=SWEEP_NOTE)
    shown = means.table(_caption("ART (ms)"))
    return [(varied,), (intensity, shown), (_cpu_block(found),), (outstanding,)]


def _curves(
    found: DemandFound,
    what: str,
    *,
    x: model.Axis,
    y: model.Axis,
    x_of: Callable[[DemandPoint], float],
    y_of: Callable[[DemandPoint], float | None],
    rules: tuple[model.Rule, ...] = (),
    note: str,
) -> model.XYChart:
    """Return the points of the sweep, a line for each thread count, the operating points marked."""
    points = sorted(
        stages.demand_points(found.over_window), key=lambda each: (each.threads, each.queue_depth)
    )
    series = []
    for threads, group in itertools.groupby(points, lambda each: each.threads):
        line = tuple(group)
        series.append(
            model.Series(
                name=_threads_name(threads), x=tuple(map(x_of, line)), y=tuple(map(y_of, line))
            )
        )
    marks = (
        model.Rule(name=say("{name}IOPS", name=name), value=x_of(point), at="x", style="dashed")
        for name, point in stages.named_points(found.points)
    )
    return model.XYChart(
        title=_over(found, what),
        x=x,
        y=y,
        series=tuple(series),
        table=_points_table(found),
        rules=(*rules, *marks),
        note=note,
    )


def _cpu_block(found: DemandFound) -> model.Block:
    """Return the CPU that the sweep took, where anybody gave an account of it."""
    grid = _by_depth(found, 2, lambda key: _cpu_percent(found.at(key)))
    if all(share is None for line in grid.lines for share in line.values):
        return model.Paragraph(
            text=say("CPU: {value}. Nobody gave an account of it in this run.", value=NOT_KNOWN)
        )
    return grid.chart(
        "CPU time of this program by queue depth, one line a thread count",
        Figure(name="CPU", unit="% of one processor"),
        table=grid.table(say("CPU (% of one processor) by TC and QD")),
        note="User and kernel time of the program that makes the I/O by the time that went by; "
        "other programs and the kernel's own threads are not in it.",
    )


def _cpu_percent(answers: Sequence[StepResult]) -> float | None:
    witnesses = [answer.witness for answer in answers]
    shares = [
        100 * witness.cpu_ns / witness.wall_ns
        for witness in witnesses
        if witness is not None and witness.wall_ns
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _over(found: DemandFound, what: str) -> str:
    stimulus = stimulus_with(found.settings, found.settings.read_percent)
    return say("{what}, {stimulus}, one line a thread count", what=what, stimulus=stimulus)


def _threads_name(threads: int) -> str:
    return say("TC {threads}", threads=threads)


def _caption(name: str) -> str:
    return say("{name} by thread count and queue depth", name=name)


def _by_depth(found: DemandFound, digits: int, at: Callable[[SweepCell], float | None]) -> Grid:
    """Return a figure of every point of the sweep, a line for each thread count."""
    depths = tuple(sorted(found.settings.queue_depths))
    edge = Edge(
        name="QD",
        drawn_as="Queue depth (QD)",
        digits=0,
        places=depths,
        scale="log",
        from_zero=True,
    )
    return matrix(
        edge,
        depths,
        sorted(found.settings.thread_counts),
        lambda depth, threads: at(SweepCell(threads=threads, queue_depth=depth)),
        figure=lambda threads: Figure(name=_threads_name(threads), digits=digits),
    )


def _points_table(found: DemandFound) -> model.Table:
    """Return every point of the sweep as a row, from little demand to much."""
    cells = found.over_window
    return listing(
        sorted(cells, key=lambda key: (key.outstanding_ios, key.threads)),
        (
            ("TC", "", 0, lambda key: key.threads),
            ("QD", "", 0, lambda key: key.queue_depth),
            ("Total OIO", "", 0, lambda key: key.outstanding_ios),
            ("IOPS", "", 1, lambda key: cells[key].iops),
            ("Throughput", "MB/s", 2, lambda key: cells[key].throughput_mb_s),
            ("ART", "ms", 4, lambda key: ms(cells[key].latency_ns_mean)),
            ("MRT", "ms", 3, lambda key: ms(cells[key].latency_ns_max)),
            ("In flight by TOIO", "", 4, lambda key: found.in_flight[key]),
        ),
        caption="Every point of the sweep",
        folded=True,
    )
