"""The study `block-size` on simulated drives, whose unit is known, through engine and run file."""

from pathlib import Path

import pytest

import teijo
from teijo.methods.parts import found_in
from teijo.methods.studies.block_size.found import BlockSizeFound
from teijo.units import KIB

QUICK = {
    "sizes": "1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB",
    "loads": "1",
    "seconds": "200ms",
    "repeats": "4",
}
DRIVES = [
    (preset, unit, seed)
    for preset in ("s3700", "mlc-a", "slc-a")
    for unit, seed in ((1, 1), (4, 2), (16, 3))
]
EACH_ONCE = DRIVES[::4]
"""Each preset and each unit once."""


def found(path: Path, target: str, settings: dict[str, str], seed: int) -> BlockSizeFound:
    run = teijo.run("block-size", target, output=path, settings=settings, seed=seed)
    result = found_in(run.record)
    assert isinstance(result, BlockSizeFound)
    return result


@pytest.mark.parametrize(
    ("drives", "least"),
    [(EACH_ONCE, 2), pytest.param(DRIVES, 8, marks=pytest.mark.campaign)],
    ids=["few", "all"],
)
def test_the_true_unit_is_found_and_no_other_is_named(
    tmp_path: Path, drives: list[tuple[str, int, int]], least: int
) -> None:
    # Of slc-a with 16 KiB reads and writes disagree at every other seed: it cannot be known.
    named = []
    for place, (preset, unit, seed) in enumerate(drives):
        # Codewords smaller than the unit would be a step of their own.
        target = f"sim:{preset}?mapping={unit}KiB&codeword=mapping&seed={seed}"
        inferred = found(tmp_path / f"run-{place}", target, QUICK, seed).unit
        assert inferred is not None
        named.append((inferred.unit_bytes, unit * KIB))
    assert sum(got == true for got, true in named) >= least, named
    assert all(got in (None, true) for got, true in named), named


def test_a_drive_that_maps_by_the_sector_has_no_unit_that_is_named(tmp_path: Path) -> None:
    for mix in ("80/20", "100/0"):
        settings = QUICK | {"mix": mix, "fill": "1"}
        path = tmp_path / mix.replace("/", "-")
        inferred = found(path, "sim:s3700?mapping=512", settings, 1).unit
        assert inferred is not None
        assert inferred.unit_bytes is None


def test_a_disk_has_no_unit_that_is_named(tmp_path: Path) -> None:
    settings = QUICK | {"fill": "0", "mix": "100/0", "seconds": "2s"}
    inferred = found(tmp_path / "run", "sim:hdd-7200", settings, 1).unit
    assert inferred is not None
    assert inferred.unit_bytes is None


def test_the_s3700_shows_the_articles_ratios_and_their_reversal(tmp_path: Path) -> None:
    # Published, 80/20, 1 to 10 in flight: 4 KiB has 1.38 to 1.81 times the IOPS of 8 KiB; 1 and
    # 2 KiB have 1.06 to 1.14 times those of 4 KiB, and fewer at 10.
    settings = QUICK | {"sizes": "1KiB,2KiB,4KiB,8KiB", "loads": "1,2,4,10", "active_range": "80"}
    settings |= {"seconds": "500ms", "repeats": "5"}
    result = found(tmp_path / "run", "sim:s3700", settings, 1)
    for load in (1, 2, 4, 10):
        ratio = result.ratio(4 * KIB, 8 * KIB, load)
        assert ratio is not None
        assert 1.38 <= ratio.ratio <= 1.81
    for size in (1, 2):
        low, high = (result.ratio(size * KIB, 4 * KIB, load) for load in (1, 10))
        assert low is not None
        assert high is not None
        assert low.ratio == pytest.approx(1.10, abs=0.045)
        assert high.ratio < 1


def test_the_same_seed_gives_the_same_cells(tmp_path: Path) -> None:
    runs = [found(tmp_path / name, "sim:slc-a", QUICK | {"repeats": "2"}, 7) for name in ("a", "b")]
    first, second = ({p: one.iops_values for p, one in run.points.items()} for run in runs)
    assert first == second
