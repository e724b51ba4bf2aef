"""The report of sql-bench: its own totals first, then single statements, the disk, the defects."""

import math
from collections.abc import Sequence

from teijo.analysis import percentile
from teijo.analysis.mean import mean_of
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic import hidden
from teijo.methods.classic.sql_bench.found import SqlBenchFound, Timed
from teijo.methods.classic.sql_bench.hidden import entries, memory_sentence, served_from_memory
from teijo.methods.databases import SCATTER, settings_section, time_section
from teijo.methods.knobs import describe
from teijo.methods.report import study_report
from teijo.units import MEGA, NS_PER_US

MADE = (
    "The rows of ATIS and wisconsin are made by rule, as many as the suite loads from its text "
    "files; the statements are of the suite's kinds. Times compare between runs of this program, "
    "and not with numbers of the original to the last digit: its client is Perl."
)
ESTIMATED = (
    "+ marks a time that is extrapolated: the loop stopped at the time limit, and the share that "
    "was carried out is taken for the whole."
)
MEMORY = "Their times are of the processor and of memory, and say nothing of the storage."
TOTALS: Fields[tuple[str, Sequence[Timed]]] = (
    ("Operation", "", None, lambda row: Verbatim(row[0])),
    ("Time", "s", 2, lambda row: _sum(row[1], "wall")),
    ("±", "s", 2, lambda row: _half_width_s(row[1])),
    ("User CPU", "s", 2, lambda row: _sum(row[1], "user")),
    ("System CPU", "s", 2, lambda row: _sum(row[1], "system")),
    ("Statements", "", 0, lambda row: sum(each.statements for each in row[1])),
    ("Estimated", "", None, lambda row: "+" if any(each.estimated for each in row[1]) else ""),
)
SINGLE: Fields[Timed] = (
    ("Operation", "", None, lambda row: Verbatim(row.name)),
    ("Statements", "", 0, lambda row: row.times.count),
    ("Mean", "µs", 1, lambda row: row.times.mean_ns / NS_PER_US),
    ("p50", "µs", 1, lambda row: percentile.level(row.times, 50, NS_PER_US)),
    ("p99", "µs", 1, lambda row: percentile.level(row.times, 99, NS_PER_US)),
    ("Max", "µs", 1, lambda row: row.times.max_ns / NS_PER_US),
    ("Disk reads", "", 0, lambda row: row.disk.reads if row.disk else None),
    ("Disk writes", "", 0, lambda row: row.disk.writes if row.disk else None),
    ("Written", "MB", 2, lambda row: row.disk.written_bytes / MEGA if row.disk else None),
    ("Flushes", "", 0, lambda row: row.disk.flushes if row.disk else None),
)


def pages(found: SqlBenchFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    sections: list[model.Section] = []
    if found.timed:
        sections = [
            _result_section(found),
            hidden.section(entries(found)),
            _totals_section(found),
            model.Section(
                title="Single statements",
                blocks=(listing(found.timed, SINGLE, caption="Single statements"),),
            ),
            time_section(found.answers),
            *settings_section(found.answers),
        ]
    return study_report(
        found,
        title="The tests of sql-bench",
        subtitle=found.record.identity.target,
        group="Workload",
        test=[
            (Verbatim(each.key), Verbatim(each.value))
            for each in describe(found.settings)
            if each.value
        ],
        sections=sections,
        empty="Nothing was measured yet.",
    )


def _sum(timed: Sequence[Timed], kind: str) -> float:
    values = [
        each.wall_s(answer) if kind == "wall" else each.cpu_s(answer, kind)
        for each in timed
        for answer in each.answers
    ]
    passes = max(len(each.answers) for each in timed)
    return math.fsum(values) / passes


def _half_width_s(timed: Sequence[Timed]) -> float | None:
    """Return how far the mean time of the passes may be off; None of one pass."""
    passes = zip(*(map(each.wall_s, each.answers) for each in timed), strict=False)
    mean = mean_of([math.fsum(times) for times in passes])
    return None if mean is None else mean.half_width


def _client(found: SqlBenchFound, row: tuple[str, Sequence[Timed]]) -> float:
    return math.fsum(map(found.client_s, row[1]))


def _result_section(found: SqlBenchFound) -> model.Section:
    tests = found.by_test
    total = math.fsum(_sum(timed, "wall") for timed in tests.values())
    fields: Fields[tuple[str, Sequence[Timed]]] = (
        ("Test", "", None, lambda row: Verbatim(row[0])),
        *TOTALS[1:],
    )
    verdict = say("{count} tests in {seconds:,.1f} s", count=len(tests), seconds=total)
    if len(tests) == 1:
        verdict = say("1 test in {seconds:,.1f} s", seconds=total)
    if any(each.estimated for each in found.timed):
        verdict = say("{told}, extrapolated (+)", told=verdict)
    notes = [model.Paragraph(text=SCATTER), model.Paragraph(text=MADE)]
    if any(each.estimated for each in found.timed):
        notes.append(model.Paragraph(text=ESTIMATED))
    memory = memory_sentence(found)
    if found.settings.strict == "on" and memory is not None and served_from_memory(found):
        notes.append(model.Paragraph(text=say("{reads} {meaning}", reads=memory, meaning=MEMORY)))
    return model.Section(
        title="Result",
        blocks=(
            model.Verdict(text=verdict, good=None),
            listing(tests.items(), fields, caption="Time of each test"),
            *notes,
        ),
    )


def _totals_section(found: SqlBenchFound) -> model.Section:
    rows = [*found.by_operation.items(), ("TOTALS", found.timed)]
    fields = TOTALS
    if found.settings.strict == "on":
        fields = (
            *TOTALS[:3],
            ("Without the client", "s", 2, lambda row: _sum(row[1], "wall") - _client(found, row)),
            *TOTALS[3:],
        )
    table = listing(rows, fields, caption="Totals per operation")
    return model.Section(title="Totals per operation", blocks=(table,))
