"""Preview: bounds that hold, worked out without a device."""

from functools import cache

import pytest

from teijo import api
from teijo.methods.method import AnyMethod
from teijo.methods.registry import METHODS, method_named
from teijo.runner.extent import Extent, Preview
from teijo.runner.paper import (
    SETTLED_SHARE,
    SETTLING_DRIVE_WRITES,
    Paper,
    Rates,
    State,
    settling,
)
from teijo.runner.preview import preview, rates_of, written_bytes
from teijo.terms.geometry import Geometry
from teijo.terms.record import StepRecord
from teijo.terms.step import Measure, Precondition, Purge
from teijo.terms.workload import Access, Stream, Workload
from teijo.units import GIB, NS_PER_S
from tests.methods.canned import record_of

DRIVE = Geometry(capacity_bytes=256 * GIB, nominal_capacity_bytes=256 * GIB)
MINUTE = 60 * NS_PER_S


@cache
def whole_of(name: str) -> Preview:
    """Return the preview of a method as it is by default; several tests look at the same one."""
    method = method_named(name)
    return preview(method, method.settings(method.default_spec, {}, DRIVE), DRIVE)


@cache
def played(name: str) -> tuple[StepRecord, ...]:
    """Return the first steps of the expected run, at most 129, with their answers on paper."""
    method = method_named(name)
    asking = method.steps(method.settings(method.default_spec, {}, DRIVE), DRIVE)
    paper = Paper(capacity_bytes=DRIVE.capacity_bytes, rates=Rates(), share=settling)
    steps = []
    step = next(asking)
    for seq in range(1, min(whole_of(name).expected.steps, 130)):
        answer = paper.carry_out(step)
        steps.append(StepRecord(seq=seq, step=step, seed=seq, answer=answer))
        step = asking.send(answer)
    return tuple(steps)


def test_iops_takes_from_five_to_twenty_five_rounds() -> None:
    method = method_named("iops")
    found = preview(method, method.settings("2.0.2-client", {}, DRIVE), DRIVE)
    assert found.least.steps == 2 + 5 * 56
    assert found.most.steps == 2 + 25 * 56
    filled_ns = 2 * DRIVE.capacity_bytes * NS_PER_S // Rates().bytes_per_second
    assert found.least.duration_ns == pytest.approx(filled_ns + 5 * 56 * MINUTE, rel=1e-3)
    assert found.most.duration_ns == pytest.approx(filled_ns + 25 * 56 * MINUTE, rel=1e-3)
    assert found.drive_writes(found.most) > found.drive_writes(found.least) > 1.5
    assert "500 MB/s" in found.assumed


@pytest.mark.parametrize(("name", "cells", "ends"), [("tp", 2, 0), ("lat", 9, 1)])
def test_the_other_methods_of_rounds_have_the_same_bounds(name: str, cells: int, ends: int) -> None:
    method = method_named(name)
    found = preview(method, method.settings("2.0.2-client", {}, DRIVE), DRIVE)
    assert found.least.steps == 2 + 5 * cells + ends
    assert found.most.steps == 2 + 25 * cells + ends


@pytest.mark.parametrize("spec", method_named("wsat").specs)
def test_every_version_of_wsat_comes_to_an_end(spec: str) -> None:
    method = method_named("wsat")
    found = preview(method, method.settings(spec, {}, DRIVE), DRIVE)
    assert 0 < found.least.duration_ns <= found.most.duration_ns <= 24 * 60 * MINUTE


def test_a_workload_takes_the_time_it_is_given() -> None:
    method = method_named("workload")
    settings = method.settings("", {"rw": "randread", "seconds": "10"}, DRIVE)
    found = preview(method, settings, DRIVE)
    assert found.least.duration_ns == found.most.duration_ns == 10 * NS_PER_S
    assert found.most.written_bytes == 0


def test_a_faster_drive_is_written_more_in_the_same_time() -> None:
    method = method_named("wsat")
    settings = method.settings("1.0-enterprise", {}, DRIVE)
    slow = preview(method, settings, DRIVE, Rates(bytes_per_second=10**8, ios_per_second=10**4))
    fast = preview(method, settings, DRIVE)
    assert fast.most.written_bytes >= slow.most.written_bytes


