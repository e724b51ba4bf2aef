"""A planted bottleneck is found, its absence is shown, and the rest cannot be known."""

import math

import numpy as np
import pytest

from teijo.analysis.bottleneck import LOSS_LEAST, Bottlenecks, Verdict, interval_of, verdict_of
from teijo.terms.bottleneck import Driven
from tests.analysis.drawn_spells import NOISES, measured, replaced

ABCD = ("a", "b", "c", "d")
PAIR = ("a", "b")


def verdicts(found: Bottlenecks, load: str = "random") -> dict[tuple[str, ...], list[Verdict]]:
    return {
        each.group.drives: [one.verdict for one in each.comparisons]
        for each in found.shared
        if each.load == load
    }


def test_a_planted_loss_is_found_and_drives_without_one_share_nothing() -> None:
    found = Bottlenecks(measured([ABCD], {ABCD: 0.5}, scatter=0.01))
    assert verdicts(found) == {ABCD: [Verdict.SHARES] * 4}
    for each in found.shared:
        assert each.together_bytes == pytest.approx(each.alone_bytes / 2, rel=0.02)
        for one in each.comparisons:
            assert one.low is not None
            assert one.high is not None
            assert one.low < 0.5 < one.high
            assert one.without == (one.drive,)
    none = Bottlenecks(measured([ABCD], {}, scatter=0.01))
    assert verdicts(none) == {ABCD: [Verdict.NOT] * 4}
    assert not none.shared[0].sharing


def test_a_larger_group_is_held_against_the_smaller_one_within_it() -> None:
    # The pair loses 40 % by its own bridge, and the four no more than that.
    loss = {PAIR: 0.4, ABCD: 0.4}
    found = Bottlenecks(measured([PAIR, ABCD], loss, scatter=0.005))
    by = verdicts(found)
    assert by[PAIR] == [Verdict.SHARES] * 2
    # a and b lose nothing by c and d; these lose it by the others.
    assert by[ABCD] == [Verdict.NOT] * 2 + [Verdict.SHARES] * 2
    (four,) = [each for each in found.shared if each.group.drives == ABCD and each.load == "random"]
    assert [one.without for one in four.comparisons] == [PAIR, PAIR, ("c",), ("d",)]


def test_where_the_rounds_scatter_too_much_it_cannot_be_known() -> None:
    found = Bottlenecks(measured([ABCD], {ABCD: 0.06}, scatter=0.1))
    assert set(verdicts(found)[ABCD]) == {Verdict.NOT_KNOWN}
    assert found.shared[0].comparisons[0].why == "the rounds scatter too much"


def test_a_host_that_is_the_limit_is_told_apart() -> None:
    together = Bottlenecks(measured([PAIR], {PAIR: 0.5}, scatter=0.01, limited=frozenset({2})))
    assert verdicts(together) == {PAIR: [Verdict.HOST] * 2}
    busy = Bottlenecks(measured([PAIR], {PAIR: 0.5}, scatter=0.01, busy=0.97))
    assert verdicts(busy) == {PAIR: [Verdict.HOST] * 2}
    assert busy.shared[0].busy == pytest.approx(0.97)
    assert busy.shared[0].busy_alone == pytest.approx(0.97)
    # One that was at its end alone shows nothing of the drives.
    alone = Bottlenecks(measured([PAIR], {}, scatter=0.01, limited=frozenset({1})))
    assert verdicts(alone) == {PAIR: [Verdict.NOT_KNOWN] * 2}


def test_a_link_that_is_full_is_at_its_bound() -> None:
    sum_bytes = 2 * 10_000 * 0.5 * 4096
    full = Bottlenecks(measured([PAIR], {PAIR: 0.5}, usable=round(sum_bytes / 0.95)))
    unknown = Bottlenecks(measured([PAIR], {PAIR: 0.5}))
    wide = Bottlenecks(measured([PAIR], {PAIR: 0.5}, usable=round(sum_bytes * 100)))
    assert not any(each.is_at_bound for each in wide.shared)
    assert not any(each.is_beyond_bound for each in (*wide.shared, *unknown.shared))
    # Of sequential reads it would be 32 times as much: that did not come over this link.
    assert {each.load: each.is_beyond_bound for each in full.shared} == {
        "sequential": True, "random": False,
    }  # fmt: skip
    assert [each.is_at_bound for each in full.shared] == [False, True]
    assert [each.bound for each in unknown.shared] == [None, None]


