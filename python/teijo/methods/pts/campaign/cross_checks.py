"""Figures of one test against those of another on the same device, which should agree."""

from collections.abc import Sequence
from typing import Any, TypeVar

from teijo.analysis.cross_check import LARGE_READ_BOUNDS, SATURATION_BOUNDS, UNITY_BOUNDS, Check
from teijo.document.phrase import say
from teijo.methods.found import Found
from teijo.methods.parts import Part
from teijo.methods.pts.iops.found import IopsFound
from teijo.methods.pts.lat.found import LatFound
from teijo.methods.pts.settings import range_of
from teijo.methods.pts.tp.found import TpCell, TpFound
from teijo.methods.pts.wsat.found import WsatFound
from teijo.terms.cell import MatrixCell
from teijo.units import KIB, MIB

F = TypeVar("F", bound=Found[Any])


Tests = Sequence[Found[Any]]
"""What the tests of one active range found."""


def checks_between(parts: Sequence[Part]) -> tuple[Check, ...]:
    """Return every check there is between these tests, of one active range at a time."""
    ranges: dict[str, list[Found[Any]]] = {}
    for part in parts:
        # "iops AR 75 % 8 GiB": tests of other ranges of the client's matrix are not comparable.
        _, _, suffix = part.name.partition(" ")
        ranges.setdefault(f" {suffix}" if suffix else "", []).append(part.found)
    return tuple(
        check
        for suffix, tests in ranges.items()
        for of in (_of_latency, _of_large_reads, _of_saturation)
        for check in of(tests, suffix)
    )


def _of_latency(tests: Tests, suffix: str) -> list[Check]:
    """Return mean latency × IOPS of each cell, in the round of the window where it is furthest
    from 1: the mean latency of several rounds times their mean IOPS is 1 of equal rounds only.
    """
    lat = _of(tests, LatFound)
    if lat is None:
        return []
    return [
        Check(
            name=say(
                "LAT{range}: mean latency × IOPS, {block} {mix}",
                range=suffix, block=cell.block, mix=cell.mix,
            ),
            unit="I/Os",
            left=lat.share(cell),
            right=1.0,
            bounds=UNITY_BOUNDS,
        )
        for cell in lat.over_window
    ]  # fmt: skip


def _of_large_reads(tests: Tests, suffix: str) -> list[Check]:
    iops, tp = _of(tests, IopsFound), _of(tests, TpFound)
    if iops is None or tp is None:
        return []
    random = iops.over_window.get(MatrixCell(read_percent=100, block_size_bytes=MIB))
    sequential = tp.over_window.get(TpCell(read_percent=100, block_size_bytes=MIB))
    return [
        Check(
            name=say("IOPS{range}: RND 1024 KiB reads against TP's SEQ", range=suffix),
            unit="MB/s",
            left=None if random is None else random.throughput_mb_s,
            right=None if sequential is None else sequential.throughput_mb_s,
            bounds=LARGE_READ_BOUNDS,
        )
    ]


def _of_saturation(tests: Tests, suffix: str) -> list[Check]:
    wsat, iops = _of(tests, WsatFound), _of(tests, IopsFound)
    if wsat is None or iops is None:
        return []
    cell = iops.over_window.get(MatrixCell(read_percent=0, block_size_bytes=4 * KIB))
    return [
        Check(
            name=say("WSAT{range}: end against IOPS' RND 4 KiB 0/100", range=suffix),
            unit="IOPS",
            left=None if wsat.curve is None else wsat.curve.level_iops,
            right=None if cell is None else cell.iops,
            bounds=SATURATION_BOUNDS,
            reason=_why_not_held(wsat, iops),
        )
    ]


def _why_not_held(wsat: WsatFound, iops: IopsFound) -> str:
    # None too: a run that ended by its capacity may have no determined steady state.
    if wsat.converged is not True:
        return "write saturation did not end in steady state"
    if range_of(wsat.settings) != range_of(iops.settings):
        return "the active ranges differ"
    return ""


def _of(tests: Tests, kind: type[F]) -> F | None:
    """Return what a test found, None where it is not in the campaign."""
    return next((each for each in tests if isinstance(each, kind)), None)
