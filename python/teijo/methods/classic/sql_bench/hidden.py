"""What sql-bench's numbers hide, as far as it was so in this run, each with its size."""

import math

from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import say
from teijo.methods.classic.sql_bench.found import SqlBenchFound, Timed
from teijo.units import MEGA, format_duration

_FEW_FLUSHES = 0.5
"""A durable commit is one flush at least; below half a flush a commit, commits are not durable."""
_CLIENT_SHARE = 0.5
_ROWS = ("insert", "update", "delete")

FIELDS: Fields[tuple[str, str]] = (
    ("Defect", "", None, lambda row: row[0]),
    ("In this run", "", None, lambda row: row[1]),
)


def hidden_section(found: SqlBenchFound) -> list[model.Section]:
    """Return the page, none where nothing was found to be hidden."""
    rows = [
        row
        for row in (
            _whole_seconds(found),
            _not_durable(found),
            _in_memory(found),
            _extrapolated(found),
            _miscounted(found),
            _client(found),
        )
        if row is not None
    ]
    if not rows:
        return []
    table = listing(rows, FIELDS, caption="What this number hides")
    return [model.Section(title="What this number hides", blocks=(table,))]


def _whole_seconds(found: SqlBenchFound) -> tuple[str, str] | None:
    if found.settings.strict == "on":
        return None  # nobody reads the whole seconds of a strict run
    short = [each for each in found.timed if each.seconds < 1]
    if not short:
        return None
    told = math.fsum(each.seconds for each in short)
    return (
        "whole seconds",
        say(
            "{count} of {all} operations take less than a second, and the original prints 0 or 1 "
            "for them: {seconds:,.2f} s in all",
            count=len(short),
            all=len(found.timed),
            seconds=told,
        ),
    )


def _commits(found: SqlBenchFound) -> list[Timed]:
    timed = [each for each in found.timed if each.writes and each.disk is not None]
    # A server that flushes no commit may flush files that it makes for tables all the same.
    rows = [each for each in timed if each.work.operation.startswith(_ROWS)]
    return rows or timed


def _not_durable(found: SqlBenchFound) -> tuple[str, str] | None:
    timed = [each for each in _commits(found) if each.disk and each.disk.flushes is not None]
    commits = sum(each.times.count for each in timed)
    flushes = sum(each.disk.flushes or 0 for each in timed if each.disk)
    if not commits or flushes / commits >= _FEW_FLUSHES:
        return None
    return (
        "commits that no flush follows",
        say(
            "{flushes:,} flushes of the disk for {commits:,} statements that commit: "
            "{share:.3f} each; a crash of the host loses them",
            flushes=flushes,
            commits=commits,
            share=flushes / commits,
        ),
    )


def _in_memory(found: SqlBenchFound) -> tuple[str, str] | None:
    reading = [
        each for each in found.timed if each.work.operation.startswith(("select", "count", "order"))
    ]
    seen = [each.disk for each in reading if each.disk is not None]
    statements = sum(each.times.count for each in reading)
    read_bytes = sum(each.read_bytes for each in seen)
    if not seen or not statements or sum(each.reads for each in seen) * 100 > statements:
        return None
    return (
        "all of it fits in memory",
        say(
            "{statements:,} statements that read made the disk read {mb:,.2f} MB: their times say "
            "nothing of the storage",
            statements=statements,
            mb=read_bytes / MEGA,
        ),
    )


def _extrapolated(found: SqlBenchFound) -> tuple[str, str] | None:
    shares = [(each, each.share_done(answer)) for each in found.timed for answer in each.answers]
    cut = [(each, share) for each, share in shares if share < 1]
    if not cut:
        return None
    each, share = min(cut, key=lambda pair: pair[1])
    return (
        "extrapolated times",
        say(
            "{count} loops stopped after {limit}; of {name} {percent:.0f} % was carried out",
            count=len(cut),
            limit=format_duration(each.work.time_limit_ns),
            name=each.name,
            percent=share * 100,
        ),
    )


def _miscounted(found: SqlBenchFound) -> tuple[str, str] | None:
    if found.settings.strict == "on":
        return None  # nobody reads the printed counts of a strict run
    wrong = [
        each
        for each in found.timed
        if each.operation.printed not in (None, each.operation.loops)
        and each.operation.name == "create_key+drop"
    ]
    if not wrong:
        return None
    return (
        "printed counts",
        say(
            "{name}: the original prints {printed:,}, and {done:,} were carried out",
            name=wrong[0].name,
            printed=wrong[0].operation.printed,
            done=wrong[0].operation.loops,
        ),
    )


def _client(found: SqlBenchFound) -> tuple[str, str] | None:
    each_ms = found.null_query_ms
    total = math.fsum(each.seconds for each in found.timed)
    statements = sum(each.statements for each in found.timed)
    share = statements * each_ms / 1000 / total if total else 0.0
    if share < _CLIENT_SHARE:
        return None
    return (
        "the client's own time",
        say(
            "a statement that asks for nothing takes {us:,.0f} µs: {percent:.0f} % of all the time",
            us=each_ms * 1000,
            percent=min(1.0, share) * 100,
        ),
    )
