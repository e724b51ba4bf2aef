"""The report of PTS LAT, its plots in the standard's order, as meaning without ink."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teijo import units
from teijo.analysis import measures
from teijo.conformance.versions import Version, version_of
from teijo.document.grid import Figure, Grid
from teijo.document.model import Block, Column, Document, Paragraph, Section, Table, Value
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.histogram_pages import run_section
from teijo.methods.pts.lat.found import SELF_CHECK_NAME, TRACKED, LatFound
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
from teijo.terms.cell import MatrixCell
from teijo.terms.result import StepResult

SELF_CHECK_LIMIT = 0.01
"""How far average latency × IOPS may be from 1 before it is pointed out."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One cell of the matrix over the window, latencies in ms.

    `maximum` is the maximum of the rounds' maxima, `maxima_mean` their mean; `share` is the
    average latency × IOPS of the round furthest from 1.
    """

    cell: MatrixCell
    average: float
    five_nines: float | None
    maximum: float
    maxima_mean: float
    iops: float
    share: float | None

    @property
    def is_suspect(self) -> bool:
        """Whether the self-check fails."""
        return self.share is not None and abs(self.share - 1) > SELF_CHECK_LIMIT


def pages(found: LatFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    version = version_of(settings.spec)
    rows = _rows(found)
    plots = [
        _convergence_section(found, "Average", _average_ms),
        _convergence_section(found, "Maximum", _maximum_ms),
        *(window_pages.close_up_section(state, "Round") for state in found.states),
        *_matrix_sections(found, version, rows),
    ]
    if settings.histogram_minutes is not None:
        plots.append(run_section(TRACKED.stimulus, found.histogram_run))
    figures = (_figures_table(version, rows), _self_check(rows)) if rows else ()
    return report(
        found,
        _loop(found),
        summary=(
            window_pages.verdict_of(found.record, found),
            window_pages.determination_table(found.states),
            *figures,
            run_facts(found, form=",.4f", but=SELF_CHECK_NAME),
        ),
        sections=numbered(plots),
    )


def _loop(found: LatFound) -> Loop:
    settings = found.settings
    length = units.format_duration(settings.minute_ns)
    run: tuple[tuple[str, str], ...] = ()
    if settings.histogram_minutes is not None:
        minutes = settings.histogram_minutes * settings.minute_ns
        run = (
            (
                "Stimulus 2",
                say(
                    "{stimulus}, {length}",
                    stimulus=TRACKED.stimulus,
                    length=units.format_duration(minutes),
                ),
            ),
        )
    return Loop(
        title="Latency",
        subtitle="Latency loop",
        workload_independent=sequential_words(
            settings.precondition_times, settings.precondition_block_bytes
        ),
        workload_dependent="Full latency loop",
        stimulus=(
            ("Stimulus", say("RND, {length} each", length=length)),
            ("R/W mix, outer loop", say("{count} mixes", count=len(settings.mixes_read_percent))),
            (
                "Block size, inner loop",
                say("{count} sizes", count=len(settings.block_sizes_bytes)),
            ),
            *run,
        ),
        preparation_load=(settings.precondition_threads, settings.precondition_queue_depth),
    )


def _rows(found: LatFound) -> list[Row]:
    """Return the cells over the window in the order of the report's table."""
    order = sorted(found.over_window, key=lambda each: (each.block_size_bytes, each.read_percent))
    return [_row(found, key) for key in order]


def _row(found: LatFound, key: MatrixCell) -> Row:
    answers, cell = found.at(key), found.over_window[key]
    return Row(
        cell=key,
        average=ms(cell.latency_ns_mean),
        five_nines=found.five_nines_ms(key),
        maximum=ms(cell.latency_ns_max),
        maxima_mean=sum(_maximum_ms(each) for each in answers) / len(answers),
        iops=cell.iops,
        share=found.share(key),
    )


