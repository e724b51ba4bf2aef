"""Workloads: what they say of themselves, and what they refuse to be."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.terms.workload import ActiveRange, Stream, Workload

READER = Stream(name="reader", read_percent=100, block_size_bytes=4096, threads=4, queue_depth=8)
WRITER = Stream(name="writer", read_percent=99, block_size_bytes=4096)


def test_outstanding_ios_are_threads_times_queue_depth():
    assert READER.outstanding_ios == 32


def test_a_workload_writes_if_any_stream_does():
    assert not Workload(streams=(READER,)).writes
    assert WRITER.writes
    assert Workload(streams=(READER, WRITER)).writes


@given(st.integers(1, 1 << 50), st.integers(1, 100), st.sampled_from([512, 4096]))
def test_a_range_is_the_share_in_whole_blocks(capacity, share, block):
    span = ActiveRange(share_percent=share).span_bytes(capacity, block)
    assert span % block == 0
    assert span * 100 <= capacity * share < (span + block) * 100


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ActiveRange(share_percent=0),
        lambda: ActiveRange(share_percent=101),
        lambda: ActiveRange(segments=2),
        lambda: Stream(read_percent=101, block_size_bytes=512),
        lambda: Stream(read_percent=0, block_size_bytes=0),
        lambda: Stream(read_percent=0, block_size_bytes=512, threads=0),
        lambda: Stream(read_percent=0, block_size_bytes=512, queue_depth=0),
        lambda: Workload(streams=()),
        lambda: Workload(streams=(READER, READER)),
        lambda: Workload(streams=(READER, replace(WRITER, repeats="pass"))),
        lambda: ActiveRange(first_byte=-1),
        lambda: ActiveRange(length_bytes=0),
        lambda: ActiveRange(length_bytes=4096, share_percent=50),
        lambda: Stream(read_percent=0, block_size_bytes=512, thread_stride_bytes=-1),
    ],
)
def test_what_cannot_be_is_not_built(wrong):
    with pytest.raises(AssertionError):
        wrong()


def test_the_mean_block_is_weighted_by_the_mix():
    mixed = Stream(read_percent=0, block_size_bytes=65536, block_mix=((4096, 3), (65536, 1)))
    assert mixed.block_bytes_mean == 19 * 1024
    assert Stream(read_percent=0, block_size_bytes=8192).block_bytes_mean == 8192
