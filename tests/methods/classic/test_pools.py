"""Pools: pieces of one target, each with threads of its own, written and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.errors import PlanError
from teijo.methods.classic.pools import POOLS, Pool, check_pools, show_pools
from teijo.terms.workload import WHOLE_RANGE
from tests.methods.canned import DRIVE, GIB


@given(
    st.lists(
        st.tuples(st.integers(1, 256), st.integers(0, 2**40), st.integers(1, 2**40)), min_size=1
    )
)
def test_what_is_shown_is_read_back(parts):
    pools = tuple(Pool(threads=t, first_byte=f, length_bytes=n) for t, f, n in parts)
    assert POOLS.parse(show_pools(pools)) == pools


@pytest.mark.parametrize("text", ["2@0", "0@0+1MiB", "257@0+1MiB", "2@0+0", "x@0+1", "2@0+1MiB,"])
def test_what_is_no_pool_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        POOLS.parse(text)


def test_no_pools_are_written_as_none():
    assert POOLS.parse("none") == ()
    assert POOLS.show(()) == "none"


def test_a_pool_of_everything_is_the_whole_range():
    assert Pool(threads=1).piece() is WHOLE_RANGE
    piece = Pool(threads=1, first_byte=GIB, length_bytes=GIB).piece(4096, 8192)
    assert (piece.first_byte, piece.length_bytes) == (GIB + 4096, 8192)


@pytest.mark.parametrize(
    "pools",
    [
        (Pool(threads=1, first_byte=0, length_bytes=GIB),) * 2,
        (Pool(threads=1, first_byte=255 * GIB, length_bytes=2 * GIB),),
        (Pool(threads=1, first_byte=0, length_bytes=4096),),
    ],
)
def test_pieces_that_overlap_lie_beyond_or_hold_no_block_are_refused(pools):
    with pytest.raises(PlanError):
        check_pools(pools, DRIVE, block_size_bytes=8192, skipped_bytes=0)
