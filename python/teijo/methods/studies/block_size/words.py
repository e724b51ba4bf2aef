"""The sentences of the study: its verdict, its answer in one paragraph, and what they stand on."""

from typing import Final

from teijo import units
from teijo.analysis.difference import Difference
from teijo.analysis.unit_size import LARGEST_BYTES, UnitFound
from teijo.document.phrase import say, sentences
from teijo.methods.studies.block_size.cells import sizes_text
from teijo.methods.studies.block_size.found import BlockSizes
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.cell import mix_name
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

FORMULA: Final = (
    "A device that works in units of P bytes touches U(s) = s / P of them, rounded up, for an I/O "
    "of s bytes, which takes t(s) = fix + unit · U(s) + s / B; a write that covers part of a unit "
    "costs a reading besides. Each P is fitted by weighted least squares with no factor below "
    "zero. An I/O that is moved off its own grid by half its size touches more units, or parts of "
    "them, if it is no larger than P; a larger one costs no more. This tells P more sharply, for "
    "all else stays the same."
)
DRIFT_LEAST: Final = 0.05


def verdict(settings: BlockSizeSettings, found: BlockSizes) -> str:
    """Return the answer in one line."""
    unit = found.unit
    size = None if unit is None else unit.unit_bytes
    if unit is None or size is None:
        return _no_unit_verdict(settings, unit)
    return say(
        "THE UNIT IS {size} (weight {weight})",
        size=units.format_block_size(size),
        weight=share_text(unit.weights[size]),
    )


def answer(settings: BlockSizeSettings, record: Record, found: BlockSizes) -> str:
    """Return what the study found, in one paragraph."""
    parts = [_most(found), *_enough(settings, found), _unit(settings, record, found)]
    if found.unit is not None and found.unit.unit_bytes is not None:
        parts += _around(settings, found, found.unit.unit_bytes)
        parts += _file_system(record, found.unit.unit_bytes)
    return sentences([*parts, *_buffered(record), *_drift(found)])


def share_text(share: float) -> str:
    """Return a weight: "97.2 %", or that it is all but one."""
    if share > 0.999:
        return say("more than {percent} %", percent=99.9)
    return say("{percent:.1f} %", percent=100 * share)


def ratio_text(ratio: float) -> str:
    """Return a ratio with two digits after the point."""
    return f"{ratio:.2f}"


def how(settings: BlockSizeSettings) -> str:
    """Return how the cells were measured."""
    return say(
        "{cells} cells of {length}, {mix} random, in {blocks} blocks after {warm_up} for warming "
        "up; each block has every cell once, in an order of its own. An interval of a cell, at "
        "95 %, allows for blocks that resemble their neighbours.",
        cells=len(settings.block_sizes_bytes) * len(settings.loads),
        length=units.format_duration(settings.duration_ns),
        mix=mix_name(settings.read_percent),
        blocks=settings.repeats,
        warm_up=settings.warm_up,
    )


def _no_unit_verdict(settings: BlockSizeSettings, unit: UnitFound | None) -> str:
    sizes = sizes_text(settings.block_sizes_bytes)
    match None if unit is None else unit.outcome:
        case None:
            return say("{sizes}: the device's unit was not looked for", sizes=sizes)
        case "none":
            return "NO UNIT ABOVE THE LOGICAL BLOCK SHOWS"
        case "disagree":
            return "THE UNIT IS NOT CERTAIN: reads and writes speak for different ones"
        case "cannot tell" | "unit":
            return "THE UNIT CANNOT BE TOLD FROM THESE DATA"


def _most(found: BlockSizes) -> str:
    best = max(found.points.values(), key=lambda one: one.iops.mean)
    return say(
        "The most I/Os, {iops:,.0f} IOPS, are served with {size} and {load} outstanding.",
        iops=best.iops.mean,
        size=units.format_block_size(best.point.size_bytes),
        load=best.point.load,
    )


def _enough(settings: BlockSizeSettings, found: BlockSizes) -> list[str]:
    load = settings.loads[-1]
    size = found.enough(load)
    largest = max(
        (one.throughput_mb_s.mean for point, one in found.points.items() if point.load == load),
        default=0.0,
    )
    if size is None or len(settings.block_sizes_bytes) < 2:
        return []
    return [
        say(
            "With {load} outstanding, {size} is the smallest block that brings 90 % of the highest "
            "throughput, {throughput:,.1f} MB/s.",
            load=load,
            size=units.format_block_size(size),
            throughput=largest,
        )
    ]


