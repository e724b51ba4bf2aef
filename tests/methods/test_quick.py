"""A quick look: CrystalDiskMark's four tests, five passes each, and what it says against itself."""

import pytest

from teijo.document.model import Paragraph, Table, Verdict
from teijo.errors import PlanError
from teijo.methods.parts import document_of, found_in, watch_of
from teijo.methods.quick.method import Quick
from teijo.methods.quick.pages import MEANING
from teijo.terms.geometry import Geometry
from teijo.terms.remark import RemarkKind
from teijo.terms.step import Idle, Measure, Precondition
from teijo.terms.workload import Access
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

METHOD = Quick()
NAMES = ("SEQ 1 MiB Q8T1", "SEQ 1 MiB Q1T1", "RND 4 KiB Q32T1", "RND 4 KiB Q1T1")


def look(rate=lambda _: 8_000.0, *, gaps=(), geometry: Geometry = DRIVE, **overrides) -> Played:
    device = Canned(rate, gaps=frozenset(gaps))
    return play(METHOD, device, overrides=overrides, geometry=geometry)


def result(played: Played):
    document = document_of(played.record)
    return document.sections[0].blocks


def test_four_tests_read_and_then_write_in_five_passes_each():
    measured = look().measured
    cells = [f"{name} {direction}" for direction in ("read", "write") for name in NAMES]
    assert [step.cell for step in measured] == [cell for cell in cells for _ in range(5)]
    assert [step.round_number for step in measured] == [1, 2, 3, 4, 5] * 8
    streams = [measured[place].workload.streams[0] for place in range(0, 40, 5)]
    assert [(s.access, s.block_size_bytes, s.queue_depth, s.threads) for s in streams[:4]] == [
        (Access.SEQUENTIAL, 1024 * 1024, 8, 1),
        (Access.SEQUENTIAL, 1024 * 1024, 1, 1),
        (Access.RANDOM, 4096, 32, 1),
        (Access.RANDOM, 4096, 1, 1),
    ]
    assert [s.read_percent for s in streams] == [100] * 4 + [0] * 4


def test_all_of_it_takes_about_a_minute_on_a_device_at_full_size():
    asked = look().asked
    timed = [step.duration_ns for step in asked if isinstance(step, Measure | Idle)]
    assert 50e9 < sum(timed) < 60e9


def test_the_amount_is_written_before_it_is_read_and_all_of_it_lies_in_the_same_range():
    asked = look().asked
    assert isinstance(asked[0], Precondition)
    assert asked[0].total_bytes == GIB
    ranges = {
        step.workload.streams[0].active_range.amount_bytes
        for step in asked
        if not isinstance(step, Idle)
    }
    assert ranges == {GIB}


def test_a_sequential_stream_has_a_cursor_of_its_own_that_its_passes_share():
    names = [step.workload.streams[0].name for step in look().measured]
    assert len(set(names)) == 8
    assert all(len(set(names[at : at + 5])) == 1 for at in range(0, 40, 5))


def test_reads_alone_write_nothing_and_say_that_blocks_may_be_unwritten():
    settings = METHOD.settings("", {"writes": "no"}, DRIVE)
    assert not METHOD.writes(settings)
    assert METHOD.writes(METHOD.settings("", {}, DRIVE))
    played = look(writes="no")
    assert not any(step.workload.writes for step in played.measured)
    assert not any(isinstance(step, Precondition) for step in played.asked)
    assert RemarkKind.UNWRITTEN in {remark.kind for remark in played.record.remarks}


def test_it_says_what_it_is_not_and_what_nobody_knows():
    told = {remark.kind: remark.text for remark in look().record.remarks}
    assert "a quick look, not a steady-state test" in told[RemarkKind.QUICK_LOOK]
    assert "whether the 1 GiB" in told[RemarkKind.CACHE_MAY_HOLD]
    assert RemarkKind.UNWRITTEN not in told
    verdict, *_ = result(look())
    assert isinstance(verdict, Verdict)
    assert verdict.good is None
    assert "not a steady-state test" in verdict.text


