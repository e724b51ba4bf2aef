"""Comparisons of simulated runs: seeds alone make about one cell in twenty differ, and a drive
that is 5 % slower is found. `benchmarks/comparison.py` does the same with 20 pairs.
"""

import itertools
from pathlib import Path

import pytest

import teijo
from teijo import api
from teijo.compare.judged import Pairing, Verdict

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


def pairing(first: teijo.Run, second: teijo.Run) -> Pairing:
    (only,) = api.compare({"first": [first], "second": [second]}).tests[0].pairings
    return only


def test_seeds_alone_make_few_cells_differ_and_none_when_judged_together(
    equals: list[teijo.Run],
) -> None:
    rows = pairing(*equals).rows
    differing = sum(row.verdict is not Verdict.NOT_SHOWN for row in rows)
    assert differing <= 0.1 * len(rows)
    assert all(row.verdict_together is Verdict.NOT_SHOWN for row in rows)


@pytest.mark.long
def test_seeds_alone_make_about_one_cell_in_twenty_differ(
    folder: Path, equals: list[teijo.Run]
) -> None:
    five = equals + [run(folder, seed) for seed in (103, 104, 105)]
    pairings = [pairing(*pair) for pair in itertools.combinations(five, 2)]
    rows = [row for each in pairings for row in each.rows]
    written = [row.verdict for row in rows if not row.place.endswith(READS)]
    assert len(written) == 10 * 48
    differing = sum(verdict is not Verdict.NOT_SHOWN for verdict in written)
    assert 2 <= 100 * differing / len(written) <= 7
    left = sum(row.verdict_together is not Verdict.NOT_SHOWN for row in rows)
    assert left <= 3, "judged together, hardly any is left"


def test_reads_that_never_scatter_do_not_differ_by_a_trifle(equals: list[teijo.Run]) -> None:
    rows = [row for row in pairing(*equals[:2]).rows if row.place.endswith(READS)]
    assert {row.verdict for row in rows} == {Verdict.NOT_SHOWN}


def test_a_drive_five_percent_slower_is_found(folder: Path, equals: list[teijo.Run]) -> None:
    found = pairing(equals[0], run(folder, 201, slower(equals[0])))
    assert found.overall is not None
    assert found.overall.verdict is Verdict.SLOWER
    assert found.overall.difference is not None
    assert found.overall.difference.ratio == pytest.approx(0.95, abs=0.015)
    assert found.count(Verdict.SLOWER) > 0.3 * found.judged
    assert found.count(Verdict.FASTER) <= 1
    reads = [row for row in found.rows if row.place.endswith(READS)]
    assert {row.verdict for row in reads} == {Verdict.SLOWER}, "where nothing hides it"
