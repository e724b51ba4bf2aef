"""The report of PTS IOPS, its plots in the standard's order, as meaning without ink."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT
from teijo.document.grid import Figure, Grid
from teijo.document.model import Block, Column, Document, Paragraph, Section, Table, Value
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.iops.found import SELECT_PERFORMANCE, IopsFound
from teijo.methods.pts.report import (
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
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell

MATRIX_NOTE = "Arithmetic mean over the rounds of the measurement window."
MATRIX_NOTES = MATRIX_NOTE + " The maximum latency is the maximum of the maxima."
FIGURES: tuple[tuple[Figure, Callable[[Cell], float]], ...] = (
    (IOPS, lambda cell: cell.iops),
    (THROUGHPUT, lambda cell: cell.throughput_mb_s),
    (LATENCY, lambda cell: ms(cell.latency_ns_mean)),
    (Figure(name="Maximum latency", unit="ms", digits=3), lambda cell: ms(cell.latency_ns_max)),
)


def pages(found: IopsFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    plots = [
        _convergence_section(found),
        window_pages.all_rounds_section(found.states, found, "Round"),
        *(window_pages.close_up_section(state, "Round") for state in found.states),
        *_matrix_sections(found),
    ]
    return report(
        found,
        _loop(found),
        summary=(
            window_pages.verdict_of(found.record, found),
            window_pages.determination_table(found.states),
            *_select_performance(found),
            run_facts(found),
        ),
        sections=numbered(plots),
    )


def _loop(found: IopsFound) -> Loop:
    settings = found.settings
    return Loop(
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
    )


def _select_performance(found: IopsFound) -> tuple[Table, ...]:
    """Return the few cells that people ask for first, of those that were measured."""
    cells = found.over_window
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (key.stimulus, *(of(cells[key]) for _, of in FIGURES))
        for key in SELECT_PERFORMANCE
        if key in cells
    )
    if not rows:
        return ()
    columns = (
        Column(name="Workload"),
        Column(name="IOPS", digits=1),
        Column(name="Throughput", unit="MB/s", digits=1),
        Column(name="Mean latency", unit="ms", digits=3),
        Column(name="Maximum latency", unit="ms", digits=3),
    )
    return (Table(columns=columns, rows=rows, caption="Select performance data"),)


def _convergence_section(found: IopsFound) -> Section:
    mixes = found.settings.mixes_read_percent
    mix = 0 if 0 in mixes else min(mixes)
    return by_round_section(
        "Steady state convergence",
        say("IOPS at R/W {mix} by round", mix=mix_name(mix)),
        found.course,
        found,
        [key for key in found.keys if key.read_percent == mix],
        lambda each, key: each.at(key).iops,
        y=IOPS,
        figure=lambda key: Figure(name=key.block, unit="IOPS"),
        log=True,
    )


def _matrix_sections(found: IopsFound) -> list[Section]:
    titles = ("IOPS table", "IOPS by block size and mix, 2-D", "IOPS by block size and mix, 3-D")
    cells = found.over_window

    def grid(figure: Figure, of: Callable[[Cell], float]) -> Grid:
        return by_block_size(found.keys, lambda key: of(cells[key]), digits=figure.digits or 0)

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
