"""Verdicts: what differs is found, what does not is not, and which way is faster."""

import math

import numpy as np
import pytest

from teijo.analysis.difference import difference_between, difference_of
from teijo.analysis.quantities import IOPS, LATENCY, LATENCY_MAX
from teijo.analysis.repeats import TOLERANCE, level_of_run
from teijo.compare.judged import ALL_CELLS, Judged, Pairing, Reason, Verdict, pairings_of
from teijo.compare.sides import matches_of
from teijo.document.grid import Figure
from teijo.terms.record import Record
from tests.compare.drawn import record, side


def pairing(first: Record, second: Record) -> Pairing:
    (match,) = matches_of([side("a", first), side("b", second)])
    (only,) = pairings_of(match)
    return only


def pairing_of_runs(first: list[int], second: list[int], iops: float = 10_000) -> Pairing:
    sides = [
        side("a", *(record(n) for n in first)),
        side("b", *(record(n, iops=iops) for n in second)),
    ]
    (match,) = matches_of(sides)
    (only,) = pairings_of(match)
    return only


def judged(figure: Figure, factor: float) -> Judged:
    batches = [99.0, 100.0, 101.0]
    other = [factor * value for value in batches]
    return Judged(
        place="cell",
        figure=figure,
        first=100.0,
        second=100 * factor,
        difference=difference_of(batches, other),
    )


@pytest.mark.parametrize(
    ("figure", "factor", "verdict"),
    [
        (IOPS, 1.2, Verdict.FASTER),
        (IOPS, 0.8, Verdict.SLOWER),
        (IOPS, 1.0, Verdict.NOT_SHOWN),
        (LATENCY, 1.2, Verdict.SLOWER),
        (LATENCY, 0.8, Verdict.FASTER),
        (LATENCY, 1.001, Verdict.NOT_SHOWN),
    ],
)
def test_more_io_is_faster_and_more_time_is_slower(
    figure: Figure, factor: float, verdict: Verdict
) -> None:
    assert judged(figure, factor).verdict is verdict


def test_a_planted_five_percent_is_not_decided_from_one_run_each_and_says_how_many_more() -> None:
    for seed in range(5):
        found = pairing(record(seed), record(seed + 50, iops=9_500))
        assert found.count(Verdict.SLOWER) == 0
        assert found.overall is not None
        assert found.overall.verdict is Verdict.NOT_DECIDABLE
        assert found.overall.why is Reason.CLOSE
        assert found.overall.needed is not None
        assert found.overall.needed.more in (1, 2)
        assert found.overall.difference is not None
        assert found.overall.difference.ratio == pytest.approx(0.95, abs=0.01)
        assert found.overall.difference.low < 0.95 < found.overall.difference.high


def test_from_three_runs_a_side_all_cells_together_find_five_percent() -> None:
    found = pairing_of_runs([1, 2, 3], [4, 5, 6], iops=9_500)
    assert found.overall is not None
    assert found.overall.verdict is Verdict.SLOWER
    assert found.overall.needed is None


def test_what_is_twice_as_fast_is_decided_from_one_run_each() -> None:
    found = pairing(record(1), record(2, iops=20_000))
    assert found.overall is not None
    assert found.overall.verdict is Verdict.FASTER
    assert found.count(Verdict.FASTER) >= 7


def test_a_window_that_is_not_steady_is_not_decided_from_one_run() -> None:
    swinging = record(2, iops=20_000, scatter=0.3, overrides={"rounds": "6"})
    found = pairing(record(1), swinging)
    assert found.count(Verdict.FASTER) == 0
    assert found.overall is not None
    assert found.overall.why is Reason.WINDOWS
    both = pairing(record(3, iops=4_000, scatter=0.3, overrides={"rounds": "6"}), swinging)
    assert both.overall is not None
    assert both.overall.why in (Reason.NOT_STEADY, None)
    assert both.count(Verdict.FASTER) == 0


