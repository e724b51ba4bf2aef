"""The report of PTS WSAT: the saturation curve against time, TGBW and drive fills."""

from collections.abc import Callable

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import IOPS
from teijo.analysis.saturation import Saturation
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import version_of
from teijo.document import model
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.phrase import say
from teijo.methods.pts import report, window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.histogram_pages import five_nines_ms, run_section
from teijo.methods.pts.wsat.found import WsatFound, WsatSettings
from teijo.terms.result import StepResult

CHECK = "Check minute"


def pages(found: WsatFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings, curve = found.settings, found.curve
    plots = [] if curve is None else _plots(found, curve)
    if settings.check_minutes is not None:
        plots.append(window_pages.all_rounds_section(found.states, found, CHECK))
        plots += [window_pages.close_up_section(state, CHECK) for state in found.states]
    if settings.histogram_minutes is not None:
        plots.append(run_section(settings.cell.stimulus, found.histogram_run))
    return report.report(
        found,
        _loop(settings),
        summary=_summary(found),
        sections=[*report.numbered(plots), *([] if curve is None else [_table_section(found)])],
    )


def _loop(settings: WsatSettings) -> Loop:
    ends = say(
        "{times:g}X user capacity or {minutes} min",
        times=settings.capacity_times,
        minutes=settings.minutes_most,
    )
    if settings.check_minutes is not None:
        ends = say("{ends} or five-round SS", ends=ends)
    length = units.format_duration((settings.histogram_minutes or 0) * settings.minute_ns)
    run = () if settings.histogram_minutes is None else (("Then, for the histogram", length),)
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


def _summary(found: WsatFound) -> tuple[model.Block, ...]:
    rows = report.run_rows(found, form=",.6g", blanks=found.converged is not None)
    return (
        _verdict(found),
        model.Paragraph(text=_stop_sentence(found)),
        model.Facts(caption="Write saturation", rows=rows),
        model.Paragraph(text=_explanation(found.settings)),
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


def _verdict(found: WsatFound) -> model.Verdict:
    # In 1.0 steady state is read off the plot by eye: there is no verdict to give.
    if found.settings.check_minutes is None:
        asks = version_of(found.settings.spec).saturation.check_minutes is not None
        text = (
            "STEADY STATE: not determined, check_every=none"
            if asks
            else "STEADY STATE: not determined by this version"
        )
    elif found.converged is None:
        text = say(
            "STEADY STATE: not determined, {count} of {needed} check minutes",
            count=found.rounds,
            needed=WINDOW_ROUNDS,
        )
    else:
        return window_pages.verdict_of(found.record, found, "check minutes")
    curve = found.curve
    if curve is not None and curve.level_iops is not None:
        text = say(
            "FROM {fresh:,.0f} IOPS FRESH TO {last:,.0f} AT THE END; {verdict}",
            fresh=curve.plateau_iops,
            last=curve.level_iops,
            verdict=text,
        )
    return model.Verdict(text=text, good=None)


def _explanation(settings: WsatSettings) -> str:
    return say(
        "A minute is {minute} here. The FOB plateau is the leading run of minutes in which none "
        "falls below 90 % of the highest before it. The level at the end is the mean of the last "
        "fifth of the minutes; the curve is settled once its moving mean of five minutes stays "
        "within 10 % of that level. Neither is the standard's steady state.",
        minute=units.format_duration(settings.minute_ns),
    )


def _plots(found: WsatFound, curve: Saturation) -> list[model.Section]:
    plots = [
        _iops_section(found, curve, ruler, scale)
        for ruler in ("time", "TGBW")
        for scale in ("linear", "log")
    ]
    last = "time"
    # 2.0 normalises this axis by the user capacity; 1.0 has time and TGBW only.
    if version_of(found.settings.spec).layout == "2.0":
        last = "drive fills"
        plots.append(_iops_section(found, curve, last, "log"))
    return [*plots, _latency_section(found, last)]


def _iops_section(found: WsatFound, curve: Saturation, ruler: str, scale: str) -> model.Section:
    title = say("IOPS against {ruler}, {scale}", ruler=ruler, scale=scale)
    edge, iops = found.rulers[ruler], tuple(answer.iops for answer in found.answers)
    line = Line(figure=IOPS, name=found.settings.cell.stimulus, values=iops, style="line")
    grid = Grid(rows=edge, columns=(line,))
    plateau = model.Span(name="FOB plateau", first=0.0, last=edge.number(curve.plateau_samples - 1))
    chart = grid.chart(
        title,
        IOPS,
        log=scale == "log",
        table=grid.table(folded=True),
        rules=_rules(found, curve, edge),
        spans=(plateau,),
    )
    return model.Section(title=title, blocks=(chart,))


def _rules(found: WsatFound, curve: Saturation, edge: Edge) -> list[model.Rule]:
    rules = [model.Rule(name="FOB", value=curve.plateau_iops, style="dotted")]
    window = found.steady_window if found.converged else None
    if window is not None:
        rules.append(model.Rule(name="steady state", value=window.average))
    elif curve.level_iops is not None:
        rules.append(model.Rule(name="level at the end", value=curve.level_iops))
    since, name = found.steady_since, "steady state begins"
    if since is None:
        since, name = curve.settled_samples, "settled"
    if since:
        rules.append(model.Rule(name=name, value=edge.number(since - 1), at="x"))
    return rules


def _latency_section(found: WsatFound, ruler: str) -> model.Section:
    title = say("Response time against {ruler}", ruler=ruler)
    named: tuple[tuple[str, Callable[[StepResult], float | None]], ...] = (
        ("mean (ART)", measures.latency_ms_mean),
        ("99.999 % (5 9s)", lambda answer: five_nines_ms(measures.latency_of(answer))),
        ("maximum (MRT)", measures.latency_ms_max),
    )
    lines = (
        Line(
            figure=Figure(name=name, unit="ms", digits=4),
            values=tuple(of(answer) for answer in found.answers),
            style="line",
        )
        for name, of in named
    )
    grid = Grid(rows=found.rulers[ruler], columns=tuple(lines))
    chart = grid.chart(
        title,
        report.RESPONSE_TIME,
        log=True,
        table=grid.table(folded=True),
        note="A minute of fewer than 100,000 I/Os has no 99.999 % of its own.",
    )
    return model.Section(title=title, blocks=(chart,))


def _table_section(found: WsatFound) -> model.Section:
    (_, written, fills), answers = found.rulers.values(), found.answers
    rates = tuple(measures.throughput_mb_s(answer) for answer in answers)
    iops, *times = report.answered(answers)
    columns = (
        Beside(column=model.Column(name="TGBW", unit="GB", digits=3), values=written.places),
        Beside(column=model.Column(name="Drive fills", digits=4), values=fills.places),
        iops,
        Beside(column=model.Column(name="Throughput", unit="MB/s", digits=2), values=rates),
        *times,
    )
    return report.every_minute(len(answers), columns)
