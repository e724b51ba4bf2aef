"""What drives have in common: planted differences are shown, and what cannot be told says so."""

from collections.abc import Callable, Sequence

import pytest

from teijo.compare.fleet.chosen import chosen_from
from teijo.compare.fleet.drive import Drive
from teijo.compare.fleet.factors import Factor, Verdict
from teijo.compare.fleet.findings import Fleet
from tests.compare.fleet.made import fleet_of

Changes = Callable[[int], dict[str, object]]


def factors(
    count: int, changes: Changes, slow: Callable[[int], float] = lambda _: 1.0, seed: int = 1
) -> dict[str, Factor]:
    drives = fleet_of(
        count,
        seed=seed,
        factors={at: slow(at) for at in range(count)},
        changes=[changes(at) for at in range(count)],
    )
    return {each.name: each for each in of(drives)}


def of(drives: Sequence[Drive]) -> Sequence[Factor]:
    return Fleet(chosen=chosen_from(drives)).factors


def test_what_no_run_tells_or_all_have_alike_cannot_be_known() -> None:
    found = factors(12, lambda _: {"host": "", "firmware": "F1"})
    assert {name: each.verdict for name, each in found.items()} == dict.fromkeys(
        ("host", "firmware", "slot", "temperature"), Verdict.NOT_KNOWN
    )
    assert found["host"].why == "no run says which host its drive had"
    assert found["firmware"].why == "all drives have one: F1"
    assert found["temperature"].why == "no run has its drive's temperature"


def test_a_slow_host_is_shown_with_its_median() -> None:
    found = factors(32, lambda at: {"host": f"h{at % 4}"}, lambda at: 0.94 if at % 4 == 2 else 1.0)[
        "host"
    ]
    assert found.verdict is Verdict.GOES_WITH
    assert found.p_value is not None
    assert found.p_value < 0.01
    percents = {each.name: each.percent for each in found.groups}
    assert percents["h2"] < -4
    assert all(abs(percents[name]) < 2 for name in ("h0", "h1", "h3"))
    assert {each.drives for each in found.groups} == {8}


def test_hosts_alike_show_none_and_say_what_would_have_been_seen() -> None:
    found = factors(32, lambda at: {"host": f"h{at % 2}"}, seed=3)["host"]
    assert found.verdict is Verdict.NOT_SHOWN
    assert found.least is not None
    # (2.0 + 1.7) · 1 % · √(1/16 + 1/16), and a little for ranks and for two questions
    assert found.least == pytest.approx(1.5, abs=0.5)


def test_host_and_firmware_that_split_the_drives_alike_cannot_be_told_apart() -> None:
    found = factors(
        24,
        lambda at: {"host": f"h{at % 2}", "firmware": f"F{at % 2}"},
        lambda at: 0.9 if at % 2 else 1.0,
    )
    for name, other in (("host", "firmware"), ("firmware", "host")):
        assert found[name].verdict is Verdict.NOT_KNOWN
        assert found[name].p_value is not None
        assert found[name].p_value < 0.01
        assert f"{name} and {other} go together" in found[name].why


def test_a_firmware_that_no_host_shares_may_be_the_hosts() -> None:
    found = factors(
        32,
        lambda at: {"host": f"h{at % 4}", "firmware": f"F{at % 4 // 2}"},
        lambda at: 0.9 if at % 4 >= 2 else 1.0,
    )
    assert found["firmware"].verdict is Verdict.NOT_KNOWN
    assert found["host"].verdict is Verdict.NOT_KNOWN


def test_a_firmware_on_every_host_is_told_from_the_hosts() -> None:
    found = factors(
        40,
        lambda at: {"host": f"h{at % 2}", "firmware": f"F{at // 2 % 2}"},
        lambda at: 0.93 if at // 2 % 2 else 1.0,
    )
    assert found["firmware"].verdict is Verdict.GOES_WITH
    assert found["host"].verdict is Verdict.NOT_SHOWN


def test_groups_that_are_too_small_cannot_be_known() -> None:
    found = factors(12, lambda at: {"host": f"h{at % 6}"})["host"]
    assert found.verdict is Verdict.NOT_KNOWN
    assert "fewer than two have 3 drives" in found.why
    few = factors(6, lambda at: {"host": f"h{at % 2}"}, lambda at: 0.5 if at % 2 else 1.0)["host"]
    assert few.verdict is Verdict.NOT_KNOWN
    assert few.p_value is not None
    assert few.why.startswith("so few drives would not show a difference")


def test_warm_drives_that_are_slow_are_shown_with_their_slope() -> None:
    found = factors(
        24, lambda at: {"temperature_c": 30 + at, "host": "h1"}, lambda at: 1 - 0.005 * at
    )["temperature"]
    assert found.verdict is Verdict.GOES_WITH
    assert found.percent_per_unit == pytest.approx(-0.53, abs=0.15)
    assert found.correlation is not None
    assert found.correlation < -0.8


def test_a_warm_host_that_is_slow_cannot_be_told_from_its_warmth() -> None:
    found = factors(
        32,
        lambda at: {
            "host": f"h{at % 2}",
            "temperature_c": 60 + at // 8 if at % 2 else 30 + at // 8,
        },
        lambda at: 0.9 if at % 2 else 1.0,
    )
    assert found["host"].verdict is Verdict.NOT_KNOWN
    assert found["temperature"].verdict is Verdict.NOT_KNOWN


def test_too_few_temperatures_cannot_be_known() -> None:
    found = factors(12, lambda at: {"temperature_c": 40 if at < 3 else None})["temperature"]
    assert found.verdict is Verdict.NOT_KNOWN
    assert found.why == "3 runs have their drive's temperature, and it takes 6"
    same = factors(12, lambda _: {"temperature_c": 40})["temperature"]
    assert same.why == "all drives were about as warm"
