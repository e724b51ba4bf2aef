"""The report of PTS WSAT: the saturation curve against time, TGBW and drive fills."""

from collections.abc import Callable

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import IOPS
from teijo.analysis.saturation import Saturation
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import version_of
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.model import (
    Block,
    Column,
    Document,
    Facts,
    Paragraph,
    Rule,
    Section,
    Span,
    Verdict,
)
from teijo.document.phrase import capitalised, say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.histogram_pages import five_nines_ms, run_section
from teijo.methods.pts.report import (
    RESPONSE_TIME,
    answered,
    by_minute,
    every_minute,
    numbered,
    report,
)
from teijo.methods.pts.wsat.found import WsatFound, WsatSettings
from teijo.methods.scaled import scalar_told
from teijo.terms.result import StepResult

CHECK = "Check minute"


def pages(found: WsatFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, curve = found.settings, found.curve
    plots = [] if curve is None else _plots(found, curve)
    if settings.check_minutes is not None:
        plots.append(window_pages.all_rounds_section(found.states, found, CHECK))
        plots += [window_pages.close_up_section(state, CHECK) for state in found.states]
    if settings.histogram_minutes is not None:
        plots.append(run_section(settings.cell.stimulus, found.histogram_run))
    return report(
        found,
        _loop(settings),
        summary=_summary(found),
        sections=[*numbered(plots), *([] if curve is None else [_table_section(found)])],
    )


def _loop(settings: WsatSettings) -> Loop:
    ends = say(
        "{times:g}X user capacity or {minutes} min",
        times=settings.capacity_times,
        minutes=settings.minutes_most,
    )
    if settings.check_minutes is not None:
        ends = say("{ends} or five-round SS", ends=ends)
    run: tuple[tuple[str, str], ...] = ()
    if settings.histogram_minutes is not None:
        length = units.format_duration(settings.histogram_minutes * settings.minute_ns)
        run = (("Then, for the histogram", length),)
    return Loop(
        title="Write Saturation",
        subtitle="WSAT loop",
        workload_dependent=say("{stimulus}, continuous", stimulus=settings.cell.stimulus),
        stimulus=(
            ("Stimulus", settings.cell.stimulus),
            ("Sample", units.format_duration(settings.minute_ns)),
            ("Ends at", ends),
            *run,
        ),
    )


def _summary(found: WsatFound) -> tuple[Block, ...]:
    rows = tuple(
        (capitalised(scalar.name), scalar_told(scalar, ",.6g", found.record.geometry))
        for scalar in found.scalars
        if scalar.value is not None or found.converged is not None
    )
    return (
        _verdict(found),
        Paragraph(text=_stop_sentence(found)),
        Facts(caption="Write saturation", rows=rows),
        Paragraph(text=_explanation(found.settings)),
    )


def _stop_sentence(found: WsatFound) -> str:
    settings = found.settings
    match found.stop:
        case "steady":
            return "The run ended with five check minutes in steady state."
        case "capacity":
            return say(
                "The run ended when {times:g} times the user capacity had been written.",
                times=settings.capacity_times,
            )
        case "minutes":
            return say(
                "The run ended after its {minutes:,} minutes.", minutes=settings.minutes_most
            )
        case None:
            return "The run has not come to its end."


def _verdict(found: WsatFound) -> Verdict:
    if found.settings.check_minutes is None:
        text = "STEADY STATE: not determined by this version"
        return Verdict(text=_with_levels(text, found.curve), good=None)
    if found.converged is None:
        text = say(
            "STEADY STATE: not determined, {count} of {needed} check minutes",
            count=found.rounds,
            needed=WINDOW_ROUNDS,
        )
        return Verdict(text=_with_levels(text, found.curve), good=None)
    return window_pages.verdict_of(found.record, found, "check minutes")


def _with_levels(verdict: str, curve: Saturation | None) -> str:
    """Return a verdict that begins with where the curve began and where it ended, if it is known:
    it is what such a run has found.
    """
    if curve is None or curve.level_iops is None:
        return verdict
    return say(
        "FROM {fresh:,.0f} IOPS FRESH TO {last:,.0f} AT THE END; {verdict}",
        fresh=curve.plateau_iops,
        last=curve.level_iops,
        verdict=verdict,
    )


def _explanation(settings: WsatSettings) -> str:
    return say(
        "A minute is {minute} here. The FOB plateau is the leading run of minutes in which none "
        "falls below 90 % of the highest before it. The level at the end is the mean of the last "
        "fifth of the minutes; the curve is settled once its moving mean of five minutes stays "
        "within 10 % of that level. Neither is the standard's steady state.",
        minute=units.format_duration(settings.minute_ns),
    )


def _plots(found: WsatFound, curve: Saturation) -> list[Section]:
    edges = _edges(found)
    plots = [
        _iops_section(found, curve, ruler, edges[ruler], log=log)
        for ruler in ("time", "TGBW")
        for log in (False, True)
    ]
    last = "time"
    if version_of(found.settings.spec).layout == "2.0":
        last = "drive fills"
        plots.append(_iops_section(found, curve, last, edges[last], log=True))
    return [*plots, _latency_section(found, last, edges[last])]


def _edges(found: WsatFound) -> dict[str, Edge]:
    """Return what the curve is drawn against, by name: the place of every minute's end."""
    written = [sample.written_bytes for sample in found.samples]
    capacity_bytes = found.record.geometry.capacity_bytes
    return {
        "time": by_minute(
            found.settings.minute_ns, [float(each + 1) for each in range(len(written))]
        ),
        "TGBW": Edge(
            name="Total written (TGBW)",
            unit="GB",
            digits=3,
            places=tuple(each / units.GIGA for each in written),
            from_zero=True,
        ),
        "drive fills": Edge(
            name="Drive fills",
            unit="user capacities",
            digits=4,
            places=tuple(each / capacity_bytes for each in written),
            from_zero=True,
        ),
    }


def _iops_section(
    found: WsatFound, curve: Saturation, ruler: str, edge: Edge, *, log: bool
) -> Section:
    scale = "log" if log else "linear"
    title = say("IOPS against {ruler}, {scale}", ruler=ruler, scale=scale)
    line = Line(
        figure=IOPS,
        name=found.settings.cell.stimulus,
        values=tuple(sample.iops for sample in found.samples),
        style="line",
    )
    grid = Grid(rows=edge, columns=(line,))
    plateau = Span(name="FOB plateau", first=0.0, last=edge.number(curve.plateau_samples - 1))
    chart = grid.chart(
        title,
        IOPS,
        log=log,
        table=grid.table(folded=True),
        rules=_rules(found, curve, edge),
        spans=(plateau,),
    )
    return Section(title=title, blocks=(chart,))


def _rules(found: WsatFound, curve: Saturation, edge: Edge) -> list[Rule]:
    rules = [Rule(name="FOB", value=curve.plateau_iops, style="dotted")]
    window = found.steady_window if found.converged else None
    if window is not None:
        rules.append(Rule(name="steady state", value=window.average))
    elif curve.level_iops is not None:
        rules.append(Rule(name="level at the end", value=curve.level_iops))
    since, name = found.steady_since, "steady state begins"
    if since is None:
        since, name = curve.settled_samples, "settled"
    if since:
        rules.append(Rule(name=name, value=edge.number(since - 1), at="x"))
    return rules


def _latency_section(found: WsatFound, ruler: str, edge: Edge) -> Section:
    title = say("Response time against {ruler}", ruler=ruler)
    named: tuple[tuple[str, Callable[[StepResult], float | None]], ...] = (
        ("mean (ART)", lambda answer: ms(measures.latency_ns_mean(answer))),
        ("99.999 % (5 9s)", lambda answer: five_nines_ms(measures.latency_of(answer))),
        ("maximum (MRT)", lambda answer: ms(measures.latency_ns_max(answer))),
    )
    lines = (
        Line(
            figure=Figure(name=name, unit="ms", digits=4),
            values=tuple(of(answer) for answer in found.answers),
            style="line",
        )
        for name, of in named
    )
    grid = Grid(rows=edge, columns=tuple(lines))
    chart = grid.chart(
        title,
        RESPONSE_TIME,
        log=True,
        table=grid.table(folded=True),
        note="A minute of fewer than 100,000 I/Os has no 99.999 % of its own.",
    )
    return Section(title=title, blocks=(chart,))


def _table_section(found: WsatFound) -> Section:
    edges, answers = _edges(found), found.answers
    rates = tuple(measures.throughput_mb_s(answer) for answer in answers)
    iops, *times = answered(answers)
    columns = (
        Beside(column=Column(name="TGBW", unit="GB", digits=3), values=edges["TGBW"].places),
        Beside(column=Column(name="Drive fills", digits=4), values=edges["drive fills"].places),
        iops,
        Beside(column=Column(name="Throughput", unit="MB/s", digits=2), values=rates),
        *times,
    )
    return every_minute(len(answers), columns)
