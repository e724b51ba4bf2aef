"""The report of PTS IOPS, its plots in the standard's order, as meaning without ink."""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.document.model import (
    Axis,
    Bars3D,
    Column,
    Document,
    Facts,
    Paragraph,
    Section,
    Series,
    Table,
    XYChart,
)
from teijo.document.phrase import capitalised, say
from teijo.methods.knobs import show_mix
from teijo.methods.pages import assemble, ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.pts.iops.matrix import IopsSettings, cell_name, matrix
from teijo.methods.pts.ledger.page import ledger_section
from teijo.methods.pts.versions import version_of
from teijo.methods.rounds import Rounds, exchanges_of, rounds_of
from teijo.methods.scaled import scalar_told
from teijo.terms.finding import Cell, Findings
from teijo.terms.record import Record

TITLE = "IOPS"
SELECT_PERFORMANCE = (
    ("0/100", "4 KiB"),
    ("100/0", "4 KiB"),
    ("65/35", "64 KiB"),
    ("0/100", "1024 KiB"),
    ("100/0", "1024 KiB"),
)
MATRIX_NOTE = "Arithmetic mean over the rounds of the measurement window."
MATRIX_NOTES = MATRIX_NOTE + " The maximum latency is the maximum of the maxima."


def pages(settings: IopsSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    version = version_of(settings.spec)
    rounds = rounds_of(exchanges_of(record), len(matrix(settings, 1)))
    states = findings.steady_states
    plots = [
        _convergence_section(settings, findings, rounds),
        window_pages.all_rounds_section(states, findings, "Round"),
        *(window_pages.close_up_section(state, "Round") for state in states),
        *_matrix_sections(settings, findings),
    ]
    numbered = [
        replace(section, label=say("Plot {place} of {count}", place=place, count=len(plots)))
        for place, section in enumerate(plots, start=1)
    ]
    header = pts_header(record, settings, version, _loop(settings, findings), findings.ledger)
    summary = _summary_section(record, findings)
    sections = (summary, *numbered, ledger_section(findings.ledger, version))
    return assemble(record, settings, header, sections, cache_remarks(record, version))


def _loop(settings: IopsSettings, findings: Findings) -> Loop:
    times = settings.precondition_times
    block = units.format_block_size(settings.precondition_block_bytes).replace(" ", "")
    return Loop(
        method="pts.iops",
        title=TITLE,
        subtitle="IOPS loop",
        workload_independent=f"{times}X SEQ/{block}" if times else "none",
        workload_dependent="Full IOPS loop",
        stimulus=(
            ("Stimulus", say("RND, {time} each", time=units.format_duration(settings.minute_ns))),
            ("R/W mix, outer loop", say("{count} mixes", count=len(settings.mixes_read_percent))),
            ("Block size, inner loop", say("{count} sizes", count=len(settings.block_sizes_bytes))),
        ),
        convergence=window_pages.convergence_word(findings),
        rounds=window_pages.window_name(findings),
    )


def _summary_section(record: Record, findings: Findings) -> Section:
    scalars = tuple(
        (capitalised(scalar.name), scalar_told(scalar, ",.3f", record.geometry))
        for scalar in findings.scalars
        if scalar.value is not None
    )
    return Section(
        title="Summary",
        blocks=(
            window_pages.verdict_of(record, findings),
            window_pages.determination_table(findings.steady_states),
            *_select_performance(findings),
            Facts(caption="Run", rows=(("Rounds measured", str(findings.rounds)), *scalars)),
        ),
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
    rows = tuple(
        (
            f"RND {cell.labels[1][1]} {cell.labels[0][1]}",
            cell.iops,
            cell.throughput_mb_s,
            ms(cell.latency_ns_mean),
            ms(cell.latency_ns_max),
        )
        for cell in asked
    )
    return (Table(columns=columns, rows=rows, caption="Select performance data"),)


def _convergence_section(settings: IopsSettings, findings: Findings, rounds: Rounds) -> Section:
    title = "Steady state convergence"
    if not rounds.whole:
        return Section(title=title, blocks=(Paragraph(text="No whole round yet."),))
    mixes = settings.mixes_read_percent
    read_percent = 0 if 0 in mixes else min(mixes)
    numbers = tuple(each.number for each in rounds.whole)
    blocks = settings.block_sizes_bytes
    values = {
        block: tuple(each.at(cell_name(read_percent, block)).iops for each in rounds.whole)
        for block in blocks
    }
    table = Table(
        columns=(
            Column(name="Round", digits=0),
            *(
                Column(name=units.format_block_size(block), unit="IOPS", digits=1)
                for block in blocks
            ),
        ),
        rows=tuple(
            (number, *(values[block][place] for block in blocks))
            for place, number in enumerate(numbers)
        ),
    )
    chart = XYChart(
        title=say("IOPS at R/W {mix} by round", mix=show_mix(read_percent)),
        x=Axis(name="Round", from_zero=False),
        y=Axis(name="IOPS", scale="log"),
        series=tuple(
            Series(
                name=units.format_block_size(block),
                x=numbers,
                y=window_pages.drawn(values[block], log=True),
            )
            for block in blocks
        ),
        table=table,
        spans=window_pages.window_spans(findings),
        note=window_pages.broken_note(rounds),
    )
    return Section(title=title, blocks=(chart,))


def _matrix_sections(settings: IopsSettings, findings: Findings) -> list[Section]:
    titles = ("IOPS table", "IOPS by block size and mix, 2-D", "IOPS by block size and mix, 3-D")
    if not findings.cells:
        text = Paragraph(text="No whole round yet.")
        return [Section(title=title, blocks=(text,)) for title in titles]
    iops = _matrix_table(settings, findings.cells, "IOPS", "", 1)
    others = (
        _matrix_table(settings, findings.cells, "Throughput", "MB/s", 2),
        _matrix_table(settings, findings.cells, "Mean latency", "ms", 4),
        _matrix_table(settings, findings.cells, "Maximum latency", "ms", 3),
    )
    note = Paragraph(text=MATRIX_NOTES)
    return [
        Section(title=titles[0], blocks=(iops, *others, note)),
        Section(title=titles[1], blocks=(_two_dimensions(settings, findings.cells, iops),)),
        Section(title=titles[2], blocks=(_three_dimensions(settings, findings.cells, iops),)),
    ]


def _rising(settings: IopsSettings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return block sizes with the smallest first, and mixes from all writes to all reads."""
    return tuple(sorted(settings.block_sizes_bytes)), tuple(sorted(settings.mixes_read_percent))


def _number(cells: Sequence[Cell], block: int, read_percent: int, name: str) -> float:
    labels = (
        ("r/w mix", show_mix(read_percent)),
        ("block size", units.format_block_size(block)),
    )
    cell = next(each for each in cells if each.labels == labels)
    match name:
        case "Throughput":
            return cell.throughput_mb_s
        case "Mean latency":
            return ms(cell.latency_ns_mean)
        case "Maximum latency":
            return ms(cell.latency_ns_max)
        case _:
            return cell.iops


def _matrix_table(
    settings: IopsSettings, cells: Sequence[Cell], name: str, unit: str, digits: int
) -> Table:
    blocks, mixes = _rising(settings)
    return Table(
        columns=(
            Column(name="Block size", unit="KiB"),
            *(Column(name=show_mix(mix), digits=digits) for mix in mixes),
        ),
        rows=tuple(
            (f"{block / units.KIB:g}", *(_number(cells, block, mix, name) for mix in mixes))
            for block in blocks
        ),
        caption=say("{name} by block size and R/W mix", name=_with_unit(name, unit)),
        folded=name != "IOPS",
    )


def _with_unit(name: str, unit: str) -> str:
    return say("{name} ({unit})", name=name, unit=unit) if unit else name


def _two_dimensions(settings: IopsSettings, cells: Sequence[Cell], table: Table) -> XYChart:
    blocks, mixes = _rising(settings)
    return XYChart(
        title="IOPS by block size, one line a R/W mix",
        x=Axis(name="Block size", unit="KiB", scale="log"),
        y=Axis(name="IOPS", scale="log"),
        series=tuple(
            Series(
                name=show_mix(mix),
                x=tuple(block / units.KIB for block in blocks),
                y=window_pages.drawn(
                    [_number(cells, block, mix, "IOPS") for block in blocks], log=True
                ),
            )
            for mix in mixes
        ),
        table=replace(table, folded=True),
        note=MATRIX_NOTE,
    )


def _three_dimensions(settings: IopsSettings, cells: Sequence[Cell], table: Table) -> Bars3D:
    blocks, mixes = _rising(settings)
    return Bars3D(
        title="IOPS by block size and R/W mix",
        rows=Axis(name="Block size", unit="KiB", scale="category"),
        row_places=tuple(f"{block / units.KIB:g}" for block in blocks),
        columns=Axis(name="R/W mix", scale="category"),
        column_places=tuple(show_mix(mix) for mix in mixes),
        z=Axis(name="IOPS"),
        values=tuple(
            tuple(_number(cells, block, mix, "IOPS") for mix in mixes) for block in blocks
        ),
        table=replace(table, folded=True),
    )
