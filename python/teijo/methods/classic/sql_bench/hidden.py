"""What sql-bench's numbers hide, each thing looked for in the run itself, with its size."""

import math
from collections.abc import Iterator
from typing import Final

from teijo.document.phrase import say
from teijo.methods.classic.hidden_entry import Found, Hidden
from teijo.methods.classic.sql_bench.found import SqlBenchFound, Timed
from teijo.units import MEGA, format_duration

FEW_FLUSHES: Final = 0.5
"""A durable commit is one flush at least; below half a flush a commit, commits are not durable."""
_CLIENT_PERCENT: Final = 50
_STATEMENTS_A_READ: Final = 100
"""Where the disk reads once in more statements than these, they are served from memory."""
_ROWS: Final = ("insert", "update", "delete")
_READING: Final = ("select", "count", "order")


def entries(found: SqlBenchFound) -> tuple[Hidden, ...]:
    """Return everything that was looked for; nothing before an operation has ended."""
    if not found.timed:
        return ()
    return (
        *_not_durable(found),
        *_in_memory(found),
        _client(found),
        _extrapolated(found),
        _whole_seconds(found),
        *_miscounted(found),
    )


def memory_sentence(found: SqlBenchFound) -> str | None:
    """Return what the disk read for the statements that read; None where nobody saw it."""
    reading = [each for each in found.timed if each.work.operation.startswith(_READING)]
    seen = [each.disk for each in reading if each.disk is not None]
    if not seen:
        return None
    return say(
        "While {statements:,} statements read, the disk read {count:,} times, {mb:,.2f} MB.",
        statements=sum(each.times.count for each in reading),
        count=sum(each.reads for each in seen),
        mb=sum(each.read_bytes for each in seen) / MEGA,
    )


def served_from_memory(found: SqlBenchFound) -> bool:
    """Return whether the disk had next to nothing to read for the statements that read."""
    reading = [each for each in found.timed if each.work.operation.startswith(_READING)]
    reads = sum(each.disk.reads for each in reading if each.disk is not None)
    return reads * _STATEMENTS_A_READ <= sum(each.times.count for each in reading)


def client_percent(found: SqlBenchFound) -> float:
    """Return which share of all the time statements that ask for nothing would take too."""
    total = math.fsum(each.seconds for each in found.timed)
    alone = math.fsum(found.client_s(each) for each in found.timed)
    return min(100.0, 100 * alone / total) if total else 0.0


def _strict(found: SqlBenchFound) -> bool:
    return found.settings.strict == "on"


def _entry(kind: str, name: str, size: str, *texts: str, hides: bool | None) -> Hidden:
    what, because, strict = texts
    known: dict[bool | None, Found] = {True: "hidden", False: "clear", None: "unknown"}
    return Hidden(
        kind=kind, name=name, what=what, size=size, because=because, strict=strict,
        found=known[hides],
    )  # fmt: skip


def _commits(found: SqlBenchFound) -> list[Timed]:
    timed = [each for each in found.timed if each.writes and each.disk is not None]
    # A server that flushes no commit may flush files that it makes for tables all the same.
    rows = [each for each in timed if each.work.operation.startswith(_ROWS)]
    return rows or timed


def _not_durable(found: SqlBenchFound) -> Iterator[Hidden]:
    timed = [each for each in _commits(found) if each.disk and each.disk.flushes is not None]
    commits = sum(each.times.count for each in timed)
    flushes = sum(each.disk.flushes or 0 for each in timed if each.disk)
    # The disk's counters have in them what others had it flush meanwhile; the setting is certain.
    asked_none = found.settings.durable == "off"
    size: str = "No device was seen below the directory that counts its flushes."
    if commits:
        size = say(
            "{flushes:,} flushes of the disk for {commits:,} statements that commit, "
            "{share:.3f} each, in {seconds:,.2f} s.",
            flushes=flushes,
            commits=commits,
            share=flushes / commits,
            seconds=math.fsum(each.seconds for each in timed),
        )
    yield _entry(
        "no flush",
        "Commits that no flush follows",
        size,
        "A crash of the host loses what was committed, and the times are those of memory.",
        "The device's own counter of flushes, of others' too, is held against the commits.",
        "It goes with durable=on only; a server or a disk that flushes nothing is named still.",
        hides=asked_none or flushes / commits < FEW_FLUSHES if commits else None,
    )


def _in_memory(found: SqlBenchFound) -> Iterator[Hidden]:
    size = memory_sentence(found)
    if size is None:
        return
    yield _entry(
        "memory",
        "Reads from memory",
        size,
        "All of it fits in memory: the times of statements that read say nothing of the storage.",
        "The device's own counter of reads is held against the statements that read.",
        "It stays so, and page one says it: the tables are as large as the suite makes them.",
        hides=served_from_memory(found) and not _strict(found),
    )


def _client(found: SqlBenchFound) -> Hidden:
    percent = client_percent(found)
    return _entry(
        "client",
        "The client's own time",
        say(
            "A statement that asks for nothing takes {us:,.0f} µs: {percent:.0f} % of the time.",
            us=found.null_query_ms * 1000,
            percent=percent,
        ),
        "A part of each time is the client's, and the way to the server and back.",
        "The median of 50 such statements, times as many as there were.",
        "The table of operations has the time without it beside the whole.",
        hides=percent >= _CLIENT_PERCENT and not _strict(found),
    )


def _extrapolated(found: SqlBenchFound) -> Hidden:
    shares = [(each, each.share_done(answer)) for each in found.timed for answer in each.answers]
    cut = [(each, share) for each, share in shares if share < 1]
    size: str = "Every loop was carried out to its end."
    if cut:
        each, share = min(cut, key=lambda pair: pair[1])
        size = say(
            "{count} loops stopped after {limit}; of {name} {percent:.0f} % was carried out.",
            count=len(cut),
            limit=format_duration(each.work.time_limit_ns),
            name=each.name,
            percent=share * 100,
        )
    return _entry(
        "extrapolated",
        "Extrapolated times",
        size,
        "The share that was carried out is taken for the whole, as if the rest were as fast.",
        "The loops that were carried out are counted.",
        "There is no time limit.",
        hides=bool(cut),
    )


def _whole_seconds(found: SqlBenchFound) -> Hidden:
    short = [each for each in found.timed if each.seconds < 1]
    size = say(
        "{count} of {all} operations take less than a second, {seconds:,.2f} s in all.",
        count=len(short),
        all=len(found.timed),
        seconds=math.fsum(each.seconds for each in short),
    )
    return _entry(
        "whole seconds",
        "Whole seconds",
        size,
        "The original prints 0 or 1 for a time below a second.",
        "The times are known to the nanosecond.",
        "The numbers are those of this report, which have fractions.",
        hides=bool(short) and not _strict(found),
    )


def _miscounted(found: SqlBenchFound) -> Iterator[Hidden]:
    for each in found.timed:
        operation = each.operation
        if operation.name != "create_key+drop" or operation.printed in (None, operation.loops):
            continue
        yield _entry(
            "printed count",
            "Printed counts",
            say(
                "{name}: the original prints {printed:,}, and {done:,} were carried out.",
                name=each.name,
                printed=operation.printed,
                done=operation.loops,
            ),
            "Who divides the time by the count finds a rate that never was.",
            "The loops of the small test are held against the number in its line.",
            "The numbers are those of this report, which counts what was carried out.",
            hides=not _strict(found),
        )
        return
