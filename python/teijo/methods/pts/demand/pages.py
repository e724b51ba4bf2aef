"""The report of DIRTH and the composite workload: its fifteen plots in the standard's order.

The sweep's plots are in sweep_pages, those of the operating points in point_pages.
"""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis import measures
from teijo.analysis.demand import OperatingPoints
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Document,
    Facts,
    Paragraph,
    Section,
    Series,
    Span,
    Table,
    Verdict,
    XYChart,
)
from teijo.document.phrase import capitalised, say
from teijo.methods.knobs import show_mix
from teijo.methods.pages import assemble, ms
from teijo.methods.phrases import is_steady
from teijo.methods.pts import window_pages
from teijo.methods.pts.demand import point_pages, sweep_pages
from teijo.methods.pts.demand.settings import DemandSettings, stimulus_name, stimulus_with
from teijo.methods.pts.demand.stages import (
    POINT_NAMES,
    PointRun,
    cells_per_round,
    chosen_points,
    point_runs,
    precondition_determination,
    preconditioned,
    prewrites_of,
    window_of,
)
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.pts.ledger.page import ledger_section
from teijo.methods.pts.versions import version_of
from teijo.methods.rounds import Rounds, exchanges_of, rounds_of
from teijo.methods.scaled import scalar_told
from teijo.terms.finding import Findings, SteadyState
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult

CHECK = "Check minute"
NO_ROUND = "No whole round yet."


def pages(
    names: tuple[str, str, str], settings: DemandSettings, record: Record, findings: Findings
) -> Document:
    """Return the whole report of a record, growing or sealed.

    `names` are the method's id, its title, and the test's short name in this version.
    """
    version = version_of(settings.spec)
    exchanges = exchanges_of(record)
    minutes = preconditioned(exchanges)
    before = precondition_determination(settings, minutes)
    rounds = rounds_of(exchanges, cells_per_round(settings))
    window = window_of(settings, rounds)
    points = chosen_points(settings, window)
    runs = point_runs(exchanges)
    sweep = sweep_pages.Sweep(settings=settings, findings=findings, points=points, window=window)
    plots = [
        _precondition_section(settings, minutes, before),
        _precondition_window_section(before),
        _prewrites_section(settings, rounds),
        sweep_pages.tracking_section(sweep, rounds),
        *(window_pages.close_up_section(state, "Round") for state in findings.steady_states),
        sweep_pages.variation_section(sweep),
        sweep_pages.intensity_section(sweep),
        sweep_pages.cpu_section(sweep),
        *point_pages.sections(settings, runs),
        sweep_pages.outstanding_section(sweep),
    ]
    numbered = [
        replace(section, label=say("Plot {place} of {count}", place=place, count=len(plots)))
        for place, section in enumerate(plots, start=1)
    ]
    loop = _loop(names, settings, findings, before)
    header = pts_header(record, settings, version, loop, findings.ledger)
    order = point_pages.order_blocks(settings, window)
    summary = _summary_section(settings, record, findings, before, points, runs, order)
    remarks = (*cache_remarks(record, version), *_precondition_remarks(settings, minutes, before))
    sections = (summary, *numbered, ledger_section(findings.ledger, version))
    return assemble(record, settings, header, sections, remarks)


def _loop(
    names: tuple[str, str, str],
    settings: DemandSettings,
    findings: Findings,
    before: Sequence[SteadyState],
) -> Loop:
    method, title, short = names
    name, minute = stimulus_name(settings), units.format_duration(settings.minute_ns)
    return Loop(
        method=method,
        title=title,
        subtitle=say("{test} loop", test=short),
        workload_independent=_precondition_words(settings, before),
        workload_dependent=say(
            "pre-write {minutes} min, {stimulus}",
            minutes=settings.prewrite_minutes,
            stimulus=stimulus_with(settings, 0),
        ),
        stimulus=(
            ("Stimulus", say("{stimulus}, {minute} each", stimulus=name, minute=minute)),
            ("R/W mix", show_mix(settings.read_percent)),
            ("TC, outer loop", _levels(settings.thread_counts)),
            ("QD, inner loop", _levels(settings.queue_depths)),
        ),
        convergence=window_pages.convergence_word(findings),
        rounds=window_pages.window_name(findings),
    )


def _levels(levels: Sequence[int]) -> str:
    return ", ".join(str(level) for level in levels)


def _precondition_words(settings: DemandSettings, before: Sequence[SteadyState]) -> str:
    if not before:
        return "none"
    stimulus = stimulus_with(settings, 0)
    window = before[0].window
    if window is None or not is_steady(before):
        return say("{stimulus}, not steady", stimulus=stimulus)
    return say(
        "{stimulus}, SS rounds {first}–{last}",
        stimulus=stimulus,
        first=window.first_round,
        last=window.last_round,
    )


def _precondition_remarks(
    settings: DemandSettings, minutes: Sequence[StepResult], before: Sequence[SteadyState]
) -> tuple[Remark, ...]:
    """Return the remark that the rounds began on a drive that was not steady."""
    checks = len(before[0].rounds) if before else 0
    if not checks or checks < settings.precondition_rounds_most or is_steady(before):
        return ()
    text = say(
        "the preconditioning was not steady after its {minutes} minutes ({checks} check minutes)",
        minutes=len(minutes),
        checks=checks,
    )
    return (Remark(kind=RemarkKind.NOT_STEADY, text=text),)


# --- the summary ------------------------------------------------------------------------------