def _self_check(rows: Sequence[Row]) -> Paragraph:
    """Say whether average latency × IOPS is 1, as it must be with one I/O outstanding."""
    suspects = [row for row in rows if row.is_suspect]
    known = [row for row in rows if row.share is not None]
    if not known:
        return Paragraph(text="Self-check: no I/O completed.")
    worst = max(known, key=lambda row: abs((row.share or 0) - 1))
    if not suspects:
        text = say(
            "Self-check passed: with one I/O outstanding, average latency × IOPS is 1; it is "
            "{share:.4f} in the cell furthest from it.",
            share=worst.share,
        )
        return Paragraph(text=text)
    text = say(
        "SELF-CHECK FAILED in {count} of {all} cells: average latency × IOPS is {share:.4f} for "
        "{cell} and should be 1 within 1 %. For the rest of the time no I/O was outstanding: the "
        "host took that long between two of them, so its IOPS are too low, not its latency.",
        count=len(suspects),
        all=len(rows),
        share=worst.share,
        cell=worst.cell.stimulus,
    )
    return Paragraph(text=text)


def _average_ms(answer: StepResult) -> float:
    return ms(measures.latency_ns_mean(answer))


def _maximum_ms(answer: StepResult) -> float:
    return ms(measures.latency_ns_max(answer))


def _convergence_section(found: LatFound, which: str, of: Callable[[StepResult], float]) -> Section:
    return by_round_section(
        say("Steady state convergence: {which} latency", which=which.lower()),
        say("{which} latency at R/W {mix} by round", which=which, mix=TRACKED.mix),
        found.course,
        found,
        [key for key in found.keys if key.read_percent == TRACKED.read_percent],
        lambda each, key: of(each.at(key)),
        y=Figure(name=say("{which} latency", which=which), unit="ms"),
        figure=lambda key: Figure(name=key.block, unit="ms", digits=5),
    )


def _matrix_sections(found: LatFound, version: Version, rows: Sequence[Row]) -> list[Section]:
    titles = (
        "Average and maximum latency",
        "Average latency by block size and mix, 3-D",
        "Maximum latency by block size and mix, 3-D",
    )
    by_cell = {row.cell: row for row in rows}
    figures: tuple[tuple[str, Callable[[Row], float]], ...] = (
        ("Average latency", lambda row: row.average),
        ("Maximum latency", lambda row: row.maximum),
    )

    def grid(of: Callable[[Row], float]) -> Grid:
        return by_block_size(
            found.keys,
            lambda key: of(by_cell[key]),
            unit="ms",
            digits=5,
        )

    def plots() -> Sequence[Sequence[Block]]:
        tables = [
            grid(of).table(say("{name} (ms) by block size and R/W mix", name=name))
            for name, of in figures
        ]
        bars = [
            grid(of).bars3d(
                say("{name} by block size and R/W mix", name=name),
                Figure(name=name, unit="ms"),
                columns=MIX_AXIS,
                table=table,
            )
            for (name, of), table in zip(figures, tables, strict=True)
        ]
        matrices: list[Block] = [
            *tables,
            _figures_table(version, rows),
            Paragraph(text=_MATRIX_NOTE),
        ]
        return [matrices, *([each] for each in bars)]

    return sections_or(NO_ROUND, titles, plots if rows else None)


_MATRIX_NOTE = (
    "The average is the arithmetic mean over the rounds of the measurement window. The maximum is "
    "the maximum of the rounds' maxima; the mean of those maxima stands beside it, since the "
    "standard's rule for the window is not certain. 99.999 % (5 9s) is read off the histogram of "
    "all the window's I/Os, and is left out of fewer than 100,000."
)


def _figures_table(version: Version, rows: Sequence[Row]) -> Table:
    """Return a row per cell; 5 9s and IOPS belong to the 2.0 layout's table."""
    with_nines = version.histogram_minutes is not None
    nines = (Column(name="99.999 % (5 9s)", unit="ms", digits=4),) if with_nines else ()
    columns = (
        Column(name="Workload"),
        Column(name="Average", unit="ms", digits=5),
        *nines,
        Column(name="Maximum", unit="ms", digits=4),
        Column(name="Mean of the maxima", unit="ms", digits=4),
        Column(name="IOPS", digits=1),
        Column(name="Average × IOPS", digits=4),
    )
    table: list[tuple[Value, ...]] = [
        (
            row.cell.stimulus,
            row.average,
            *((row.five_nines,) if with_nines else ()),
            row.maximum,
            row.maxima_mean,
            row.iops,
            row.share,
        )
        for row in rows
    ]
    last = len(columns) - 1
    return Table(
        columns=columns,
        rows=tuple(table),
        caption="Latency over the measurement window",
        marked=tuple((place, last) for place, row in enumerate(rows) if row.is_suspect),
    )
