"""Figures of one test against those of another on the same device, which should agree."""

from collections.abc import Mapping, Sequence

from teijo.analysis.cross_check import (
    LARGE_READ_BOUNDS,
    SATURATION_BOUNDS,
    UNITY_BOUNDS,
    Check,
)
from teijo.document.phrase import say
from teijo.methods.parts import Part
from teijo.methods.pts.lat.found import LatFound
from teijo.methods.pts.wsat.found import LEVEL_NAME
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell, Findings

Place = tuple[str, str]
"""R/W mix and block size, as cells are labelled."""


def checks_between(parts: Sequence[Part]) -> tuple[Check, ...]:
    """Return every check there is between these tests, of one active range at a time."""
    ranges: dict[str, dict[str, Part]] = {}
    for part in parts:
        name, _, suffix = part.name.partition(" ")
        ranges.setdefault(suffix, {})[name] = part
    return tuple(
        check
        for suffix, tests in ranges.items()
        for check in (
            *_of_latency(tests, suffix),
            *_of_large_reads(tests, suffix),
            *_of_saturation(tests, suffix),
        )
    )


def _of_latency(tests: Mapping[str, Part], suffix: str) -> list[Check]:
    """Return mean latency × IOPS of each cell, in the round of the window where it is furthest
    from 1: the mean latency of several rounds times their mean IOPS is 1 of equal rounds only.
    """
    if "lat" not in tests:
        return []
    return [
        Check(
            name=say(
                "LAT{range}: mean latency × IOPS, {block} {mix}",
                range=_named(suffix), block=cell.block, mix=cell.mix,
            ),
            unit="I/Os",
            left=share,
            right=1.0,
            bounds=UNITY_BOUNDS,
        )
        for cell, share in _one_io_shares(tests["lat"]).items()
    ]  # fmt: skip


def _one_io_shares(lat: Part) -> dict[MatrixCell, float | None]:
    found = lat.found
    assert isinstance(found, LatFound), type(found)
    return {key: found.share(key) for key in found.over_window}


def _of_large_reads(tests: Mapping[str, Part], suffix: str) -> list[Check]:
    place = ("100/0", "1024 KiB")
    both = [_cells(tests[test].findings).get(place) for test in ("iops", "tp") if test in tests]
    if len(both) < 2:
        return []
    random, sequential = both
    return [
        Check(
            name=say("IOPS{range}: RND 1024 KiB reads against TP's SEQ", range=_named(suffix)),
            unit="MB/s",
            left=None if random is None else random.throughput_mb_s,
            right=None if sequential is None else sequential.throughput_mb_s,
            bounds=LARGE_READ_BOUNDS,
        )
    ]


def _of_saturation(tests: Mapping[str, Part], suffix: str) -> list[Check]:
    if not {"wsat", "iops"} <= tests.keys():
        return []
    wsat, iops = tests["wsat"], tests["iops"]
    level = next((s.value for s in wsat.findings.scalars if s.name == LEVEL_NAME), None)
    cell = _cells(iops.findings).get(("0/100", "4 KiB"))
    return [
        Check(
            name=say("WSAT{range}: end against IOPS' RND 4 KiB 0/100", range=_named(suffix)),
            unit="IOPS",
            left=level,
            right=None if cell is None else cell.iops,
            bounds=SATURATION_BOUNDS,
            reason=_why_not_held(wsat, iops),
        )
    ]


def _why_not_held(wsat: Part, iops: Part) -> str:
    if wsat.findings.converged is not True:
        return "write saturation did not end in steady state"
    stimuli = [
        [getattr(part.found.settings, name) for name in ("active_range_percent", "amount_bytes")]
        for part in (wsat, iops)
    ]
    if stimuli[0] != stimuli[1]:
        return "the active ranges differ"
    return ""


def _cells(findings: Findings) -> dict[Place, Cell]:
    found = {}
    for cell in findings.cells:
        labels = dict(cell.labels)
        found[labels.get("r/w mix", ""), labels.get("block size", "")] = cell
    return found


def _named(suffix: str) -> str:
    return f" {suffix}" if suffix else ""
