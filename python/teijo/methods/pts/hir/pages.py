"""The report of PTS HIR: preconditioning, the wait states against time, and what idling gained."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import batch_means
from teijo.document.grid import Beside, Edge, Figure, Grid, Line, matrix
from teijo.document.model import (
    Block,
    Column,
    Document,
    Facts,
    Paragraph,
    Section,
    Series,
    Span,
    Style,
    Table,
    Value,
    Verdict,
)
from teijo.document.phrase import capitalised, say
from teijo.methods.pages import ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts import window_pages
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.header import Loop
from teijo.methods.pts.hir.bursts import (
    HirSettings,
    WaitState,
    check_answers,
    log_of,
    state_name,
    stimulus_words,
)
from teijo.methods.pts.report import IOPS, answered, numbered, report
from teijo.methods.rounds import exchanges_of
from teijo.methods.scaled import full_size, with_full_size_word
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import StepResult

ROUND = "Round"


@dataclass(frozen=True, kw_only=True)
class Course:
    """What was measured since the purge, and the determination over its preconditioning."""

    settings: HirSettings
    minutes: tuple[StepResult, ...]
    states: tuple[WaitState, ...]
    findings: Findings


def pages(found: PtsFound[HirSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record, findings = found.settings, found.record, found.reported
    log = log_of(settings, exchanges_of(record))
    course = Course(settings=settings, minutes=log.minutes, states=log.states, findings=findings)
    return report(
        found,
        _loop(settings),
        summary=_summary(course, record),
        sections=numbered(_plots(course)),
    )


def _loop(settings: HirSettings) -> Loop:
    return Loop(
        title="Host Idle Recovery",
        subtitle="HIR loop",
        workload_dependent=say(
            "{stimulus}, rounds of {minutes} min",
            stimulus=stimulus_words(settings),
            minutes=settings.round_minutes,
        ),
        stimulus=(
            ("Stimulus", stimulus_words(settings)),
            (
                "Wait states",
                say(
                    "{bursts} × {burst} s, idle {idle} s",
                    bursts=settings.bursts,
                    burst=settings.burst_s,
                    idle=", ".join(str(each) for each in settings.idle_s),
                ),
            ),
            ("Then", say("{minutes} min continuous", minutes=settings.baseline_minutes)),
        ),
    )


# --- the summary ------------------------------------------------------------------------------


def _summary(course: Course, record: Record) -> list[Block]:
    blocks: list[Block] = [
        window_pages.verdict_of(record, course.findings),
        _verdict(course, record.geometry),
    ]
    if course.states:
        blocks.append(_states_table(course.states, record.geometry))
        sentences = [text for state in course.states if (text := _sentence(state, record.geometry))]
        blocks += [Paragraph(text=text) for text in sentences]
        blocks.append(_rests(course))
    return [*blocks, Paragraph(text=_explanation(course.settings))]


def _verdict(course: Course, geometry: Geometry) -> Verdict:
    gains = [(state, gain) for state in course.states if (gain := state.gain) is not None]
    if not gains:
        return Verdict(text="IDLE RECOVERY: not measured yet", good=None)
    shown = [(state, gain) for state, gain in gains if gain.low is not None and gain.low > 0]
    if all(gain.low is None for _, gain in gains):
        return Verdict(text="IDLE RECOVERY: not determined, too few bursts", good=None)
    if not shown:
        return Verdict(text="IDLE RECOVERY: none shown in any wait state", good=None)
    state, gain = max(shown, key=lambda pair: pair[1].share)
    text = say(
        "IDLE RECOVERY: bursts gain up to {percent:,.1f} % on the baseline, after {idle} of rest",
        percent=gain.share * 100,
        idle=_idle(state, geometry),
    )
    return Verdict(text=text, good=None)


def _sentence(state: WaitState, geometry: Geometry) -> str | None:
    """Return a wait state's conclusion, None as long as it has none."""
    gain = state.gain
    if gain is None or gain.low is None or gain.high is None:
        return None
    told = say(
        "{percent:+,.1f} % (95 %: {low:+,.1f} to {high:+,.1f} %)",
        percent=gain.share * 100,
        low=gain.low * 100,
        high=gain.high * 100,
    )
    idle = _idle(state, geometry)
    if gain.low > 0:
        return say("After {idle} of rest bursts are faster: {gain}.", idle=idle, gain=told)
    if gain.high < 0:
        return say("After {idle} of rest bursts are slower: {gain}.", idle=idle, gain=told)
    return say("After {idle} of rest no recovery is shown: {gain}.", idle=idle, gain=told)


