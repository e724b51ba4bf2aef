"""The report of a run of SQLIO: its own figures, the mean beside them, and their course."""

from collections.abc import Sequence

from teijo import units
from teijo.analysis.quantities import IOPS, LATENCY
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic.sqlio.found import BUCKETS, SqlioFound
from teijo.methods.classic.sqlio.hides import entries
from teijo.methods.classic.sqlio.settings import SqlioSettings
from teijo.methods.classic.timed_pages import Told, means_blocks, timed_report, told_table
from teijo.methods.report import Rows

MEANING = (
    "MBs/sec is 2²⁰ bytes a second, cut after the second digit; times are cut to whole "
    "milliseconds, percents to whole percents, so that they may add up to less than 100."
)


def pages(found: SqlioFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    return timed_report(
        found,
        "SQLIO",
        _rows(found.settings),
        lambda: _result(found),
        lambda: entries(found),
    )


def _rows(settings: SqlioSettings) -> Rows:
    return (
        ("Kind", settings.kind),
        ("Order", settings.factor),
        ("Block size", units.format_block_size(settings.block_size_bytes)),
        ("Buffering", settings.buffering),
        ("Seconds", units.format_duration(settings.duration_ns)),
        ("Passes", str(settings.passes)),
        ("Strict", settings.strict),
    )


def _result(found: SqlioFound) -> list[model.Block]:
    figures = [(Verbatim(name), text) for name, text in figures_of(found)]
    return [
        model.Verdict(text=_headline(found), good=None),
        told_table(figures, "As SQLIO prints it"),
        *means_blocks(found, _told(found), found.load.name),
        _histogram(found.printed.percents),
        model.Paragraph(text=MEANING),
    ]


def _headline(found: SqlioFound) -> str:
    own = found.printed
    return say(
        "{iops:.2f} IOs/sec, {mb_s:.2f} MBs/sec, {avg} ms on average; in truth {mean}",
        iops=own.ios_per_s,
        mb_s=own.mbs_per_s,
        avg=own.avg_ms,
        mean=units.format_latency(found.latency.mean_ns),
    )


def figures_of(found: SqlioFound) -> list[tuple[str, str]]:
    """Return SQLIO's figures by its own names, as it writes them."""
    own = found.printed
    return [
        ("IOs/sec", f"{own.ios_per_s:.2f}"),
        ("MBs/sec", f"{own.mbs_per_s:.2f}"),
        ("Min_Latency(ms)", str(own.min_ms)),
        ("Avg_Latency(ms)", str(own.avg_ms)),
        ("Max_Latency(ms)", str(own.max_ms)),
    ]


def _told(found: SqlioFound) -> list[Told]:
    own = found.printed
    return [
        Told(name="IOs/sec", text=f"{own.ios_per_s:.2f}", value=own.ios_per_s, figure=IOPS),
        Told(
            name="MBs/sec",
            text=f"{own.mbs_per_s:.2f}",
            value=own.mbs_per_s,
            figure=IOPS,
            factor=found.settings.block_size_bytes / units.MIB,
        ),
        Told(
            name="Avg_Latency(ms)",
            text=str(own.avg_ms),
            value=float(own.avg_ms),
            figure=LATENCY,
        ),
    ]


def _histogram(percents: Sequence[int]) -> model.Table:
    rows = [
        (f"{place}+" if place == BUCKETS - 1 else str(place), percent)
        for place, percent in enumerate(percents)
    ]
    fields: Fields[tuple[str, int]] = (
        ("Latency", "ms", None, lambda row: row[0]),
        ("I/Os", "%", 0, lambda row: row[1]),
    )
    return listing(rows, fields, caption="Latency histogram", folded=True)
