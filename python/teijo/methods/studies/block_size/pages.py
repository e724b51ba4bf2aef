"""The report of the study `block-size`: the answer, the curves, the ratios, the unit's evidence.

The sentences are in words.
"""

from collections.abc import Callable
from dataclasses import replace

from teijo import units
from teijo.analysis.difference import Difference
from teijo.analysis.in_blocks import Repeats
from teijo.analysis.quantities import IOPS, LATENCY, THROUGHPUT
from teijo.analysis.replicates import Estimate
from teijo.analysis.unit_size import Direction, Kind, UnitFound
from teijo.document import model
from teijo.document.grid import Edge, Fields, Figure, Trace, listing, matrix, traced
from teijo.document.phrase import say
from teijo.methods.report import study_report
from teijo.methods.studies.block_size import words
from teijo.methods.studies.block_size.found import BlockSizeFound, sizes_text
from teijo.terms.cell import mix_name
from teijo.terms.record import Record
from teijo.units import format_block_size

SIZE = Figure(name="Block size", unit="KiB")
COST = Figure(name="Cost of the shift", unit="%", digits=2)
EVIDENCE: dict[tuple[Direction, Kind], str] = {
    ("read", "sizes"): "Reads by size",
    ("read", "alignment"): "Reads shifted",
    ("write", "sizes"): "Writes by size",
    ("write", "alignment"): "Writes shifted",
}
OF: dict[Figure, Callable[[Repeats], Estimate]] = {
    IOPS: lambda one: one.iops,
    LATENCY: lambda one: one.latency_ms,
    THROUGHPUT: lambda one: one.throughput_mb_s,
}
RATIO_TEXT = (
    "Where a ratio is near 1, the I/O itself is what costs, and a larger block comes for "
    "nothing; where it is near 2, the bytes are."
)
RATIOS: Fields[tuple[tuple[int, int], Difference]] = (
    ("Block size", "KiB", 1, lambda row: row[0][0] / units.KIB),
    ("Outstanding", "", 0, lambda row: row[0][1]),
    ("IOPS by those of twice the size", "", 3, lambda row: row[1].ratio),
    ("From (95 %)", "", 3, lambda row: row[1].low),
    ("To (95 %)", "", 3, lambda row: row[1].high),
)


