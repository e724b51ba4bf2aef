"""ORION's texts and files, byte for byte as published outputs have them."""

import csv
import io
import re
from contextlib import suppress

import numpy as np
import pytest

from teijo.methods.classic.orion.method import Orion
from teijo.methods.classic.orion.points import Loads, Point
from teijo.methods.classic.orion.workload import LARGE, SMALL
from teijo.personas.orion import output
from teijo.personas.orion.command import Lun, parse
from teijo.personas.orion.output import Call
from teijo.personas.orion.shown import Latency, Load, Shown, latency_of, shown_of
from teijo.terms.histogram import Histogram
from teijo.terms.record import StepRecord
from teijo.terms.result import OperationResult, StepResult
from tests.methods.canned import DRIVE, record_of

METHOD = Orion()
S = 1_000_000_000
CONSOLE = """\
ORION: ORacle IO Numbers -- Version 11.1.0.7.0
mytest_20190329_1057
Test will take approximately 9 minutes
Larger caches may take longer
"""
SUMMARY = """\
ORION VERSION 11.1.0.7.0

Commandline:
-run simple\x20

This maps to this test:
Test: orion
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 0%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2
Total Data Points: 8

Name: /dev/vdb\tSize: 21474836480
1 FILEs found.

Maximum Large MBPS=1554.54 @ Small=0 and Large=2
Maximum Small IOPS=19019 @ Small=5 and Large=0
Minimum Small Latency=0.26 @ Small=5 and Large=0
"""
IOPS = """\
Large/Small,      1,      2,      3,      4,      5
          0,   2302,   4398,   5450,   6006,   6210
          1
          2
"""
LAT = """\
Large/Small,      1,      2,      3,      4,      5
          0,   0.43,   0.45,   0.55,   0.67,   0.80
          1
          2
"""
MBPS = """\
Large/Small,      0,      1,      2,      3,      4,      5
          1, 271.58
          2, 374.26
"""
TAIL = """\
Maximum Large MBPS=1571.33 @ Small=0 and Large=5

Maximum Small IOPS=58778 @ Small=10 and Large=0
Small Read Latency: avg=169.594 us, min=128.415 us, max=1924.721 us, \
std dev=13.566 us @ Small=10 and Large=0

Minimum Small Latency=97.677 usecs @ Small=2 and Large=0
Small Read Latency: avg=97.677 us, min=63.652 us, max=2133.198 us, \
std dev=47.348 us @ Small=2 and Large=0
Small Read / Write Latency Histogram @ Small=2 and Large=0
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 32         us:               0 (  0.00%)              0 (  0.00%)
       32 - 64         us:               1 (  0.00%)              0 (  0.00%)
       64 - 128        us:         1112243 ( 91.12%)              0 (  0.00%)
      128 - 256        us:          102320 ( 99.50%)              0 (  0.00%)
      256 - 512        us:            5434 ( 99.95%)              0 (  0.00%)
      512 - 1024       us:             405 ( 99.98%)              0 (  0.00%)
     1024 - 2048       us:             259 (100.00%)              0 (  0.00%)
     2048 - 4096       us:               2 (100.00%)              0 (  0.00%)
     4096 - 268435456  us:               0 (100.00%)              0 (  0.00%)
"""


def call(words: str, like: str = "11.1", luns: int = 1, base: str = "mytest") -> Call:
    command = parse(words.split(), like)
    one = (Lun(path="/dev/vdb", size_bytes=21474836480),)
    return Call(like=like, command=command, loads=command.loads(luns), luns=one * luns, base=base)


def answer(stream: str, *, ios: int, block: int, mean_ns: int, elapsed_ns: int) -> StepResult:
    latency = Histogram((np.array([mean_ns]), np.array([ios])), mean_ns * ios, mean_ns, mean_ns)
    part = OperationResult(
        stream=stream, operation="read", count=ios, bytes=ios * block, latency=latency
    )
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=(part,))


