"""The report of transactions: the rate, both kinds of time, and what the disk did meanwhile."""

from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.databases import settings_section, time_section
from teijo.methods.knobs import describe
from teijo.methods.oltp.found import OltpFound
from teijo.methods.report import study_report
from teijo.terms.histogram import Histogram
from teijo.units import NS_PER_MS

MEANING = (
    "Service time is from the beginning of a transaction to its end; response time is from when "
    "it was due, and has in it the time in which every connection was busy. This is no TPC result."
)
TIMES: Fields[tuple[str, str, Histogram]] = (
    ("Operation", "", None, lambda row: Verbatim(row[0])),
    ("Kind", "", None, lambda row: row[1]),
    ("Count", "", 0, lambda row: row[2].count),
    ("Mean", "ms", 3, lambda row: row[2].mean_ns / NS_PER_MS),
    ("p50", "ms", 3, lambda row: row[2].quantile_ns(0.5) / NS_PER_MS),
    ("p99", "ms", 3, lambda row: row[2].quantile_ns(0.99) / NS_PER_MS),
    ("p99.9", "ms", 3, lambda row: row[2].quantile_ns(0.999) / NS_PER_MS),
    ("Max", "ms", 3, lambda row: row[2].max_ns / NS_PER_MS),
)


def pages(found: OltpFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    sections = []
    if found.passes:
        sections = [
            _result_section(found),
            time_section(found.passes),
            *settings_section(found.filling),
        ]
    return study_report(
        found,
        title="Transactions",
        subtitle=found.record.identity.target,
        group="Workload",
        test=[(Verbatim(each.key), Verbatim(each.value)) for each in describe(found.settings)],
        sections=sections,
        empty="Nothing was measured yet.",
    )


def _result_section(found: OltpFound) -> model.Section:
    rows = []
    for name in found.operations:
        rows.append((name, "service time", found.service(name)))
        if (response := found.response(name)) is not None:
            rows.append((name, "response time", response))
    rate = sum(map(found.rate, found.passes)) / len(found.passes)
    blocks: list[model.Block] = [
        model.Verdict(text=_headline(found, rate), good=None),
        listing(rows, TIMES, caption="Service and response time"),
        model.Paragraph(text=MEANING),
    ]
    disk, count = found.disk, found.service().count
    if disk is not None and count:
        blocks.append(
            model.Paragraph(
                text=say(
                    "The disk below: {reads:,} reads, {writes:,} writes and {flushes:,} flushes; "
                    "{share:.3f} flushes a transaction.",
                    reads=disk.reads,
                    writes=disk.writes,
                    flushes=disk.flushes or 0,
                    share=(disk.flushes or 0) / count,
                )
            )
        )
    return model.Section(title="Result", blocks=tuple(blocks))


def _headline(found: OltpFound, rate: float) -> str:
    """Return the rate, and that it fell short where transactions that were due were not begun."""
    told = say("{rate:,.1f} transactions a second", rate=rate)
    if not found.late:
        return told
    return say(
        "{told}; the {asked:,} asked for were not kept: {late:,} that were due were not begun",
        told=told,
        asked=found.settings.rate_per_second,
        late=found.late,
    )
