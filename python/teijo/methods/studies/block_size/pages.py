"""The report of the study `block-size`: the answer, the curves, the ratios, the unit's evidence.

The sentences are in words.
"""

from collections.abc import Callable

from teijo import units
from teijo.analysis.replicates import Estimate
from teijo.analysis.unit_size import Evidence, UnitFound
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Document,
    Paragraph,
    Rule,
    Section,
    Series,
    Table,
    Value,
    Verdict,
    XYChart,
)
from teijo.document.phrase import say
from teijo.methods import knobs
from teijo.methods.found import Found
from teijo.methods.pages import ms
from teijo.methods.report import study_report
from teijo.methods.studies.block_size import words
from teijo.methods.studies.block_size.cells import sizes_text
from teijo.methods.studies.block_size.found import BlockSizes, PointFound, blocks_of
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.cell import mix_name
from teijo.terms.record import Record

SIZE_AXIS = Axis(name="Block size", unit="KiB", scale="log")


def pages(found: Found[BlockSizeSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record = found.settings, found.record
    sizes = blocks_of(settings, record)
    sections = (
        (
            _result_section(settings, record, sizes),
            _time_section(settings, sizes),
            *_ratio_sections(settings, sizes),
            *_unit_sections(record, sizes),
            _cells_section(settings, record, sizes),
        )
        if sizes.counted
        else ()
    )
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
            ("Outstanding", knobs.show_numbers(settings.loads)),
            ("Blocks", say("{count} of every cell", count=settings.repeats)),
            ("Cell", units.format_duration(settings.duration_ns)),
        ),
        sections=sections,
        empty="No block that counts has been measured yet.",
    )


def _times(times: int) -> str:
    return say("{times} × the range", times=times) if times else "no"


def _result_section(settings: BlockSizeSettings, record: Record, found: BlockSizes) -> Section:
    blocks: list[Block] = [
        Verdict(text=words.verdict(settings, found), good=None),
        Paragraph(text=words.answer(settings, record, found)),
        _chart(
            settings,
            found,
            title="IOPS by block size",
            y=Axis(name="IOPS", scale="log"),
            value=lambda one: one.iops,
            scale=1.0,
            digits=1,
        ),
        Paragraph(text=words.how(settings)),
    ]
    return Section(title="Result", blocks=tuple(blocks))


def _time_section(settings: BlockSizeSettings, found: BlockSizes) -> Section:
    charts = (
        _chart(
            settings,
            found,
            title="Time per I/O by block size",
            y=Axis(name="Mean latency", unit="ms", scale="log"),
            value=lambda one: one.latency_ns,
            scale=ms(1),
            digits=4,
        ),
        _chart(
            settings,
            found,
            title="Throughput by block size",
            y=Axis(name="Throughput", unit="MB/s", scale="log"),
            value=lambda one: one.throughput_mb_s,
            scale=1.0,
            digits=2,
        ),
    )
    return Section(title="Time and throughput", blocks=charts)


def _chart(
    settings: BlockSizeSettings,
    found: BlockSizes,
    *,
    title: str,
    y: Axis,
    value: Callable[[PointFound], Estimate],
    scale: float,
    digits: int,
) -> XYChart:
    """Return one line a load over the sizes, the unit marked where it is known."""
    rows: list[tuple[Value, ...]] = []
    series = []
    for load in settings.loads:
        own = [one for point, one in found.points.items() if point.load == load]
        rows += [
            (load, _kib(one), *(_scaled(each, scale) for each in _three(value(one)))) for one in own
        ]
        series.append(
            Series(
                name=say("{load} outstanding", load=load),
                x=tuple(_kib(one) for one in own),
                y=tuple(value(one).mean * scale for one in own),
                spread=tuple(_interval(value(one), scale) for one in own),
            )
        )
    unit = found.unit.unit_bytes if found.unit else None
    return XYChart(
        title=title,
        x=SIZE_AXIS,
        y=y,
        series=tuple(series),
        rules=(_unit_rule(unit),) if unit else (),
        table=Table(
            columns=(
                Column(name="Outstanding", digits=0),
                Column(name="Block size", unit="KiB", digits=1),
                Column(name=y.name, unit=y.unit, digits=digits),
                Column(name="From (95 %)", unit=y.unit, digits=digits),
                Column(name="To (95 %)", unit=y.unit, digits=digits),
            ),
            rows=tuple(rows),
            caption=title,
            folded=True,
        ),
    )


