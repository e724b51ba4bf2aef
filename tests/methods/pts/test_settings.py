"""What the PTS methods' settings share: scaled minutes and volumes, and ranges that fit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.conformance.pieces import Pieces, pieces_of
from teijo.errors import PlanError
from teijo.methods.pts import settings as shared
from teijo.methods.pts.iops.method import Iops
from teijo.terms.geometry import Geometry
from tests.methods.canned import DRIVE, GIB

MIB = 1 << 20


def scaled(scale: float, capacity: int = 256 * GIB) -> Geometry:
    own = int(capacity / scale) // 4096 * 4096
    return Geometry(capacity_bytes=own, nominal_capacity_bytes=capacity)


@pytest.mark.parametrize(
    ("scale", "minute_ms"), [(1, 60_000), (2, 30_000), (60, 1_000), (1e5, 1), (238.4, 252)]
)
def test_a_minute_is_divided_by_the_scale_to_whole_ms(scale, minute_ms):
    assert shared.minute_ns_of(scaled(scale)) == minute_ms * 1_000_000


@given(st.floats(1, 4000), st.sampled_from([8, 16]))
def test_a_scaled_amount_keeps_its_pieces_and_its_share(scale, amount_gib):
    geometry = scaled(scale)
    pieces = pieces_of(amount_gib * GIB, 2048, geometry)
    assert pieces.amount_bytes is not None
    piece = pieces.amount_bytes // pieces.segments
    assert piece == amount_gib // 2 * MIB
    share = pieces.amount_bytes / geometry.capacity_bytes
    nominal = amount_gib * GIB / geometry.nominal_capacity_bytes
    # To the nearest whole piece.
    assert abs(share - nominal) * geometry.capacity_bytes <= piece * 0.5 + 4096 or (
        pieces.segments == 1
    )


def test_no_amount_is_one_piece():
    assert pieces_of(None, 2048, DRIVE) == Pieces(amount_bytes=None, segments=1)


def test_the_amount_that_a_refusal_proposes_is_accepted():
    for capacity in (256 * MIB, 3 * GIB, 12 * GIB):
        small = Geometry(capacity_bytes=capacity, nominal_capacity_bytes=capacity)
        with pytest.raises(PlanError) as caught:
            Iops().settings("1.0-client", {}, small)
        proposed = dict(re.findall(r"--set (\w+)=(\w+)", caught.value.remedy))
        assert set(proposed) == {"amount", "segments"}
        Iops().settings("1.0-client", proposed, small)
