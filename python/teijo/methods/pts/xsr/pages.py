"""The report of PTS XSR: throughput against time, the hours about each switch, response times."""

from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import Recovery
from teijo.document.grid import Beside, Figure, Grid, Line
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
from teijo.methods.pts.header import Loop
from teijo.methods.pts.report import (
    ART,
    MRT,
    RESPONSE_TIME,
    answered,
    by_minute,
    every_minute,
    numbered,
    report,
)
from teijo.methods.pts.xsr.found import LEVEL_MINUTES, Group, XsrFound, XsrSettings

THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=3)
SWITCH_NAMES = ("Switch to random writes", "Switch back to sequential writes")


def pages(found: XsrFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    table = [_table_section(found)] if found.answers else []
    return report(
        found,
        _loop(found),
        summary=_summary(found),
        sections=[*numbered(_plots(found)), *table],
    )


def _loop(found: XsrFound) -> Loop:
    groups = tuple(
        (
            say("Group {number}", number=group.number),
            say("{stimulus}, {minutes:,} min", stimulus=group.words, minutes=group.minutes),
        )
        for group in found.groups
    )
    return Loop(
        title="Cross Stimulus Recovery",
        subtitle="XSR loop",
        stimulus=(*groups, ("Sample", units.format_duration(found.settings.minute_ns))),
    )


def _summary(found: XsrFound) -> list[Block]:
    blocks: list[Block] = [_verdict(found)]
    if found.recovery is not None and found.is_whole:
        blocks.append(Paragraph(text=_second_reading(found.recovery)))
        blocks.append(_recovery_facts(found.recovery))
    if found.answers:
        blocks.append(_groups_table(found))
    return [*blocks, Paragraph(text=_explanation(found.settings))]


def _verdict(found: XsrFound) -> Verdict:
    recovery = found.recovery
    if recovery is None:
        return Verdict(text="RECOVERY: not measured yet", good=None)
    if recovery.recovered_samples is not None:
        text = say(
            "RECOVERED: after {minutes:,} min of group 3, at or above {reference:,.2f} MB/s",
            minutes=recovery.recovered_samples,
            reference=recovery.reference,
        )
        return Verdict(text=text, good=True)
    values = {
        "samples": recovery.samples,
        "highest": recovery.highest,
        "reference": recovery.reference,
    }
    if not found.is_whole:
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


def _groups_table(found: XsrFound) -> Table:
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
    rows = tuple(_group_row(found, group) for group in found.begun)
    return Table(columns=columns, rows=rows, caption="The groups")


def _group_row(found: XsrFound, group: Group) -> tuple[Value, ...]:
    answers, rates = found.of(group), found.rates_of(group)
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
        ms(measures.cell_over((), answers).latency_ns_mean),
        ms(max(measures.latency_ns_max(answer) for answer in answers)),
        written / found.record.geometry.capacity_bytes,
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


def _plots(found: XsrFound) -> list[Section]:
    if not found.answers:
        return []
    whole = range(1, found.rounds + 1)
    plots = [_throughput_section(found, whole, "Throughput against time")]
    for group, name in zip(found.begun[1:], SWITCH_NAMES, strict=False):
        first = max(1, group.first_minute - LEVEL_MINUTES)
        last = min(found.rounds, group.first_minute - 1 + LEVEL_MINUTES)
        plots.append(_throughput_section(found, range(first, last + 1), name))
    means = [ms(measures.latency_ns_mean(answer)) for answer in found.answers]
    longest = [ms(measures.latency_ns_max(answer)) for answer in found.answers]
    return [
        *plots,
        _latency_section(found, "Average response time against time", ART, means),
        _latency_section(found, "Maximum response time against time", MRT, longest),
    ]


def _throughput_section(found: XsrFound, minutes: range, title: str) -> Section:
    rules = []
    if found.recovery is not None:
        mean, recovered = found.recovery.reference, found.recovery.recovered_samples
        rules.append(Rule(name="mean of group 1", value=mean, style="dotted"))
        at = found.groups[2].first_minute - 1 + (recovered or 0)
        if recovered is not None and at in minutes:
            rules.append(Rule(name="recovered", value=float(at), at="x"))
    grid, spans = _against_time(found, minutes, THROUGHPUT, found.rates)
    chart = grid.chart(title, THROUGHPUT, table=grid.table(folded=True), rules=rules, spans=spans)
    return Section(title=title, blocks=(chart,))


def _latency_section(
    found: XsrFound, title: str, figure: Figure, latencies_ms: Sequence[float]
) -> Section:
    minutes = range(1, found.rounds + 1)
    grid, spans = _against_time(found, minutes, figure, latencies_ms)
    chart = grid.chart(title, RESPONSE_TIME, log=True, table=grid.table(folded=True), spans=spans)
    return Section(title=title, blocks=(chart,))


def _against_time(
    found: XsrFound, minutes: range, figure: Figure, values: Sequence[float]
) -> tuple[Grid, tuple[Span, ...]]:
    """Return a figure of these minutes, a line for each group, and the span of the random one."""
    names = [
        say("{number}: {stimulus}", number=group.number, stimulus=group.words)
        for group in found.begun
        for _ in found.of(group)
    ]
    shown = slice(minutes.start - 1, minutes.stop - 1)
    line = Line(figure=figure, values=tuple(values[shown]), parts=tuple(names[shown]), style="line")
    random = found.groups[1]
    first = max(minutes.start, random.first_minute)
    last = min(minutes.stop - 1, random.first_minute + random.minutes - 1)
    span = Span(name="random writes", first=float(first), last=float(last))
    grid = Grid(rows=by_minute(found.settings.minute_ns, minutes), columns=(line,))
    return grid, ((span,) if first <= last else ())


def _table_section(found: XsrFound) -> Section:
    numbers = tuple(group.number for group in found.begun for _ in found.of(group))
    columns = (
        Beside(column=Column(name="Group", digits=0), values=numbers),
        Beside(column=THROUGHPUT.column(), values=found.rates),
        *answered(found.answers),
    )
    return every_minute(found.rounds, columns)
