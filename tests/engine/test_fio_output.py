"""fio's words turned into laps: bins, logs and error lines."""

import errno

import numpy as np
import pytest

from teijo.engine.fio import output
from teijo.terms.histogram import bucket_width_ns


def group(**changes: object) -> output.Group:
    fields: dict[str, object] = {
        "leg": "s0l0",
        "direction": "read",
        "ios": 0,
        "bytes": 0,
        "runtime_ns": 3_001_000_000,
        "latency_ns_sum": 0,
        "latency_ns_min": 0,
        "latency_ns_max": 0,
        "bins": {},
    }
    return output.Group(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("fio: io_u error on file /dev/x: Input/output error: read offset=0, buflen=4", "EIO"),
        (
            "fio: io_u error on file a:b: No space left on device: write offset=8, buflen=4",
            "ENOSPC",
        ),
        ("fio: io_u error on file /dev/x: Something new: write offset=8, buflen=4", "EIO"),
        ("fio: pid=0, err=1/file:filesetup.c:150, error=Operation not permitted", ""),
    ],
)
def test_a_line_is_a_failed_io_or_is_not(line: str, failure: str) -> None:
    direction = "read" if "read" in line else "write"
    expected = (direction, getattr(errno, failure)) if failure else None
    assert output.failed_io(line) == expected


def test_bins_go_to_the_buckets_that_hold_their_middles_and_keep_their_number() -> None:
    bins = [{100: 2, 8256: 5}, {8256: 1, 1_056_768: 7}]
    values, counts = output.buckets(bins)
    np.testing.assert_array_equal(values, [100, 8256, 1_056_768])
    np.testing.assert_array_equal(counts, [2, 6, 7])
    for low, middle in zip(values.tolist(), [100, 8256, 1_056_768], strict=True):
        assert low <= middle < low + bucket_width_ns(low)


def test_a_log_of_two_threads_is_two_series() -> None:
    text = "1000, 10, 0, 0, 0\n2001, 20, 0, 0, 0\n1000, 30, 0, 0, 0\n1999, 40, 0, 0, 0\n"
    samples = output.log_samples(text, 1000)
    assert [(s.thread, s.index, s.span_ms, s.value) for s in samples] == [
        (0, 0, 1000, 10),
        (0, 1, 1001, 20),
        (1, 0, 1000, 30),
        (1, 1, 999, 40),
    ]


def test_the_last_interval_takes_what_the_log_left_out() -> None:
    iops = output.log_samples("1000, 100, 0, 0, 0\n2001, 100, 0, 0, 0\n", 1000)
    whole = group(ios=290, bytes=290 * 4096, latency_ns_sum=29_000)
    series = output.intervals(whole, iops, [], 1000)
    assert {index: row[0] for index, row in series.items()} == {0: 100, 1: 100, 2: 90}
    assert sum(row[1] for row in series.values()) == 290 * 4096
    assert sum(row[2] for row in series.values()) == pytest.approx(29_000, abs=3)


def test_rounded_rates_that_sum_to_too_much_are_taken_from_the_end() -> None:
    iops = output.log_samples("1000, 10, 0, 0, 0\n2000, 10, 0, 0, 0\n3000, 10, 0, 0, 0\n", 1000)
    series = output.intervals(group(ios=19, bytes=19, latency_ns_sum=19), iops, [], 1000)
    assert {index: row[0] for index, row in series.items()} == {0: 10, 1: 9}


def test_another_direction_of_the_log_is_not_mine() -> None:
    iops = output.log_samples("1000, 10, 1, 0, 0\n", 1000)
    assert output.intervals(group(), iops, [], 1000) == {}


def test_the_latency_of_an_interval_is_the_mean_fio_logged_for_it() -> None:
    iops = output.log_samples("1000, 100, 0, 0, 0\n2000, 300, 0, 0, 0\n", 1000)
    latency = output.log_samples("1000, 50, 0, 0, 0\n2000, 10, 0, 0, 0\n", 1000)
    whole = group(ios=400, bytes=400, latency_ns_sum=8_000, runtime_ns=2_000_000_000)
    series = output.intervals(whole, iops, latency, 1000)
    assert series == {0: (100, 100, 5_000), 1: (300, 300, 3_000)}


def test_failures_without_an_io_still_have_an_interval() -> None:
    columns = output.columns({}, 3, 10**9)
    np.testing.assert_array_equal(columns.errors, [3])
    np.testing.assert_array_equal(columns.ios, [0])
    assert output.columns({}, 0, 10**9).index.size == 0
