"""The report of DIRTH and the composite workload: its fifteen plots in the standard's order.

The sweep's plots are in sweep_pages, those of the operating points in point_pages.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from teijo import units
from teijo.analysis.quantities import IOPS
from teijo.document.grid import Beside, Edge, Figure, Grid, Line, matrix
from teijo.document.model import Column, Document, Facts, Section, Series, Span, Verdict, XYChart
from teijo.document.phrase import capitalised, say
from teijo.methods.phrases import is_steady
from teijo.methods.pts import window_pages
from teijo.methods.pts.demand import point_pages, sweep_pages
from teijo.methods.pts.demand.found import DemandFound
from teijo.methods.pts.demand.settings import stimulus_name, stimulus_with
from teijo.methods.pts.demand.stages import POINT_NAMES
from teijo.methods.pts.header import Loop
from teijo.methods.pts.report import answered, by_round, numbered, plot, report
from teijo.methods.scaled import scalar_told
from teijo.terms.cell import mix_name
from teijo.terms.finding import SteadyState, Window
from teijo.terms.remark import Remark, RemarkKind

CHECK = "Check minute"


def pages(found: DemandFound, title: str, short: str) -> Document:
    """Return the whole report of a record, growing or sealed, under the test's title and its
    short name in this version.
    """
    plots = [
        _precondition_section(found),
        _precondition_window_section(found.before),
        _prewrites_section(found),
        sweep_pages.tracking_section(found),
        *(window_pages.close_up_section(state, "Round") for state in found.states),
        sweep_pages.variation_section(found),
        sweep_pages.intensity_section(found),
        sweep_pages.cpu_section(found),
        *point_pages.sections(found),
        sweep_pages.outstanding_section(found),
    ]
    return report(
        found,
        _loop(found, title, short),
        summary=(
            window_pages.verdict_of(found.record, found),
            _precondition_verdict(found.before),
            window_pages.determination_table((*found.states, *found.before)),
            *point_pages.summary_blocks(found),
            *point_pages.order_blocks(found),
            _run_facts(found),
        ),
        sections=numbered(plots),
        remarks=_precondition_remarks(found),
    )


def _loop(found: DemandFound, title: str, short: str) -> Loop:
    settings = found.settings
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
            ("TC, outer loop", _levels(settings.thread_counts)),
            ("QD, inner loop", _levels(settings.queue_depths)),
        ),
    )


def _levels(levels: Sequence[int]) -> str:
    return ", ".join(str(level) for level in levels)


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
    before = found.before
    checks = len(before[0].rounds) if before else 0
    if not checks or checks < found.settings.precondition_rounds_most or is_steady(before):
        return ()
    text = say(
        "the preconditioning was not steady after its {minutes} minutes ({checks} check minutes)",
        minutes=len(found.minutes),
        checks=checks,
    )
    return (Remark(kind=RemarkKind.NOT_STEADY, text=text),)


def _run_facts(found: DemandFound) -> Facts:
    scalars = tuple(
        (
            capitalised(scalar.name),
            scalar_told(scalar, ",.6g", found.record.geometry),
        )
        for scalar in found.scalars
        # The points have a table of their own.
        if scalar.name.partition(":")[0] not in POINT_NAMES
    )
    return Facts(caption="Run", rows=(("Rounds measured", str(found.rounds)), *scalars))


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


def _precondition_section(found: DemandFound) -> Section:
    settings, minutes = found.settings, found.minutes
    title, every = "Pre-conditioning IOPS", settings.precondition_minutes
    if not minutes:
        text = "No minute yet." if settings.precondition_rounds_most else "No preconditioning."
        return plot(title, None, empty=text)
    iops = tuple(answer.iops for answer in minutes)
    numbers = tuple(range(1, len(minutes) + 1))
    length = units.format_duration(settings.minute_ns)
    checks = tuple("yes" if number % every == 1 % every else "no" for number in numbers)
    grid = Grid(
        rows=Edge(
            name="Minute",
            drawn_as=say("Minute (of {length})", length=length),
            digits=0,
            places=numbers,
        ),
        columns=(
            Beside(column=Column(name="Check minute"), values=checks),
            Line(figure=IOPS, name=stimulus_with(settings, 0), values=iops, style="line"),
            *answered(minutes)[1:],
        ),
    )
    chart = grid.chart(
        "IOPS of the preconditioning by minute",
        IOPS,
        more=(Series(name="check minutes", x=numbers[::every], y=iops[::every], style="points"),),
        table=grid.table(folded=True),
        spans=_window_spans(found.window_before, every),
    )
    return Section(title=title, blocks=(chart,))


def _window_spans(window: Window | None, every: int) -> tuple[Span, ...]:
    """Return the window of the preconditioning to shade, over an axis of minutes."""
    if window is None:
        return ()
    first, last = (
        float((round_number - 1) * every + 1)
        for round_number in (window.first_round, window.last_round)
    )
    return (Span(name=window_pages.WINDOW_NAME, first=first, last=last),)


def _precondition_window_section(before: Sequence[SteadyState]) -> Section:
    title = "Pre-conditioning steady state window"
    if not before:
        return plot(title, None, empty="No preconditioning.")
    return replace(window_pages.close_up_section(before[0], CHECK), title=title)


def _prewrites_section(found: DemandFound) -> Section:
    settings, whole = found.settings, found.course.whole
    title = "Pre-writes between rounds"
    if not settings.prewrite_minutes:
        return plot(title, None, empty="No pre-writes.")

    def chart() -> XYChart:
        minutes = range(1, settings.prewrite_minutes + 1)
        name = partial(say, "minute {number}")
        grid = matrix(
            by_round(whole),
            [found.prewrites(each) for each in whole],
            minutes,
            lambda answers, minute: answers[minute - 1].iops,
            figure=lambda minute: Figure(name=capitalised(name(number=minute)), unit="IOPS"),
            name=lambda minute: name(number=minute),
        )
        return grid.chart(
            "IOPS of the pre-writes by round, one line a minute",
            IOPS,
            note=say(
                "{stimulus} at TC {threads} QD {queue_depth}, before the sweep of every round.",
                stimulus=stimulus_with(settings, 0),
                threads=settings.threads,
                queue_depth=settings.queue_depth,
            ),
        )

    return plot(title, chart if whole else None)
