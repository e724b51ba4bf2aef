"""The study `cache-overflow` on simulated caches of known size, from the first write to the words.

Each cache is of another kind: a drive's buffer, its SLC region, RAM before a device, an SSD.
"""

from pathlib import Path

import pytest

from teijo import api
from tests.methods.documents import text_of

MIB = 1024**2
V_STAR = "burst 1: written until the overflow (V*)"
CACHE = "burst 1: cache"
WIDTH = "burst 1: cache, half width of 95 %"
RAM = "sim:cache(mlc-a)?size=20GB&drain_mb_per_second=40&low_percent=100&start_percent=0"


def run(folder: Path, target: str, **settings: str) -> api.Run:
    return api.run("cache-overflow", target, output=folder / "run", settings=settings, seed=1)


def scalars_of(run: api.Run) -> dict[str, float]:
    return {each.name: each.value for each in run.findings.scalars if each.value is not None}


def test_a_drive_s_buffer_is_told_with_its_interval(tmp_path: Path) -> None:
    found = scalars_of(run(tmp_path, "sim:mlc-a?buffer=256MiB", flat="1min"))
    nominal = 256 * MIB * 30 / 1e9  # a buffer is not scaled: seen from the full drive it is larger
    assert found[CACHE] == pytest.approx(nominal, rel=0.02)
    assert abs(found[CACHE] - nominal) <= found[WIDTH] < 0.05 * nominal


def test_a_cache_in_ram_overflows_where_the_fluid_model_says(tmp_path: Path) -> None:
    done = run(tmp_path, RAM, rate="150MB/s", cache="20GB", flat="1min")
    found = scalars_of(done)
    assert found["burst 1: V* of the model"] == pytest.approx(20 * 150 / 110, rel=0.01)
    assert found[V_STAR] == pytest.approx(found["burst 1: V* of the model"], rel=0.01)
    assert found[CACHE] == pytest.approx(20, rel=0.01)
    assert found["burst 1: rate after"] == pytest.approx(40, rel=0.01)
    assert "OVERFLOW after 27.3 GB: from 150 to 40 MB/s" in text_of(done.document())


def test_water_marks_make_stalls_of_what_lies_between_them(tmp_path: Path) -> None:
    target = RAM.replace("low_percent=100", "low_percent=80")
    found = scalars_of(run(tmp_path, target, rate="150MB/s", flat="1min"))
    assert found["burst 1: longest stall"] == pytest.approx(0.2 * 20_000 / 40, abs=3)
    assert found["burst 1: stalls"] >= 4
    assert found[CACHE] == pytest.approx(20, rel=0.03)


def test_a_region_that_is_folded_when_it_is_full_holds_all_that_was_written(tmp_path: Path) -> None:
    done = run(tmp_path, "sim:mlc-a?slc_region=10GB", rest="1min,10min", flat="1min")
    found = scalars_of(done)
    buffer = 4 * MIB * 30 / 1e9
    assert found[V_STAR] == pytest.approx(10 + buffer, rel=0.01)
    assert found["burst 2: cache that came back"] == pytest.approx(
        60 * found["burst 1: rate after"] / 1e3, rel=0.1
    )
    whole = found["burst 3: written until the overflow (V*)"]
    assert whole == pytest.approx(found[V_STAR], rel=0.01), "a long rest empties it"
    assert "if not, all of it" in text_of(done.document())


def test_an_ssd_before_an_array_falls_to_the_pace_of_its_drain(tmp_path: Path) -> None:
    target = "sim:ssd-cache(mlc-a, hdd-7200)?mode=write-back&dirty_limit=3GB&drain_mb_per_second=10"
    found = scalars_of(run(tmp_path, target, rate="60MB/s", flat="1min", cache="3GB"))
    assert found["burst 1: V* of the model"] == pytest.approx(3.6, rel=0.02)
    assert found[V_STAR] == pytest.approx(found["burst 1: V* of the model"], rel=0.02)
    assert found["burst 1: rate after"] == pytest.approx(10, rel=0.05)


def test_random_writes_overflow_too(tmp_path: Path) -> None:
    found = scalars_of(
        run(tmp_path, RAM, rw="randwrite", bs="64KiB", rate="150MB/s", flat="1min", cache="20GB")
    )
    # What hits dirty data again needs no room: of 256 GB that is little.
    assert found[V_STAR] == pytest.approx(found["burst 1: V* of the model"], rel=0.08)


def test_a_device_without_a_cache_overflows_nowhere(tmp_path: Path) -> None:
    done = run(tmp_path, "sim:hdd-7200?write_cache=0", volume="20GB")
    assert scalars_of(done)["burst 1: overflows"] == 0
    assert "NO OVERFLOW up to 20" in text_of(done.document())


def test_a_smaller_simulation_tells_the_same_volumes_and_times(tmp_path: Path) -> None:
    figures = []
    for scale in (30, 120):
        folder = tmp_path / str(scale)
        folder.mkdir()
        found = scalars_of(run(folder, f"{RAM}&scale={scale}", rate="150MB/s", flat="1min"))
        figures.append([found[V_STAR], found[CACHE], found["burst 1: time until the overflow"]])
    assert figures[1] == pytest.approx(figures[0], rel=0.03)


def test_the_same_seed_tells_the_same(tmp_path: Path) -> None:
    twice = []
    for name in "ab":
        folder = tmp_path / name
        folder.mkdir()
        twice.append(scalars_of(run(folder, "sim:mlc-a?buffer=256MiB", flat="20s", proof="off")))
    assert twice[0] == twice[1]