def record(small: dict[int, tuple[float, float]], large: dict[int, float]):
    """Return a record with (IOPS, ms) of small loads alone, and MBPS of large ones alone."""
    settings = METHOD.settings("", {"num_disks": "1"}, DRIVE)
    steps = []
    for step in steps_of(settings):
        stream = step.workload.streams[0]
        depth = stream.queue_depth
        if stream.name == LARGE:
            done = answer(
                LARGE, ios=round(large[depth] * 100), block=2**20, mean_ns=1_000_000,
                elapsed_ns=100 * S,
            )  # fmt: skip
        else:
            rate, ms = small[depth]
            done = answer(
                SMALL, ios=round(rate * 100), block=8192, mean_ns=round(ms * 1e6),
                elapsed_ns=100 * S,
            )  # fmt: skip
        steps.append(StepRecord(seq=len(steps) + 1, step=step, seed=1, answer=done))
    return METHOD.find(settings, record_of(METHOD, settings, tuple(steps), "done"))


def steps_of(settings):
    """Return the steps of a whole conversation."""
    conversation, asked = METHOD.steps(settings, DRIVE), []
    with suppress(StopIteration):
        step = next(conversation)
        while True:
            asked.append(step)
            step = conversation.send(StepResult(started_ns=0, elapsed_ns=1))
    return asked


def published() -> Shown:
    rates, times = (2302, 4398, 5450, 6006, 6210), (0.43, 0.45, 0.55, 0.67, 0.80)
    small = dict(enumerate(zip(rates, times, strict=True), 1))
    return shown_of(record(small, {1: 271.58, 2: 374.26}))


def test_the_console_of_11_1_is_the_published_one():
    assert output.beginning(call("-run simple", base="mytest_20190329_1057")) == CONSOLE


def test_the_console_of_later_versions_says_calibration():
    told = output.beginning(call("-run oltp -num_disks 3", "12.2"))
    assert told == (
        "ORION: ORacle IO Numbers -- Version 12.2.0.1.0\nmytest\n"
        "Calibration will take approximately 24 minutes.\n"
        "Using a large value for -cache_size may take longer.\n\n"
    )


# published estimates: run, disks or lines, seconds, minutes
ESTIMATES = [
    ("simple", 1, 60, 9), ("normal", 1, 60, 19), ("oltp", 3, 60, 24), ("simple", 6, 60, 44),
    ("simple", 2, 120, 32),
]  # fmt: skip


@pytest.mark.parametrize(("run", "disks", "seconds", "minutes"), ESTIMATES)
def test_every_published_estimate_is_told(run, disks, seconds, minutes):
    told = output.beginning(call(f"-run {run} -num_disks {disks} -duration {seconds}"))
    assert f"approximately {minutes} minutes" in told


def test_the_summary_of_11_1_is_the_published_one():
    small = {1: (9000, 0.27), 2: (9500, 0.28), 3: (9600, 0.29), 4: (9700, 0.3), 5: (19019, 0.26)}
    shown = shown_of(record(small, {1: 900.0, 2: 1554.54}))
    assert output.summary(call("-run simple"), shown) == SUMMARY


def test_the_csv_files_of_11_1_are_the_published_ones():
    asked, shown = call("-run simple"), published()
    assert output.iops_csv(asked, shown) == IOPS
    assert output.lat_csv(asked, shown) == LAT
    assert output.mbps_csv(asked, shown) == MBPS


def test_the_published_table_keeps_littles_law():
    rates, times = (each.splitlines()[1].split(",")[1:] for each in (IOPS, LAT))
    for load, rate, ms in zip(range(1, 6), rates, times, strict=True):
        assert float(rate) * float(ms) / 1000 / load == pytest.approx(1, abs=0.02)


