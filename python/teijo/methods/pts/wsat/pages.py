"""The report of PTS WSAT: the saturation curve against time, TGBW and drive fills."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teijo import units
from teijo.analysis import measures
from teijo.analysis.saturation import Sample, Saturation, saturation_of
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import Version, version_of
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
from teijo.methods.pts import settings as shared
from teijo.methods.pts import window_pages
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.header import Loop
from teijo.methods.pts.histogram_pages import five_nines_ms, histogram_section
from teijo.methods.pts.report import IOPS, RESPONSE_TIME, answered, numbered, report
from teijo.methods.pts.wsat.minutes import (
    LEVEL_NAME,
    PLATEAU_NAME,
    Stop,
    WsatSettings,
    samples_of,
    steady_since,
    stimulus_words,
    why_stop,
)
from teijo.methods.rounds import exchanges_of, histogram_run_of, minutes_of
from teijo.methods.scaled import scalar_told
from teijo.terms.finding import Findings
from teijo.terms.histogram import EMPTY
from teijo.terms.record import Record
from teijo.terms.result import StepResult

CHECK = "Check minute"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The saturation curve with what is annotated on it. `steady_since` counts minutes."""

    settings: WsatSettings
    answers: tuple[StepResult, ...]
    samples: tuple[Sample, ...]
    saturation: Saturation
    capacity_bytes: int
    steady_iops: float | None
    steady_since: int | None


@dataclass(frozen=True, kw_only=True)
class Ruler:
    """What a curve is drawn against: the place of every minute's end on an edge."""

    name: str
    edge: Edge


