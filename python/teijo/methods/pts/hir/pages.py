"""The report of PTS HIR: preconditioning, the wait states against time, and what idling gained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import batch_means
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
    Value,
    Verdict,
    XYChart,
)
from teijo.document.phrase import say
from teijo.methods.pages import assemble, ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.pts.hir.bursts import (
    HirSettings,
    WaitState,
    check_answers,
    log_of,
    state_name,
    stimulus_words,
)
from teijo.methods.pts.ledger.page import ledger_section
from teijo.methods.pts.versions import version_of
from teijo.methods.rounds import exchanges_of
from teijo.methods.scaled import full_size, with_full_size_word
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import StepResult

TITLE = "Host Idle Recovery"
ROUND = "Round"


@dataclass(frozen=True, kw_only=True)
class Course:
    """What was measured since the purge, and the determination over its preconditioning."""

    settings: HirSettings
    minutes: tuple[StepResult, ...]
    states: tuple[WaitState, ...]
    findings: Findings


def pages(settings: HirSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    version = version_of(settings.spec)
    log = log_of(settings, exchanges_of(record))
    course = Course(settings=settings, minutes=log.minutes, states=log.states, findings=findings)
    plots = _plots(course)
    numbered = [
        replace(section, label=say("Plot {place} of {count}", place=place, count=len(plots)))
        for place, section in enumerate(plots, start=1)
    ]
    header = pts_header(record, settings, version, _loop(settings, findings), findings.ledger)
    sections = [_summary_section(course, record), *numbered]
    sections.append(ledger_section(findings.ledger, version))
    return assemble(record, settings, header, sections, cache_remarks(record, version))


def _loop(settings: HirSettings, findings: Findings) -> Loop:
    return Loop(
        method="pts.hir",
        title=TITLE,
        subtitle="HIR loop",
        workload_independent="none",
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
        convergence=window_pages.convergence_word(findings),
        rounds=window_pages.window_name(findings),
    )


# --- the summary ------------------------------------------------------------------------------


def _summary_section(course: Course, record: Record) -> Section:
    blocks: list[Block] = [
        window_pages.verdict_of(record, course.findings),
        _verdict(course, record.geometry),
    ]
    if course.states:
        blocks.append(_states_table(course.states, record.geometry))
        sentences = [text for state in course.states if (text := _sentence(state, record.geometry))]
        blocks += [Paragraph(text=text) for text in sentences]
        blocks.append(_rests(course))
    blocks.append(Paragraph(text=_explanation(course.settings)))
    return Section(title="Summary", blocks=tuple(blocks))


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
        Column(name="from", unit="%", digits=1),
        Column(name="to", unit="%", digits=1),
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
        rows.append((state_name(state.idle_s), told))
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
    iops = tuple(answer.iops for answer in course.minutes)
    rounds = tuple(place / settings.round_minutes for place in range(1, len(iops) + 1))
    checks = tuple(answer.iops for answer in check_answers(settings, course.minutes))
    title = "Preconditioning IOPS against round"
    window = course.findings.window_rounds
    spans = (
        ()
        if window is None
        else (Span(name=window_pages.WINDOW_NAME, first=window[0] - 1.0, last=float(window[1])),)
    )
    chart = XYChart(
        title=title,
        x=Axis(name=ROUND),
        y=Axis(name="IOPS"),
        series=(
            Series(name="every minute", x=rounds, y=iops, style="line"),
            Series(
                name="last minute of the round",
                x=tuple(float(place) for place in range(1, len(checks) + 1)),
                y=checks,
                style="points",
            ),
        ),
        table=Table(
            columns=(
                Column(name="Minute", digits=0),
                Column(name=ROUND, digits=4),
                Column(name="IOPS", digits=1),
            ),
            rows=tuple(zip(range(1, len(iops) + 1), rounds, iops, strict=True)),
            folded=True,
        ),
        spans=spans,
    )
    return Section(title=title, blocks=(chart,))


def _time_section(course: Course) -> Section:
    settings = course.settings
    origin_ns = course.states[0].bursts[0].started_ns
    title = "IOPS against time, all wait states"

    def at(answer: StepResult) -> float:
        return (answer.started_ns + answer.elapsed_ns - origin_ns) / settings.minute_ns

    minute_ns = settings.minute_ns
    name = shared.time_name(minute_ns)
    continuous = [[(at(a), a.iops) for a in state.baseline] for state in course.states]
    means = [
        [(at(answer), value.value) for answer in (state.bursts[0], state.bursts[-1])]
        for state in course.states
        if (value := state.burst_iops) is not None
    ]
    chart = XYChart(
        title=title,
        x=Axis(name=name, unit="min"),
        y=Axis(name="IOPS"),
        series=(
            *(
                Series(
                    name=state_name(state.idle_s),
                    x=tuple(at(answer) for answer in state.bursts),
                    y=tuple(answer.iops for answer in state.bursts),
                    style="points",
                )
                for state in course.states
            ),
            *_stretches("continuous", continuous, "line"),
            *_stretches("mean of the state", means, "dashed"),
        ),
        table=Table(
            columns=(
                Column(name="End", unit="min", digits=4),
                Column(name="Wait state"),
                Column(name="Part"),
                Column(name="IOPS", digits=1),
                Column(name="Mean of the state", unit="IOPS", digits=1),
                Column(name="ART", unit="ms", digits=4),
                Column(name="MRT", unit="ms", digits=3),
            ),
            rows=tuple(
                (
                    at(answer),
                    state_name(state.idle_s),
                    part,
                    answer.iops,
                    mean,
                    ms(measures.latency_ns_mean(answer)),
                    ms(measures.latency_ns_max(answer)),
                )
                for state in course.states
                for part, answer, mean in _parts(state)
            ),
            folded=True,
        ),
    )
    return Section(title=title, blocks=(chart,))


def _parts(state: WaitState) -> Iterator[tuple[str, StepResult, float | None]]:
    mean = state.burst_iops
    for answer in state.bursts:
        yield "burst", answer, None if mean is None else mean.value
    for answer in state.baseline:
        yield "continuous", answer, None


def _stretches(
    name: str, stretches: Sequence[Sequence[tuple[float, float]]], style: Literal["line", "dashed"]
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
    batches = [(state, _batch_means(state)) for state in course.states]
    numbers = sorted({number for _, pairs in batches for number, _ in pairs})
    chart = XYChart(
        title=title,
        x=Axis(name="Burst"),
        y=Axis(name="IOPS"),
        series=tuple(
            Series(
                name=state_name(state.idle_s),
                x=tuple(number for number, _ in pairs),
                y=tuple(value for _, value in pairs),
            )
            for state, pairs in batches
        ),
        table=Table(
            columns=(
                Column(name="Burst", digits=0),
                *(
                    Column(name=state_name(state.idle_s), unit="IOPS", digits=1)
                    for state, _ in batches
                ),
            ),
            rows=tuple(
                (number, *(dict(pairs).get(number) for _, pairs in batches)) for number in numbers
            ),
            folded=True,
        ),
        note="Each point is the mean of the bursts since the point before.",
    )
    return Section(title=title, blocks=(chart,))


def _batch_means(state: WaitState) -> list[tuple[int, float]]:
    """Return (last burst, mean IOPS) of each batch."""
    means = batch_means([answer.iops for answer in state.bursts])
    length = len(state.bursts) // max(1, len(means))
    return [(place * length, mean) for place, mean in enumerate(means, start=1)]
