"""The report of PTS LAT, its plots in the standard's order, as meaning without ink."""

from collections.abc import Callable, Mapping

from teijo import units
from teijo.analysis import measures
from teijo.conformance.versions import version_of
from teijo.document.grid import Fields, Figure, listing
from teijo.document.model import Block, Document, Paragraph, Section, Table
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.histogram_pages import run_section
from teijo.methods.pts.lat.found import SELF_CHECK_NAME, TRACKED, LatFound, LatSettings
from teijo.methods.pts.matrix_pages import MIX_AXIS, by_block_size, matrix_loop
from teijo.methods.pts.report import by_round_section, numbered, report, run_facts, sections_of
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell
from teijo.terms.result import StepResult

SELF_CHECK_LIMIT = 0.01
"""How far average latency × IOPS may be from 1 before it is pointed out."""
LATENCIES: tuple[tuple[str, Callable[[Cell], float]], ...] = (
    ("Average latency", lambda cell: ms(cell.latency_ns_mean)),
    ("Maximum latency", lambda cell: ms(cell.latency_ns_max)),
)


def pages(found: LatFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, shares = found.settings, _shares(found)
    figures = _figures_table(found, shares)
    checked = (figures, _self_check(shares)) if shares else ()
    plots = [
        _convergence_section(found, "Average", measures.latency_ms_mean),
        _convergence_section(found, "Maximum", measures.latency_ms_max),
        *(window_pages.close_up_section(state, "Round") for state in found.states),
        *_matrix_sections(found, figures),
        *([run_section(TRACKED.stimulus, found.histogram_run)] if settings.histogram_ns else []),
    ]
    return report(
        found,
        _loop(settings),
        summary=(
            window_pages.verdict_of(found.record, found),
            window_pages.determination_table(found.states),
            *checked,
            run_facts(found, form=",.4f", but=(SELF_CHECK_NAME,)),
        ),
        sections=numbered(plots),
    )


def _loop(settings: LatSettings) -> Loop:
    length, stimulus = units.format_duration(settings.histogram_ns), TRACKED.stimulus
    run = ("Stimulus 2", say("{stimulus}, {length}", stimulus=stimulus, length=length))
    return matrix_loop(
        settings,
        title="Latency",
        subtitle="Latency loop",
        dependent="Full latency loop",
        more=(run,) if settings.histogram_ns else (),
    )


def _shares(found: LatFound) -> dict[MatrixCell, float | None]:
    """Return average latency × IOPS of each cell, in the order of the report's table."""
    order = sorted(found.over_window, key=lambda each: (each.block_size_bytes, each.read_percent))
    return {key: found.share(key) for key in order}


def _is_suspect(share: float | None) -> bool:
    return share is not None and abs(share - 1) > SELF_CHECK_LIMIT


def _self_check(shares: Mapping[MatrixCell, float | None]) -> Paragraph:
    """Say whether average latency × IOPS is 1, as it must be with one I/O outstanding."""
    known = {cell: share for cell, share in shares.items() if share is not None}
    if not known:
        return Paragraph(text="Self-check: no I/O completed.")
    worst = max(known, key=lambda cell: abs(known[cell] - 1))
    suspects = sum(map(_is_suspect, known.values()))
    if not suspects:
        text = say(
            "Self-check passed: with one I/O outstanding, average latency × IOPS is 1; it is "
            "{share:.4f} in the cell furthest from it.",
            share=known[worst],
        )
        return Paragraph(text=text)
    text = say(
        "SELF-CHECK FAILED in {count} of {all} cells: average latency × IOPS is {share:.4f} for "
        "{cell} and should be 1 within 1 %. For the rest of the time no I/O was outstanding: the "
        "host took that long between two of them, so its IOPS are too low, not its latency.",
        count=suspects,
        all=len(shares),
        share=known[worst],
        cell=worst.stimulus,
    )
    return Paragraph(text=text)


def _convergence_section(found: LatFound, which: str, of: Callable[[StepResult], float]) -> Section:
    return by_round_section(
        found,
        say("Steady state convergence: {which} latency", which=which.lower()),
        say("{which} latency at R/W {mix} by round", which=which, mix=TRACKED.mix),
        [key for key in found.keys if key.read_percent == TRACKED.read_percent],
        of,
        y=Figure(name=say("{which} latency", which=which), unit="ms"),
        figure=lambda key: Figure(name=key.block, unit="ms", digits=5),
    )


def _matrix_sections(found: LatFound, figures: Table) -> list[Section]:
    titles = (
        "Average and maximum latency",
        "Average latency by block size and mix, 3-D",
        "Maximum latency by block size and mix, 3-D",
    )
    cells = found.over_window
    if not cells:
        return sections_of(titles, [])
    tables: list[Block] = []
    bars: list[list[Block]] = []
    for name, of in LATENCIES:
        grid, figure = by_block_size(cells, of, unit="ms", digits=5), Figure(name=name, unit="ms")
        table = grid.table(say("{name} (ms) by block size and R/W mix", name=name))
        title = say("{name} by block size and R/W mix", name=name)
        tables.append(table)
        bars.append([grid.bars3d(title, figure, columns=MIX_AXIS, table=table)])
    return sections_of(titles, [[*tables, figures, Paragraph(text=_MATRIX_NOTE)], *bars])


_MATRIX_NOTE = (
    "The average is the arithmetic mean over the rounds of the measurement window. The maximum is "
    "the maximum of the rounds' maxima; the mean of those maxima stands beside it, since the "
    "standard's rule for the window is not certain. 99.999 % (5 9s) is read off the histogram of "
    "all the window's I/Os, and is left out of fewer than 100,000."
)


def _figures_table(found: LatFound, shares: Mapping[MatrixCell, float | None]) -> Table:
    """Return a row per cell; 5 9s and IOPS belong to the 2.0 layout's table, whatever ran."""
    cells = found.over_window
    has_nines = version_of(found.settings.spec).histogram_minutes is not None

    def maxima_mean(key: MatrixCell) -> float:
        maxima = list(map(measures.latency_ms_max, found.at(key)))
        return sum(maxima) / len(maxima)

    five_nines = ("99.999 % (5 9s)", "ms", 4, found.five_nines_ms)
    fields: Fields[MatrixCell] = (
        ("Workload", "", None, lambda key: key.stimulus),
        ("Average", "ms", 5, lambda key: ms(cells[key].latency_ns_mean)),
        *((five_nines,) if has_nines else ()),
        ("Maximum", "ms", 4, lambda key: ms(cells[key].latency_ns_max)),
        # Which of the two the standard means is not certain; other programs average the maxima.
        ("Mean of the maxima", "ms", 4, maxima_mean),
        ("IOPS", "", 1, lambda key: cells[key].iops),
        ("Average × IOPS", "", 4, lambda key: shares[key]),
    )
    suspects = (row for row, share in enumerate(shares.values()) if _is_suspect(share))
    return listing(
        shares,
        fields,
        caption="Latency over the measurement window",
        marked=((row, len(fields) - 1) for row in suspects),
    )
