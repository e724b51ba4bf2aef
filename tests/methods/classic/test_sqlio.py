"""classic.sqlio: each option's step, the figures as SQLIO prints them, the mean beside them."""

import numpy as np
import pytest

from teijo.document.model import Paragraph, Table, Verdict
from teijo.errors import PlanError
from teijo.methods.classic.sqlio.found import mib_per_s_cut, printed, whole_percents
from teijo.methods.classic.sqlio.hides import entries
from teijo.methods.classic.sqlio.method import Sqlio
from teijo.methods.classic.timed import PASS, PREPARE
from teijo.methods.classic.timed_pages import OF_ONE_PASS
from teijo.methods.parts import document_of, found_in, watch_of
from teijo.terms.histogram import Histogram, histogram_of
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, Content
from teijo.units import KIB, MIB, NS_PER_MS, NS_PER_S
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of

METHOD = Sqlio()


def look(rate=lambda _: 8_000.0, *, gaps=(), **overrides) -> Played:
    device = Canned(rate, gaps=frozenset(gaps))
    return play(METHOD, device, overrides=overrides)


def stream(**overrides):
    (step,) = [each for each in look(**overrides).measured if each.phase == PASS]
    (only,) = step.workload.streams
    return only


def test_by_default_one_thread_reads_2_kb_blocks_of_a_strip_of_8_mb_for_30_seconds():
    (step,) = look().measured
    (only,) = step.workload.streams
    assert step.duration_ns == 30 * NS_PER_S
    assert (only.read_percent, only.block_size_bytes, only.threads) == (100, 2 * KIB, 1)
    assert only.queue_depth == 1
    assert only.access is Access.SHUFFLED
    assert only.active_range.length_bytes == 64 * 64 * 2 * KIB == 8 * MIB


@pytest.mark.parametrize(
    ("asked", "field", "value"),
    [
        ({"kind": "write"}, "read_percent", 0),
        ({"threads": "8"}, "threads", 8),
        ({"block": "64KiB"}, "block_size_bytes", 64 * KIB),
        ({"depth": "8"}, "queue_depth", 8),
        ({"depth": "0"}, "queue_depth", 1),
        ({"factor": "random"}, "access", Access.RANDOM),
        ({"factor": "sequential"}, "access", Access.SEQUENTIAL),
        ({"factor": "sequential", "threads": "2"}, "thread_stride_bytes", 0),
        ({"factor": "sequential", "threads": "1"}, "thread_stride_bytes", None),
        ({"factor": "sequential", "threads": "2", "strict": "on"}, "thread_stride_bytes", None),
        ({"kind": "write", "buffering": "N"}, "write_through", True),
        ({"kind": "write", "buffering": "S"}, "write_through", True),
        ({"kind": "write", "buffering": "H"}, "write_through", False),
        ({"kind": "write", "buffering": "Y"}, "write_through", False),
        ({"kind": "read"}, "write_through", False),
        ({"kind": "write"}, "content", Content.ONE_BLOCK),
        ({"kind": "write", "strict": "on"}, "content", Content.RANDOM),
    ],
)
def test_each_option_has_its_term(asked, field, value):
    assert getattr(stream(**asked), field) == value


@pytest.mark.parametrize(
    ("asked", "first", "length"),
    [
        ({}, 0, 8 * MIB),
        ({"factor": "128"}, 0, 16 * MIB),
        ({"run_ios": "128"}, 0, 16 * MIB),
        ({"start": "100"}, 200 * KIB, 8 * MIB),
        ({"factor": "random"}, 0, None),
        ({"factor": "random", "start": "1"}, 2 * KIB, None),
        ({"strict": "on"}, 0, None),
    ],
)
def test_what_of_the_target_is_touched(asked, first, length):
    piece = stream(**asked).active_range
    assert (piece.first_byte, piece.length_bytes) == (first, length)


def test_every_file_has_threads_of_its_own_in_its_own_piece():
    (step,) = look(factor="random", pools="2@0+100MiB,4@100MiB+1GiB", start="2").measured
    first, second = step.workload.streams
    assert (first.threads, second.threads) == (2, 4)
    assert first.active_range.first_byte == 4 * KIB
    assert first.active_range.length_bytes == 100 * MIB - 4 * KIB
    assert second.active_range.first_byte == 100 * MIB + 4 * KIB
    assert second.active_range.length_bytes == GIB - 4 * KIB
    assert {first.name, second.name} == {"file 1", "file 2"}


def test_a_strict_read_is_written_first_with_unique_data_and_asks_for_consent():
    played = look(strict="on", factor="random")
    first = played.asked[0]
    assert isinstance(first, Precondition)
    assert first.phase == PREPARE
    assert first.total_bytes == DRIVE.capacity_bytes
    assert first.workload.streams[0].content is Content.RANDOM
    assert METHOD.writes(METHOD.settings("", {"strict": "on"}, DRIVE))
    assert not METHOD.writes(METHOD.settings("", {}, DRIVE))
    assert METHOD.writes(METHOD.settings("", {"kind": "write"}, DRIVE))


def test_a_file_that_is_to_be_full_is_written_first():
    played = look(kind="write", prepare="random", factor="random", pools="1@0+1GiB")
    assert isinstance(played.asked[0], Precondition)
    assert played.asked[0].total_bytes == GIB
    assert METHOD.writes(METHOD.settings("", {"prepare": "random"}, DRIVE))


