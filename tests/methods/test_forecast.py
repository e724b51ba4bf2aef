"""Every method of rounds says how many are left, in its own counting, from the third on."""

import pytest

from teijo.methods.parts import watch_of
from teijo.methods.registry import method_named
from teijo.methods.rounds import rounds_left
from teijo.terms.finding import SteadyState
from teijo.terms.step import Measure, Step
from tests.methods.canned import Canned, Played, play, record_of

ROUNDS = [
    ("iops", "round", 2 + 3 * 56, 2 + 5 * 56),
    ("tp", "round", 2 + 3 * 2, 2 + 5 * 2),
    ("lat", "round", 2 + 3 * 9, 2 + 5 * 9),
    ("wsat", "minute", 1 + 3 * 31, 1 + 5 * 31),
    ("dirth", "precondition", 1 + 61, 1 + 121),
    ("dirth", "round", 122 + 3 * 54, 122 + 5 * 54),
    ("hir", "precondition", 1 + 3 * 30, 1 + 5 * 30),
]
"""Method, phase, and after how many steps the third and the fifth value are there."""

_played: dict[str, Played] = {}


def flat(step: Step) -> float:
    """A drive that is steady at once, but for a thousandth."""
    number = step.round_number if isinstance(step, Measure) else None
    return 2_000.0 + (number or 0) % 3


def played(name: str) -> Played:
    if name not in _played:
        _played[name] = play(method_named(name), Canned(flat))
    return _played[name]


@pytest.mark.parametrize(("name", "phase", "third", "fifth"), ROUNDS)
def test_a_flat_drives_last_round_is_forecast_from_its_third_round_on(
    name: str, phase: str, third: int, fifth: int
) -> None:
    method, run = method_named(name), played(name)

    def watch_after(count: int):
        return watch_of(record_of(method, run.settings, run.steps[:count]))

    first = run.steps[third - 1].step
    last = max(
        each.step.round_number or 0
        for each in run.steps[: fifth + 1]
        if each.step.phase == phase and each.step.phase == first.phase
    )
    assert watch_after(third - 1).rounds_left is None
    for count in range(third, fifth, max(1, (fifth - third) // 7)):
        watch = watch_after(count)
        assert watch.phase == phase
        assert watch.rounds_left is not None, count
        assert watch.rounds_left.low == last - (watch.round_number - 1), count
        assert watch.rounds_left.high <= watch.rounds_most - (watch.round_number - 1)
    over = watch_after(fifth)
    assert over.phase != phase or over.rounds_left is None


def test_only_the_rounds_since_a_gap_are_looked_at() -> None:
    method = method_named("tp")
    run = play(method, Canned(flat, gaps=frozenset({2 + 3 * 2 + 1})))
    after = watch_of(record_of(method, run.settings, run.steps[: 2 + 3 * 2 + 1 + 2 * 2]))
    assert (after.round_number, after.rounds_left) == (6, None)
    later = watch_of(record_of(method, run.settings, run.steps[: 2 + 3 * 2 + 1 + 3 * 2]))
    assert later.rounds_left is not None
    assert later.rounds_left.low == 2


def test_a_version_without_check_minutes_has_no_forecast() -> None:
    method = method_named("wsat")
    run = play(method, Canned(flat), spec="1.0-enterprise")
    assert watch_of(record_of(method, run.settings, run.steps[:200])).rounds_left is None


def test_a_value_that_takes_many_rounds_is_counted_in_rounds() -> None:
    values = (100.0, 100.0, 100.0)
    state = SteadyState(
        variable="v", unit="IOPS", rounds=(1, 2, 3), values=values, windows=(), reached=None
    )
    plain = rounds_left((state,), limit_rounds=25)
    scaled = rounds_left((state,), limit_rounds=25, counted=lambda checks: checks * 31)
    assert plain is not None
    assert scaled is not None
    assert (scaled.low, scaled.high) == (plain.low * 31, plain.high * 31)