def pages(found: PtsFound[WsatSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record, findings = found.settings, found.record, found.reported
    exchanges = exchanges_of(record)
    answers = tuple(answer for _, answer in minutes_of(exchanges))
    curve = _curve(settings, record, findings, answers)
    plots = _plots(version_of(settings.spec), curve) if curve is not None else []
    if settings.check_minutes is not None:
        plots.append(window_pages.all_rounds_section(findings.steady_states, findings, CHECK))
        plots += [window_pages.close_up_section(state, CHECK) for state in findings.steady_states]
    if settings.histogram_minutes is not None:
        plots.append(_histogram_section(settings, histogram_run_of(exchanges)))
    return report(
        found,
        _loop(settings),
        summary=_summary(settings, record, findings, answers),
        sections=[*numbered(plots), *([] if curve is None else [_table_section(curve)])],
    )


def _loop(settings: WsatSettings) -> Loop:
    ends = say(
        "{times:g}X user capacity or {minutes} min",
        times=settings.capacity_times,
        minutes=settings.minutes_most,
    )
    if settings.check_minutes is not None:
        ends = say("{ends} or five-round SS", ends=ends)
    return Loop(
        title="Write Saturation",
        subtitle="WSAT loop",
        workload_dependent=say("{stimulus}, continuous", stimulus=stimulus_words(settings)),
        stimulus=(
            ("Stimulus", stimulus_words(settings)),
            ("Sample", units.format_duration(settings.minute_ns)),
            ("Ends at", ends),
            *_histogram_rows(settings),
        ),
    )


def _histogram_rows(settings: WsatSettings) -> tuple[tuple[str, str], ...]:
    if settings.histogram_minutes is None:
        return ()
    length = units.format_duration(settings.histogram_minutes * settings.minute_ns)
    return (("Then, for the histogram", length),)


def _histogram_section(settings: WsatSettings, run: StepResult | None) -> Section:
    latency = EMPTY if run is None else measures.latency_of(run)
    stimulus = stimulus_words(settings)
    return histogram_section("Response-time histogram and confidence levels", stimulus, latency)


def _curve(
    settings: WsatSettings,
    record: Record,
    findings: Findings,
    answers: tuple[StepResult, ...],
) -> Curve | None:
    samples = tuple(samples_of(answers))
    saturation = saturation_of(samples)
    if saturation is None:
        return None
    window = findings.steady_states[0].window if findings.converged else None
    return Curve(
        settings=settings,
        answers=answers,
        samples=samples,
        saturation=saturation,
        capacity_bytes=record.geometry.capacity_bytes,
        steady_iops=window.average if window else None,
        steady_since=steady_since(settings, findings.steady_states),
    )


def _summary(
    settings: WsatSettings, record: Record, findings: Findings, answers: Sequence[StepResult]
) -> tuple[Block, ...]:
    written = sum(measures.written_bytes(answer) for answer in answers)
    stop = why_stop(settings, record.geometry, answers, written)
    rows = [
        (
            capitalised(scalar.name),
            scalar_told(scalar, ",.6g", record.geometry),
        )
        for scalar in findings.scalars
        if scalar.value is not None or findings.converged is not None
    ]
    return (
        _verdict(settings, record, findings),
        Paragraph(text=_stop_sentence(settings, stop)),
        Facts(caption="Write saturation", rows=tuple(rows)),
        Paragraph(text=_explanation(settings)),
    )


def _stop_sentence(settings: WsatSettings, stop: Stop | None) -> str:
    match stop:
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


def _verdict(settings: WsatSettings, record: Record, findings: Findings) -> Verdict:
    if settings.check_minutes is None:
        text = "STEADY STATE: not determined by this version"
        return Verdict(text=_with_levels(text, findings), good=None)
    if findings.converged is None:
        text = say(
            "STEADY STATE: not determined, {count} of {needed} check minutes",
            count=findings.rounds,
            needed=WINDOW_ROUNDS,
        )
        return Verdict(text=_with_levels(text, findings), good=None)
    return window_pages.verdict_of(record, findings, "check minutes")


def _with_levels(verdict: str, findings: Findings) -> str:
    """Return a verdict that begins with where the curve began and where it ended, if it is known:
    it is what such a run has found.
    """
    values = {scalar.name: scalar.value for scalar in findings.scalars}
    fresh, last = values.get(PLATEAU_NAME), values.get(LEVEL_NAME)
    if fresh is None or last is None:
        return verdict
    return say(
        "FROM {fresh:,.0f} IOPS FRESH TO {last:,.0f} AT THE END; {verdict}",
        fresh=fresh,
        last=last,
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


def _plots(version: Version, curve: Curve) -> list[Section]:
    time, tgbw, fills = _rulers(curve)
    plots = [
        _iops_section(curve, ruler, log=log) for ruler in (time, tgbw) for log in (False, True)
    ]
    if version.layout == "2.0":
        plots.append(_iops_section(curve, fills, log=True))
    plots.append(_latency_section(curve, fills if version.layout == "2.0" else time))
    return plots


def _rulers(curve: Curve) -> tuple[Ruler, Ruler, Ruler]:
    written = tuple(sample.written_bytes for sample in curve.samples)
    time = Edge(
        name=shared.time_name(curve.settings.minute_ns),
        unit="min",
        digits=0,
        places=tuple(float(place) for place in range(1, len(written) + 1)),
        from_zero=True,
    )
    tgbw = Edge(
        name="Total written (TGBW)",
        unit="GB",
        digits=3,
        places=tuple(each / 1e9 for each in written),
        from_zero=True,
    )
    fills = Edge(
        name="Drive fills",
        unit="user capacities",
        digits=4,
        places=tuple(each / curve.capacity_bytes for each in written),
        from_zero=True,
    )
    return (
        Ruler(name="time", edge=time),
        Ruler(name="TGBW", edge=tgbw),
        Ruler(name="drive fills", edge=fills),
    )


def _iops_section(curve: Curve, ruler: Ruler, *, log: bool) -> Section:
    scale = "log" if log else "linear"
    title = say("IOPS against {ruler}, {scale}", ruler=ruler.name, scale=scale)
    line = Line(
        figure=IOPS,
        name=stimulus_words(curve.settings),
        values=tuple(sample.iops for sample in curve.samples),
        style="line",
    )
    grid = Grid(rows=ruler.edge, columns=(line,))
    chart = grid.chart(
        title,
        IOPS,
        log=log,
        table=grid.table(folded=True),
        rules=_rules(curve, ruler),
        spans=_spans(curve, ruler),
    )
    return Section(title=title, blocks=(chart,))


def _rules(curve: Curve, ruler: Ruler) -> tuple[Rule, ...]:
    rules = [Rule(name="FOB", value=curve.saturation.plateau_iops, style="dotted")]
    if curve.steady_iops is not None:
        rules.append(Rule(name="steady state", value=curve.steady_iops))
    elif curve.saturation.level_iops is not None:
        rules.append(Rule(name="level at the end", value=curve.saturation.level_iops))
    since, name = curve.steady_since, "steady state begins"
    if since is None:
        since, name = curve.saturation.settled_samples, "settled"
    if since:
        rules.append(Rule(name=name, value=ruler.edge.number(since - 1), at="x"))
    return tuple(rules)


def _spans(curve: Curve, ruler: Ruler) -> tuple[Span, ...]:
    last = ruler.edge.number(curve.saturation.plateau_samples - 1)
    return (Span(name="FOB plateau", first=0.0, last=last),)


def _latency_section(curve: Curve, ruler: Ruler) -> Section:
    title = say("Response time against {ruler}", ruler=ruler.name)
    named: tuple[tuple[str, Callable[[StepResult], float | None]], ...] = (
        ("mean (ART)", lambda answer: ms(measures.latency_ns_mean(answer))),
        ("99.999 % (5 9s)", lambda answer: five_nines_ms(measures.latency_of(answer))),
        ("maximum (MRT)", lambda answer: ms(measures.latency_ns_max(answer))),
    )
    lines = (
        Line(
            figure=Figure(name=name, unit="ms", digits=4),
            values=tuple(of(answer) for answer in curve.answers),
            style="line",
        )
        for name, of in named
    )
    grid = Grid(rows=ruler.edge, columns=tuple(lines))
    chart = grid.chart(
        title,
        RESPONSE_TIME,
        log=True,
        table=grid.table(folded=True),
        note="A minute of fewer than 100,000 I/Os has no 99.999 % of its own.",
    )
    return Section(title=title, blocks=(chart,))


def _table_section(curve: Curve) -> Section:
    _, tgbw, fills = (each.edge for each in _rulers(curve))
    rates = tuple(measures.throughput_mb_s(answer) for answer in curve.answers)
    iops, *times = answered(curve.answers)
    grid = Grid(
        rows=Edge(name="Minute", digits=0, places=tuple(range(1, len(curve.answers) + 1))),
        columns=(
            Beside(column=Column(name="TGBW", unit="GB", digits=3), values=tgbw.places),
            Beside(column=Column(name="Drive fills", digits=4), values=fills.places),
            iops,
            Beside(column=Column(name="Throughput", unit="MB/s", digits=2), values=rates),
            *times,
        ),
    )
    return Section(title="Every minute", blocks=(grid.table("Every minute", folded=True),))