def _idle(state: WaitState, geometry: Geometry) -> str:
    """Return a rest by the standard's number, which is the full-size drive's."""
    return with_full_size_word(f"{state.idle_s} s", geometry)


def _states_table(states: Sequence[WaitState], geometry: Geometry) -> Table:
    columns = (
        Column(name="Idle", unit=full_size("s", geometry), digits=0),
        Column(name="Bursts", digits=0),
        Column(name="Mean of the bursts", unit="IOPS", digits=1),
        Column(name="First burst", unit="IOPS", digits=1),
        Column(name="Last burst", unit="IOPS", digits=1),
        Column(name="First minute after", unit="IOPS", digits=1),
        Column(name="Baseline after", unit="IOPS", digits=1),
        Column(name="Gain", unit="%", digits=1),
        Column(name="From", unit="%", digits=1),
        Column(name="To", unit="%", digits=1),
        Column(name="ART", unit="ms", digits=3),
        Column(name="MRT", unit="ms", digits=2),
    )
    rows = tuple(_state_row(state) for state in states)
    return Table(columns=columns, rows=rows, caption="The wait states")


def _state_row(state: WaitState) -> tuple[Value, ...]:
    raised, baseline, gain = state.burst_iops, state.baseline_iops, state.gain

    def percent(share: float | None) -> float | None:
        return None if share is None else share * 100

    return (
        state.idle_s,
        len(state.bursts),
        None if raised is None else raised.value,
        state.bursts[0].iops,
        state.bursts[-1].iops,
        state.baseline[0].iops if state.baseline else None,
        None if baseline is None else baseline.value,
        None if gain is None else gain.share * 100,
        percent(None if gain is None else gain.low),
        percent(None if gain is None else gain.high),
        ms(measures.cell_over((), state.bursts).latency_ns_mean),
        ms(max(measures.latency_ns_max(answer) for answer in state.bursts)),
    )


def _rests(course: Course) -> Facts:
    """Return how long the rests really were, as the recorded times of the bursts have it."""
    rows = []
    for state in course.states:
        asked_ns = course.settings.scaled_ns(state.idle_s)
        if not state.rests_ns:
            continue
        told = say(
            "{mean:,.1f} ms on average ({least:,.1f} to {most:,.1f}), asked {asked:,.1f}",
            mean=ms(sum(state.rests_ns) / len(state.rests_ns)),
            least=ms(min(state.rests_ns)),
            most=ms(max(state.rests_ns)),
            asked=ms(asked_ns),
        )
        rows.append((capitalised(state_name(state.idle_s)), told))
    return Facts(caption="Rests as measured, without I/O", rows=tuple(rows))


def _explanation(settings: HirSettings) -> str:
    return say(
        "A minute is {minute} here, and seconds are as much shorter. The baseline of a wait state "
        "is the mean of the second half of the continuous minutes that follow it: the first half "
        "is the way back. The gain is the mean of the bursts over the baseline, less one; its "
        "95 % interval stands on five long batches of each, and is as wide as an autocorrelation "
        "of neighbours of 0.8 makes it.",
        minute=units.format_duration(settings.minute_ns),
    )


# --- the plots --------------------------------------------------------------------------------


def _plots(course: Course) -> list[Section]:
    plots = [_precondition_section(course)] if course.minutes else []
    plots += [
        window_pages.close_up_section(state, ROUND) for state in course.findings.steady_states
    ]
    if course.states:
        plots += [_time_section(course), _batches_section(course)]
    return plots


def _precondition_section(course: Course) -> Section:
    settings = course.settings
    every = settings.round_minutes
    minutes = tuple(range(1, len(course.minutes) + 1))
    grid = Grid(
        rows=Edge(
            name=ROUND, digits=4, places=tuple(minute / every for minute in minutes), from_zero=True
        ),
        columns=(
            Beside(column=Column(name="Minute", digits=0), values=minutes),
            Line(
                figure=IOPS,
                name="every minute",
                values=tuple(answer.iops for answer in course.minutes),
                style="line",
            ),
        ),
    )
    checks = tuple(answer.iops for answer in check_answers(settings, course.minutes))
    last_minutes = Series(
        name="last minute of the round",
        x=tuple(float(place) for place in range(1, len(checks) + 1)),
        y=checks,
        style="points",
    )
    title = "Preconditioning IOPS against round"
    window = course.findings.window_rounds
    spans = (
        ()
        if window is None
        else (Span(name=window_pages.WINDOW_NAME, first=window[0] - 1.0, last=float(window[1])),)
    )
    chart = grid.chart(
        title, IOPS, more=(last_minutes,), table=grid.table(folded=True), spans=spans
    )
    return Section(title=title, blocks=(chart,))


