"""The report of a run of DiskSpd: its total, the mean beside it, each thread's row, percentiles."""

from teijo import units
from teijo.analysis.quantities import IOPS, LATENCY
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic.diskspd.found import DiskspdFound, Line, iops_deviation, together
from teijo.methods.classic.diskspd.settings import DiskspdSettings
from teijo.methods.classic.timed_pages import Told, means_blocks, timed_report, told_table
from teijo.methods.report import Rows

SHARED = (
    "Threads that share one offset, or of which there are more than 64, are told together in the "
    "row of the first of them."
)


def pages(found: DiskspdFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    return timed_report(found, "DiskSpd", _rows(found.settings), lambda: _result(found))


def _rows(settings: DiskspdSettings) -> Rows:
    return (
        ("Writes", say("{percent} %", percent=settings.write_percent)),
        ("Order", settings.access),
        ("Block size", units.format_block_size(settings.block_size_bytes)),
        ("Buffering", Verbatim(settings.buffering)),
        ("Seconds", units.format_duration(settings.duration_ns)),
        ("Warm-up", units.format_duration(settings.warm_up_ns)),
        ("Passes", str(settings.passes)),
        ("Strict", settings.strict),
    )


def _result(found: DiskspdFound) -> list[model.Block]:
    told = _told(found)
    return [
        model.Verdict(text=_headline(found), good=None),
        told_table([(Verbatim(each.name), each.text) for each in told], "As DiskSpd prints it"),
        *means_blocks(found, told, found.load.name),
        *_threads(found),
    ]


def _headline(found: DiskspdFound) -> str:
    return say(
        "{iops:,.0f} IOPS, {mib_s:,.1f} MiB/s, mean {mean}",
        iops=units.per_second(found.ios, found.elapsed_ns),
        mib_s=_mib_s(found.moved_bytes, found.elapsed_ns),
        mean=units.format_latency(found.latency.mean_ns),
    )


def _mib_s(moved_bytes: int, elapsed_ns: int) -> float:
    return units.per_second(moved_bytes, elapsed_ns) / units.MIB


def _told(found: DiskspdFound) -> list[Told]:
    mib_s = _mib_s(found.moved_bytes, found.elapsed_ns)
    iops = units.per_second(found.ios, found.elapsed_ns)
    average = found.latency.mean_ns / units.NS_PER_MS
    block = found.settings.block_size_bytes
    return [
        Told(
            name="MiB/s",
            text=f"{mib_s:.2f}",
            value=mib_s,
            figure=IOPS,
            factor=block / units.MIB,
        ),
        Told(name="I/O per s", text=f"{iops:.2f}", value=iops, figure=IOPS),
        Told(name="AvgLat", text=f"{average:.3f}", value=average, figure=LATENCY),
    ]


def _threads(found: DiskspdFound) -> list[model.Block]:
    """Return the rows of the last pass."""
    answer = found.passes[-1]
    lines = found.lines(answer)
    elapsed_ns, interval_ns = answer.elapsed_ns, found.settings.interval_ns

    def both(line: Line) -> tuple[int, int]:
        return sum(each.ios for each in line.both), sum(each.bytes for each in line.both)

    fields: Fields[Line] = (
        ("Thread", "", 0, lambda line: line.row.thread),
        ("Target", "", 0, lambda line: line.row.target + 1),
        ("I/Os", "", 0, lambda line: both(line)[0]),
        ("Throughput", "MiB/s", 2, lambda line: _mib_s(both(line)[1], elapsed_ns)),
        ("I/O per s", "", 2, lambda line: units.per_second(both(line)[0], elapsed_ns)),
        (
            "Deviation of the rate",
            "I/O per s",
            2,
            lambda line: iops_deviation(together(line.both).buckets, interval_ns),
        ),
    )
    blocks: list[model.Block] = [listing(lines, fields, caption="Threads of the last pass")]
    if any(line.row.threads > 1 for line in lines):
        blocks.append(model.Paragraph(text=SHARED))
    return blocks
