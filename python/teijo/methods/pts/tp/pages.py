"""The report of PTS TP: a summary of all block sizes, then for each the standard's five pages."""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.conformance.versions import THROUGHPUT_READ_PERCENTS
from teijo.document.grid import Edge, Figure, Grid, matrix
from teijo.document.model import (
    Block,
    Column,
    Document,
    Facts,
    Paragraph,
    Section,
    Table,
    Verdict,
    XYChart,
)
from teijo.document.phrase import listed, say
from teijo.methods.pages import ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.header import NO_ROUNDS, Loop
from teijo.methods.pts.report import (
    NO_ROUND,
    by_round_section,
    numbered,
    report,
    run_rows,
    sections_or,
)
from teijo.methods.pts.tp.method import part_findings
from teijo.methods.pts.tp.parts import Part, TpSettings, cell_name, parts_of
from teijo.methods.rounds import Round, exchanges_of
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Findings
from teijo.terms.record import Record

MEAN_NOTE = "Arithmetic mean over the rounds of the measurement window."
_MIXES = tuple(reversed(THROUGHPUT_READ_PERCENTS))
"""Writes first, as the standard's pages have them."""
THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=2)
_Judged = tuple[Part, Findings]


def pages(found: PtsFound[TpSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record, findings = found.settings, found.record, found.reported
    judged = [
        (part, part_findings(settings, part)) for part in parts_of(settings, exchanges_of(record))
    ]
    return report(
        found,
        _loop(settings, findings, judged),
        summary=_summary(found, judged),
        sections=[section for part, one in judged for section in _part_sections(part, one)],
    )


def _loop(settings: TpSettings, findings: Findings, judged: Sequence[_Judged]) -> Loop:
    several = len(settings.block_sizes_bytes) > 1
    names = [_block(block) for block in settings.block_sizes_bytes]
    windows = [
        say("{block}: {rounds}", block=_name(part), rounds=window_pages.window_name(found))
        if several
        else window_pages.window_name(found)
        for part, found in judged
    ]
    return Loop(
        method="pts.tp",
        title="Throughput",
        subtitle="TP loop",
        workload_independent=_preconditioning(settings),
        workload_dependent="Full TP loop",
        stimulus=(
            (
                "Stimulus",
                say("SEQ, {length} each", length=units.format_duration(settings.minute_ns)),
            ),
            ("R/W mix, outer loop", "100/0, 0/100"),
            ("Block size, a test each", listed(names)),
        ),
        convergence=window_pages.convergence_word(findings),
        rounds=listed(windows) if windows else NO_ROUNDS,
    )


def _preconditioning(settings: TpSettings) -> str:
    if not settings.precondition_times:
        return "none"
    if settings.precondition_block_bytes is None and len(settings.block_sizes_bytes) > 1:
        return say("{times}X SEQ/the test's block size", times=settings.precondition_times)
    block = settings.precondition_block_bytes or settings.block_sizes_bytes[0]
    size = _block(block).replace(" ", "")
    return say("{times}X SEQ/{size}", times=settings.precondition_times, size=size)


def _summary(whole: PtsFound[TpSettings], judged: Sequence[_Judged]) -> tuple[Block, ...]:
    findings = whole.findings
    rounds = tuple(
        (say("Rounds measured, {block}", block=_name(part)), str(found.rounds))
        for part, found in judged
    )
    return (
        _verdict(whole.record, findings, judged),
        window_pages.determination_table(findings.steady_states),
        *(_tables(findings.cells) if findings.cells else ()),
        *([_bars(findings.cells)] if len(judged) > 1 and findings.cells else ()),
        Facts(caption="Run", rows=(*rounds, *run_rows(whole))),
    )


def _verdict(record: Record, findings: Findings, judged: Sequence[_Judged]) -> Verdict:
    """Return the answer in one line; of several block sizes each with its rounds."""
    if len(judged) < 2:
        one = judged[0][1] if judged else findings
        return window_pages.verdict_of(record, replace(one, converged=findings.converged))
    words = [
        say("{block} rounds {rounds}", block=_name(part), rounds=window_pages.window_name(found))
        if found.converged
        else say("{block} after {count} rounds NO", block=_name(part), count=found.rounds)
        for part, found in judged
    ]
    if findings.converged:
        return Verdict(text=say("STEADY STATE: YES, {each}", each=listed(words)), good=True)
    if record.run.ending in ("running", "interrupted", "failed"):
        return Verdict(text=say("STEADY STATE: not yet, {each}", each=listed(words)), good=None)
    return Verdict(text=say("STEADY STATE: NO, {each}", each=listed(words)), good=False)


def _part_sections(part: Part, found: Findings) -> list[Section]:
    """Return one block size's five pages: writes, reads, window, table, bars."""
    state = found.steady_states[0]
    window = window_pages.close_up_section(state, "Round")
    title = say("{block}: steady state measurement window", block=_name(part))
    return numbered(
        [
            *(_convergence_section(part, found, mix) for mix in _MIXES),
            replace(window, title=title),
            *_cell_sections(part, found),
        ]
    )


def _convergence_section(part: Part, found: Findings, read_percent: int) -> Section:
    name, mix = _name(part), mix_name(read_percent)
    title = (
        say("{block}: convergence of the reads", block=name)
        if read_percent
        else say("{block}: convergence of the writes", block=name)
    )
    cell = cell_name(read_percent, part.block_size_bytes)

    def rate(each: Round, cell: str) -> float:
        answer = each.at(cell)
        return units.megabytes_per_second(answer.bytes, answer.elapsed_ns)

    return by_round_section(
        title,
        say("Throughput of SEQ {block} at R/W {mix} by round", block=name, mix=mix),
        part.rounds,
        found,
        (cell,),
        rate,
        y=THROUGHPUT,
        figure=lambda _: THROUGHPUT,
        name=lambda cell: cell,
    )


def _cell_sections(part: Part, found: Findings) -> list[Section]:
    titles = (
        say("{block}: throughput table", block=_name(part)),
        say("{block}: throughput by R/W mix", block=_name(part)),
    )

    def plots() -> Sequence[Sequence[Block]]:
        return [[*_tables(found.cells), Paragraph(text=MEAN_NOTE)], [_bars(found.cells)]]

    return sections_or(NO_ROUND, titles, plots if found.cells else None)


def _tables(cells: Sequence[Cell]) -> tuple[Table, ...]:
    """Return throughput by block size and mix, and the same cells with all their figures."""
    figures = Table(
        columns=(
            Column(name="Workload"),
            THROUGHPUT.column(),
            Column(name="IOPS", digits=1),
            Column(name="Mean latency", unit="ms", digits=4),
            Column(name="Maximum latency", unit="ms", digits=3),
        ),
        rows=tuple(
            (
                say("SEQ {block} {mix}", block=cell.labels[1][1], mix=cell.labels[0][1]),
                cell.throughput_mb_s,
                cell.iops,
                ms(cell.latency_ns_mean),
                ms(cell.latency_ns_max),
            )
            for cell in cells
        ),
        caption="All figures of the cells",
    )
    return _grid(cells).table("Throughput by block size and R/W mix"), figures


def _bars(cells: Sequence[Cell]) -> XYChart:
    grid, title = _grid(cells), "Throughput by block size and R/W mix"
    return grid.chart(title, THROUGHPUT, table=grid.table(title, folded=True), note=MEAN_NOTE)


def _grid(cells: Sequence[Cell]) -> Grid:
    found = {cell.labels: cell.throughput_mb_s for cell in cells}
    blocks = tuple(dict.fromkeys(cell.labels[1][1] for cell in cells))
    return matrix(
        Edge(name="Block size", places=blocks, scale="category", from_zero=True),
        blocks,
        _MIXES,
        lambda block, mix: found[("r/w mix", mix_name(mix)), ("block size", block)],
        figure=lambda mix: Figure(name=mix_name(mix), unit="MB/s"),
        name=lambda mix: say("R/W {mix}", mix=mix_name(mix)),
        style="bars",
    )


def _block(block_size_bytes: int) -> str:
    return units.format_block_size(block_size_bytes)


def _name(part: Part) -> str:
    return _block(part.block_size_bytes)
