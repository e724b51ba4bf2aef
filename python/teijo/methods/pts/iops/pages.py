"""The report of PTS IOPS, its plots in the standard's order, as meaning without ink."""

from collections.abc import Callable
from dataclasses import replace

from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT
from teijo.document.grid import Fields, Figure, listing
from teijo.document.model import Document, Paragraph, Section, Table
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.iops.found import SELECT_PERFORMANCE, IopsFound
from teijo.methods.pts.matrix_pages import MIX_AXIS, by_block_size, matrix_loop
from teijo.methods.pts.report import by_round_section, numbered, report, run_facts, sections_of
from teijo.terms.cell import MatrixCell, mix_name
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
        matrix_loop(found.settings, title="IOPS", subtitle="IOPS loop", dependent="Full IOPS loop"),
        summary=(
            window_pages.verdict_of(found.record, found),
            window_pages.determination_table(found.states),
            *_select_performance(found),
            run_facts(found),
        ),
        sections=numbered(plots),
    )


def _select_performance(found: IopsFound) -> tuple[Table, ...]:
    """Return the few cells that people ask for first, of those that were measured."""
    cells = found.over_window
    fields: Fields[MatrixCell] = (
        ("Workload", "", None, lambda key: key.stimulus),
        ("IOPS", "", 1, lambda key: cells[key].iops),
        ("Throughput", "MB/s", 1, lambda key: cells[key].throughput_mb_s),
        ("Mean latency", "ms", 3, lambda key: ms(cells[key].latency_ns_mean)),
        ("Maximum latency", "ms", 3, lambda key: ms(cells[key].latency_ns_max)),
    )
    measured = [key for key in SELECT_PERFORMANCE if key in cells]
    return (listing(measured, fields, caption="Select performance data"),) if measured else ()


def _convergence_section(found: IopsFound) -> Section:
    mixes = found.settings.mixes_read_percent
    # The standard's plot is of 0/100; a matrix without it has its most writes there.
    mix = 0 if 0 in mixes else min(mixes)
    return by_round_section(
        found,
        "Steady state convergence",
        say("IOPS at R/W {mix} by round", mix=mix_name(mix)),
        [key for key in found.keys if key.read_percent == mix],
        lambda answer: answer.iops,
        y=IOPS,
        figure=lambda key: Figure(name=key.block, unit="IOPS"),
        log=True,
    )


def _matrix_sections(found: IopsFound) -> list[Section]:
    titles = ("IOPS table", "IOPS by block size and mix, 2-D", "IOPS by block size and mix, 3-D")
    cells = found.over_window
    if not cells:
        return sections_of(titles, [])
    grids = [by_block_size(cells, of, digits=figure.digits or 0) for figure, of in FIGURES]
    tables = [
        grid.table(
            say("{name} by block size and R/W mix", name=_with_unit(figure)),
            folded=figure is not IOPS,
        )
        for grid, (figure, _) in zip(grids, FIGURES, strict=True)
    ]
    mean, table = grids[0], replace(tables[0], folded=True)
    lines = mean.chart(
        "IOPS by block size, one line a R/W mix", IOPS, log=True, table=table, note=MATRIX_NOTE
    )
    bars = mean.bars3d("IOPS by block size and R/W mix", IOPS, columns=MIX_AXIS, table=table)
    return sections_of(titles, [[*tables, Paragraph(text=MATRIX_NOTES)], [lines], [bars]])


def _with_unit(figure: Figure) -> str:
    if not figure.unit:
        return figure.name
    return say("{name} ({unit})", name=figure.name, unit=figure.unit)
