"""A workload's place on a device: whole blocks, within the range, no piece over another."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.errors import PlanError
from teijo.terms.geometry import Geometry
from teijo.terms.placing import place
from teijo.terms.workload import ActiveRange
from teijo.units import GIB, KIB, MIB

DRIVE = Geometry(capacity_bytes=256_060_514_304, nominal_capacity_bytes=256_060_514_304)


def test_a_share_of_the_range_is_rounded_down_to_physical_blocks() -> None:
    segments, segment_bytes, stride_bytes = place(ActiveRange(share_percent=75), DRIVE, 4096)
    assert (segments, stride_bytes) == (1, segment_bytes)
    assert segment_bytes == 192_045_383_680  # 0.75 × capacity is half a block more
    odd = replace(DRIVE, capacity_bytes=1_000_001_536)
    assert place(ActiveRange(share_percent=33), odd, 4096)[1] == 329_998_336  # of 330,000,506.88


def test_an_amount_is_spread_in_equal_segments_as_client_1_x_asks() -> None:
    asked = ActiveRange(amount_bytes=8 * GIB, segments=2048)
    segments, segment_bytes, stride_bytes = place(asked, DRIVE, 128 * KIB)
    assert (segments, segment_bytes) == (2048, 4 * MIB)
    assert stride_bytes == DRIVE.capacity_bytes // 2048 // 4096 * 4096


def test_an_amount_the_range_does_not_hold_is_the_whole_range() -> None:
    small = Geometry(capacity_bytes=GIB, nominal_capacity_bytes=GIB)
    asked = ActiveRange(amount_bytes=8 * GIB, segments=2048)
    assert place(asked, small, 4096) == (1, GIB, GIB)


@given(
    capacity=st.integers(1 * MIB, 2**50),
    share=st.integers(1, 100),
    amount=st.integers(4096, 2**45) | st.none(),
    pieces=st.integers(1, 4096),
)
def test_no_piece_leaves_the_range_or_overlaps_the_next(
    capacity: int, share: int, amount: int | None, pieces: int
) -> None:
    asked = ActiveRange(
        share_percent=share, amount_bytes=amount, segments=1 if amount is None else pieces
    )
    drive = Geometry(capacity_bytes=capacity, nominal_capacity_bytes=capacity)
    try:
        segments, segment_bytes, stride_bytes = place(asked, drive, 4096)
    except PlanError:
        return
    assert stride_bytes >= segment_bytes >= 4096
    assert (segments - 1) * stride_bytes + segment_bytes <= capacity * share // 100
    if amount is not None:
        assert segments * segment_bytes <= max(amount, segment_bytes)
    assert segment_bytes % 4096 == stride_bytes % 4096 == 0


def test_a_block_that_does_not_fit_is_refused_with_what_to_do() -> None:
    with pytest.raises(PlanError, match="does not fit") as caught:
        place(ActiveRange(amount_bytes=8 * MIB, segments=2048), DRIVE, 128 * KIB)
    assert "fewer segments" in caught.value.remedy


def test_a_range_of_bytes_begins_at_its_first_and_is_as_long_as_it_says() -> None:
    drive = Geometry(capacity_bytes=GIB, nominal_capacity_bytes=GIB)
    assert place(ActiveRange(first_byte=MIB, length_bytes=8 * MIB), drive, 4096)[1] == 8 * MIB
    assert place(ActiveRange(first_byte=MIB), drive, 4096)[1] == GIB - MIB
    half = ActiveRange(first_byte=GIB // 2, share_percent=50)
    assert place(half, drive, 4096)[1] == GIB // 4
    spread = ActiveRange(first_byte=GIB // 2, amount_bytes=64 * MIB, segments=8)
    assert place(spread, drive, 4096) == (8, 8 * MIB, 64 * MIB)


@pytest.mark.parametrize(
    "beyond",
    [
        ActiveRange(first_byte=GIB - MIB, length_bytes=2 * MIB),
        ActiveRange(first_byte=2 * GIB),
        ActiveRange(length_bytes=GIB + 4096),
    ],
)
def test_a_range_that_ends_behind_the_device_is_refused(beyond: ActiveRange) -> None:
    drive = Geometry(capacity_bytes=GIB, nominal_capacity_bytes=GIB)
    with pytest.raises(PlanError, match="ends at byte"):
        place(beyond, drive, 4096)
