"""The sentences of the study: its verdict, its answer in one paragraph, and what they rest on."""

from typing import Final

from teijo import units
from teijo.analysis.difference import Difference
from teijo.analysis.unit_size import LARGEST_BYTES
from teijo.document.phrase import say, sentences
from teijo.methods.studies.block_size.found import BlockSizeFound, sizes_text
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.cell import mix_name
from teijo.terms.remark import RemarkKind
from teijo.units import format_block_size

FORMULA: Final = (
    "A device that works in units of P bytes touches U(s) = s / P of them, rounded up, for an I/O "
    "of s bytes, which takes t(s) = fix + unit · U(s) + s / B; a write that covers part of a unit "
    "costs a reading besides. Each P is fitted by weighted least squares with no factor below "
    "zero. An I/O that is moved off its own grid by half its size touches more units, or parts of "
    "them, if it is no larger than P; a larger one costs no more. This tells P more sharply, for "
    "all else stays the same."
)
DRIFT_LEAST: Final = 0.05


def answer(found: BlockSizeFound) -> str:
    """Return what the study found, in one paragraph."""
    size = None if found.unit is None else found.unit.unit_bytes
    around = () if size is None else (*_around(found, size), _file_system(found, size))
    parts = (_most(found), _enough(found), of_unit(found)[1], *around)
    return sentences(part for part in (*parts, _buffered(found), _drift(found)) if part)


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


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}"


def _size(size_bytes: int | None) -> str:
    return format_block_size(size_bytes) if size_bytes else "none"


def _most(found: BlockSizeFound) -> str:
    point, best = max(found.points.items(), key=lambda item: item[1].iops.mean)
    return say(
        "The most I/Os, {iops:,.0f} IOPS, are served with {size} and {load} outstanding.",
        iops=best.iops.mean,
        size=format_block_size(point.size_bytes),
        load=point.load,
    )


def _enough(found: BlockSizeFound) -> str:
    load = found.settings.loads[-1]
    size = found.enough(load)
    if size is None or len(found.settings.block_sizes_bytes) < 2:
        return ""
    return say(
        "With {load} outstanding, {size} is the smallest block that brings 90 % of the highest "
        "throughput, {throughput:,.1f} MB/s.",
        load=load,
        size=format_block_size(size),
        throughput=max(one.throughput_mb_s.mean for one in found.with_load(load).values()),
    )


def of_unit(found: BlockSizeFound) -> tuple[str, str]:
    """Return what is said of the device's unit: in one line, and in a sentence."""
    settings, unit = found.settings, found.unit
    if unit is None:
        sizes = sizes_text(settings.block_sizes_bytes)
        return (
            say("{sizes}: the device's unit was not looked for", sizes=sizes),
            "The unit that the device works in was not looked for: the probe is off."
            if settings.probe == "off"
            else "The unit that the device works in needs two blocks that count.",
        )
    size_bytes, share = max(unit.weights.items(), key=lambda item: item[1])
    size = format_block_size(size_bytes) if size_bytes else "no larger unit"
    weight = say("{percent:.1f} %", percent=100 * share)
    if share > 0.999:
        weight = say("more than {percent} %", percent=99.9)
    match unit.outcome:
        case "unit":
            return (
                say("THE UNIT IS {size} (weight {weight})", size=size, weight=weight),
                say(
                    "The device works in units of {size}, with a weight of {weight} among {count} "
                    "sizes: an I/O of {size} that lies across two of them takes longer, and one of "
                    "{double} that lies across three does not.",
                    size=size,
                    weight=weight,
                    count=len(unit.weights),
                    double=format_block_size(2 * size_bytes),
                ),
            )
        case "none":
            assert unit.step_limit is not None
            return (
                "NO UNIT ABOVE THE LOGICAL BLOCK SHOWS",
                say(
                    "No unit above the logical block of {logical} shows: one of up to {largest} "
                    "that cost more than {percent:.1f} % of a write would have, unless a buffer "
                    "takes the writes before they meet it.",
                    logical=format_block_size(found.record.geometry.logical_block_bytes),
                    largest=format_block_size(LARGEST_BYTES),
                    percent=100 * max(unit.step_limit, 0.001),
                ),
            )
        case "disagree":
            return (
                "THE UNIT IS NOT CERTAIN: reads and writes speak for different ones",
                say(
                    "The unit is not certain: reads speak for {read}, writes for {write}.",
                    read=_size(unit.named_by("read")),
                    write=_size(unit.named_by("write")),
                ),
            )
        case "cannot tell":
            return "THE UNIT CANNOT BE TOLD FROM THESE DATA", _not_told(settings, size, weight)