def test_a_mix_of_sizes_is_written_by_its_mean_and_not_by_its_largest() -> None:
    method = method_named("workload")
    asked = {"rw": "randwrite", "seconds": "10", "bssplit": "4KiB:3,64KiB:1"}
    found = preview(method, method.settings("", asked, DRIVE), DRIVE)
    ios = min(100_000, 500_000_000 // (19 * 1024)) * 10
    assert found.most.written_bytes == pytest.approx(ios * 19 * 1024, rel=1e-3)


def test_dirth_takes_ten_hours_at_least_and_its_preconditioning_may_be_restless() -> None:
    method = method_named("dirth")
    found = preview(method, method.settings("", {}, DRIVE), DRIVE)
    assert found.least.duration_ns == (121 + 5 * 54 + 3 * 70) * MINUTE
    assert found.most.duration_ns == (721 + 25 * 54 + 3 * 70) * MINUTE


OF_STATEMENTS = {"sql", "oltp", "classic.sql-bench"}
"""Nobody knows before how much a database writes."""


def test_every_method_can_be_previewed() -> None:
    for method in METHODS:
        assert whole_of(method.id).most.steps > 0


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
def test_what_is_expected_lies_between_the_bounds_in_every_figure(method: AnyMethod) -> None:
    found = whole_of(method.id)
    for figure in ("steps", "duration_ns", "written_bytes", "intervals"):
        least, expected, most = (
            getattr(end, figure) for end in (found.least, found.expected, found.most)
        )
        if figure == "written_bytes" and method.id in OF_STATEMENTS:
            assert {least, expected, most} == {None}
        else:
            assert least <= expected <= most, figure


def test_the_expected_drive_settles_within_a_few_rounds() -> None:
    for name, cells, ends in (("iops", 56, 2), ("lat", 9, 3)):
        method = method_named(name)
        found = preview(method, method.settings("2.0.2-client", {}, DRIVE), DRIVE)
        assert 5 <= (found.expected.steps - ends) / cells <= 12


def test_a_settling_drive_is_fresh_then_tires_exponentially_and_reads_do_not_tire_it() -> None:
    def share(drive_writes: float, read_percent: int = 0) -> float:
        stream = Stream(read_percent=read_percent, block_size_bytes=4096)
        step = Measure(workload=Workload(streams=(stream,)), duration_ns=1)
        return settling(step, State(steps=3, drive_writes=drive_writes))

    assert share(0) == pytest.approx(1, rel=0.02)
    assert share(SETTLING_DRIVE_WRITES) == pytest.approx(0.4 + 0.6 / 2.718281828, rel=0.02)
    assert share(50) == pytest.approx(SETTLED_SHARE, rel=0.02)
    assert share(50, read_percent=100) == 1


def test_a_purge_makes_a_tired_drive_fresh_and_sequential_writes_tire_it_half_as_much() -> None:
    paper = Paper(capacity_bytes=1000 * 4096, rates=Rates(), share=settling)

    def write(access: Access) -> float:
        before = paper.state.drive_writes
        stream = Stream(read_percent=0, block_size_bytes=4096, access=access)
        fill = Precondition(workload=Workload(streams=(stream,)), total_bytes=1000 * 4096)
        paper.carry_out(fill)
        return paper.state.drive_writes - before

    assert write(Access.RANDOM) == pytest.approx(1.0)
    assert write(Access.SEQUENTIAL) == pytest.approx(0.5)
    paper.carry_out(Purge())
    assert paper.state.drive_writes == 0


def places_of_a_run() -> list[object]:
    """Every method, replayed and with a gap; a campaign's gap is that of the test it falls in."""
    return [
        pytest.param(
            method,
            replayable,
            id=f"{method.id}-{'replayed' if replayable else 'with a gap'}",
            marks=[pytest.mark.long] * (method.id == "pts.all" and not replayable),
        )
        for method in METHODS
        for replayable in (True, False)
    ]


@pytest.mark.parametrize(("method", "replayable"), places_of_a_run())
def test_what_is_left_of_a_run_is_told_from_any_place_in_it(
    method: AnyMethod, replayable: bool
) -> None:
    settings = method.settings(method.default_spec, {}, DRIVE)
    whole, steps = whole_of(method.id), played(method.id)
    for cut in {min(1, len(steps)), len(steps)}:
        record = record_of(method, settings, steps[:cut])
        left = preview(method, settings, DRIVE, after=record, replayable=replayable)
        assert left.spent_bytes == (written_bytes(record.steps) or 0)
        if replayable:
            assert left.expected.steps == whole.expected.steps - cut
            ahead = left.expected.written_bytes
            if left.expected.steps:
                assert (ahead is None) == (method.id in OF_STATEMENTS)
            if method.id not in OF_STATEMENTS:
                assert left.spent_bytes + (ahead or 0) == whole.expected.written_bytes
        else:
            assert left.least.steps >= whole.least.steps - cut
    if steps:
        rates = rates_of(record_of(method, settings, steps))
        assert rates is not None
        assert rates.source == "seen in this run"


def test_a_record_without_steps_tells_no_rates() -> None:
    method = method_named("iops")
    settings = method.settings("", {}, DRIVE)
    assert rates_of(record_of(method, settings, ())) is None


def test_one_line_says_how_long_how_much_and_how_often() -> None:
    least, expected, most = (
        Extent(steps=1, duration_ns=hours * 3600 * NS_PER_S, written_bytes=size, intervals=1)
        for hours, size in ((6, 2_400_000_000_000), (7, 3_100_000_000_000), (24, 9_800_000_000_000))
    )
    seen = Preview(
        least=least, expected=expected, most=most, capacity_bytes=512 * 10**9, assumed="this"
    )
    assert seen.line == (
        "about 7 h 00 min (6 h 00 min … 24 h 00 min), 3.1 TB (2.4 TB … 9.8 TB) written, "
        "6.1 (4.7 … 19) drive writes; assumed this"
    )


def test_the_line_leaves_out_what_is_not_known() -> None:
    def line(written_bytes: int | None, capacity_bytes: int) -> str:
        end = Extent(steps=1, duration_ns=NS_PER_S, written_bytes=written_bytes, intervals=1)
        return Preview(
            least=end, expected=end, most=end, capacity_bytes=capacity_bytes, assumed="this"
        ).line

    assert line(10**9, 0) == "about 1.00 s, 1 GB written; assumed this"
    assert line(None, 0) == line(None, 10**9) == "about 1.00 s; assumed this"


def test_a_simulated_device_is_tried_for_its_rates() -> None:
    seen = api.preview("iops", "sim:mlc-a?capacity=64MiB&dies=2")
    assert "virtual" in seen.assumed
    told = api.preview(
        "iops",
        "sim:mlc-a?capacity=64MiB&dies=2",
        rates=Rates(bytes_per_second=10**9, ios_per_second=7, source="as told"),
    )
    assert told.assumed.startswith("at most 1,000 MB/s and 7 IOPS (as told)")