def pages(found: BlockSizeFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    mix = mix_name(settings.read_percent)
    return study_report(
        found,
        title="Block size",
        subtitle=say(
            "{mix} random, {sizes}", mix=mix, sizes=sizes_text(settings.block_sizes_bytes)
        ),
        preparation=(
            ("Active range", f"{settings.active_range_percent} %"),
            ("Written in order", _times(settings.fill_times)),
            ("Written at random", _times(settings.random_times)),
        ),
        test=(
            ("R/W mix", mix),
            ("Outstanding", ",".join(map(str, settings.loads))),
            ("Blocks", say("{count} of every cell", count=settings.repeats)),
            ("Cell", units.format_duration(settings.duration_ns)),
        ),
        sections=_sections(found) if found.counted else (),
        empty="No block that counts has been measured yet.",
    )


def _times(times: int) -> str:
    return say("{times} × the range", times=times) if times else "no"


def _sections(found: BlockSizeFound) -> list[model.Section]:
    result = (
        model.Verdict(text=words.of_unit(found)[0], good=None),
        model.Paragraph(text=words.answer(found)),
        _chart(found, "IOPS by block size", IOPS),
        model.Paragraph(text=words.how(found.settings)),
    )
    latency = _chart(found, "Time per I/O by block size", LATENCY)
    throughput = _chart(found, "Throughput by block size", THROUGHPUT)
    return [
        model.Section(title="Result", blocks=result),
        model.Section(title="Time and throughput", blocks=(latency, throughput)),
        *_ratio_sections(found),
        *_unit_sections(found),
        model.Section(title="Every cell", blocks=_every_cell(found)),
    ]


def _chart(found: BlockSizeFound, title: str, y: Figure) -> model.XYChart:
    """Return one line a load over the sizes, the unit marked where it is known."""
    traces = tuple(
        Trace(
            key=load,
            name=_outstanding(load),
            rows=tuple(
                (size / units.KIB, *OF[y](one).three) for size, one in found.with_load(load).items()
            ),
        )
        for load in found.settings.loads
    )
    keys = model.Column(name="Outstanding", digits=0)
    rules = _unit_rule(found.unit)
    return traced(title, traces, keys=keys, places=SIZE, y=y, log=True, rules=rules)


def _outstanding(load: int) -> str:
    return say("{load} outstanding", load=load)


def _unit_rule(unit: UnitFound | None) -> tuple[model.Rule, ...]:
    if unit is None or unit.unit_bytes is None:
        return ()
    name = say("unit {size}", size=format_block_size(unit.unit_bytes))
    return (model.Rule(name=name, value=unit.unit_bytes / units.KIB, at="x"),)


def _ratio_sections(found: BlockSizeFound) -> list[model.Section]:
    """Return how many times the I/Os of each size are those of the next larger one."""
    sizes, loads = found.settings.block_sizes_bytes, found.settings.loads
    smaller = [size for size in sizes if 2 * size in sizes]
    if not smaller or len(found.counted) < 2:
        return []
    ratios = {
        (size, load): one
        for size in smaller
        for load in loads
        if (one := found.ratio(size, 2 * size, load)) is not None
    }
    names = (
        say("{size} by {double}", size=format_block_size(size), double=format_block_size(2 * size))
        for size in smaller
    )
    grid = matrix(
        Edge(name="IOPS", places=tuple(names)),
        smaller,
        loads,
        lambda size, load: None if (one := ratios.get((size, load))) is None else one.ratio,
        figure=lambda load: Figure(name=_outstanding(load), digits=2),
    )
    blocks = (
        model.Paragraph(text=RATIO_TEXT),
        grid.table("IOPS of each size by those of the next larger one"),
        listing(ratios.items(), RATIOS, caption="The ratios with their intervals", folded=True),
    )
    return [model.Section(title="From one size to the next", blocks=blocks)]


def _unit_sections(found: BlockSizeFound) -> list[model.Section]:
    unit = found.unit
    if unit is None or not unit.evidence:
        return []
    chart, table = _shift_chart(unit), _weights_table(found.record, unit)
    formula = model.Paragraph(text=words.FORMULA)
    blocks = (formula, table) if chart is None else (formula, chart, table)
    return [model.Section(title="The unit the device works in", blocks=blocks)]


def _shift_chart(unit: UnitFound) -> model.XYChart | None:
    """Return what a shift by half costs at each size, one line a direction."""
    traces = tuple(
        Trace(
            key=one.direction,
            rows=tuple(
                (size / units.KIB, 100 * cost, 100 * error) for size, cost, error in one.observed
            ),
        )
        for one in unit.evidence
        if one.kind == "alignment"
    )
    if not traces:
        return None
    return traced(
        "What a shift by half its size costs an I/O",
        traces,
        keys=model.Column(name="Direction"),
        places=SIZE,
        y=COST,
        beside=(model.Column(name="Error", unit="%", digits=2),),
        caption="Cost of the shift",
        rules=_unit_rule(unit),
        note="Up to the unit it costs something, from twice the unit on nothing.",
    )


def _weights_table(record: Record, unit: UnitFound) -> model.Table:
    """Return the share of the likelihood of each candidate, by evidence and together."""
    logical = format_block_size(record.geometry.logical_block_bytes)
    largest = max(unit.weights)
    named = {
        0: say("{logical} (no larger unit)", logical=logical),
        largest: say("{size} or more", size=format_block_size(largest)),
    }
    weights = [*((EVIDENCE[one.direction, one.kind], one.weights) for one in unit.evidence)]
    weights.append(("By all", dict(unit.weights)))
    units_bytes = tuple(unit.weights)
    grid = matrix(
        Edge(name="Unit", places=tuple(named.get(u) or format_block_size(u) for u in units_bytes)),
        units_bytes,
        weights,
        lambda size, each: 100 * each[1][size],
        figure=lambda each: Figure(name=each[0], unit="%"),
    )
    best = units_bytes.index(max(unit.weights, key=unit.weights.__getitem__))
    table = grid.table("How likely each unit is, by each evidence and by all")
    return replace(table, marked=((best, len(weights)),))


def _every_cell(found: BlockSizeFound) -> tuple[model.Block, ...]:
    """Return the matrices, and what of them the target cannot serve or serves in part."""
    record, sizes = found.record, found.settings.block_sizes_bytes
    logical, physical = record.geometry.logical_block_bytes, record.geometry.physical_block_bytes
    notes = []
    if record.identity.kind == "file":
        notes.append(
            say(
                "The file system's block is {block}; smaller sizes, marked, are parts of one.",
                block=format_block_size(physical),
            )
        )
    if logical > 512 and sizes[0] == logical:
        notes.append(
            say(
                "Blocks of less than {logical} cannot be asked of this target.",
                logical=format_block_size(logical),
            )
        )
    return (
        _matrix(found, "IOPS", IOPS),
        _matrix(found, "Mean latency in ms", LATENCY),
        *(model.Paragraph(text=note) for note in notes),
    )


def _matrix(found: BlockSizeFound, caption: str, figure: Figure) -> model.Table:
    """Return sizes by loads; sizes below a file system's block are marked."""
    sizes = found.settings.block_sizes_bytes
    grid = matrix(
        Edge(name="Block size", places=tuple(map(format_block_size, sizes))),
        sizes,
        found.settings.loads,
        lambda size, load: None if (one := found.at(size, load)) is None else OF[figure](one).mean,
        figure=lambda load: Figure(name=_outstanding(load), digits=figure.digits),
    )
    below = found.record.geometry.physical_block_bytes
    marked = tuple((place, 0) for place, size in enumerate(sizes) if size < below)
    is_file = found.record.identity.kind == "file"
    return replace(grid.table(caption), marked=marked if is_file else ())
