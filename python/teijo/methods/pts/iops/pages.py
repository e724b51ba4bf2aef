"""The report of PTS IOPS, its plots in the standard's order, as meaning without ink."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo import units
from teijo.document.grid import Figure, Grid
from teijo.document.model import Block, Column, Document, Paragraph, Section, Table, Value
from teijo.document.phrase import say
from teijo.methods.knobs import show_mix
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.iops import matrix as iops
from teijo.methods.pts.iops.matrix import IopsSettings, cell_name
from teijo.methods.pts.report import (
    IOPS,
    MIX_AXIS,
    NO_ROUND,
    by_block_size,
    by_round_section,
    numbered,
    report,
    run_facts,
    sections_or,
    sequential_words,
)
from teijo.methods.rounds import Rounds, exchanges_of, rounds_of
from teijo.terms.finding import Cell, Findings
from teijo.terms.record import Record

SELECT_PERFORMANCE = (
    ("0/100", "4 KiB"),
    ("100/0", "4 KiB"),
    ("65/35", "64 KiB"),
    ("0/100", "1024 KiB"),
    ("100/0", "1024 KiB"),
)
MATRIX_NOTE = "Arithmetic mean over the rounds of the measurement window."
MATRIX_NOTES = MATRIX_NOTE + " The maximum latency is the maximum of the maxima."
FIGURES: tuple[tuple[Figure, Callable[[Cell], float]], ...] = (
    (IOPS, lambda cell: cell.iops),
    (Figure(name="Throughput", unit="MB/s", digits=2), lambda cell: cell.throughput_mb_s),
    (Figure(name="Mean latency", unit="ms", digits=4), lambda cell: ms(cell.latency_ns_mean)),
    (Figure(name="Maximum latency", unit="ms", digits=3), lambda cell: ms(cell.latency_ns_max)),
)


def pages(settings: IopsSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    rounds = rounds_of(exchanges_of(record), len(iops.matrix(settings, 1)))
    states = findings.steady_states
    plots = [
        _convergence_section(settings, findings, rounds),
        window_pages.all_rounds_section(states, findings, "Round"),
        *(window_pages.close_up_section(state, "Round") for state in states),
        *_matrix_sections(settings, findings),
    ]
    return report(
        record,
        settings,
        findings,
        _loop(settings, findings),
        summary=(
            window_pages.verdict_of(record, findings),
            window_pages.determination_table(states),
            *_select_performance(findings),
            run_facts(record, findings),
        ),
        sections=numbered(plots),
    )


def _loop(settings: IopsSettings, findings: Findings) -> Loop:
    return Loop(
        method="pts.iops",
        title="IOPS",
        subtitle="IOPS loop",
        workload_independent=sequential_words(
            settings.precondition_times, settings.precondition_block_bytes
        ),
        workload_dependent="Full IOPS loop",
        stimulus=(
            ("Stimulus", say("RND, {time} each", time=units.format_duration(settings.minute_ns))),
            ("R/W mix, outer loop", say("{count} mixes", count=len(settings.mixes_read_percent))),
            ("Block size, inner loop", say("{count} sizes", count=len(settings.block_sizes_bytes))),
        ),
        convergence=window_pages.convergence_word(findings),
        rounds=window_pages.window_name(findings),
    )


def _select_performance(findings: Findings) -> tuple[Table, ...]:
    """Return the few cells that people ask for first, of those that were measured."""
    found = {cell.labels: cell for cell in findings.cells}
    asked = [
        found[key]
        for mix, block in SELECT_PERFORMANCE
        if (key := (("r/w mix", mix), ("block size", block))) in found
    ]
    if not asked:
        return ()
    columns = (
        Column(name="Workload"),
        Column(name="IOPS", digits=1),
        Column(name="Throughput", unit="MB/s", digits=1),
        Column(name="Mean latency", unit="ms", digits=3),
        Column(name="Maximum latency", unit="ms", digits=3),
    )
    rows: list[tuple[Value, ...]] = [
        (f"RND {cell.labels[1][1]} {cell.labels[0][1]}", *(of(cell) for _, of in FIGURES))
        for cell in asked
    ]
    return (Table(columns=columns, rows=tuple(rows), caption="Select performance data"),)


def _convergence_section(settings: IopsSettings, findings: Findings, rounds: Rounds) -> Section:
    mixes = settings.mixes_read_percent
    mix = 0 if 0 in mixes else min(mixes)
    return by_round_section(
        "Steady state convergence",
        say("IOPS at R/W {mix} by round", mix=show_mix(mix)),
        rounds,
        findings,
        settings.block_sizes_bytes,
        lambda each, block: each.at(cell_name(mix, block)).iops,
        y=IOPS,
        figure=lambda block: Figure(name=units.format_block_size(block), unit="IOPS"),
        log=True,
    )


def _matrix_sections(settings: IopsSettings, findings: Findings) -> list[Section]:
    titles = ("IOPS table", "IOPS by block size and mix, 2-D", "IOPS by block size and mix, 3-D")
    cells = {cell.labels: cell for cell in findings.cells}

    def grid(figure: Figure, of: Callable[[Cell], float]) -> Grid:
        def at(block: int, mix: int) -> float:
            labels = (("r/w mix", show_mix(mix)), ("block size", units.format_block_size(block)))
            return of(cells[labels])

        sizes, mixes = settings.block_sizes_bytes, settings.mixes_read_percent
        return by_block_size(sizes, mixes, at, digits=figure.digits or 0)

    def plots() -> Sequence[Sequence[Block]]:
        tables = [
            grid(figure, of).table(
                say("{name} by block size and R/W mix", name=_with_unit(figure)),
                folded=figure is not IOPS,
            )
            for figure, of in FIGURES
        ]
        mean, table = grid(*FIGURES[0]), replace(tables[0], folded=True)
        lines = mean.chart(
            "IOPS by block size, one line a R/W mix", IOPS, log=True, table=table, note=MATRIX_NOTE
        )
        bars = mean.bars3d("IOPS by block size and R/W mix", IOPS, columns=MIX_AXIS, table=table)
        return [[*tables, Paragraph(text=MATRIX_NOTES)], [lines], [bars]]

    return sections_or(NO_ROUND, titles, plots if cells else None)


def _with_unit(figure: Figure) -> str:
    if not figure.unit:
        return figure.name
    return say("{name} ({unit})", name=figure.name, unit=figure.unit)
