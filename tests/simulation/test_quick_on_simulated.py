"""± of a quick look keeps its word on simulated drives: 95 of 100 intervals hold the mean."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo import api
from teijo.analysis.mean import Mean
from teijo.methods.quick.found import QuickFound

RANDOM = ("RND 4 KiB Q32T1 read", "RND 4 KiB Q1T1 read")


def looks(target: str, seeds: range, folder: Path) -> Iterator[dict[str, tuple[Mean, Mean]]]:
    """Yield IOPS and latency by test, of runs that differ in nothing but their seed."""
    for seed in seeds:
        settings = {"writes": "no", "rest": "1ms"}
        run = api.run("quick", target, output=folder / f"{seed}", seed=seed, settings=settings)
        assert isinstance(run.found, QuickFound)
        figures = run.found.figures
        assert all(each.latency_us is not None for each in figures)
        yield {each.name: (each.iops, each.latency_us) for each in figures}  # type: ignore[misc]


def held(found: list[Mean]) -> int:
    """Return how many intervals hold the mean of all of them."""
    mean = math.fsum(each.value for each in found) / len(found)
    return sum(abs(each.value - mean) <= (each.half_width or 0.0) for each in found)


@pytest.mark.parametrize(
    "count", [20, pytest.param(60, marks=pytest.mark.campaign)], ids=lambda count: f"{count} runs"
)
def test_95_of_100_intervals_hold_the_mean_of_all_runs(count: int, tmp_path: Path) -> None:
    runs = list(looks("sim:hdd-7200", range(1, count + 1), tmp_path))
    # Four standard deviations of a binomial count below 95 %; the seeds fix what is drawn.
    least = 0.95 * count - 4 * math.sqrt(0.95 * 0.05 * count)
    for name in RANDOM:
        for figure in (0, 1):
            found = [run[name][figure] for run in runs]
            assert held(found) >= least, (name, figure)
            assert sum(each.half_width or 0.0 for each in found) / count < 0.1 * found[0].value


def test_other_offsets_give_other_figures_and_the_same_give_the_same(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    first, again = (
        next(looks("sim:hdd-7200", range(3, 4), tmp_path / name)) for name in ("a", "b")
    )
    other = next(looks("sim:hdd-7200", range(4, 5), tmp_path / "c"))
    assert first == again
    assert first[RANDOM[0]] != other[RANDOM[0]]
