"""Write amplification by a drive's counters: its ends, its pieces, and where it cannot be known."""

import pytest

from teijo.analysis.amplification import amplification
from teijo.terms.reading import Reading
from teijo.units import NVME_DATA_UNIT


def told(host_units: int, media_bytes: int | None) -> Reading:
    counters = {"host_writes_bytes": host_units * NVME_DATA_UNIT}
    if media_bytes is not None:
        counters["media_writes_bytes"] = media_bytes
    return Reading(step=1, at_ns=0, cost_ns=1, counters=counters)


def test_the_ratio_lies_between_what_a_unit_more_and_a_unit_less_make_of_it() -> None:
    found = amplification([[told(5, 1000), told(80, 7), told(105, 76_801_000)]])
    assert found is not None
    assert found.is_known
    assert found.value == pytest.approx(1.5)
    assert found.ends == pytest.approx((1.5 * 100 / 101, 1.5 * 100 / 99))


@pytest.mark.parametrize(("units", "is_known"), [(10, True), (9, False), (0, False), (-20, False)])
def test_few_units_of_the_host_s_counter_tell_nothing(units: int, is_known: bool) -> None:
    found = amplification([[told(50, 0), told(50 + units, 9_000_000)]])
    assert found is not None
    assert found.is_known is is_known


def test_what_was_written_while_nobody_watched_is_in_neither() -> None:
    found = amplification([[told(0, 0), told(50, 51_200_000)], [told(900, 0), told(950, 0)]])
    assert found is not None
    assert (found.host_bytes, found.media_bytes) == (51_200_000, 51_200_000)
    assert found.doubt_bytes == 2 * NVME_DATA_UNIT


def test_media_that_fell_is_no_ratio() -> None:
    found = amplification([[told(0, 9), told(50, 0)]])
    assert found is not None
    assert not found.is_known


def test_a_drive_that_tells_one_of_both_tells_no_ratio() -> None:
    assert amplification([[told(0, None), told(50, None)]]) is None
    assert amplification([[told(0, 0)]]) is None
