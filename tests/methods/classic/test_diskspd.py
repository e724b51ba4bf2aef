"""classic.diskspd: each option's step, a row for each thread, deviations as the original's."""

import numpy as np
import pytest

from teijo.document.model import Table
from teijo.errors import PlanError
from teijo.methods.classic.diskspd.found import (
    counted,
    iops_deviation,
    joined_buckets,
    latency_deviation_ns,
)
from teijo.methods.classic.diskspd.load import rows_of
from teijo.methods.classic.diskspd.method import Diskspd
from teijo.methods.classic.timed import COOL_DOWN, PASS, PREPARE, WARM_UP
from teijo.methods.parts import document_of, found_in, watch_of
from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult
from teijo.terms.step import Precondition
from teijo.terms.workload import Access, Content
from teijo.units import GIB, KIB, MIB, NS_PER_S
from tests.methods.canned import DRIVE, Canned, Played, play, record_of

METHOD = Diskspd()


def look(rate=lambda _: 8_000.0, *, gaps=(), **overrides) -> Played:
    device = Canned(rate, gaps=frozenset(gaps))
    return play(METHOD, device, overrides=overrides)


def streams(**overrides):
    (step,) = [each for each in look(**overrides).measured if each.phase == PASS]
    return step.workload.streams


def test_by_default_one_thread_reads_64_kib_blocks_in_order_two_at_a_time():
    steps = look().measured
    assert [(step.phase, step.duration_ns // NS_PER_S) for step in steps] == [
        (WARM_UP, 5), (PASS, 10),
    ]  # fmt: skip
    assert [(step.continues, step.open_ended) for step in steps] == [(False, True), (True, False)]
    (only,) = streams()
    assert (only.block_size_bytes, only.queue_depth, only.threads) == (64 * KIB, 2, 1)
    assert (only.access, only.read_percent) == (Access.SEQUENTIAL, 100)
    assert (only.content, only.repeats) == (Content.COUNTING, "seed 0")
    assert not only.write_through


@pytest.mark.parametrize(
    ("asked", "field", "value"),
    [
        ({"block": "4KiB"}, "block_size_bytes", 4 * KIB),
        ({"outstanding": "32"}, "queue_depth", 32),
        ({"access": "random"}, "access", Access.RANDOM),
        ({"access": "random", "alignment": "4KiB"}, "alignment_bytes", 4 * KIB),
        ({"write": "30"}, "read_percent", 70),
        ({"write": "100", "buffering": "uw"}, "write_through", True),
        ({"write": "100", "buffering": "w"}, "write_through", True),
        ({"write": "100", "buffering": "u"}, "write_through", False),
        ({"write": "0", "buffering": "uw"}, "write_through", False),
        ({"data": "zero"}, "content", Content.ZERO),
        ({"data": "random"}, "content", Content.REFILL),
        ({"data": "one-block"}, "content", Content.ONE_BLOCK),
        ({"seed": "7"}, "repeats", "seed 7"),
        ({"strict": "on"}, "repeats", ""),
        ({"strict": "on"}, "content", Content.RANDOM),
    ],
)
def test_each_option_has_its_term(asked, field, value):
    (only,) = streams(**asked)
    assert getattr(only, field) == value


@pytest.mark.parametrize(
    ("asked", "pieces"),
    [
        ({"base": "1GiB"}, [(GIB, None)]),
        ({"base": "1GiB", "length": "2GiB"}, [(GIB, 2 * GIB)]),
        ({"threads": "2"}, [(0, None), (0, None)]),
        ({"threads": "2", "stride": "1GiB"}, [(0, None), (GIB, None)]),
        (
            {"threads": "2", "stride": "1GiB", "base": "1MiB", "length": "4GiB"},
            [(MIB, 4 * GIB), (MIB + GIB, 3 * GIB)],
        ),
    ],
)
def test_where_each_thread_works(asked, pieces):
    found = [each.active_range for each in streams(**asked)]
    assert [(each.first_byte, each.length_bytes) for each in found] == pieces


def test_threads_that_share_an_offset_are_one_stream():
    (only,) = streams(threads="4", interlocked="yes")
    assert (only.threads, only.thread_stride_bytes) == (4, None)
    (strict,) = streams(threads="4", strict="on")
    assert (strict.threads, strict.thread_stride_bytes) == (4, None)


def test_of_more_threads_than_can_be_told_apart_each_target_is_one_stream():
    (only,) = streams(threads="65")
    assert (only.threads, only.thread_stride_bytes) == (65, 0)


def rows(**asked):
    found = rows_of(METHOD.settings("", asked, DRIVE))
    return [(each.thread, each.target, each.threads) for each in found]


def test_the_rows_are_by_thread_and_each_thread_has_its_targets():
    two = "2@0+1GiB,2@1GiB+1GiB"
    assert rows(threads="2") == [(0, 0, 1), (1, 0, 1)]
    assert rows(pools=two) == [(0, 0, 1), (1, 0, 1), (2, 1, 1), (3, 1, 1)]
    assert rows(pools=two, all_targets="yes") == [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]
    assert rows(pools=two, interlocked="yes") == [(0, 0, 2), (2, 1, 2)]


def test_each_target_is_written_first_where_it_is_to_be_made():
    first = look(prepare="zero").asked[0]
    assert isinstance(first, Precondition)
    assert first.phase == PREPARE
    assert first.workload.streams[0].content is Content.ZERO
    assert look(strict="on", prepare="zero").asked[0].workload.streams[0].content is Content.RANDOM
    assert METHOD.writes(METHOD.settings("", {"prepare": "zero"}, DRIVE))
    assert not METHOD.writes(METHOD.settings("", {}, DRIVE))


def test_strict_writes_what_it_will_read_and_c_makes_all_of_a_target():
    def written(**asked: str) -> tuple[int, int | None, int]:
        first = look(base="1MiB", length="8MiB", strict="on", **asked).asked[0]
        assert isinstance(first, Precondition)
        piece = first.workload.streams[0].active_range
        return piece.first_byte, piece.length_bytes, first.total_bytes

    assert written() == (MIB, 8 * MIB, 8 * MIB)
    assert written(pools="1@16MiB+4MiB") == (17 * MIB, 3 * MIB, 3 * MIB)
    assert written(prepare="zero") == (0, None, DRIVE.capacity_bytes)


def test_a_gap_anywhere_in_a_pass_begins_it_anew_with_its_warm_up():
    phases = [step.phase for step in look(cool_down="1s", gaps=(3,)).measured]
    assert phases == [WARM_UP, PASS, COOL_DOWN, WARM_UP, PASS, COOL_DOWN]
    found = found_in(look(cool_down="1s", gaps=(3,)).record)
    assert found.rounds == 1


def series(*ios: int) -> Intervals:
    count = np.array(ios, np.int64)
    low = np.arange(len(ios), dtype=np.int64) + 1
    return Intervals(
        length_ns=NS_PER_S, index=np.arange(count.size), ios=count, bytes=count * 4096,
        errors=count * 0, latency_ns_sum=count * 5, latency_ns_min=low, latency_ns_max=low * 9,
    )  # fmt: skip


def part(*ios: int) -> OperationResult:
    return OperationResult(
        stream="thread 0", operation="read", count=sum(ios), bytes=4096 * sum(ios),
        latency=histogram_of(np.full(sum(ios), 5, np.int64)), intervals=series(*ios),
    )  # fmt: skip


def test_a_bucket_is_an_interval_within_the_test_and_the_rest_is_left_out():
    found = counted([part(10, 20, 1)], NS_PER_S, 2 * NS_PER_S + 5)
    assert found.ios == 31
    assert found.buckets == ((10, 1, 9, 50), (20, 2, 18, 100))


def test_buckets_of_several_threads_are_added_and_keep_the_shortest_and_longest():
    one, other = ((4, 2, 9, 20), (0, 0, 0, 0)), ((1, 1, 3, 3),)
    assert joined_buckets([one, other]) == ((5, 1, 9, 23), (0, 0, 0, 0))


def test_deviations_are_over_all_of_them():
    # Of 10, 20, 30 the mean is 20 and Σ(x − 20)² / 3 = 66.67; a bucket is half a second.
    buckets = tuple((count, 0, 0, 0) for count in (10, 20, 30))
    assert iops_deviation(buckets, NS_PER_S // 2) == pytest.approx((200 / 3) ** 0.5 * 2)
    assert iops_deviation((), NS_PER_S) == 0.0
    times = np.array([100, 200, 300], np.int64)
    assert latency_deviation_ns(histogram_of(times)) == pytest.approx(times.std())


def test_the_report_has_the_originals_figures_the_mean_and_a_row_for_each_thread():
    document = document_of(look(threads="2").record)
    captions = [each.caption for each in document.sections[0].blocks if isinstance(each, Table)]
    assert captions == [
        "As DiskSpd prints it", "The mean and how sure it is", "Threads of the last pass",
    ]  # fmt: skip
    shared = document_of(look(threads="2", interlocked="yes").record)
    assert "are told together" in str(shared.sections[0].blocks)


def test_before_the_first_pass_there_is_a_report_that_says_so():
    record = record_of(METHOD, METHOD.settings("", {}, DRIVE), ())
    assert "No pass has ended yet." in str(document_of(record).sections[0].blocks)
    assert watch_of(record).remaining_ns_least == 15 * NS_PER_S


@pytest.mark.parametrize(
    "asked",
    [
        {"access": "random", "stride": "1MiB"},
        {"access": "random", "interlocked": "yes"},
        {"interlocked": "yes", "stride": "1MiB"},
        {"alignment": "4KiB"},
        {"access": "random", "alignment": "128KiB"},
        {"length": "32KiB"},
        {"threads": "4", "stride": "1GiB", "length": "2GiB"},
        {"threads": "4", "stride": "100GiB"},
        {"base": "256GiB"},
    ],
)
def test_what_cannot_be_is_refused(asked):
    with pytest.raises(PlanError):
        METHOD.settings("", asked, DRIVE)
