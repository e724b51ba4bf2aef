"""The report of transactions: the rate, both kinds of time, and what the disk did meanwhile."""

from teijo.analysis import percentile
from teijo.analysis.mean import mean_of
from teijo.analysis.quantities import Quantity
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.databases import SCATTER, DiskCounts, settings_section, time_section
from teijo.methods.knobs import describe
from teijo.methods.oltp.found import OltpFound
from teijo.methods.report import study_report
from teijo.terms.histogram import Histogram
from teijo.units import NS_PER_MS

MEANING = (
    "Service time is from the beginning of a transaction to its end; response time is from when "
    "it was due, and has in it the time in which every connection was busy. This is no TPC result."
)
NOT_BEGUN = (
    "Transactions that were not begun are in no row: their response times would be longer than "
    "those shown."
)
OWN_DELAY = "so much of each response time is this program's own."
TIMES: Fields[tuple[str, str, Histogram]] = (
    ("Operation", "", None, lambda row: Verbatim(row[0])),
    ("Kind", "", None, lambda row: row[1]),
    ("Count", "", 0, lambda row: row[2].count),
    ("Mean", "ms", 3, lambda row: row[2].mean_ns / NS_PER_MS),
    ("p50", "ms", 3, lambda row: percentile.level(row[2], 50, NS_PER_MS)),
    ("p99", "ms", 3, lambda row: percentile.level(row[2], 99, NS_PER_MS)),
    ("p99.9", "ms", 3, lambda row: percentile.level(row[2], 99.9, NS_PER_MS)),
    ("Max", "ms", 3, lambda row: row[2].max_ns / NS_PER_MS),
)
MEANS: Fields[Quantity] = (
    ("Figure", "", None, lambda row: row.figure.name),
    ("Unit", "", None, lambda row: Verbatim(row.figure.unit)),
    ("Mean", "", 3, lambda row: row.value),
    ("±", "", 3, lambda row: _half_width(row)),
    ("Passes", "", 0, lambda row: len(row.batches)),
)


def pages(found: OltpFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    sections = []
    if found.passes:
        sections = [
            _result_section(found),
            time_section(found.passes, title="Transactions in each second"),
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
        listing(found.quantities, MEANS, caption="Means of the passes"),
        model.Paragraph(text=SCATTER),
        listing(rows, TIMES, caption="Service and response time"),
        model.Paragraph(text=MEANING),
    ]
    if found.late:
        blocks.append(model.Paragraph(text=NOT_BEGUN))
    if (late_ms := found.woken_late_ms) is not None:
        text = say("A client that was free woke {ms:,.3f} ms late on average: {what}", ms=late_ms,
                   what=OWN_DELAY)  # fmt: skip
        blocks.append(model.Paragraph(text=text))
    disk, count = found.disk, found.service().count
    if disk is not None and count:
        blocks.append(model.Paragraph(text=disk_sentence(disk, count)))
    return model.Section(title="Result", blocks=tuple(blocks))


def _half_width(quantity: Quantity) -> float | None:
    mean = mean_of(quantity.batches)
    return None if mean is None else mean.half_width


def disk_sentence(disk: DiskCounts, transactions: int) -> str:
    """Return what the disk counted meanwhile: of this run, and of whoever else used it."""
    if disk.flushes is None:
        return say(
            "The disk below, of this run and of others: {reads:,} reads and {writes:,} writes; "
            "it does not count its flushes.",
            reads=disk.reads,
            writes=disk.writes,
        )
    return say(
        "The disk below, of this run and of others: {reads:,} reads, {writes:,} writes and "
        "{flushes:,} flushes; {share:.3f} flushes a transaction.",
        reads=disk.reads,
        writes=disk.writes,
        flushes=disk.flushes,
        share=disk.flushes / transactions,
    )


def _headline(found: OltpFound, rate: float) -> str:
    """Return the rate, and that it fell short where transactions that were due were not begun."""
    told = say("{rate:,.1f} transactions a second", rate=rate)
    if not found.late:
        return told
    return say(
        "{told}; the {asked:,} asked for were not kept: {late:,} of {due:,} that were due were not "
        "begun",
        told=told,
        asked=found.settings.rate_per_second,
        late=found.late,
        due=found.due,
    )
