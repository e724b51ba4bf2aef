"""A host's cells and ceilings: what tells cells apart, and what comes back from a run file."""

from dataclasses import replace

import pytest

from teijo.terms.platform import (
    FACT,
    IOPS_MOST,
    LONGEST,
    CellCeiling,
    HostCell,
    HostLink,
    Platform,
    cell_name,
    cell_of,
    platform_in,
    platform_to_json,
)
from teijo.terms.step import Idle, Measure
from teijo.terms.workload import Access, ActiveRange, Rate, Stream, Workload


def cell(**stream: object) -> HostCell:
    usual: dict[str, object] = {"read_percent": 100, "block_size_bytes": 4096}
    one = Stream(**usual | stream)  # type: ignore[arg-type]
    found = cell_of(Measure(workload=Workload(streams=(one,)), duration_ns=1))
    assert found is not None
    return found


def test_place_rate_name_and_seed_are_no_part_of_a_cell() -> None:
    elsewhere = ActiveRange(share_percent=50)
    other = cell(active_range=elsewhere, rate=Rate(ios_per_second=9.0), name="x", repeats="word")
    assert other == cell()
    assert cell(queue_depth=2) != cell()
    assert cell(access=Access.SEQUENTIAL) != cell()
    assert cell_of(Idle(duration_ns=1)) is None


def test_a_cell_is_named_by_its_order_block_mix_threads_and_depth() -> None:
    mixed = cell(block_mix=((4096, 1), (131072, 1)), block_size_bytes=131072, read_percent=65)
    assert cell_name(cell(threads=2, queue_depth=16)) == "RND 4 KiB 100/0 TC 2 QD 16"
    assert cell_name(mixed) == "RND 4 KiB–128 KiB 65/35 TC 1 QD 1"
    both = cell(access=Access.SEQUENTIAL) + cell()
    assert cell_name(both) == "SEQ 4 KiB 100/0 TC 1 QD 1 + RND 4 KiB 100/0 TC 1 QD 1"


def test_a_platform_comes_back_from_a_run_file_as_it_was() -> None:
    ceiling = CellCeiling(cell=cell(queue_depth=9), nop_iops=(1.5, 2.25, 3.0), why_not="so")
    link = HostLink(kind="PCIe", text="x", raw=3, usable=2, drive_raw=4)
    was = Platform(cells=(ceiling,), link=link, each_ns=7, cost_ns=8)
    assert platform_in({FACT: platform_to_json(was)}) == was
    assert was.ceiling_of(Idle(duration_ns=1)) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '"x"', '{"cells": 3}', '{"cells": [{"cell": []}, 4]}',
        '{"cells": [{"cell": [{"read_percent": 400, "block_size_bytes": 1}]}]}',
        " " * (LONGEST + 1),
    ],
)  # fmt: skip
def test_what_is_no_platform_is_none(text: str) -> None:
    assert platform_in({FACT: text}) is None


@pytest.mark.parametrize("rate", [float("inf"), float("nan"), 0.0, -1.0, IOPS_MOST])
def test_a_rate_that_no_host_has_makes_it_none(rate: float) -> None:
    ceiling = CellCeiling(cell=cell(), nop_iops=(rate,))
    forged = platform_to_json(Platform(cells=(replace(ceiling, loop_iops=(1.0,)),)))
    assert platform_in({FACT: forged}) is None
