"""The report of PTS TP: a summary of all block sizes, then for each the standard's five pages."""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Document,
    Facts,
    Paragraph,
    Section,
    Series,
    Table,
    Verdict,
    XYChart,
)
from teijo.document.phrase import capitalised, listed, say
from teijo.methods.knobs import show_mix
from teijo.methods.pages import assemble, ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import NO_ROUNDS, Loop, cache_remarks, pts_header
from teijo.methods.pts.ledger.page import ledger_section
from teijo.methods.pts.tp.method import part_findings
from teijo.methods.pts.tp.parts import Part, TpSettings, cell_name, parts_of
from teijo.methods.pts.versions import THROUGHPUT_READ_PERCENTS, version_of
from teijo.methods.rounds import exchanges_of
from teijo.methods.scaled import scalar_told
from teijo.terms.finding import Cell, Findings
from teijo.terms.record import Record

TITLE = "Throughput"
MEAN_NOTE = "Arithmetic mean over the rounds of the measurement window."
_MIXES = tuple(reversed(THROUGHPUT_READ_PERCENTS))
"""Writes first, as the standard's pages have them."""
_Judged = tuple[Part, Findings]


def pages(settings: TpSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    version = version_of(settings.spec)
    judged = [
        (part, part_findings(settings, part)) for part in parts_of(settings, exchanges_of(record))
    ]
    loop = _loop(settings, findings, judged)
    header = pts_header(record, settings, version, loop, findings.ledger)
    sections = [_summary_section(record, findings, judged)]
    for part, found in judged:
        sections += _part_sections(part, found)
    sections.append(ledger_section(findings.ledger, version))
    return assemble(record, settings, header, sections, cache_remarks(record, version))


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
        title=TITLE,
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


def _summary_section(record: Record, findings: Findings, judged: Sequence[_Judged]) -> Section:
    rows: list[tuple[str, str]] = [
        (
            say("Rounds measured, {block}", block=_name(part)),
            str(found.rounds),
        )
        for part, found in judged
    ]
    rows += [
        (capitalised(scalar.name), scalar_told(scalar, ",.3f", record.geometry))
        for scalar in findings.scalars
        if scalar.value is not None
    ]
    return Section(
        title="Summary",
        blocks=(
            _verdict(record, findings, judged),
            window_pages.determination_table(findings.steady_states),
            *(_tables(findings.cells) if findings.cells else ()),
            *([_bars(findings.cells)] if len(judged) > 1 and findings.cells else ()),
            Facts(caption="Run", rows=tuple(rows)),
        ),
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
    sections = [
        *(_convergence_section(part, found, read_percent) for read_percent in _MIXES),
        replace(
            window,
            title=say("{block}: steady state measurement window", block=_name(part)),
        ),
        *_cell_sections(part, found),
    ]
    return [
        replace(
            section,
            label=say("Plot {place} of {count}", place=place, count=len(sections)),
        )
        for place, section in enumerate(sections, start=1)
    ]


def _convergence_section(part: Part, found: Findings, read_percent: int) -> Section:
    name, mix = _name(part), show_mix(read_percent)
    title = (
        say("{block}: convergence of the reads", block=name)
        if read_percent
        else say("{block}: convergence of the writes", block=name)
    )
    rounds = part.rounds.whole
    if not rounds:
        return Section(title=title, blocks=(Paragraph(text="No whole round yet."),))
    numbers = tuple(each.number for each in rounds)
    values = tuple(
        units.megabytes_per_second(answer.bytes, answer.elapsed_ns)
        for answer in (each.at(cell_name(read_percent, part.block_size_bytes)) for each in rounds)
    )
    chart = XYChart(
        title=say("Throughput of SEQ {block} at R/W {mix} by round", block=name, mix=mix),
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="Throughput", unit="MB/s"),
        series=(Series(name=cell_name(read_percent, part.block_size_bytes), x=numbers, y=values),),
        table=Table(
            columns=(
                Column(name="Round", digits=0),
                Column(name="Throughput", unit="MB/s", digits=2),
            ),
            rows=tuple(zip(numbers, values, strict=True)),
        ),
        spans=window_pages.window_spans(found),
        note=window_pages.broken_note(part.rounds),
    )
    return Section(title=title, blocks=(chart,))


def _cell_sections(part: Part, found: Findings) -> list[Section]:
    titles = (
        say("{block}: throughput table", block=_name(part)),
        say("{block}: throughput by R/W mix", block=_name(part)),
    )
    if not found.cells:
        text = Paragraph(text="No whole round yet.")
        return [Section(title=title, blocks=(text,)) for title in titles]
    tables: tuple[Block, ...] = (*_tables(found.cells), Paragraph(text=MEAN_NOTE))
    return [
        Section(title=titles[0], blocks=tables),
        Section(title=titles[1], blocks=(_bars(found.cells),)),
    ]


def _tables(cells: Sequence[Cell]) -> tuple[Table, ...]:
    """Return throughput by block size and mix, and the same cells with all their figures."""
    throughput = Table(
        columns=(
            Column(name="Block size"),
            *(Column(name=show_mix(mix), unit="MB/s", digits=1) for mix in _MIXES),
        ),
        rows=tuple(
            (block, *(_throughput(cells, block, mix) for mix in _MIXES)) for block in _blocks(cells)
        ),
        caption="Throughput by block size and R/W mix",
    )
    figures = Table(
        columns=(
            Column(name="Workload"),
            Column(name="Throughput", unit="MB/s", digits=2),
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
    return throughput, figures


def _bars(cells: Sequence[Cell]) -> XYChart:
    blocks = _blocks(cells)
    return XYChart(
        title="Throughput by block size and R/W mix",
        x=Axis(name="Block size", scale="category"),
        y=Axis(name="Throughput", unit="MB/s"),
        series=tuple(
            Series(
                name=say("R/W {mix}", mix=show_mix(mix)),
                x=blocks,
                y=tuple(_throughput(cells, block, mix) for block in blocks),
                style="bars",
            )
            for mix in _MIXES
        ),
        table=replace(_tables(cells)[0], folded=True),
        note=MEAN_NOTE,
    )


def _blocks(cells: Sequence[Cell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.labels[1][1] for cell in cells))


def _throughput(cells: Sequence[Cell], block: str, read_percent: int) -> float:
    labels = (("r/w mix", show_mix(read_percent)), ("block size", block))
    return next(cell.throughput_mb_s for cell in cells if cell.labels == labels)


def _block(block_size_bytes: int) -> str:
    return units.format_block_size(block_size_bytes)


def _name(part: Part) -> str:
    return _block(part.block_size_bytes)