def test_a_maximum_is_not_decided_from_one_run_each_however_far_apart() -> None:
    found = pairing(record(1, test="lat"), record(2, test="lat", iops=1_000))
    maxima = [row for row in found.rows if row.figure is LATENCY_MAX]
    assert {row.verdict for row in maxima} == {Verdict.NOT_DECIDABLE}
    assert {row.why for row in maxima} == {Reason.MAXIMUM}
    means = [row for row in found.rows if row.figure is LATENCY]
    assert {row.verdict for row in means} == {Verdict.SLOWER}


def test_the_printed_values_make_the_printed_difference() -> None:
    for test in ("lat", "workload", "dirth", "iops"):
        more = {"rw": "randread", "bs": "4KiB"} if test == "workload" else {}
        runs = [record(seed, test=test, scatter=0.05, overrides=more) for seed in (1, 2)]
        found = pairing(*runs)
        for row in (*found.rows, found.overall):
            if row is not None and row.difference is not None:
                assert row.difference.ratio == pytest.approx(row.second / row.first, rel=1e-12)


def test_all_cells_together_are_the_geometric_mean_round_by_round() -> None:
    first, second = record(1), record(2)
    found = pairing(first, second).overall
    assert found is not None
    assert found.place == ALL_CELLS

    def by_round(run: Record) -> list[float]:
        rounds: dict[int, list[float]] = {}
        for step, answer in run.measured("round"):
            assert step.round_number is not None
            rounds.setdefault(step.round_number, []).append(answer.iops)
        return [float(np.exp(np.mean(np.log(rounds[n])))) for n in sorted(rounds)[-5:]]

    levels = [level_of_run(by_round(run), 1) for run in (first, second)]
    assert levels[0] is not None
    assert levels[1] is not None
    expected = difference_between(levels[0], levels[1], tolerance=TOLERANCE)
    assert found.difference is not None
    assert found.difference.ratio == pytest.approx(expected.ratio, rel=1e-4)
    assert math.log(found.difference.high) == pytest.approx(math.log(expected.high), abs=1e-4)


def test_the_figures_of_one_pairing_share_half_of_the_five_percent() -> None:
    found = pairing_of_runs([1, 2], [3, 4])
    surest = min(found.rows, key=lambda row: row.difference.p_value if row.difference else 1)
    assert surest.difference is not None
    assert found.overall is not None
    assert found.overall.difference is not None
    whole = 2 * found.overall.difference.p_value
    assert found.overall.together == pytest.approx(min(1, whole))
    alone = 9 * surest.difference.p_value
    assert surest.together == pytest.approx(min(1, max(whole, alone), 2 * alone))


def test_several_sides_are_each_held_against_the_first() -> None:
    sides = [side("a", record(1)), side("b", record(2)), side("c", record(3, iops=20_000))]
    (match,) = matches_of(sides)
    found = pairings_of(match)
    assert [(each.first, each.second) for each in found] == [("a", "b"), ("a", "c")]
    assert found[1].count(Verdict.FASTER) >= 7


def test_sides_of_several_runs_are_judged_by_how_the_runs_scatter() -> None:
    # Each run lies somewhere of its own, by much more than its rounds scatter.
    levels = (9_000, 10_000, 11_000, 9_500, 10_600, 9_900)
    runs = [record(n, iops=level, scatter=0.001) for n, level in enumerate(levels)]
    alone = pairing(runs[0], runs[3])
    assert alone.count(Verdict.NOT_DECIDABLE) == 9, "rounds alone cannot tell"
    (match,) = matches_of([side("old", *runs[:3]), side("new", *runs[3:])])
    (together,) = pairings_of(match)
    assert together.count(Verdict.NOT_SHOWN) == 9


def test_a_cell_that_one_side_has_not_measured_is_not_compared() -> None:
    fewer = record(2, overrides={"mixes": "65/35,0/100"})
    assert pairing(record(1), fewer).judged == 6
