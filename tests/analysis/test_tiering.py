"""A tier's arithmetic: hand-made rates, limits that must hold, and counts of I/Os as an oracle."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.difference import Difference
from teijo.analysis.tiering import (
    Cliff,
    cliff_known,
    cliff_of,
    crossover,
    fall_of,
    hit_share,
    in_turn,
    is_sharp,
    settled,
    side_by_side,
    stripes,
)

GB = 10**9
RATES = st.floats(1, 1e7)
SHARES = st.floats(0, 1)


def test_the_cliff_lies_between_the_last_set_that_is_held_and_the_next() -> None:
    found = cliff_of([(256 * GB, 100.0), (1000 * GB, 98.0), (2000 * GB, 95.0), (4000 * GB, 9.0)])
    assert found is not None
    assert (found.good_bytes, found.bad_bytes) == (2000 * GB, 4000 * GB)
    assert found.level == pytest.approx((100 + 98 + 95) / 3)
    assert found.after == 9
    assert found.width == 2
    assert found.middle_bytes == pytest.approx(math.sqrt(8) * 1000 * GB)


def test_a_set_that_falls_and_comes_back_is_no_cliff() -> None:
    assert cliff_of([(1, 100.0), (2, 10.0), (4, 100.0)]) is None
    assert cliff_of([(1, 100.0), (2, 80.0), (4, 75.0)]) is None
    assert cliff_of([(1, 100.0)]) is None
    assert cliff_of([]) is None
    assert cliff_of([(1, 0.0), (2, 0.0)]) is None


def test_a_quarter_of_the_set_in_the_tier_brings_a_third_more_than_the_slow_device() -> None:
    # 8 TB over 2 TB: the slow device's time dominates, 1/(1 − 1/4).
    share = hit_share(2000 * GB, 8000 * GB)
    assert share == 0.25
    assert in_turn(1e9, 100, share) == pytest.approx(133.33, rel=1e-4)
    assert hit_share(2000 * GB, 256 * GB) == 1
    assert in_turn(450_000, 2_260, 1.0) == pytest.approx(450_000)
    # At 1 MiB: 1/(0.25/3 + 0.75/5) = 4.29 GB/s in turn, 5/0.75 = 6.67 side by side.
    assert in_turn(3.0, 5.0, share) == pytest.approx(4.286, rel=1e-3)
    assert side_by_side(3.0, 5.0, share) == pytest.approx(6.667, rel=1e-3)


@given(fast=RATES, slow=RATES, share=SHARES)
def test_in_turn_is_the_count_of_ios_by_the_sum_of_their_times(
    fast: float, slow: float, share: float
) -> None:
    hits = round(share * 1000)
    time = hits / fast + (1000 - hits) / slow
    assert in_turn(fast, slow, hits / 1000) == pytest.approx(1000 / time)


@given(fast=RATES, slow=RATES, share=SHARES)
def test_side_by_side_is_never_slower_than_in_turn(fast: float, slow: float, share: float) -> None:
    assert side_by_side(fast, slow, share) >= in_turn(fast, slow, share) * (1 - 1e-9)


@given(fast=RATES, slow=RATES)
def test_as_many_stripes_as_said_are_enough_and_one_fewer_is_not(fast: float, slow: float) -> None:
    count = stripes(fast, slow)
    assert count is not None
    assert count * fast >= slow * (1 - 1e-9)
    assert count == 1 or (count - 1) * fast < slow


def test_nothing_striped_from_nothing() -> None:
    assert stripes(0.0, 5.0) is None
    assert stripes(3.0, 5.0) == 2
    assert stripes(3.0, 3.0) == 1
    assert stripes(3.0, 0.5) == 1
    assert stripes(3.0, 3.03) == 2
    assert stripes(3.0, 3.03, equal=0.02) == 1


def test_the_crossover_is_where_two_powers_of_the_size_meet() -> None:
    sizes = [4096, 65536, 262144, 1048576]
    tier = [1000.0 for _ in sizes]
    slow = [size**0.5 * 2.5 for size in sizes]
    # 2.5 √s = 1000 at s = 160,000.
    assert crossover(sizes, tier, slow) == pytest.approx(160_000)
    assert crossover(sizes, slow, tier) is None
    assert crossover(sizes, tier, [2000.0] * 4) == 4096
    assert crossover([], [], []) is None
    assert crossover([4096, 8192], [1.0, 1.0], [0.0, 2.0]) == 8192
    assert crossover([4096, 8192], [1.0, 1.0], [1.0, 2.0]) == 8192


TIERED = [(1, 100.0), (2, 99.0), (4, 98.0), (5, 12.0), (8, 8.0)]
GROWING = [1 << place for place in range(6)]


def kind(rates: list[tuple[int, float]], *again: float, reads: bool = True) -> str | None:
    back, bad = (*again, None, None)[:2]
    fall = fall_of(rates, back=back, again=bad, reads=reads)
    return None if fall is None else fall.kind


def test_a_tier_is_what_falls_sharply_comes_back_and_falls_again() -> None:
    fall = fall_of(TIERED, back=97.0, again=13.0, reads=True)
    assert fall is not None
    assert (fall.kind, fall.good, fall.bad, fall.back_bytes) == ("tier", 98, 12, 1)
    assert fall.steepness == pytest.approx(math.log(98 / 12) / math.log(5 / 4))
    assert kind([(1, 100.0), (2, 99.0)]) is None


def test_a_fall_that_was_not_looked_at_again_is_not_finished() -> None:
    assert kind(TIERED) == "unfinished"
    assert kind(TIERED, 97.0) == "unfinished"


def test_writes_that_do_not_come_back_are_worn_and_reads_are_not_explained() -> None:
    assert kind(TIERED, 13.0, reads=False) == "worn"
    assert kind(TIERED, 13.0) == "unreturned"


def test_what_falls_only_once_is_no_tier() -> None:
    assert kind(TIERED, 97.0, 96.0) == "once"
    assert kind(TIERED, 97.0, 96.0, reads=False) == "once"


COLD = [(1, 100.0), (2, 99.0), (4, 12.0), (8, 11.0)]


def test_a_set_that_was_only_cold_is_held_and_the_fall_is_looked_for_behind_it() -> None:
    rates, fall = settled(COLD, {1: 99.0, 4: 98.0}, reads=True)
    assert rates == ((1, 100.0), (2, 99.0), (4, 98.0), (8, 11.0))
    assert fall is not None
    sets = (fall.cliff.good_bytes, fall.cliff.bad_bytes)
    assert (fall.kind, *sets, fall.back) == ("unfinished", 4, 8, 99.0)
    _, fall = settled(COLD, {1: 99.0, 4: 98.0, 8: 12.0}, reads=True)
    assert fall is not None
    assert fall.kind == "tier"
    assert settled(COLD, {1: 99.0, 4: 98.0, 8: 97.0}, reads=True)[1] is None
    writes = settled(COLD, {2: 99.0, 4: 98.0}, reads=False)[1]
    assert writes is not None
    assert writes.kind == "once"


def ratio(low: float, high: float) -> Difference:
    return Difference(ratio=math.sqrt(low * high), low=low, high=high, p_value=0.5, freedom=4)


def test_the_cliff_lies_between_a_set_that_is_surely_held_and_one_that_surely_is_not() -> None:
    rates = [(1, 100.0), (2, 98.0), (4, 75.0), (5, 60.0), (8, 20.0)]
    cliff = cliff_of(rates)
    assert cliff is not None
    assert (cliff.good_bytes, cliff.bad_bytes) == (4, 5)
    sure = {2: ratio(0.9, 1.1), 4: ratio(0.7, 0.8), 5: ratio(0.5, 0.7), 8: ratio(0.1, 0.3)}
    known = cliff_known(cliff, rates, sure)
    assert known == Cliff(good_bytes=2, bad_bytes=5, level=99, after=60)
    vague = sure | {2: ratio(0.6, 1.5), 5: ratio(0.4, 1.01)}
    known = cliff_known(cliff, rates, vague)
    assert known == Cliff(good_bytes=1, bad_bytes=8, level=100, after=20)
    assert cliff_known(cliff, rates, {8: ratio(0.1, 1.0)}) is None


def test_a_fall_is_sharp_where_all_of_its_interval_is_steeper_than_the_set_grows() -> None:
    assert is_sharp(ratio(0.1, 0.49), 2)
    assert not is_sharp(ratio(0.1, 0.5), 2)


def test_writes_go_back_to_the_set_that_was_held_and_must_fall_sharply_again() -> None:
    fall = fall_of(TIERED, back=97.0, again=13.0, reads=False)
    assert fall is not None
    assert (fall.kind, fall.back_bytes) == ("tier", 4)
    # 97 to 65 over 5/4 of the set: less than two thirds, and its 1.8th power.
    assert kind(TIERED, 97.0, 65.0, reads=False) == "broad"


def test_a_fall_between_sharp_and_gentle_tells_nothing() -> None:
    # Half the rate over 1.6 times the set: its 1.47th power.
    rates = [(10, 100.0), (20, 99.0), (32, 50.0)]
    assert kind(rates, 99.0, 50.0) == "broad"


def test_a_level_stretch_before_a_gentle_fall_is_not_what_seeks_make() -> None:
    assert kind([(1, 100.0), (2, 99.0), (4, 72.0), (8, 60.0)]) == "bent"
    assert kind([(1, 100.0), (2, 90.0), (4, 75.0), (8, 60.0)]) == "gentle"


def test_scatter_between_two_sets_that_lie_close_is_not_steep() -> None:
    # A disk: the two sets about the cliff differ by 12 %, over 9 % of the set.
    disk = [(62, 149.0), (125, 130.0), (250, 114.0), (386, 108.0), (421, 95.0), (1000, 80.0)]
    fall = fall_of(disk, reads=True)
    assert fall is not None
    assert fall.steepness > 1
    assert fall.kind == "gentle"


@given(least=st.floats(0.05, 0.2), turn=st.floats(1, 8))
def test_the_seeks_of_a_disk_are_gentle_at_every_speed(least: float, turn: float) -> None:
    # The mean seek over a stroke s is about least + 7.1 √s ms, and a turn is waited for besides.
    times = [least + 7.1 * math.sqrt(each / GROWING[-1]) + turn for each in GROWING]
    fall = fall_of([(s, 1 / time) for s, time in zip(GROWING, times, strict=True)], reads=True)
    assert fall is None or fall.kind == "gentle"


@given(spare=st.floats(0.03, 0.5))
def test_spare_flash_alone_never_makes_a_tiers_fall(spare: float) -> None:
    # A drive that is full but for the set: physical by user flash of the set is 1 + S / W, and
    # cleaning at random writes that by itself less one (Van Houdt 2013): rate 1 / (1 + W / S).
    rates = [(each, 1 / (1 + each / (spare * GROWING[-1]))) for each in GROWING]
    fall = fall_of(rates, back=rates[0][1], again=rates[-1][1], reads=False)
    assert fall is None or fall.steepness <= 1


@given(ratio=st.floats(8, 1000), step=st.floats(1.05, 1.2), below=st.integers(1, 3))
def test_the_end_of_a_tier_is_steep_once_the_sets_lie_near_it(
    ratio: float, step: float, below: int
) -> None:
    # Twelve per cent beyond C, an eighth of the rate is lost to a device eight times slower.
    tier = 1 << 20
    sets = [*(tier >> place for place in range(below, -1, -1)), round(tier * step)]
    while in_turn(ratio, 1, hit_share(tier, sets[-1])) > 0.7 * ratio:
        sets.append(round(sets[-1] * step))
    rates = [(each, in_turn(ratio, 1, hit_share(tier, each))) for each in sets]
    fall = fall_of(rates, back=rates[0][1], again=rates[-1][1], reads=True)
    assert fall is not None
    assert fall.kind == "tier"