def tail() -> Shown:
    bins = (0, 1, 1_112_243, 102_320, 5434, 405, 259, 2)

    def load(iops, mean, least, most, deviation, counts=()):
        by = Latency(
            count=sum(counts), mean_us=mean, least_us=least, most_us=most, deviation_us=deviation,
            counts=counts,
        )  # fmt: skip
        return Load(iops=iops, mbps=0, mean_us=mean, by={"read": by})

    two, ten = Point(small=2, large=0), Point(small=10, large=0)
    small = {
        two: load(20_000, 97.677, 63.652, 2133.198, 47.348, bins),
        ten: load(58_778.4, 169.594, 128.415, 1924.721, 13.566),
    }
    large = {Point(small=0, large=5): Load(iops=1, mbps=1571.33, mean_us=1)}
    return Shown(points=(*large, *small), small=small, large=large)


def test_the_end_of_a_later_summary_is_the_published_one():
    assert output.best("12.2", tail()) == TAIL


def test_writes_add_a_line_of_their_own_and_their_own_percents():
    shown = tail()
    point = Point(small=2, large=0)
    by = shown.small[point].by
    wrote = Latency(count=4, mean_us=50, least_us=40, most_us=60, deviation_us=8, counts=(1, 3))
    mixed = Load(iops=1, mbps=1, mean_us=97.677, by={**by, "write": wrote})
    told = output.best("12.2", Shown(points=(point,), small={point: mixed}, large={}))
    lines = told.splitlines()
    assert "Small Write Latency: avg=50.000 us" in lines[2]
    assert lines[-9].endswith("0 (  0.00%)              1 ( 25.00%)")
    assert lines[-8].endswith("1 (  0.00%)              3 (100.00%)")
    assert lines[-1].endswith("0 (100.00%)              0 (100.00%)")


def test_a_histogram_is_told_in_the_originals_buckets():
    values = np.array([31_999, 32_000, 63_999, 64_000, 2_000_000])
    found = latency_of(Histogram((values, np.array([1, 2, 3, 4, 5])), 1, 31_999, 2_000_000))
    assert found.counts == (1, 5, 4, 0, 0, 0, 5)
    steady = latency_of(Histogram((np.array([58_048]), np.array([9])), 9 * 58_050, 58_050, 58_050))
    assert (steady.mean_us, steady.deviation_us) == (58.05, 0)


# version: what its files are called behind the test's name
FILES = {
    "10.2": ("summary.txt", "mbps.csv", "iops.csv", "lat.csv", "tradeoff.csv", "trace.txt"),
    "11.1": ("summary.txt", "mbps.csv", "iops.csv", "lat.csv", "trace.txt"),
    "12.2": ("summary.txt", "mbps.csv", "iops.csv", "lat.csv", "hist.txt", "trace.txt"),
}


@pytest.mark.parametrize("like", FILES)
def test_each_version_leaves_its_files(like):
    asked = call("-run simple -testname mytest -num_disks 1", like)
    names = [name for name, _ in output.files(asked, published())]
    assert names == [f"mytest_{each}" for each in FILES[like]]


def test_latency_is_in_ms_and_from_11_2_on_in_us():
    words = "-run simple -testname mytest -num_disks 1"
    for like, cell in (("10.2", "   0.43"), ("11.1", "   0.43"), ("12.2", " 430.00")):
        asked = call(words, like)
        assert output.lat_csv(asked, published()).splitlines()[-3].split(",")[1] == cell


def test_later_versions_write_files_found_small():
    shown = published()
    assert "4 files found.\n" in output.summary(call("-run simple", "12.2", luns=4), shown)
    assert "4 FILEs found.\n" in output.summary(call("-run simple", luns=4), shown)


def test_a_stripe_a_cache_and_streams_are_told():
    asked = call("-run advanced -type seq -simulate RAID0 -stripe 64 -cache_size 512 -write 20")
    told = output.summary(asked, published())
    for line in (
        "IO Types: Small Random IOs, Large Sequential Streams\n",
        "Number of Concurrent IOs Per Stream: 4\n",
        "Simulated Array Type: RAID 0\nStripe Depth: 64 KB\n",
        "Write: 20%\nCache Size: 512 MB\n",
    ):
        assert line in told