def test_a_pass_that_was_missed_begins_anew_and_each_counts_once():
    played = look(passes="3", gaps=(2,))
    assert [step.round_number for step in played.measured] == [1, 2, 2, 3]
    assert found_in(played.record).rounds == 3


def test_only_a_single_pass_may_be_ended_early():
    assert look().measured[0].ends_early
    assert not any(step.ends_early for step in look(passes="2").measured)


def test_mbs_are_mib_and_cut_not_rounded():
    # 7851.80 × 8 / 1024 = 61.3422; 421.88 × 8 / 1024 = 3.2959, printed as 3.29.
    for ios, told in ((785_180, 61.34), (42_188, 3.29), (2_880_729, 225.05)):
        assert mib_per_s_cut(ios * 8 * KIB, 100 * NS_PER_S) == told
    assert mib_per_s_cut(1, 0) == 0.0


def test_times_and_shares_are_cut_to_whole_numbers():
    times = np.array([0.9, 0.9, 1.0, 1.99, 23.9, 24.1, 99.9]) * NS_PER_MS
    latency = histogram_of(times.astype(np.int64))
    own = printed(ios=7, moved_bytes=7 * 8192, elapsed_ns=NS_PER_S, latency=latency)
    assert (own.min_ms, own.avg_ms, own.max_ms) == (0, 21, 99)
    # Two of seven are 28.57 %, one is 14.29 %: cut, they are 98 together.
    assert own.percents[:3] == (28, 28, 0)
    assert own.percents[23:] == (14, 28)
    assert sum(own.percents) == 98


def test_without_an_io_every_share_is_nothing():
    empty = Histogram((np.empty(0, np.int64), np.empty(0, np.int64)), 0, 0, 0)
    assert whole_percents(empty) == (0,) * 25


def tables(document):
    return [block for block in document.sections[0].blocks if isinstance(block, Table)]


def test_the_report_has_sqlios_figures_first_then_the_mean_of_the_same_run():
    played = look(factor="random", block="8KiB")
    document = document_of(played.record)
    blocks = document.sections[0].blocks
    assert isinstance(blocks[0], Verdict)
    assert "8000.00 IOs/sec, 62.50 MBs/sec" in blocks[0].text
    assert any(isinstance(each, Paragraph) and each.text == OF_ONE_PASS for each in blocks)
    names = [row[0] for row in tables(document)[0].rows]
    assert names == [
        "IOs/sec", "MBs/sec", "Min_Latency(ms)", "Avg_Latency(ms)", "Max_Latency(ms)",
    ]  # fmt: skip
    titles = [section.title for section in document.sections]
    assert titles[:4] == ["Result", "Percentiles", "Over time", "Latency distribution"]


def test_over_several_passes_the_mean_has_an_interval_of_the_passes():
    played = look(lambda step: 8_000.0 + step.round_number, passes="5", factor="random")
    found = found_in(played.record)
    iops = [each for each in found.quantities if each.figure.name == "IOPS"]
    assert iops[0].by_round
    assert len(iops[0].batches) == 5
    told = [table.caption for table in tables(document_of(played.record))]
    assert "IOs/sec" in told


def test_before_the_first_pass_there_is_a_report_that_says_so():
    settings = METHOD.settings("", {}, DRIVE)
    record = record_of(METHOD, settings, ())
    assert "No pass has ended yet." in str(document_of(record).sections[0].blocks)
    watch = watch_of(record)
    assert (watch.phase, watch.round_number) == (PASS, 1)
    assert watch.remaining_ns_least == 30 * NS_PER_S


def test_what_is_to_be_written_first_is_told_while_it_is():
    settings = METHOD.settings("", {"strict": "on"}, DRIVE)
    watch = watch_of(record_of(METHOD, settings, ()))
    assert (watch.phase, watch.remaining_bytes) == (PREPARE, DRIVE.capacity_bytes)


@pytest.mark.parametrize(
    "asked",
    [
        {"factor": "0"},
        {"factor": "striped"},
        {"buffering": "Q"},
        {"pools": "2@0+512GiB"},
        {"start": str(2**38)},
        {"block": "1000"},
    ],
)
def test_what_cannot_be_is_refused(asked):
    with pytest.raises(PlanError):
        METHOD.settings("", asked, DRIVE)


def test_every_step_is_measured_with_a_census():
    assert all(
        each.census
        for step in look(pools="1@0+1GiB,1@1GiB+1GiB").measured
        if isinstance(step, Measure)
        for each in step.workload.streams
    )


def hides(**overrides):
    latency = overrides.pop("latency", 40_000)
    device = Canned(lambda _: 8_000.0, latency_ns=lambda *_: latency)
    found = found_in(play(METHOD, device, overrides=overrides).record)
    return {each.kind: each for each in entries(found)}


def test_the_strip_and_whole_milliseconds_are_told_with_their_sizes():
    told = hides()
    assert told["strip"].found == "hidden"
    assert told["strip"].size == "All I/O was within 8 MiB of the 256 GiB, 0.00305 %."
    assert told["whole milliseconds"].found == "hidden"
    assert "Printed as 0 ms on average, it was 40 µs" in told["whole milliseconds"].size


def test_of_a_whole_file_and_of_a_slow_disk_nothing_is_hidden():
    told = hides(factor="random", latency=18_400_000)
    assert {each.found for each in told.values()} == {"clear"}


def test_a_strict_run_has_neither():
    assert hides(strict="on") == {}