def _summary_section(
    settings: DemandSettings,
    record: Record,
    findings: Findings,
    before: Sequence[SteadyState],
    points: OperatingPoints | None,
    runs: Sequence[PointRun],
    order: Sequence[Block],
) -> Section:
    scalars = tuple(
        (
            capitalised(scalar.name),
            scalar_told(scalar, ",.6g", record.geometry),
        )
        for scalar in findings.scalars
        # The points have a table of their own.
        if scalar.name.partition(":")[0] not in POINT_NAMES
    )
    blocks: list[Block] = [window_pages.verdict_of(record, findings), _precondition_verdict(before)]
    blocks.append(window_pages.determination_table((*findings.steady_states, *before)))
    blocks += point_pages.summary_blocks(settings, points, runs)
    blocks += order
    blocks.append(Facts(caption="Run", rows=(("Rounds measured", str(findings.rounds)), *scalars)))
    return Section(title="Summary", blocks=tuple(blocks))


def _precondition_verdict(before: Sequence[SteadyState]) -> Verdict:
    if not before:
        return Verdict(text="PRECONDITIONING: none", good=None)
    (state,) = before
    window = state.window
    if window is not None and is_steady(before):
        text = say(
            "PRECONDITIONING: steady, check minutes {first}–{last}",
            first=window.first_round,
            last=window.last_round,
        )
        return Verdict(text=text, good=True)
    text = say("PRECONDITIONING: not steady in {count} check minutes", count=len(state.rounds))
    return Verdict(text=text, good=None if window is None else False)


# --- preconditioning and pre-writes -----------------------------------------------------------


def _precondition_section(
    settings: DemandSettings, minutes: Sequence[StepResult], before: Sequence[SteadyState]
) -> Section:
    title = "Pre-conditioning IOPS"
    if not minutes:
        text = "No minute yet." if settings.precondition_rounds_most else "No preconditioning."
        return Section(title=title, blocks=(Paragraph(text=text),))
    every = settings.precondition_minutes
    numbers = tuple(range(1, len(minutes) + 1))
    iops = tuple(answer.iops for answer in minutes)
    table = minutes_table(
        [("yes" if number % every == 1 % every else "no") for number in numbers], minutes
    )
    window = before[0].window if is_steady(before) else None
    first, last = (window.first_round, window.last_round) if window else (1, 1)
    spans = (
        Span(
            name=window_pages.WINDOW_NAME,
            first=float((first - 1) * every + 1),
            last=float((last - 1) * every + 1),
        ),
    )
    chart = XYChart(
        title="IOPS of the preconditioning by minute",
        x=_minute_axis(settings),
        y=Axis(name="IOPS"),
        series=(
            Series(name=stimulus_with(settings, 0), x=numbers, y=iops, style="line"),
            Series(name="check minutes", x=numbers[::every], y=iops[::every], style="points"),
        ),
        table=table,
        spans=spans if window else (),
    )
    return Section(title=title, blocks=(chart,))


def _minute_axis(settings: DemandSettings) -> Axis:
    return Axis(
        name=say("Minute (of {length})", length=units.format_duration(settings.minute_ns)),
        from_zero=False,
    )


def minutes_table(checks: Sequence[str], minutes: Sequence[StepResult]) -> Table:
    """Return one row a minute: whether it is a check minute, its IOPS and response times."""
    return Table(
        columns=(
            Column(name="Minute", digits=0),
            Column(name="Check minute"),
            Column(name="IOPS", digits=1),
            Column(name="ART", unit="ms", digits=4),
            Column(name="MRT", unit="ms", digits=3),
        ),
        rows=tuple(
            (
                number,
                check,
                answer.iops,
                ms(measures.latency_ns_mean(answer)),
                ms(measures.latency_ns_max(answer)),
            )
            for number, (check, answer) in enumerate(zip(checks, minutes, strict=True), start=1)
        ),
        folded=True,
    )


def _precondition_window_section(before: Sequence[SteadyState]) -> Section:
    title = "Pre-conditioning steady state window"
    if not before:
        return Section(title=title, blocks=(Paragraph(text="No preconditioning."),))
    return replace(window_pages.close_up_section(before[0], CHECK), title=title)


def _prewrites_section(settings: DemandSettings, rounds: Rounds) -> Section:
    title = "Pre-writes between rounds"
    if not settings.prewrite_minutes:
        return Section(title=title, blocks=(Paragraph(text="No pre-writes."),))
    if not rounds.whole:
        return Section(title=title, blocks=(Paragraph(text=NO_ROUND),))
    numbers = tuple(each.number for each in rounds.whole)
    minutes = [
        tuple(answer.iops for answer in column)
        for column in zip(*(prewrites_of(settings, each) for each in rounds.whole), strict=True)
    ]
    names = [say("minute {number}", number=place) for place in range(1, len(minutes) + 1)]
    table = Table(
        columns=(
            Column(name="Round", digits=0),
            *(Column(name=capitalised(name), unit="IOPS", digits=1) for name in names),
        ),
        rows=tuple(zip(numbers, *minutes, strict=True)),
    )
    chart = XYChart(
        title="IOPS of the pre-writes by round, one line a minute",
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="IOPS"),
        series=tuple(
            Series(name=name, x=numbers, y=values)
            for name, values in zip(names, minutes, strict=True)
        ),
        table=table,
        note=say(
            "{stimulus} at TC {threads} QD {queue_depth}, before the sweep of every round.",
            stimulus=stimulus_with(settings, 0),
            threads=settings.threads,
            queue_depth=settings.queue_depth,
        ),
    )
    return Section(title=title, blocks=(chart,))
