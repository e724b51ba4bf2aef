"""Verdicts: what differs is found, what does not is not, and which way is faster."""

import math

import numpy as np
import pytest

from teijo.analysis.difference import difference_of
from teijo.compare.figures import IOPS, LATENCY, Figure
from teijo.compare.judged import ALL_CELLS, Judged, Pairing, Verdict, pairings_of
from teijo.compare.sides import matches_of
from teijo.terms.record import Record
from tests.compare.drawn import record, side


def pairing(first: Record, second: Record) -> Pairing:
    (match,) = matches_of([side("a", first), side("b", second)])
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


def test_of_runs_that_differ_in_their_seeds_alone_about_one_cell_in_twenty_differs() -> None:
    pairings = [pairing(record(seed), record(seed + 1000)) for seed in range(60)]
    cells = sum(each.judged for each in pairings)
    differing = cells - sum(each.count(Verdict.NOT_SHOWN) for each in pairings)
    assert cells == 60 * 9
    assert 100 * differing / cells == pytest.approx(4.5, abs=2.5)
    left = sum(
        each.count(verdict, together=True)
        for each in pairings
        for verdict in (Verdict.FASTER, Verdict.SLOWER)
    )
    assert left <= 6, "judged together, one pair in twenty has any"


def test_a_planted_five_percent_is_found_in_every_cell_and_in_all_together() -> None:
    for seed in range(5):
        found = pairing(record(seed), record(seed + 50, iops=9_500))
        assert found.count(Verdict.SLOWER) == 9
        assert found.overall is not None
        assert found.overall.verdict is Verdict.SLOWER
        assert found.overall.difference is not None
        assert found.overall.difference.ratio == pytest.approx(0.95, abs=0.01)


def test_all_cells_together_find_what_no_cell_shows_by_itself() -> None:
    found = pairing(record(1, scatter=0.02), record(2, iops=9_850, scatter=0.02))
    assert found.count(Verdict.SLOWER) < 3
    assert found.overall is not None
    assert found.overall.verdict is Verdict.SLOWER


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

    expected = difference_of(by_round(first), by_round(second))
    assert expected is not None
    assert found.difference is not None
    assert found.difference.ratio == pytest.approx(expected.ratio, rel=1e-9)
    assert math.log(found.difference.high) == pytest.approx(math.log(expected.high), abs=1e-5)


def test_holm_counts_the_figures_of_one_pairing() -> None:
    found = pairing(record(1), record(2))
    surest = min(found.rows, key=lambda row: row.difference.p_value if row.difference else 1)
    assert surest.difference is not None
    assert surest.together == pytest.approx(min(1, 9 * surest.difference.p_value))
    assert found.by_chance == pytest.approx(0.45)


def test_several_sides_are_each_held_against_the_first() -> None:
    sides = [side("a", record(1)), side("b", record(2)), side("c", record(3, iops=12_000))]
    (match,) = matches_of(sides)
    found = pairings_of(match)
    assert [(each.first, each.second) for each in found] == [("a", "b"), ("a", "c")]
    assert found[1].count(Verdict.FASTER) == 9


def test_sides_of_several_runs_are_judged_by_how_the_runs_scatter() -> None:
    # Each run lies somewhere of its own, by much more than its rounds scatter.
    levels = (9_000, 10_000, 11_000, 9_500, 10_600, 9_900)
    runs = [record(n, iops=level, scatter=0.001) for n, level in enumerate(levels)]
    alone = pairing(runs[0], runs[3])
    assert alone.count(Verdict.NOT_SHOWN) == 0, "rounds alone cannot tell"
    (match,) = matches_of([side("old", *runs[:3]), side("new", *runs[3:])])
    (together,) = pairings_of(match)
    assert together.count(Verdict.NOT_SHOWN) == 9


def test_a_cell_that_one_side_has_not_measured_is_not_compared() -> None:
    fewer = record(2, overrides={"mixes": "65/35,0/100"})
    assert pairing(record(1), fewer).judged == 6