def read_by_a_user(text: str, skipped: int) -> dict[tuple[int, int], float]:
    """Read a table as a script of a user does: lines skipped, then cells by their headings."""
    lines = text.split("\n")[skipped:]
    head, *rows = (row for row in csv.reader(io.StringIO("\n".join(lines))) if row)
    return {
        (int(small), int(row[0])): float(value)
        for row in rows
        for small, value in zip(head[1:], row[1:], strict=False)
        if value.strip()
    }


@pytest.mark.parametrize(("like", "skipped"), [("10.2", 0), ("11.1", 0), ("12.2", 6)])
def test_a_users_reader_reads_the_tables_as_they_were_measured(like, skipped):
    asked = call("-run simple -testname mytest -num_disks 1", like)
    shown = published()
    iops = read_by_a_user(output.iops_csv(asked, shown), skipped)
    assert iops == {(n, 0): each for n, each in enumerate((2302, 4398, 5450, 6006, 6210), 1)}
    assert read_by_a_user(output.mbps_csv(asked, shown), skipped) == {
        (0, 1): 271.58, (0, 2): 374.26
    }  # fmt: skip


def test_a_cell_that_was_not_measured_is_blank_and_ends_no_row():
    load = Load(iops=7, mbps=7, mean_us=7)
    places = [(1, 0), (3, 0), (2, 1)]
    small = {Point(small=s, large=y): load for s, y in places}
    shown = Shown(points=tuple(small), small=small, large={})
    assert output.iops_csv(call("-run simple"), shown) == (
        "Large/Small,      1,      2,      3\n"
        "          0,      7,       ,      7\n"
        "          1,       ,      7\n"
    )


def test_the_trade_off_has_the_most_iops_within_each_latency():
    shown = published()
    lines = output.tradeoff_csv(shown).splitlines()
    assert lines[1] == "      1,      0,   0.00,   6210"
    assert len({len(line) for line in lines}) == 1


def test_the_trace_has_what_was_asked_and_what_was_done():
    asked = call("-run advanced -write 20")
    load = Load(
        iops=100.4, mbps=0.78, mean_us=9960.2, seconds=60.001,
        by={
            name: Latency(count=count, mean_us=1, least_us=least, most_us=most, deviation_us=0)
            for name, count, least, most in (("read", 81, 40, 900), ("write", 19, 30, 800))
        },
    )  # fmt: skip
    point = Point(small=1, large=0)
    told = output.trace(asked, 3, point, Shown(points=(point,), small={point: load}, large={}))
    assert told == (
        "Point 3 (small=1, large=0)\n"
        "ran (small): VLun = 0 Size = 21474836480\n"
        "ran (small): nio=100 nior=81 niow=19 req w%=20 act w%=19\n"
        "ran (small): my 1 oth 0 iops 100 lat 9960 us, bw = 0.78 MBps dur 60.00 s size 8 K, "
        "min lat 30 us, max lat 900 us\n\n"
    )


def test_a_run_of_oltp_has_no_large_maximum_and_names_its_small_loads():
    loads = Loads(run="oltp", disks=1)
    point = Point(small=4, large=0)
    shown = Shown(points=(point,), small={point: Load(iops=9, mbps=1, mean_us=3)}, large={})
    told = output.summary(call("-run oltp"), shown)
    assert "Large MBPS" not in told
    assert re.search(r"^Small Columns:,      1,      2,.*,     20$", told, re.MULTILINE)
    assert f"Total Data Points: {loads.total}\n" in told
    assert loads.total == 21


def test_what_a_run_left_without_an_answer_is_blank():
    empty = Shown(points=(), small={}, large={})
    assert output.best("11.1", empty) == ""
    assert output.iops_csv(call("-run simple"), empty) == "Large/Small\n"
