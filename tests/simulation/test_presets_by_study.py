"""Every simulated device by every study that answers a question: the answer against the truth.

`make test` takes the cheap ones; `pytest -m campaign` all devices, with several seeds.
"""

from pathlib import Path

import pytest

import teijo
from teijo.document.model import Verdict
from teijo.engine.native import simulated_presets
from teijo.methods.parts import found_in
from teijo.methods.studies.block_size.found import BlockSizeFound
from teijo.methods.studies.tier.found import TierFound
from teijo.terms.result import StepResult
from teijo.terms.step import Measure
from teijo.units import KIB

GB = 10**9
TIERS = {"windows-tier": 2_000 * GB, "isrt-enhanced": 64 * GB, "isrt-maximised": 64 * GB}
"""What answers reads from a fast part, and what that holds."""
CACHES = {"raid5-4x2tb-wb": 26 * GB, "isrt-maximised": 27 * GB}
"""What takes writes until it is full, and what it holds."""
FILLED_ONCE = {"windows-tier": 2_000 * GB}
"""What takes writes, and is not emptied while the device rests."""
SMALLER = {"raid50-36": 600, "windows-tier": 600}
"""Devices that are simulated at another scale than their own, to be faster."""
SEEDS = (1, 2, 3)
EVERY = [preset.name for preset in simulated_presets()]
DISKS = ("hdd", "raid", "isrt", "windows")
QUICK_TIER = {"patterns": "randread,randwrite", "block_sizes": "4KiB,64KiB"}


def target(name: str) -> str:
    scale = SMALLER.get(name) or (600 if name.startswith("raid5-") else None)
    return f"sim:{name}" if scale is None else f"sim:{name}?scale={scale}"


def tiering(folder: Path, device: str, seed: int) -> TierFound:
    run = teijo.run("tier", device, output=folder / "run", settings=QUICK_TIER, seed=seed)
    found = found_in(run.record)
    assert isinstance(found, TierFound)
    return found


def overflow(folder: Path, device: str, seed: int, **asked: str) -> tuple[str, float | None]:
    """Return the verdict, and what the cache holds in bytes."""
    run = teijo.run("cache-overflow", device, output=folder / "run", settings=asked, seed=seed)
    found = {each.name: each.value for each in run.findings.scalars}
    held = found.get("burst 1: cache")
    blocks = [block for section in run.document().sections for block in section.blocks]
    verdict = next(block.text for block in blocks if isinstance(block, Verdict))
    return verdict, None if held is None else held * GB


def test_every_device_has_a_truth_and_every_truth_a_device() -> None:
    assert set(TIERS) | set(CACHES) | set(FILLED_ONCE) <= set(EVERY)
    assert len(EVERY) >= 23


def test_one_plain_ssd_is_given_no_tier(tmp_path: Path) -> None:
    assert tiering(tmp_path, "sim:mlc-a?scale=240", 1).seen == "none"


def test_one_plain_ssd_is_given_no_cache(tmp_path: Path) -> None:
    verdict, held = overflow(tmp_path, "sim:mlc-a", 1, volume="20GB")
    assert verdict.startswith("NO OVERFLOW")
    assert held is None


def test_an_ssd_that_is_written_over_is_saturated_and_has_no_cache(tmp_path: Path) -> None:
    asked = {"rw": "randwrite", "bs": "64KiB", "volume": "180GB", "flat": "60s"}
    verdict, held = overflow(tmp_path, "sim:s3700-100?scale=120", 1, **asked)
    assert verdict.startswith("NO CACHE SEEN: the drive is saturated")
    assert held is None


@pytest.mark.parametrize("name", ["mlc-a", "hdd-7200", "isrt-maximised"])
def test_a_workload_counts_what_the_device_counted(tmp_path: Path, name: str) -> None:
    assert_counted(tmp_path, name, 1)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", EVERY)
def test_no_device_without_a_tier_is_given_one_and_each_tier_is_found(
    tmp_path: Path, name: str, seed: int
) -> None:
    found = tiering(tmp_path, target(name), seed)
    if name not in TIERS:
        assert found.seen in ("none", "unknown")
        return
    assert found.seen == "tier"
    cliffs = [curve.cliff for curve in found.proven if curve.cliff is not None]
    # A set of just what the tier holds may be held or not.
    assert all(each.good_bytes <= TIERS[name] <= each.bad_bytes for each in cliffs), cliffs


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("name", EVERY)
def test_no_device_without_a_cache_is_given_one_and_each_cache_is_found(
    tmp_path: Path, name: str, seed: int
) -> None:
    whole = f"sim:{name}?scale=600" if name in SMALLER else f"sim:{name}"
    asked = {"volume": "60GB"} if name not in FILLED_ONCE else {}
    verdict, held = overflow(tmp_path, whole, seed, **asked)
    if name in CACHES:
        assert verdict.startswith("OVERFLOW after")
        assert held == pytest.approx(CACHES[name], rel=0.03)
    elif name in FILLED_ONCE:
        assert verdict.startswith("OVERFLOW after 2 TB")
    else:
        assert verdict.startswith("NO OVERFLOW"), verdict


@pytest.mark.campaign
@pytest.mark.parametrize("seed", SEEDS[:2])
@pytest.mark.parametrize("name", EVERY)
def test_no_device_is_given_a_unit_that_it_has_not(tmp_path: Path, name: str, seed: int) -> None:
    asked = {"sizes": "1KiB,2KiB,4KiB,8KiB,16KiB,32KiB", "loads": "1", "repeats": "3"}
    asked |= {"seconds": "200ms" if not name.startswith(DISKS) else "1s"}
    if name.startswith(DISKS):
        asked |= {"mix": "100/0", "fill": "0"}
    run = teijo.run("block-size", target(name), output=tmp_path / "run", settings=asked, seed=seed)
    found = found_in(run.record)
    assert isinstance(found, BlockSizeFound)
    unit = found.unit
    assert unit is not None
    true = None if name.startswith(DISKS) else 4 * KIB
    assert unit.unit_bytes in (None, true)


@pytest.mark.campaign
@pytest.mark.parametrize("name", EVERY)
def test_every_workload_counts_what_the_device_counted(tmp_path: Path, name: str) -> None:
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert_counted(folder, name, seed)


def assert_counted(folder: Path, name: str, seed: int) -> None:
    """Hold the bytes, the rate and the latency of a workload against the device's counters, its
    own clock, and Little's law.
    """
    asked = {"rw": "randrw", "bs": "4KiB", "threads": "1", "qd": "8", "seconds": "1s"}
    run = teijo.run("workload", f"sim:{name}", output=folder / "run", settings=asked, seed=seed)
    steps = [each for each in run.record.steps if isinstance(each.step, Measure)]
    answer = steps[-1].answer
    assert isinstance(answer, StepResult)
    for direction, counter in (("read", "host_reads_bytes"), ("write", "host_writes_bytes")):
        moved = sum(part.bytes for part in answer.of(direction))
        counted = (answer.health_after or {})[counter] - (answer.health_before or {})[counter]
        assert moved == counted > 0
    spent = sum(part.latency.sum_ns for part in answer.results)
    assert spent <= 8 * answer.elapsed_ns
    # The last eight I/Os are served while no new ones are begun.
    longest = max(part.latency.max_ns for part in answer.results)
    assert spent >= 8 * (answer.elapsed_ns - longest)
    (cell,) = run.findings.cells
    ios = sum(part.count for part in answer.results)
    assert cell.iops == pytest.approx(ios * 1e9 / answer.elapsed_ns)