def _not_told(settings: BlockSizeSettings, likeliest: str, weight: str) -> str:
    """Say that the data do not show a unit, and why."""
    if settings.read_percent == 100:
        return say(
            "The unit that the device works in cannot be told from reads alone here "
            "(likeliest: {likeliest}, weight {weight}); a mix that writes tells more.",
            likeliest=likeliest,
            weight=weight,
        )
    return say(
        "The unit that the device works in cannot be told (likeliest: {likeliest}, weight "
        "{weight}): what it costs is lost in the scatter, or there is none.",
        likeliest=likeliest,
        weight=weight,
    )


def _around(found: BlockSizeFound, unit_bytes: int) -> list[str]:
    """Say how the sizes next to the unit compare with it, load by load."""
    parts: list[str] = []
    loads = found.settings.loads
    larger = [
        one.ratio
        for load in loads
        if (one := found.ratio(unit_bytes, 2 * unit_bytes, load)) is not None
    ]
    if larger:
        parts.append(
            say(
                "It serves {low} to {high} times the I/Os of {double}, by the load.",
                low=_ratio(min(larger)),
                high=_ratio(max(larger)),
                double=format_block_size(2 * unit_bytes),
            )
        )
    smaller = [
        (load, one)
        for load in loads
        for size in found.settings.block_sizes_bytes
        if unit_bytes // 4 <= size < unit_bytes
        and (one := found.ratio(size, unit_bytes, load)) is not None
    ]
    if smaller:
        ratios = [one.ratio for _, one in smaller]
        parts.append(
            say(
                "Blocks of a half and a quarter of it bring {low} to {high} times its I/Os{which}.",
                low=_ratio(min(ratios)),
                high=_ratio(max(ratios)),
                which=_reversal(smaller),
            )
        )
    return parts


def _reversal(smaller: list[tuple[int, Difference]]) -> str:
    """Say from which load on blocks below the unit are served more slowly than it, or faster."""
    slower = [load for load, one in smaller if one.high < 1]
    faster = [load for load, one in smaller if one.low > 1]
    if not slower or not faster:
        return ""
    if max(faster) < min(slower):
        low, high = max(faster), min(slower)
        return say(": more up to {low} outstanding, fewer from {high} on", low=low, high=high)
    if max(slower) < min(faster):
        low, high = max(slower), min(faster)
        return say(": fewer up to {low} outstanding, more from {high} on", low=low, high=high)
    return ""


def _file_system(found: BlockSizeFound, unit_bytes: int) -> str:
    record = found.record
    if record.identity.kind != "file" or unit_bytes != record.geometry.physical_block_bytes:
        return ""
    return say(
        "That is also the file system's block, which a write of less must complete as well: only "
        "the bare device tells whether its own unit is {size}.",
        size=format_block_size(unit_bytes),
    )


def _buffered(found: BlockSizeFound) -> str:
    if not any(remark.kind is RemarkKind.BUFFERED for remark in found.record.remarks):
        return ""
    return (
        "Memory answered too: what shows may be the host's page cache, and says nothing of the "
        "device."
    )


def _drift(found: BlockSizeFound) -> str:
    drift = found.drift
    if drift is None or not drift.shown or abs(drift.ratio - 1) < DRIFT_LEAST:
        return ""
    return say(
        "The device was not steady: the second half of the blocks has {ratio} times the IOPS of "
        "the first.",
        ratio=_ratio(drift.ratio),
    )