@pytest.mark.parametrize(
    ("driven", "why"),
    [(Driven(error="it does not answer"), "it does not answer"),
     (Driven(iops=0.0), "it answered nothing in a whole spell")],
)  # fmt: skip
def test_a_drive_that_fails_leaves_the_others_theirs(driven: Driven, why: str) -> None:
    found = Bottlenecks(replaced(measured([PAIR], {}, scatter=0.01), "random", "a", driven))
    (random,) = [each for each in found.shared if each.load == "random"]
    assert [one.verdict for one in random.comparisons] == [Verdict.NOT_KNOWN, Verdict.NOT]
    assert random.comparisons[0].why == why
    assert verdicts(found, "sequential")[PAIR] == [Verdict.NOT] * 2


def test_too_few_rounds_say_nothing() -> None:
    found = Bottlenecks(measured([PAIR], {PAIR: 0.5}, rounds=3))
    assert [one.why for one in found.shared[0].comparisons] == ["there are too few rounds"] * 2


def test_an_even_drift_is_in_both_sides_of_a_round() -> None:
    def warming(_rng: np.random.Generator, count: int) -> np.ndarray:
        return np.arange(count, dtype=float)

    found = Bottlenecks(measured([ABCD], {}, scatter=0.002, noise=warming))
    for each in found.shared:
        for one in each.comparisons:
            assert one.ratio == pytest.approx(1.0, abs=1e-12)


def test_an_interval_is_students_with_the_level_shared_among_the_comparisons() -> None:
    ratios = [math.log(each) for each in (0.9, 0.92, 0.88, 0.91, 0.89, 0.9)]
    low, high = interval_of(ratios, 1)
    # t of 5 degrees of freedom at 5 %: 2.5706 (Abramowitz and Stegun, table 26.10).
    mean, scatter = np.mean(ratios), np.std(ratios, ddof=1)
    assert math.log(low) == pytest.approx(mean - 2.5706 * scatter / math.sqrt(6), abs=1e-6)
    assert math.log(high) == pytest.approx(mean + 2.5706 * scatter / math.sqrt(6), abs=1e-6)
    # At 1 %: 4.0321.
    assert math.log(interval_of(ratios, 5)[1]) == pytest.approx(
        mean + 4.0321 * scatter / math.sqrt(6), abs=1e-6
    )


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((0.5, 0.949), Verdict.SHARES), ((0.5, 0.951), Verdict.NOT_KNOWN),
     ((0.949, 1.1), Verdict.NOT_KNOWN), ((0.951, 0.99), Verdict.NOT)],
)  # fmt: skip
def test_a_verdict_needs_the_whole_interval_on_one_side(
    interval: tuple[float, float], verdict: Verdict
) -> None:
    assert LOSS_LEAST == 0.05
    assert verdict_of(interval, alone_limited=False, together_limited=False)[0] is verdict


@pytest.mark.parametrize("noise", NOISES)
def test_few_measurements_of_drawn_rates_have_a_false_verdict(noise: str) -> None:
    """60 measurements without a loss, and 60 just behind the least that counts; seeds are fixed."""
    false = 0
    for seed in range(60):
        scatter, more = 0.01, NOISES[noise]
        none = Bottlenecks(measured([ABCD], {}, scatter=scatter, noise=more, seed=seed))
        loss = {ABCD: LOSS_LEAST}
        edge = Bottlenecks(measured([ABCD], loss, scatter=scatter, noise=more, seed=1000 + seed))
        false += any(Verdict.SHARES in each for each in verdicts(none).values())
        false += any({Verdict.SHARES, Verdict.NOT} & {*each} for each in verdicts(edge).values())
    # 5 of 100 is claimed: of 120, 13 or more would come about in 1 of 100 such tests.
    assert false < 13