def _unit_rule(unit_bytes: int) -> Rule:
    name = say("unit {size}", size=units.format_block_size(unit_bytes))
    return Rule(name=name, value=unit_bytes / units.KIB, at="x")


def _kib(one: PointFound) -> float:
    return one.point.size_bytes / units.KIB


def _three(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    return estimate.mean, estimate.low, estimate.high


def _interval(estimate: Estimate, scale: float) -> tuple[float, float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return estimate.low * scale, estimate.high * scale


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _ratio_sections(settings: BlockSizeSettings, found: BlockSizes) -> list[Section]:
    """Return how many times the I/Os of each size are those of the next larger one."""
    sizes = settings.block_sizes_bytes
    pairs = [(size, 2 * size) for size in sizes if 2 * size in sizes]
    if not pairs or len(found.counted) < 2:
        return []
    ratios = {
        (pair, load): found.ratio(pair[0], pair[1], load)
        for pair in pairs
        for load in settings.loads
    }
    rows = tuple(
        (
            say(
                "{size} by {double}",
                size=units.format_block_size(pair[0]),
                double=units.format_block_size(pair[1]),
            ),
            *(
                None if (one := ratios[pair, load]) is None else one.ratio
                for load in settings.loads
            ),
        )
        for pair in pairs
    )
    table = Table(
        columns=(
            Column(name="IOPS"),
            *(
                Column(name=say("{load} outstanding", load=load), digits=2)
                for load in settings.loads
            ),
        ),
        rows=rows,
        caption="IOPS of each size by those of the next larger one",
    )
    whole = Table(
        columns=(
            Column(name="Block size", unit="KiB", digits=1),
            Column(name="Outstanding", digits=0),
            Column(name="IOPS by those of twice the size", digits=3),
            Column(name="From (95 %)", digits=3),
            Column(name="To (95 %)", digits=3),
        ),
        rows=tuple(
            (pair[0] / units.KIB, load, one.ratio, one.low, one.high)
            for (pair, load), one in ratios.items()
            if one is not None
        ),
        caption="The ratios with their intervals",
        folded=True,
    )
    text = (
        "Where a ratio is near 1, the I/O itself is what costs, and a larger block comes for "
        "nothing; where it is near 2, the bytes are."
    )
    blocks = (Paragraph(text=text), table, whole)
    return [Section(title="From one size to the next", blocks=blocks)]


def _unit_sections(record: Record, found: BlockSizes) -> list[Section]:
    unit = found.unit
    if unit is None or not unit.evidence:
        return []
    blocks: tuple[Block, ...] = (
        Paragraph(text=words.FORMULA),
        *_shift_chart(unit),
        _weights_table(record, unit),
    )
    return [Section(title="The unit the device works in", blocks=blocks)]


def _shift_chart(unit: UnitFound) -> tuple[Block, ...]:
    """Return what a shift by half costs at each size, one line a direction."""
    shifts = [one for one in unit.evidence if one.kind == "alignment"]
    if not shifts:
        return ()
    columns = (
        Column(name="Direction"),
        Column(name="Block size", unit="KiB", digits=1),
        Column(name="Cost of the shift", unit="%", digits=2),
        Column(name="Error", unit="%", digits=2),
    )
    rows = [
        (one.direction, size / units.KIB, 100 * cost, 100 * error)
        for one in shifts
        for size, cost, error in one.observed
    ]
    chart = XYChart(
        title="What a shift by half its size costs an I/O",
        x=SIZE_AXIS,
        y=Axis(name="Cost of the shift", unit="%"),
        series=tuple(
            Series(
                name=one.direction,
                x=tuple(size / units.KIB for size, _, _ in one.observed),
                y=tuple(100 * cost for _, cost, _ in one.observed),
            )
            for one in shifts
        ),
        rules=(_unit_rule(unit.unit_bytes),) if unit.unit_bytes else (),
        table=Table(columns=columns, rows=tuple(rows), caption="Cost of the shift", folded=True),
        note="Up to the unit it costs something, from twice the unit on nothing.",
    )
    return (chart,)


def _weights_table(record: Record, unit: UnitFound) -> Table:
    """Return the share of the likelihood of each candidate, by evidence and together."""
    logical = units.format_block_size(record.geometry.logical_block_bytes)
    names = {
        0: say("{logical} (no larger unit)", logical=logical),
        max(unit.weights): say("{size} or more", size=units.format_block_size(max(unit.weights))),
    }
    weights = [one.weights for one in unit.evidence]
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (
            names.get(size) or units.format_block_size(size),
            *(100 * each[size] for each in weights),
            100 * together,
        )
        for size, together in unit.weights.items()
    )
    best = list(unit.weights.values()).index(max(unit.weights.values()))
    return Table(
        columns=(
            Column(name="Unit"),
            *(Column(name=_evidence_name(one), unit="%", digits=1) for one in unit.evidence),
            Column(name="By all", unit="%", digits=1),
        ),
        rows=rows,
        marked=((best, len(weights) + 1),),
        caption="How likely each unit is, by each evidence and by all",
    )


def _evidence_name(one: Evidence) -> str:
    match one.direction, one.kind:
        case "read", "sizes":
            return "Reads by size"
        case "read", "alignment":
            return "Reads shifted"
        case "write", "sizes":
            return "Writes by size"
        case "write", "alignment":
            return "Writes shifted"
        case _:
            raise AssertionError(one)


def _cells_section(settings: BlockSizeSettings, record: Record, found: BlockSizes) -> Section:
    block = record.geometry.physical_block_bytes if record.identity.kind == "file" else 0
    logical = record.geometry.logical_block_bytes
    blocks: list[Block] = [
        _matrix(settings, found, below=block, caption="IOPS", digits=1, value=lambda one: one.iops),
        _matrix(
            settings,
            found,
            below=block,
            caption="Mean latency in ms",
            digits=4,
            value=lambda one: one.latency_ns,
            scale=ms(1),
        ),
    ]
    if block:
        text = say(
            "The file system's block is {block}; smaller sizes, marked, are parts of one.",
            block=units.format_block_size(block),
        )
        blocks.append(Paragraph(text=text))
    if logical > 512 and settings.block_sizes_bytes[0] == logical:
        text = say(
            "Blocks of less than {logical} cannot be asked of this target.",
            logical=units.format_block_size(logical),
        )
        blocks.append(Paragraph(text=text))
    return Section(title="Every cell", blocks=tuple(blocks))


def _matrix(
    settings: BlockSizeSettings,
    found: BlockSizes,
    *,
    below: int,
    caption: str,
    digits: int,
    value: Callable[[PointFound], Estimate],
    scale: float = 1.0,
) -> Table:
    """Return sizes by loads; sizes below a file system's block are marked."""
    rows = tuple(
        (
            units.format_block_size(size),
            *(
                None if (one := found.at(size, load)) is None else value(one).mean * scale
                for load in settings.loads
            ),
        )
        for size in settings.block_sizes_bytes
    )
    loads = [
        Column(name=say("{load} outstanding", load=load), digits=digits) for load in settings.loads
    ]
    return Table(
        columns=(Column(name="Block size"), *loads),
        rows=rows,
        marked=tuple(
            (place, 0) for place, size in enumerate(settings.block_sizes_bytes) if size < below
        ),
        caption=caption,
    )
