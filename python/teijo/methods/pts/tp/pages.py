"""The report of PTS TP: a summary of all block sizes, then for each the standard's five pages."""

from collections.abc import Mapping
from dataclasses import replace

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import THROUGHPUT
from teijo.document.grid import Edge, Fields, Figure, listing, matrix
from teijo.document.model import Block, Document, Facts, Paragraph, Section, Table, Verdict, XYChart
from teijo.document.phrase import listed, say
from teijo.methods.pages import NO_ROUNDS, ms, window_name
from teijo.methods.pts import report, window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.tp.found import BlockFound, TpCell, TpFound, TpSettings
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell

MEAN_NOTE = "Arithmetic mean over the rounds of the measurement window."


def pages(found: TpFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    return report.report(
        found,
        _loop(found),
        summary=_summary(found),
        sections=[section for each in found.blocks for section in _block_sections(each)],
    )


def _loop(found: TpFound) -> Loop:
    settings = found.settings
    several = len(settings.block_sizes_bytes) > 1
    windows = [
        say("{block}: {rounds}", block=each.name, rounds=window_name(each))
        if several
        else window_name(each)
        for each in found.blocks
    ]
    names = [units.format_block_size(block) for block in settings.block_sizes_bytes]
    length = units.format_duration(settings.minute_ns)
    return Loop(
        title="Throughput",
        subtitle="TP loop",
        workload_independent=_preconditioning(settings),
        workload_dependent="Full TP loop",
        stimulus=(
            ("Stimulus", say("SEQ, {length} each", length=length)),
            ("R/W mix, outer loop", "100/0, 0/100"),
            ("Block size, a test each", listed(names)),
        ),
        rounds=listed(windows) if windows else NO_ROUNDS,
    )


def _preconditioning(settings: TpSettings) -> str:
    times, blocks = settings.precondition_times, settings.block_sizes_bytes
    if times and settings.precondition_block_bytes is None and len(blocks) > 1:
        return say("{times}X SEQ/the test's block size", times=times)
    return report.sequential_words(times, settings.precondition_block_bytes or blocks[0])


def _summary(found: TpFound) -> tuple[Block, ...]:
    rounds = tuple(
        (say("Rounds measured, {block}", block=each.name), str(each.rounds))
        for each in found.blocks
    )
    figures = _figures(found.over_window) if found.over_window else ()
    return (
        _verdict(found),
        window_pages.determination_table(found.states),
        *(figures if len(found.blocks) > 1 else figures[:2]),
        Facts(caption="Run", rows=(*rounds, *report.run_rows(found))),
    )


def _verdict(found: TpFound) -> Verdict:
    """Return the answer in one line; of several block sizes each with its rounds."""
    if len(found.blocks) < 2:
        return window_pages.verdict_of(found.record, found)
    words = [
        say("{block} rounds {rounds}", block=each.name, rounds=window_name(each))
        if each.converged
        else say("{block} after {count} rounds NO", block=each.name, count=each.rounds)
        for each in found.blocks
    ]
    if found.converged:
        return Verdict(text=say("STEADY STATE: YES, {each}", each=listed(words)), good=True)
    if not found.record.run.is_whole:
        return Verdict(text=say("STEADY STATE: not yet, {each}", each=listed(words)), good=None)
    return Verdict(text=say("STEADY STATE: NO, {each}", each=listed(words)), good=False)


def _block_sections(found: BlockFound) -> list[Section]:
    """Return one block size's five pages: writes, reads, window, table, bars."""
    window = window_pages.close_up_section(found.states[0], "Round")
    title = say("{block}: steady state measurement window", block=found.name)
    return report.numbered(
        [
            *(_convergence_section(found, key) for key in found.keys),
            replace(window, title=title),
            *_cell_sections(found),
        ]
    )


def _convergence_section(found: BlockFound, cell: TpCell) -> Section:
    name = found.name
    title = (
        say("{block}: convergence of the reads", block=name)
        if cell.read_percent
        else say("{block}: convergence of the writes", block=name)
    )
    return report.by_round_section(
        found,
        title,
        say("Throughput of SEQ {block} at R/W {mix} by round", block=name, mix=cell.mix),
        (cell,),
        measures.throughput_mb_s,
        y=THROUGHPUT,
        figure=lambda _: THROUGHPUT,
        name=lambda key: key.name,
    )


def _cell_sections(found: BlockFound) -> list[Section]:
    titles = (
        say("{block}: throughput table", block=found.name),
        say("{block}: throughput by R/W mix", block=found.name),
    )
    cells = found.over_window
    if not cells:
        return report.sections_of(titles, [])
    *tables, bars = _figures(cells)
    return report.sections_of(titles, [[*tables, Paragraph(text=MEAN_NOTE)], [bars]])


def _figures(cells: Mapping[TpCell, Cell]) -> tuple[Table, Table, XYChart]:
    """Return throughput by block size and mix, all figures of the cells, and throughput drawn."""
    blocks = {key.block_size_bytes: key.block for key in cells}
    mixes = dict.fromkeys(key.read_percent for key in cells)
    grid = matrix(
        Edge(name="Block size", places=tuple(blocks.values()), scale="category", from_zero=True),
        tuple(blocks),
        tuple(mixes),
        lambda block, mix: cells[TpCell(read_percent=mix, block_size_bytes=block)].throughput_mb_s,
        figure=lambda mix: Figure(name=mix_name(mix), unit="MB/s"),
        name=lambda mix: say("R/W {mix}", mix=mix_name(mix)),
        style="bars",
    )
    fields: Fields[TpCell] = (
        ("Workload", "", None, lambda key: say("SEQ {block} {mix}", block=key.block, mix=key.mix)),
        ("Throughput", "MB/s", 2, lambda key: cells[key].throughput_mb_s),
        ("IOPS", "", 1, lambda key: cells[key].iops),
        ("Mean latency", "ms", 4, lambda key: ms(cells[key].latency_ns_mean)),
        ("Maximum latency", "ms", 3, lambda key: ms(cells[key].latency_ns_max)),
    )
    title = "Throughput by block size and R/W mix"
    return (
        grid.table(title),
        listing(cells, fields, caption="All figures of the cells"),
        grid.chart(title, THROUGHPUT, table=grid.table(title, folded=True), note=MEAN_NOTE),
    )
