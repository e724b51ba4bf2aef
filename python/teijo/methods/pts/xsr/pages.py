"""The report of PTS XSR: throughput against time, the hours about each switch, response times."""

from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import Recovery
from teijo.document import model
from teijo.document.grid import Beside, Figure, Grid, Line, listing
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import report
from teijo.methods.pts.header import Loop
from teijo.methods.pts.loop import by_minute
from teijo.methods.pts.xsr.found import LEVEL_MINUTES, Group, XsrFound, XsrSettings

THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=3)
SWITCH_NAMES = ("Switch to random writes", "Switch back to sequential writes")


def pages(found: XsrFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    table = [_table_section(found)] if found.answers else []
    return report.report(
        found,
        _loop(found),
        summary=_summary(found),
        sections=[*report.numbered(_plots(found)), *table],
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


def _summary(found: XsrFound) -> list[model.Block]:
    blocks: list[model.Block] = [_verdict(found)]
    if found.recovery is not None and found.is_whole:
        blocks.append(model.Paragraph(text=_second_reading(found.recovery)))
        blocks.append(_recovery_facts(found.recovery))
    if found.answers:
        blocks.append(_groups_table(found))
    return [*blocks, model.Paragraph(text=_explanation(found.settings))]


def _verdict(found: XsrFound) -> model.Verdict:
    recovery = found.recovery
    if recovery is None:
        return model.Verdict(text="RECOVERY: not measured yet", good=None)
    if recovery.recovered_samples is not None:
        text = say(
            "RECOVERED: after {minutes:,} min of group 3, at or above {reference:,.2f} MB/s",
            minutes=recovery.recovered_samples,
            reference=recovery.reference,
        )
        return model.Verdict(text=text, good=True)
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
        return model.Verdict(text=text, good=None)
    text = say(
        "NOT RECOVERED: in {samples:,} min; at most {highest:,.2f} of {reference:,.2f} MB/s",
        **values,
    )
    return model.Verdict(text=text, good=False)


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


def _recovery_facts(found: Recovery) -> model.Facts:
    def after(minutes: int | None) -> str:
        return "not recovered" if minutes is None else say("{minutes:,} min", minutes=minutes)

    return model.Facts(
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


def _groups_table(found: XsrFound) -> model.Table:
    def fills(group: Group) -> float:
        written = sum(map(measures.written_bytes, found.of(group)))
        return written / found.record.geometry.capacity_bytes

    return listing(
        found.begun,
        (
            ("Group", "", 0, lambda each: each.number),
            ("Stimulus", "", None, lambda each: each.words),
            ("Minutes", "", 0, lambda each: len(found.of(each))),
            ("Gap before", "ms", 3, lambda each: ms(found.of(each)[0].gap_ns)),
            ("First minute", "MB/s", 2, lambda each: found.rates_of(each)[0]),
            ("Mean", "MB/s", 2, lambda each: _mean(found.rates_of(each))),
            (
                "Last two hours",
                "MB/s",
                2,
                lambda each: _mean(found.rates_of(each)[-LEVEL_MINUTES:]),
            ),
            ("ART", "ms", 3, lambda each: ms(found.over(each).latency_ns_mean)),
            ("MRT", "ms", 2, lambda each: ms(found.over(each).latency_ns_max)),
            ("Drive fills", "", 3, fills),
            ("WA", "", 2, lambda each: measures.write_amplification(found.of(each))),
        ),
        caption="The groups",
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _explanation(settings: XsrSettings) -> str:
    return say(
        "A minute is {minute} here. Recovery is counted in minutes of group 3, until one is not "
        "below the mean of group 1. The gap before a group is the time from the minute before to "
        "its first I/O, in which only what was in flight is completed. WA is the device's own "
        "count of NAND bytes written per host byte, where it keeps one.",
        minute=units.format_duration(settings.minute_ns),
    )


def _plots(found: XsrFound) -> list[model.Section]:
    if not found.answers:
        return []
    whole = range(1, found.rounds + 1)
    plots = [_throughput_section(found, whole, "Throughput against time")]
    # A growing run may not have come to both switches.
    for group, name in zip(found.begun[1:], SWITCH_NAMES, strict=False):
        first = max(1, group.first_minute - LEVEL_MINUTES)
        last = min(found.rounds, group.first_minute - 1 + LEVEL_MINUTES)
        plots.append(_throughput_section(found, range(first, last + 1), name))
    means = list(map(measures.latency_ms_mean, found.answers))
    longest = list(map(measures.latency_ms_max, found.answers))
    return [
        *plots,
        _section(found, whole, "Average response time against time", report.ART, means),
        _section(found, whole, "Maximum response time against time", report.MRT, longest),
    ]


def _throughput_section(found: XsrFound, minutes: range, title: str) -> model.Section:
    rules = []
    if found.recovery is not None:
        mean, recovered = found.recovery.reference, found.recovery.recovered_samples
        rules.append(model.Rule(name="mean of group 1", value=mean, style="dotted"))
        at = found.groups[2].first_minute - 1 + (recovered or 0)
        if recovered is not None and at in minutes:
            rules.append(model.Rule(name="recovered", value=float(at), at="x"))
    return _section(found, minutes, title, THROUGHPUT, found.rates, rules)


def _section(
    found: XsrFound,
    minutes: range,
    title: str,
    figure: Figure,
    values: Sequence[float],
    rules: Sequence[model.Rule] = (),
) -> model.Section:
    """Return a figure against time, a line for each group, the random one shaded; response times
    are on a logarithmic axis.
    """
    shown = slice(minutes.start - 1, minutes.stop - 1)
    names = tuple(
        say("{number}: {stimulus}", number=group.number, stimulus=group.words)
        for group in found.begun
        for _ in found.of(group)
    )
    column = Line(figure=figure, values=tuple(values[shown]), parts=names[shown], style="line")
    grid = Grid(rows=by_minute(found.settings.minute_ns, minutes), columns=(column,))
    random = found.groups[1]
    first = max(minutes.start, random.first_minute)
    last = min(minutes.stop - 1, random.first_minute + random.minutes - 1)
    span = model.Span(name="random writes", first=float(first), last=float(last))
    chart = grid.chart(
        title,
        THROUGHPUT if figure is THROUGHPUT else report.RESPONSE_TIME,
        log=figure is not THROUGHPUT,
        table=grid.table(folded=True),
        rules=rules,
        spans=(span,) if first <= last else (),
    )
    return model.Section(title=title, blocks=(chart,))


def _table_section(found: XsrFound) -> model.Section:
    numbers = tuple(group.number for group in found.begun for _ in found.of(group))
    columns = (
        Beside(column=model.Column(name="Group", digits=0), values=numbers),
        Beside(column=THROUGHPUT.column(), values=found.rates),
        *report.answered(found.answers),
    )
    return report.every_minute(found.rounds, columns)