def _unit(settings: BlockSizeSettings, record: Record, found: BlockSizes) -> str:
    unit = found.unit
    if unit is None:
        if settings.probe == "off":
            return "The unit that the device works in was not looked for: the probe is off."
        return "The unit that the device works in needs two blocks that count."
    logical = units.format_block_size(record.geometry.logical_block_bytes)
    match unit.outcome:
        case "unit":
            assert unit.unit_bytes is not None
            return say(
                "The device works in units of {size}, with a weight of {weight} among {count} "
                "sizes: an I/O of {size} that lies across two of them takes longer, and one of "
                "{double} that lies across three does not.",
                size=units.format_block_size(unit.unit_bytes),
                weight=share_text(unit.weights[unit.unit_bytes]),
                count=len(unit.weights),
                double=units.format_block_size(2 * unit.unit_bytes),
            )
        case "none":
            assert unit.step_limit is not None
            return say(
                "No unit above the logical block of {logical} shows: one of up to {largest} that "
                "cost more than {percent:.1f} % of a write would have, unless a buffer takes the "
                "writes before they meet it.",
                logical=logical,
                largest=units.format_block_size(LARGEST_BYTES),
                percent=100 * max(unit.step_limit, 0.001),
            )
        case "disagree":
            named = [
                units.format_block_size(size) if size else "none"
                for size in (unit.named_by("read"), unit.named_by("write"))
            ]
            return say(
                "The unit is not certain: reads speak for {read}, writes for {write}.",
                read=named[0],
                write=named[1],
            )
        case "cannot tell":
            return _cannot_tell(settings, unit)


def _cannot_tell(settings: BlockSizeSettings, unit: UnitFound) -> str:
    size, weight = max(unit.weights.items(), key=lambda item: item[1])
    likeliest = units.format_block_size(size) if size else "no larger unit"
    if settings.read_percent == 100:
        return say(
            "The unit that the device works in cannot be told from reads alone here (likeliest: "
            "{likeliest}, weight {weight}); a mix that writes tells more.",
            likeliest=likeliest,
            weight=share_text(weight),
        )
    return say(
        "The unit that the device works in cannot be told (likeliest: {likeliest}, weight "
        "{weight}): what it costs is lost in the scatter, or there is none.",
        likeliest=likeliest,
        weight=share_text(weight),
    )


def _around(settings: BlockSizeSettings, found: BlockSizes, unit_bytes: int) -> list[str]:
    """Say how the sizes next to the unit compare with it, load by load."""
    parts: list[str] = []
    larger = {load: found.ratio(unit_bytes, 2 * unit_bytes, load) for load in settings.loads}
    known = [one.ratio for one in larger.values() if one is not None]
    if known:
        parts.append(
            say(
                "It serves {low} to {high} times the I/Os of {double}, by the load.",
                low=ratio_text(min(known)),
                high=ratio_text(max(known)),
                double=units.format_block_size(2 * unit_bytes),
            )
        )
    smaller: list[tuple[int, Difference]] = [
        (load, one)
        for load in settings.loads
        for size in settings.block_sizes_bytes
        if unit_bytes // 4 <= size < unit_bytes
        and (one := found.ratio(size, unit_bytes, load)) is not None
    ]
    if smaller:
        ratios = [one.ratio for _, one in smaller]
        parts.append(
            say(
                "Blocks of a half and a quarter of it bring {low} to {high} times its I/Os{which}.",
                low=ratio_text(min(ratios)),
                high=ratio_text(max(ratios)),
                which=_reversal(smaller),
            )
        )
    return parts


def _reversal(smaller: list[tuple[int, Difference]]) -> str:
    """Say from which load on blocks below the unit are served more slowly than it, or faster."""
    slower = sorted({load for load, one in smaller if one.high < 1})
    faster = sorted({load for load, one in smaller if one.low > 1})
    if not slower or not faster:
        return ""
    if faster[-1] < slower[0]:
        return say(
            ": more up to {low} outstanding, fewer from {high} on", low=faster[-1], high=slower[0]
        )
    if slower[-1] < faster[0]:
        return say(
            ": fewer up to {low} outstanding, more from {high} on", low=slower[-1], high=faster[0]
        )
    return ""


def _file_system(record: Record, unit_bytes: int) -> list[str]:
    if record.identity.kind != "file":
        return []
    block = record.geometry.physical_block_bytes
    if unit_bytes != block:
        return []
    text = say(
        "That is also the file system's block, which a write of less must complete as well: only "
        "the bare device tells whether its own unit is {size}.",
        size=units.format_block_size(block),
    )
    return [text]


def _buffered(record: Record) -> list[str]:
    if not any(remark.kind is RemarkKind.BUFFERED for remark in record.remarks):
        return []
    return [
        "Memory answered too: what shows may be the host's page cache, and says nothing of the "
        "device."
    ]


def _drift(found: BlockSizes) -> list[str]:
    drift = found.drift
    if drift is None or not drift.shown or abs(drift.ratio - 1) < DRIFT_LEAST:
        return []
    return [
        say(
            "The device was not steady: the second half of the blocks has {ratio} times the IOPS "
            "of the first.",
            ratio=ratio_text(drift.ratio),
        )
    ]
