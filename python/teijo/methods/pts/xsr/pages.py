"""The report of PTS XSR: throughput against time, the hours about each switch, response times."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import Recovery
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
    Table,
    Value,
    Verdict,
)
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.header import Loop
from teijo.methods.pts.report import ART, MRT, RESPONSE_TIME, answered, numbered, report
from teijo.methods.pts.xsr.groups import (
    LEVEL_MINUTES,
    Group,
    XsrSettings,
    answers_of,
    groups_of,
    recovery,
    throughputs,
)
from teijo.terms.record import Record
from teijo.terms.result import StepResult

THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=3)
SWITCH_NAMES = ("Switch to random writes", "Switch back to sequential writes")


@dataclass(frozen=True, kw_only=True)
class Course:
    """The minutes since the purge, with what is drawn over them."""

    settings: XsrSettings
    answers: tuple[StepResult, ...]
    throughputs_mb_s: tuple[float, ...]
    recovery: Recovery | None

    @property
    def groups(self) -> tuple[Group, Group, Group]:
        """The three groups."""
        return groups_of(self.settings)

    @property
    def whole(self) -> bool:
        """Whether every minute of every group is there."""
        return len(self.answers) == self.settings.minutes_most

    @property
    def begun(self) -> tuple[Group, ...]:
        """The groups of which a minute was measured."""
        return tuple(group for group in self.groups if group.of(self.answers))


def pages(found: PtsFound[XsrSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record = found.settings, found.record
    answers = tuple(answers_of(record))
    course = Course(
        settings=settings,
        answers=answers,
        throughputs_mb_s=tuple(throughputs(answers)),
        recovery=recovery(settings, answers),
    )
    return report(
        found,
        _loop(settings),
        summary=_summary(course, record),
        sections=[*numbered(_plots(course)), *([_table_section(course)] if answers else [])],
    )


def _loop(settings: XsrSettings) -> Loop:
    return Loop(
        title="Cross Stimulus Recovery",
        subtitle="XSR loop",
        stimulus=(
            *(
                (
                    say("Group {number}", number=group.number),
                    say("{stimulus}, {minutes:,} min", stimulus=group.words, minutes=group.minutes),
                )
                for group in groups_of(settings)
            ),
            ("Sample", units.format_duration(settings.minute_ns)),
        ),
    )


# --- the summary ------------------------------------------------------------------------------


def _summary(course: Course, record: Record) -> list[Block]:
    blocks: list[Block] = [_verdict(course)]
    if course.recovery is not None and course.whole:
        blocks.append(Paragraph(text=_second_reading(course.recovery)))
        blocks.append(_recovery_facts(course.recovery))
    if course.answers:
        blocks.append(_groups_table(course, record))
    return [*blocks, Paragraph(text=_explanation(course.settings))]


def _verdict(course: Course) -> Verdict:
    found = course.recovery
    if found is None:
        return Verdict(text="RECOVERY: not measured yet", good=None)
    if found.recovered_samples is not None:
        text = say(
            "RECOVERED: after {minutes:,} min of group 3, at or above {reference:,.2f} MB/s",
            minutes=found.recovered_samples,
            reference=found.reference,
        )
        return Verdict(text=text, good=True)
    values = {"samples": found.samples, "highest": found.highest, "reference": found.reference}
    if not course.whole:
        text = say(
            "RECOVERY: not yet, in {samples:,} min; at most {highest:,.2f} of "
            "{reference:,.2f} MB/s",
            **values,
        )
        return Verdict(text=text, good=None)
    text = say(
        "NOT RECOVERED: in {samples:,} min; at most {highest:,.2f} of {reference:,.2f} MB/s",
        **values,
    )
    return Verdict(text=text, good=False)


def _second_reading(found: Recovery) -> str:
    """Return what the course shows beside the standard's figure, which one minute can decide."""
    if found.regained_samples is None:
        return say(
            "Group 3 did not come back to stay: its last two hours have {percent:.1f} % of the "
            "throughput of group 1's last two hours.",
            percent=found.end_share * 100,
        )
    if found.recovered_samples is None:
        return say(
            "It came back all the same, from minute {minute:,} on, to at least 95 % of the "
            "throughput of group 1's last two hours, {level:,.2f} MB/s. The standard's figure is "
            "the mean of the whole of group 1, its fresh and faster hours included.",
            minute=found.regained_samples,
            level=found.level,
        )
    return say(
        "It stayed: from minute {minute:,} on, no five minutes have less than 95 % of the "
        "throughput of group 1's last two hours.",
        minute=found.regained_samples,
    )


def _recovery_facts(found: Recovery) -> Facts:
    def after(minutes: int | None) -> str:
        return "not recovered" if minutes is None else say("{minutes:,} min", minutes=minutes)

    return Facts(
        caption="Recovery",
        rows=(
            ("Recovery, first minute not below group 1", after(found.recovered_samples)),
            ("Mean of group 1", say("{rate:,.2f} MB/s", rate=found.reference)),
            ("Highest minute of group 3", say("{rate:,.2f} MB/s", rate=found.highest)),
            ("95 % of group 1's end regained for good", after(found.regained_samples)),
            ("Last two hours of group 1", say("{rate:,.2f} MB/s", rate=found.level)),
            (
                "Last two hours of group 3",
                say("{percent:.1f} % of group 1's", percent=found.end_share * 100),
            ),
        ),
    )


