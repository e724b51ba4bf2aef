"""How a calibration for a target is shown: a row for each cell, the facts, and one sentence."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from teijo.analysis.headroom import reason
from teijo.cli import console
from teijo.speech.tongue import reported, said, tr
from teijo.terms.platform import cell_name
from teijo.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from teijo.analysis.headroom import Headroom
    from teijo.api import Calibrated

HEADS = (
    "CELL", "ENGINE ALONE", "WITH THE KERNEL", "LINK CARRIES", "DRIVE", "HEADROOM", "THE HOST IS",
)  # fmt: skip

_SHOWN = (
    "read_percent", "block_size_bytes", "block_mix", "access", "threads", "queue_depth", "content",
)  # fmt: skip
"""What JSON has of each stream of a cell."""


def show(found: "Calibrated") -> None:
    """Print a calibration as tables and a sentence."""
    for line in console.columns(HEADS, [_row(each) for each in found.cells]):
        console.put(line)
    console.put("")
    note = (
        "In IOPS. Engine alone: the loop without content. With the kernel: the least and the most "
        "of {n} repeats of {ms} ms."
    )
    # Where there is no ring, the engine alone was repeated as often.
    cells = found.platform.cells
    repeats = max(
        (len(one) for each in cells for one in (each.nop_iops, each.loop_iops)), default=0
    )
    console.put(tr(note, n=repeats, ms=f"{found.platform.each_ns / NS_PER_MS:,.0f}"))
    console.put("")
    for name, text in found.facts.items():
        console.put(f"{reported(name)}: {reported(text)}")
    console.put("")
    took = f"{found.platform.cost_ns / NS_PER_S:,.1f}"
    console.put(tr("Measured in {s} s, and true of this moment only.", s=took))
    console.put(reported(found.sentence))


def _row(each: "Headroom") -> tuple[str, ...]:
    drive = "-"
    if each.given is not None:
        drive = f"{each.given.most_iops:,.0f}"
    elif each.claimed_iops is not None:
        drive = tr("at most {iops}", iops=f"{each.claimed_iops:,.0f}")
    verdict = said(each.limit.value)
    if each.times is not None:
        verdict += f" ({reported(reason(each))})"
    return (
        cell_name(each.cell),
        _count(each.loop_iops),
        "-" if each.low_iops is None else f"{_count(each.low_iops)} – {_count(each.high_iops)}",
        _count(each.link_iops),
        drive,
        "-" if each.times is None else _times(each),
        verdict,
    )


def _times(each: "Headroom") -> str:
    assert each.times is not None
    assert each.times_most is not None
    low, high = f"{each.times:,.1f}", f"{each.times_most:,.1f}"
    return f"×{low}" if low == high else f"×{low} – {high}"


def _count(iops: float | None) -> str:
    return "-" if iops is None else f"{iops:,.0f}"


def as_object(found: "Calibrated") -> dict[str, object]:
    """Return a calibration as JSON has it: rates in IOPS, bytes a second, times in ns."""
    platform = found.platform
    repeats = {each.cell: each for each in platform.cells}
    cells = []
    for each in found.cells:
        row = asdict(each) | {
            "name": cell_name(each.cell),
            "cell": [{name: getattr(one, name) for name in _SHOWN} for one in each.cell],
        }
        measured = repeats.get(each.cell)
        row["loop_iops_repeats"] = list(measured.loop_iops) if measured else []
        row["nop_iops_repeats"] = list(measured.nop_iops) if measured else []
        cells.append(row)
    in_one = found.summary
    return {
        "method": found.method,
        "target": found.target,
        "against": found.against,
        "each_ns": platform.each_ns,
        "cost_ns": platform.cost_ns,
        "link": asdict(platform.link) if platform.link else None,
        "facts": dict(found.facts),
        "cells": cells,
        "is_witnessed": in_one.is_witnessed,
        "may_be": [cell_name(each.cell) for each in in_one.may_be],
        "unknown": [cell_name(each.cell) for each in in_one.unknown],
        "narrowest": in_one.narrowest and cell_name(in_one.narrowest.cell),
        "times": in_one.narrowest and in_one.narrowest.times,
        "sentence": found.sentence,
    }