def test_the_table_has_every_figure_with_its_interval_and_says_what_that_is():
    rates = iter([98.0, 101.0, 103.0, 99.0, 104.0] * 8)
    played = look(lambda step: next(rates) if isinstance(step, Measure) else 1.0)
    _, table, meaning, *_ = result(played)
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows[:4]] == [f"{name} read" for name in NAMES]
    assert meaning == Paragraph(text=MEANING)
    # Five passes of 1.25 s are whole I/Os: 122, 126, 129, 124 and 130.
    _, mb_s, mb_half, iops, half, *_ = table.rows[2]
    assert iops == pytest.approx((122 + 126 + 129 + 124 + 130) / 5 / 1.25)
    assert half == pytest.approx(2.776445 * 3.34664 / 1.25 / 5**0.5, rel=1e-5)
    assert (mb_s, mb_half) == pytest.approx((iops * 4096 / 1e6, half * 4096 / 1e6))


def test_the_smallest_figure_of_a_column_still_has_three_digits():
    def rate(step):
        slow = isinstance(step, Measure) and "RND" in str(step.cell)
        return 80.0 if slow else 500.0

    table = result(look(rate))[1]
    digits = {column.name: column.digits for column in table.columns if column.name != "±"}
    assert (digits["MB/s"], digits["IOPS"]) == (3, 1)


def test_a_first_pass_apart_and_a_steady_fall_are_told_and_a_level_is_not():
    def rate(step):
        if not isinstance(step, Measure):
            return 1_000.0
        if step.cell == "RND 4 KiB Q32T1 write":
            return 20_000.0 if step.round_number == 1 else 10_000.0
        if step.cell == "RND 4 KiB Q1T1 write":
            return 10_000.0 - 1_000 * step.round_number
        return 10_000.0

    told = [block.text for block in result(look(rate)) if isinstance(block, Paragraph)]
    assert told[1:] == [
        "RND 4 KiB Q32T1 write: the first pass has 200 % of what the others have; a buffer, a "
        "cache or other work may have part in it, and the mean is no level.",
        "RND 4 KiB Q1T1 write: every pass is slower than the one before, the last has 56 % of the "
        "first, and the mean is no level.",
    ]


def test_after_a_gap_the_amount_is_written_again_and_the_missing_pass_is_asked_again():
    whole, broken = look().asked, look(gaps=[5]).asked
    missed = whole[4]
    assert isinstance(missed, Measure)
    assert broken[4:7] == [missed, whole[0], missed]
    assert broken[7:] == whole[5:]
    assert len(found_in(look(gaps=[5]).record).figures) == 8


def test_a_device_at_a_scale_has_its_amount_and_its_passes_divided_by_it():
    scaled = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=32 * GIB)
    settings = METHOD.settings("", {}, scaled)
    assert settings.pass_ns == 1_250_000_000 // 4
    assert settings.amount_bytes == GIB // 4
    tiny = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=800 * GIB)
    assert METHOD.settings("", {}, tiny).pass_ns == 250_000_000
    assert METHOD.settings("", {"seconds": "2s"}, tiny).pass_ns == 2_000_000_000


@pytest.mark.parametrize(
    "overrides",
    [{"passes": "1"}, {"passes": "x"}, {"amount": "4KiB"}, {"writes": "maybe"}, {"qd": "3"}],
)
def test_what_has_no_meaning_is_refused_with_a_remedy(overrides):
    with pytest.raises(PlanError) as refused:
        METHOD.settings("", overrides, DRIVE)
    assert refused.value.remedy


def test_a_live_screen_is_told_the_pass_and_what_is_left():
    played = look()
    before = record_of(METHOD, played.settings, played.steps[:1])
    watch = watch_of(before)
    assert (watch.phase, watch.round_number, watch.cell) == ("pass", 1, f"{NAMES[0]} read")
    assert watch.remaining_ns_least == 40 * 1_250_000_000 + 8 * 10**9
    assert watch_of(record_of(METHOD, played.settings, ())).phase == "prepare"
    later = watch_of(record_of(METHOD, played.settings, played.steps[:12]))
    assert later.remaining_ns_most < watch.remaining_ns_most
    assert watch_of(played.record).phase == "done"


def test_settings_are_the_same_after_the_run_file():
    settings = METHOD.settings("", {"passes": "7", "amount": "2GiB", "writes": "no"}, DRIVE)
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings
