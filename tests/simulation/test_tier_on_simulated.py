"""The study `tier` on a simulated tier as the article's: 2 TB of NVMe before 36 disks."""

from pathlib import Path

import pytest

import teijo
from teijo.methods.parts import found_in
from teijo.methods.studies.tier.found import Curve, TierFound
from teijo.terms.record import Record
from teijo.units import KIB, MIB

TB = 10**12
SETTINGS = {
    "fast": "nvme-2tb?scale=600",
    "slow": "raid50-36?scale=600",
    "sets": "256GB,2TB,4TB,8TB",
    "patterns": "randread,read",
    "block_sizes": "4KiB,1MiB",
    "slice": "50ms",
    "slices": "10",
    "refine": "1",
    "fill": "1",
}


def tiering(record: Record) -> TierFound:
    result = found_in(record)
    assert isinstance(result, TierFound)
    return result


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> TierFound:
    path: Path = tmp_path_factory.mktemp("tier") / "run"
    target = "sim:tier(nvme-2tb, raid50-36)?scale=600"
    run = teijo.run("tier", target, output=path, settings=SETTINGS, seed=1)
    return tiering(run.record)


def curve(found: TierFound, pattern: str, block_size_bytes: int) -> Curve:
    return next(one for one in found.of(pattern) if one.block_size_bytes == block_size_bytes)


def test_a_set_that_fits_runs_as_on_the_fast_device_alone(found: TierFound) -> None:
    for one in found.curves:
        fast = one.fast_rate
        assert fast is not None
        assert one.smallest.throughput.mean == pytest.approx(fast, rel=0.03)


def test_random_4_kib_reads_collapse_behind_the_tiers_2_tb(found: TierFound) -> None:
    own = curve(found, "randread", 4 * KIB)
    assert own.cliff is not None
    assert own.cliff.good_bytes == 2 * TB
    assert own.cliff.bad_bytes < 3 * TB
    first, last = own.smallest.throughput.mean, own.largest.throughput.mean
    assert 40 <= first / last <= 120


def test_what_is_left_at_8_tb_is_what_the_models_leave(found: TierFound) -> None:
    own = curve(found, "randread", 4 * KIB)
    both = own.model(2 * TB, 8 * TB)
    assert found.tier_bytes is not None
    assert found.tier_bytes == pytest.approx(2 * TB, rel=0.01)
    assert both is not None
    assert own.largest.throughput.mean == pytest.approx(both[0], rel=0.25)


def test_the_disks_alone_read_1_mib_in_order_faster_than_the_tier(found: TierFound) -> None:
    own = curve(found, "read", MIB)
    fast, slow = own.fast_rate, own.slow_rate
    assert fast is not None
    assert slow is not None
    assert slow > 1.2 * fast
    assert own.stripes == 2
    size = found.crossover("read")
    assert size is not None
    # Of 4 KiB in order the disks do 1.2 to 3.2 GB/s, as the streams lie on them by the set: not
    # known to be more than the tier's 1.8.
    assert 64 * KIB < size <= MIB


def test_a_run_that_names_no_device_and_no_set_finds_them_and_the_same_cliff(
    tmp_path: Path,
) -> None:
    asked = {"block_sizes": "4KiB,1MiB", "patterns": "randread,read"}
    target = "sim:windows-tier?scale=600"
    run = teijo.run("tier", target, output=tmp_path / "run", settings=asked, seed=1)
    found = tiering(run.record)
    settings = found.settings
    assert settings.fast == "sim:nvme-2tb?scale=600&seed=1"
    assert settings.slow == "sim:raid50-36?scale=600&seed=2"
    own = curve(found, "randread", 4 * KIB)
    assert [each / TB for each in own.slow] == [0.25, 0.5, 1, 2, 4, 8, 16]
    assert own.cliff is not None
    assert own.cliff.good_bytes == 2 * TB
    assert own.cliff.bad_bytes < 3 * TB
    assert curve(found, "read", MIB).stripes == 2
    assert found.crossover("read") is not None
