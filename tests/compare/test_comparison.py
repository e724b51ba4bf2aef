"""Campaigns beside each other and beside single runs; the door, from Python."""

from pathlib import Path

from teijo import api
from teijo.compare.comparison import compared
from teijo.compare.judged import Verdict
from teijo.compare.pages import pages
from teijo.report import text
from teijo.terms.record import Record
from tests.compare.drawn import record, side
from tests.crash.runs import DRIVE, SHORT

TESTS = {"tests": "iops,lat", "lat.histogram": "none", "lat.mixes": "100/0,0/100"}


def campaign(seed: int, iops: float = 10_000) -> Record:
    return record(seed, test="all", iops=iops, overrides=TESTS)


def test_the_tests_of_campaigns_are_compared_one_by_one() -> None:
    comparison = compared([side("a", campaign(1)), side("b", campaign(2, iops=30_000))])
    assert [one.match.name for one in comparison.tests] == ["iops", "lat"]
    for one in comparison.tests:
        (pairing,) = one.pairings
        assert pairing.overall is not None
        assert pairing.overall.verdict is Verdict.FASTER
    told = text.render(pages(comparison))
    assert "IOPS: differences" in told
    assert "LAT: differences" in told


def test_a_single_run_is_compared_with_the_test_of_its_name_in_a_campaign() -> None:
    alone = record(3, test="lat", overrides={"block_sizes": "8KiB,4KiB,0.5KiB"})
    comparison = compared([side("a", campaign(1)), side("b", alone)])
    assert [one.match.name for one in comparison.tests] == ["lat"]
    assert comparison.tests[0].pairings[0].judged == 12


def run(path: Path, seed: int) -> api.Run:
    settings = SHORT | {"rounds": "5"}
    return api.run("iops", f"{DRIVE}&seed={seed}", output=path, settings=settings, seed=seed)


def test_runs_are_compared_from_python_by_what_tells_them_apart_or_by_given_names(
    tmp_path: Path,
) -> None:
    runs = [run(tmp_path / name, seed) for seed, name in ((1, "one"), (2, "two"))]
    found = api.compare(runs)
    assert [each.name for each in found.sides] == ["SIM-MLC-A-1", "SIM-MLC-A-2"]
    named = api.compare({"old": runs[:1], "new": runs[1:]})
    assert [each.name for each in named.sides] == ["old", "new"]
    assert api.comparison_document(named).name == "compare-old-new"
