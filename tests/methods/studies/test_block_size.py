"""The study `block-size` on a made-up drive: its steps, its order, its findings, its words."""

from collections import Counter
from dataclasses import replace

import pytest

from teijo.document.model import Paragraph, Table, Verdict, XYChart
from teijo.errors import PlanError
from teijo.methods.method import AnyMethod
from teijo.methods.parts import document_of, findings_of, found_in, watch_of
from teijo.methods.studies.block_size.found import (
    BlockSizeFound,
    cells_in_block,
    pairs_of,
    points_of,
)
from teijo.methods.studies.block_size.method import BlockSize
from teijo.methods.studies.block_size.settings import BlockSizeSettings
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.step import Measure, Precondition, Step
from teijo.units import KIB
from tests.methods.canned import DRIVE, IDENTITY, Canned, Played, play, record_of
from tests.methods.documents import text_of

METHOD: AnyMethod = BlockSize()
QUICK = {"seconds": "1s", "loads": "1,8", "sizes": "1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB"}
LARGE = Geometry(capacity_bytes=2**40, nominal_capacity_bytes=2**40, logical_block_bytes=4096)


class UnitDrive(Canned):
    """A drive that works in units of 4 KiB; `unit_us` and `part_us` are what they cost."""

    unit_us, part_us, wobble = 15.0, 30.0, 0.002

    def __init__(self, **given: object) -> None:
        super().__init__(rate=self.iops, latency_ns=self.latency, **given)  # type: ignore[arg-type]

    def time_us(self, size: int, grid: int, *, parts: float) -> float:
        offsets = range(0, 65536, grid)
        units = shares = 0
        for offset in offsets:
            ends = {offset // 4096, (offset + size - 1) // 4096}
            units += max(ends) - min(ends) + 1
            shares += sum(
                not (offset <= one * 4096 and (one + 1) * 4096 <= offset + size) for one in ends
            )
        touched = self.unit_us * units + parts * shares
        return 40 + touched / len(offsets) + size / 500

    def scatter(self) -> float:
        return 1 + self.wobble * ((len(self.asked) * 7919) % 13 - 6) / 6

    def latency(self, step: Step, direction: str) -> int:
        assert isinstance(step, Measure | Precondition)
        (stream,) = step.workload.streams
        grid = stream.alignment_bytes or stream.block_size_bytes
        parts = self.part_us if direction == "write" else 0.0
        time = self.time_us(stream.block_size_bytes, grid, parts=parts) * self.scatter()
        return round(1000 * time * stream.outstanding_ios**0.5)

    def iops(self, step: Step) -> float:
        assert isinstance(step, Measure)
        (stream,) = step.workload.streams
        mean = (
            stream.read_percent * self.latency(step, "read")
            + (100 - stream.read_percent) * self.latency(step, "write")
        ) / 100
        return stream.outstanding_ios * 1e9 / mean


def settled(**overrides: str) -> BlockSizeSettings:
    settings: BlockSizeSettings = METHOD.settings("", overrides, DRIVE)
    return settings


def played(device: Canned | None = None, **overrides: str) -> Played:
    return play(METHOD, device or UnitDrive(), overrides=QUICK | overrides)


def found_of(run: Played) -> BlockSizeFound:
    found = found_in(run.record)
    assert isinstance(found, BlockSizeFound)
    return found


def answer_of(run: Played) -> str:
    report = document_of(run.record)
    first = report.sections[0].blocks
    return " ".join(block.text for block in first if isinstance(block, Verdict | Paragraph))


def test_the_range_is_filled_once_and_every_block_has_every_cell_once() -> None:
    run = played()
    fill = run.asked[0]
    assert isinstance(fill, Precondition)
    assert fill.total_bytes == DRIVE.capacity_bytes
    settings = settled(**QUICK)
    cells = cells_in_block(settings, DRIVE)
    assert cells == len(points_of(settings)) + 2 * len(pairs_of(settings, DRIVE)) == 14 + 32
    assert len(run.measured) == 6 * cells
    counts = Counter((step.round_number, step.cell) for step in run.measured)
    assert set(counts.values()) == {1}


def test_each_block_has_an_order_of_its_own_that_the_setting_draws() -> None:
    first, again, other = played(), played(), played(order="2")
    assert [s.cell for s in first.measured] == [s.cell for s in again.measured]
    assert [s.cell for s in first.measured] != [s.cell for s in other.measured]
    by_block = [
        [step.cell for step in first.measured if step.round_number == number]
        for number in range(1, 7)
    ]
    assert len({tuple(each) for each in by_block}) == 6


def test_the_two_of_a_pair_are_measured_one_right_after_the_other() -> None:
    grids = [
        (step.workload.streams[0].block_size_bytes, step.workload.streams[0].alignment_bytes)
        for step in played().measured
        if step.cell is not None and step.cell.startswith("probe")
    ]
    for one, other in zip(grids[::2], grids[1::2], strict=True):
        assert one[0] == other[0]
        assert {one[1], other[1]} == {one[0], one[0] // 2}


def test_a_mix_that_only_reads_writes_nothing_unless_asked() -> None:
    run = played(mix="100/0")
    assert not METHOD.writes(run.settings)
    assert not any(step.workload.writes for step in run.measured)
    assert not any(isinstance(step, Precondition) for step in run.asked)
    assert METHOD.writes(settled(mix="100/0", fill="1"))
    assert METHOD.writes(settled())


def test_the_unit_of_the_drive_is_found_and_said() -> None:
    run = played()
    scalars = {each.name: each.value for each in findings_of(run.record).scalars}
    assert scalars["unit of the device"] == 4
    weight = scalars["weight of that unit"]
    assert weight is not None
    assert weight > 0.95
    text = answer_of(run)
    assert "THE UNIT IS 4 KiB" in text
    assert "times the I/Os of 8 KiB" in text


def test_reads_alone_find_it_too_where_a_unit_costs_them_enough() -> None:
    assert "THE UNIT IS 4 KiB" in answer_of(played(mix="100/0"))


def test_a_drive_whose_units_cost_nothing_has_none_that_is_named() -> None:
    drive = UnitDrive()
    drive.unit_us = drive.part_us = 0.0
    assert "NO UNIT ABOVE THE LOGICAL BLOCK" in answer_of(played(drive))
    drive = UnitDrive()
    drive.unit_us = drive.part_us = 0.0
    drive.wobble = 0.6
    assert "CANNOT BE TOLD" in answer_of(played(drive))


def test_without_a_probe_or_a_second_block_nothing_is_said_of_a_unit() -> None:
    assert "was not looked for" in answer_of(played(probe="off"))
    assert "needs two blocks" in answer_of(played(repeats="1", warm_up="0"))


def test_a_cell_is_the_mean_of_its_repeats_and_the_warm_up_does_not_count() -> None:
    run = played()
    (step, *_) = [
        s for s in run.steps if isinstance(s.step, Measure) and s.step.cell == "4 KiB × 8"
    ]
    found = found_of(run)
    one = found.at(4 * KIB, 8)
    assert one is not None
    assert len(one.answers) == 5
    assert step.answer not in one.answers
    assert one.iops.mean == pytest.approx(sum(a.iops for a in one.answers) / 5)
    assert one.iops.low is not None
    assert one.iops.low < one.iops.mean


def test_a_ratio_is_that_of_the_two_cells() -> None:
    found = found_of(played())
    four, eight = found.at(4 * KIB, 1), found.at(8 * KIB, 1)
    ratio = found.ratio(4 * KIB, 8 * KIB, 1)
    assert four is not None
    assert eight is not None
    assert ratio is not None
    assert ratio.ratio == pytest.approx(four.iops.mean / eight.iops.mean)
    assert ratio.low <= ratio.ratio <= ratio.high


def test_a_gap_measures_the_block_under_way_again() -> None:
    run = played(UnitDrive(gaps=frozenset({60})))
    whole = found_of(run)
    assert whole.rounds == 6
    assert len(run.measured) > 6 * cells_in_block(settled(**QUICK), DRIVE)


def test_a_drive_that_changes_during_the_run_is_said_to() -> None:
    drive = UnitDrive()
    fixed = drive.iops
    drive.rate = lambda step: fixed(step) * (1 - len(drive.asked) / 600)
    assert "not steady" in answer_of(played(drive))
    assert "not steady" not in answer_of(played())


def test_a_file_says_that_its_file_system_may_be_what_shows() -> None:
    run = played()
    of_a_file = replace(run.record, identity=replace(IDENTITY, kind="file"))
    text = text_of(document_of(of_a_file))
    assert "also the file system's block" in text
    buffered = Remark(kind=RemarkKind.BUFFERED, text="direct=no: memory answers too")
    of_memory = replace(of_a_file, remarks=(buffered,))
    assert "page cache" in text_of(document_of(of_memory))


def test_sizes_that_a_device_has_no_blocks_for_are_left_out_and_refused_by_name() -> None:
    assert METHOD.settings("", {}, LARGE).block_sizes_bytes[0] == 4096
    for overrides, word in (
        ({"sizes": "512"}, "logical"),
        ({"loads": "0"}, "between"),
        ({"mix": "50/50,100/0"}, "more than one"),
    ):
        with pytest.raises(PlanError, match=word):
            METHOD.settings("", overrides, LARGE)
    small = Geometry(capacity_bytes=1 << 20, nominal_capacity_bytes=1 << 20)
    with pytest.raises(PlanError, match="no choice of places"):
        METHOD.settings("", {}, small)


def test_the_watch_counts_blocks_and_what_is_left() -> None:
    run = played()
    settings = settled(**QUICK)
    cells = cells_in_block(settings, DRIVE)
    filling = watch_of(record_of(METHOD, settings, ()))
    assert filling.phase == "precondition"
    assert filling.remaining_bytes == DRIVE.capacity_bytes
    now = watch_of(record_of(METHOD, settings, run.steps[: 1 + cells + 3]))
    assert (now.phase, now.round_number, now.rounds_most) == ("round", 2, 6)
    assert now.cell == run.steps[1 + cells + 3].step.cell  # type: ignore[union-attr]
    assert now.remaining_ns_least == (5 * cells - 3) * 10**9
    assert watch_of(run.record).phase == "done"


def test_a_record_without_a_counted_block_has_a_report_that_says_so() -> None:
    record = record_of(METHOD, settled(**QUICK), ())
    assert "No block that counts" in text_of(document_of(record))


def test_the_hero_chart_has_a_line_for_each_load_and_marks_the_unit() -> None:
    run = played()
    report = document_of(run.record)
    (chart,) = [block for block in report.sections[0].blocks if isinstance(block, XYChart)]
    assert [each.name for each in chart.series] == ["1 outstanding", "8 outstanding"]
    assert [rule.value for rule in chart.rules] == [4]
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    assert any(table.caption.startswith("IOPS of each size") for table in tables)