def _time_section(course: Course) -> Section:
    minute_ns, origin_ns = course.settings.minute_ns, course.states[0].bursts[0].started_ns
    title = "IOPS against time, all wait states"

    def at(answer: StepResult) -> float:
        return (answer.started_ns + answer.elapsed_ns - origin_ns) / minute_ns

    parts = [
        (state, part, answer)
        for state in course.states
        for part, answers in (("burst", state.bursts), ("continuous", state.baseline))
        for answer in answers
    ]
    answers = [answer for _, _, answer in parts]
    iops, *times = answered(answers)
    names = tuple(state_name(state.idle_s) for state, _, _ in parts)
    means = tuple(
        None if part != "burst" or state.burst_iops is None else state.burst_iops.value
        for state, part, _ in parts
    )
    grid = Grid(
        rows=Edge(
            name=shared.time_name(minute_ns),
            unit="min",
            digits=4,
            places=tuple(at(answer) for answer in answers),
            from_zero=True,
        ),
        columns=(
            Beside(column=Column(name="Wait state"), values=names),
            Beside(column=Column(name="Part"), values=tuple(part for _, part, _ in parts)),
            iops,
            Beside(column=Column(name="Mean of the state", unit="IOPS", digits=1), values=means),
            *times,
        ),
    )
    bursts = (
        Series(
            name=state_name(state.idle_s),
            x=tuple(at(answer) for answer in state.bursts),
            y=tuple(answer.iops for answer in state.bursts),
            style="points",
        )
        for state in course.states
    )
    continuous = [[(at(a), a.iops) for a in state.baseline] for state in course.states]
    levels = [
        [(at(answer), value.value) for answer in (state.bursts[0], state.bursts[-1])]
        for state in course.states
        if (value := state.burst_iops) is not None
    ]
    chart = grid.chart(
        title,
        IOPS,
        more=(
            *bursts,
            *_stretches("continuous", continuous, "line"),
            *_stretches("mean of the state", levels, "dashed"),
        ),
        table=grid.table(folded=True),
    )
    return Section(title=title, blocks=(chart,))


def _stretches(
    name: str, stretches: Sequence[Sequence[tuple[float, float]]], style: Style
) -> tuple[Series, ...]:
    """Return one series of several stretches, broken between them; none of nothing."""
    x: list[Value] = []
    y: list[float | None] = []
    for stretch in stretches:
        if x and stretch:
            x.append(stretch[0][0])
            y.append(None)
        x += [place for place, _ in stretch]
        y += [value for _, value in stretch]
    return (Series(name=name, x=tuple(x), y=tuple(y), style=style),) if x else ()


def _batches_section(course: Course) -> Section:
    """Return the bursts of all wait states over one another: how soon a drive is used to resting.

    Single bursts swing with the drive's own cleaning, so equal batches are drawn.
    """
    title = "IOPS against burst, batch means"
    batches = {state.idle_s: _batch_means(state) for state in course.states}
    bursts = sorted({burst for means in batches.values() for burst in means})
    grid = matrix(
        Edge(name="Burst", digits=0, places=tuple(bursts), from_zero=True),
        bursts,
        tuple(batches),
        lambda burst, idle_s: batches[idle_s].get(burst),
        figure=lambda idle_s: Figure(name=state_name(idle_s), unit="IOPS"),
        sparse=True,
    )
    chart = grid.chart(
        title,
        IOPS,
        table=grid.table(folded=True),
        note="Each point is the mean of the bursts since the point before.",
    )
    return Section(title=title, blocks=(chart,))


def _batch_means(state: WaitState) -> dict[int, float]:
    """Return the mean IOPS of each batch by its last burst."""
    means = batch_means([answer.iops for answer in state.bursts])
    length = len(state.bursts) // max(1, len(means))
    return {place * length: mean for place, mean in enumerate(means, start=1)}