def _groups_table(course: Course, record: Record) -> Table:
    columns = (
        Column(name="Group", digits=0),
        Column(name="Stimulus"),
        Column(name="Minutes", digits=0),
        Column(name="Gap before", unit="ms", digits=3),
        Column(name="First minute", unit="MB/s", digits=2),
        Column(name="Mean", unit="MB/s", digits=2),
        Column(name="Last two hours", unit="MB/s", digits=2),
        Column(name="ART", unit="ms", digits=3),
        Column(name="MRT", unit="ms", digits=2),
        Column(name="Drive fills", digits=3),
        Column(name="WA", digits=2),
    )
    rows = tuple(
        _group_row(group, group.of(course.answers), record.geometry.capacity_bytes)
        for group in course.begun
    )
    return Table(columns=columns, rows=rows, caption="The groups")


def _group_row(
    group: Group, answers: Sequence[StepResult], capacity_bytes: int
) -> tuple[Value, ...]:
    rates = throughputs(answers)
    written = sum(measures.written_bytes(answer) for answer in answers)
    tail = rates[-LEVEL_MINUTES:]
    return (
        group.number,
        group.words,
        len(answers),
        ms(answers[0].gap_ns),
        rates[0],
        sum(rates) / len(rates),
        sum(tail) / len(tail),
        measures.cell_over((), answers).latency_ns_mean / units.NS_PER_MS,
        ms(max(measures.latency_ns_max(answer) for answer in answers)),
        written / capacity_bytes,
        measures.write_amplification(answers),
    )


def _explanation(settings: XsrSettings) -> str:
    return say(
        "A minute is {minute} here. Recovery is counted in minutes of group 3, until one is not "
        "below the mean of group 1. The gap before a group is the time from the minute before to "
        "its first I/O, in which only what was in flight is completed. WA is the device's own "
        "count of NAND bytes written per host byte, where it keeps one.",
        minute=units.format_duration(settings.minute_ns),
    )


# --- the plots --------------------------------------------------------------------------------


def _plots(course: Course) -> list[Section]:
    if not course.answers:
        return []
    whole = range(1, len(course.answers) + 1)
    plots = [_throughput_section(course, whole, "Throughput against time")]
    for group, name in zip(course.begun[1:], SWITCH_NAMES, strict=False):
        first = max(1, group.first_minute - LEVEL_MINUTES)
        last = min(len(course.answers), group.first_minute - 1 + LEVEL_MINUTES)
        plots.append(_throughput_section(course, range(first, last + 1), name))
    means = [ms(measures.latency_ns_mean(answer)) for answer in course.answers]
    longest = [ms(measures.latency_ns_max(answer)) for answer in course.answers]
    return [
        *plots,
        _latency_section(course, "Average response time against time", ART, means),
        _latency_section(course, "Maximum response time against time", MRT, longest),
    ]


def _throughput_section(course: Course, minutes: range, title: str) -> Section:
    rules = []
    if course.recovery is not None:
        mean = course.recovery.reference
        rules.append(Rule(name="mean of group 1", value=mean, style="dotted"))
        recovered = course.recovery.recovered_samples
        at = course.groups[2].first_minute - 1 + (recovered or 0)
        if recovered is not None and at in minutes:
            rules.append(Rule(name="recovered", value=float(at), at="x"))
    rates = course.throughputs_mb_s[minutes.start - 1 : minutes.stop - 1]
    grid = _against_time(course, minutes, THROUGHPUT, rates)
    spans = _random_span(course, minutes)
    chart = grid.chart(title, THROUGHPUT, table=grid.table(folded=True), rules=rules, spans=spans)
    return Section(title=title, blocks=(chart,))


def _latency_section(
    course: Course, title: str, figure: Figure, latencies_ms: Sequence[float]
) -> Section:
    minutes = range(1, len(latencies_ms) + 1)
    grid = _against_time(course, minutes, figure, latencies_ms)
    spans = _random_span(course, minutes)
    chart = grid.chart(title, RESPONSE_TIME, log=True, table=grid.table(folded=True), spans=spans)
    return Section(title=title, blocks=(chart,))


def _against_time(course: Course, minutes: range, figure: Figure, values: Sequence[float]) -> Grid:
    """Return a figure against time, a line for each group."""
    names = [
        say("{number}: {stimulus}", number=group.number, stimulus=group.words)
        for group in course.begun
        for _ in group.of(course.answers)
    ]
    edge = Edge(
        name=shared.time_name(course.settings.minute_ns),
        unit="min",
        digits=0,
        places=tuple(minutes),
        from_zero=minutes.start == 1,
    )
    parts = tuple(names[minutes.start - 1 : minutes.stop - 1])
    line = Line(figure=figure, values=tuple(values), parts=parts, style="line")
    return Grid(rows=edge, columns=(line,))


def _random_span(course: Course, minutes: range) -> tuple[Span, ...]:
    group = course.groups[1]
    first = max(minutes.start, group.first_minute)
    last = min(minutes.stop - 1, group.first_minute + group.minutes - 1)
    if first > last:
        return ()
    return (Span(name="random writes", first=float(first), last=float(last)),)


def _table_section(course: Course) -> Section:
    numbers = tuple(group.number for group in course.begun for _ in group.of(course.answers))
    grid = Grid(
        rows=Edge(name="Minute", digits=0, places=tuple(range(1, len(numbers) + 1))),
        columns=(
            Beside(column=Column(name="Group", digits=0), values=numbers),
            Beside(column=THROUGHPUT.column(), values=course.throughputs_mb_s),
            *answered(course.answers),
        ),
    )
    return Section(title="Every minute", blocks=(grid.table("Every minute", folded=True),))
