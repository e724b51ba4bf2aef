"""Comparisons of simulated runs: seeds alone show no difference; of a drive that is 5 % slower
one run each says how many more show it, and two each do. `benchmarks/error_rates.py` has more.
"""

import itertools
from pathlib import Path

import pytest

import teijo
from teijo import api
from teijo.compare.judged import SHOWN, Pairing, Reason, Verdict

SLOWED = ("program_us", "read_us", "read_command_us", "rmw_us", "erase_us")
READS = "100/0"


def slower(run: teijo.Run) -> str:
    """Return the parameters of a run's simulated drive with every time raised by 5 %."""
    facts = {name: text.split()[0] for name, text in run.record.identity.facts.items()}
    bus = f"&bus_mb_per_second={float(facts['bus_mb_per_second']) / 1.05:g}"
    return "".join(f"&{name}={float(facts[name]) * 1.05:g}" for name in SLOWED) + bus


def run(folder: Path, seed: int, more: str = "") -> teijo.Run:
    target = f"sim:mlc-a?seed={seed}{more}"
    return teijo.run("pts.iops", target, output=folder / f"run-{seed}", seed=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison")


@pytest.fixture(scope="module")
def equals(folder: Path) -> list[teijo.Run]:
    return [run(folder, seed) for seed in (101, 102)]


@pytest.fixture(scope="module")
def slowed(folder: Path, equals: list[teijo.Run]) -> list[teijo.Run]:
    return [run(folder, seed, slower(equals[0])) for seed in (201, 202)]


def pairing(first: list[teijo.Run], second: list[teijo.Run]) -> Pairing:
    (only,) = api.compare({"first": first, "second": second}).tests[0].pairings
    return only


def test_seeds_alone_make_no_cell_differ(equals: list[teijo.Run]) -> None:
    found = pairing(equals[:1], equals[1:])
    assert found.judged == len(found.rows) == 56
    assert found.differing == 0
    assert found.count(Verdict.NOT_DECIDABLE) <= 0.1 * found.judged
    assert found.overall is not None
    assert found.overall.verdict is Verdict.NOT_SHOWN


@pytest.mark.campaign
def test_seeds_alone_make_about_one_cell_in_twenty_undecided_and_none_differ(
    folder: Path, equals: list[teijo.Run]
) -> None:
    five = equals + [run(folder, seed) for seed in (103, 104, 105)]
    pairings = [pairing([one], [other]) for one, other in itertools.combinations(five, 2)]
    rows = [row for each in pairings for row in each.rows]
    assert not any(row.verdict in SHOWN for row in rows)
    written = [row for row in rows if not row.place.endswith(READS)]
    assert len(written) == 10 * 48
    undecided = sum(row.verdict is Verdict.NOT_DECIDABLE for row in written)
    assert 2 <= 100 * undecided / len(written) <= 7, "what rounds alone would call different"
    two_each = [
        pairing([one, another], [other for other in four if other not in (one, another)])
        for four in itertools.combinations(five, 4)
        for one, another in (four[:2], four[::2], four[::3])
    ]
    assert sum(each.differing for each in two_each) <= 1, "of 840"


@pytest.mark.long
def test_reads_that_never_scatter_do_not_differ_by_a_trifle(equals: list[teijo.Run]) -> None:
    rows = [row for row in pairing(equals[:1], equals[1:]).rows if row.place.endswith(READS)]
    assert {row.verdict for row in rows} == {Verdict.NOT_SHOWN}


def test_one_run_each_of_a_drive_five_percent_slower_says_how_many_more_show_it(
    equals: list[teijo.Run], slowed: list[teijo.Run]
) -> None:
    found = pairing(equals[:1], slowed[:1])
    assert found.overall is not None
    assert found.overall.verdict is Verdict.NOT_DECIDABLE
    assert found.overall.why is Reason.CLOSE, "runs of one device may lie as far apart"
    assert found.overall.needed is not None
    assert found.overall.needed.runs is not None
    assert found.overall.difference is not None
    assert found.overall.difference.ratio == pytest.approx(0.95, abs=0.015)
    assert found.differing == 0
    assert found.count(Verdict.NOT_DECIDABLE) > 0.3 * found.judged
    reads = [row for row in found.rows if row.place.endswith(READS)]
    assert {row.verdict for row in reads} == {Verdict.NOT_DECIDABLE}, "where no scatter hides it"


def test_two_runs_each_show_a_drive_five_percent_slower(
    equals: list[teijo.Run], slowed: list[teijo.Run]
) -> None:
    found = pairing(equals, slowed)
    assert found.overall is not None
    assert found.overall.verdict is Verdict.SLOWER
    assert found.overall.difference is not None
    assert found.overall.difference.ratio == pytest.approx(0.95, abs=0.015)
    assert found.count(Verdict.FASTER) == 0
    reads = [row for row in found.rows if row.place.endswith(READS)]
    assert sum(row.verdict is Verdict.SLOWER for row in reads) > len(reads) / 2
