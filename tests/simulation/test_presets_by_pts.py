"""Every simulated SSD by every test of the PTS: no rate that no drive would show.

Bounds of sanity, not of calibration: what is read one at a time is answered as soon as what is read
eight at a time, no round collapses, and more threads do not halve the rate.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import teijo
from teijo.engine.native import simulated_parameters, simulated_presets
from teijo.terms.result import StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Stream
from teijo.units import KIB

PRESETS = {
    preset.name: {name: value for name, value, _ in preset.parameters}
    for preset in simulated_presets()
}
OF_EVERY_SSD = {name for name, _, _ in simulated_parameters()}
DRIVES = {name: values for name, values in PRESETS.items() if values.keys() >= OF_EVERY_SSD}
SMALLER = 8
"""The cross takes the drives at so many times their own scale, to be faster, and with as much less
of a buffer: what it holds is written after a cell's end, and a cell is shorter.
"""
DEMAND = {
    "threads": "32,8,1", "queue_depth": "8,1", "rounds": "6", "precondition_rounds": "6",
    "precondition_minutes": "4", "prewrite_minutes": "1", "point_prewrite_minutes": "2",
    "histogram_minutes": "1",
}  # fmt: skip
SHORTER = {
    "pts.iops": {"mixes": "100/0,65/35,0/100", "block_sizes": "128KiB,4KiB", "rounds": "7"},
    "pts.tp": {"rounds": "7"},
    "pts.lat": {"histogram": "1", "rounds": "7", "block_sizes": "4KiB,0.5KiB"},
    "pts.wsat": {"capacity_times": "3", "histogram": "1"},
    "pts.hir": {
        "bursts": "12", "baseline_minutes": "2", "round_minutes": "2", "max_rounds": "12",
        "idle": "5,50",
    },
    "pts.xsr": {"first_minutes": "40", "random_minutes": "40", "last_minutes": "40"},
    "pts.cbw": DEMAND,
    "pts.dirth": DEMAND,
}  # fmt: skip


@dataclass(frozen=True)
class Minute:
    """One measured step: what was asked, and what came of it."""

    phase: str
    cell: str
    streams: tuple[Stream, ...]
    iops: float
    latency_us: float
    """Mean, µs."""
    in_flight_mean: float
    """By Little's law; what was in flight at the beginning counts with at most its latency."""

    @property
    def in_flight(self) -> int:
        return sum(stream.threads * stream.queue_depth for stream in self.streams)

    @property
    def read_percent(self) -> float:
        return sum(stream.read_percent for stream in self.streams) / len(self.streams)

    @property
    def threads(self) -> int:
        return max(stream.threads for stream in self.streams)


def minutes(folder: Path, method: str, target: str, settings: dict[str, str]) -> list[Minute]:
    run = teijo.run(
        method, target, output=folder / "run", settings=settings, seed=1, spec="2.0.2-enterprise"
    )
    found: list[Minute] = []
    asked = set()
    for each in run.record.steps:
        step, answer = each.step, each.answer
        if not isinstance(step, Measure) or not isinstance(answer, StepResult):
            continue
        count = sum(part.count for part in answer.results)
        asked.add(step.phase)
        # A worn drive or a disk takes more than a minute of 0.2 s for 1 MiB, but not for ever.
        if count == 0:
            continue
        spent_ns = sum(part.latency.sum_ns for part in answer.results)
        longest_ns = max(part.latency.max_ns for part in answer.results)
        found.append(
            Minute(
                phase=step.phase, cell=step.cell, streams=tuple(step.workload.streams),
                iops=count * 1e9 / answer.elapsed_ns, latency_us=spent_ns / count / 1e3,
                in_flight_mean=spent_ns / (answer.elapsed_ns + longest_ns),
            )
        )  # fmt: skip
    assert {minute.phase for minute in found} == asked
    return found


def assert_sane(found: list[Minute], *, cleans_ahead: bool, folds: bool = False) -> None:
    """Hold the minutes of a run to what every drive does.

    A drive that cleans ahead may owe a burst to a light load before it: threads are not compared;
    nor are rounds of writes of one that folds in idle time what it wrote first.
    """
    cells = defaultdict(list)
    for minute in found:
        assert minute.in_flight_mean <= minute.in_flight, minute
        cells[minute.phase, minute.cell].append(minute)
    for (phase, cell), course in cells.items():
        if len(course) < 3 or course[0].read_percent < 100:
            continue
        rates = [minute.iops for minute in course]
        # What the buffer holds after a cell of writes is programmed beside the next cell's reads,
        # for up to 0.1 s of what at such a scale is a minute of 0.25 s.
        assert max(rates) < 2 * min(rates), f"{phase} {cell}: {rates}"
    for course in cells.values():
        if course[0].phase == "round" and course[0].read_percent < 100 and not folds:
            before, last = course[-2:] if len(course) > 1 else course * 2
            assert 0.4 < last.iops / before.iops < 2.5, (before, last)
    if cleans_ahead or folds:
        return
    asked = defaultdict(dict)
    for minute in found:
        if minute.phase == "round":
            depth = minute.in_flight // minute.threads
            asked[minute.read_percent, depth][minute.threads] = minute.iops
    for rates in asked.values():
        for (few, less), (many, more) in pairwise(sorted(rates.items())):
            assert more > 0.5 * less, f"{many} threads {more}, {few} threads {less}"


def reads(found: list[Minute], *, in_flight: int | None = None) -> list[Minute]:
    """Return the last measured rounds of 4 KiB reads."""
    return [
        minute
        for minute in found
        if minute.read_percent == 100
        and minute.streams[0].block_size_bytes == 4 * KIB
        and in_flight in (None, minute.in_flight)
    ]


def assert_read_as_soon_as(alone: list[Minute], eight: list[Minute]) -> None:
    """One read at a time takes at most twice what eight at a time take, by Little's law."""
    assert alone
    assert eight
    implied_us = math.fsum(1e6 * 8 / minute.iops for minute in eight) / len(eight)
    slowest_us = max(minute.latency_us for minute in alone)
    assert slowest_us < 2 * implied_us, f"{slowest_us:.0f} µs alone, {implied_us:.0f} of eight"


EIGHT = {
    "queue_depth": "8", "threads": "1", "mixes": "100/0,0/100", "block_sizes": "4KiB",
    "rounds": "5",
}  # fmt: skip


def test_the_default_drive_reads_one_at_a_time_as_fast_as_eight_at_a_time_imply(
    tmp_path: Path,
) -> None:
    (tmp_path / "lat").mkdir()
    (tmp_path / "iops").mkdir()
    found = minutes(tmp_path / "lat", "pts.lat", "sim:mlc-a", {"rounds": "6", "histogram": "1"})
    assert_sane(found, cleans_ahead=True)
    alone = reads(found, in_flight=1)
    assert len(alone) >= 5
    assert_read_as_soon_as(alone, reads(minutes(tmp_path / "iops", "pts.iops", "sim:mlc-a", EIGHT)))


@pytest.mark.long
@pytest.mark.parametrize("name", DRIVES)
def test_every_drive_is_sane_in_every_test(tmp_path: Path, name: str) -> None:
    parameters = DRIVES[name]
    buffer_kib = int(parameters["buffer"].removesuffix("MiB")) * 1024 // SMALLER
    scale = float(parameters["scale"]) * SMALLER
    target = f"sim:{name}?scale={scale}&buffer={buffer_kib}KiB"
    cleans_ahead = float(parameters["idle_pool_percent"]) > 0
    folds = parameters["slc_region"] != "0"
    by_method = {}
    for method, settings in SHORTER.items():
        folder = tmp_path / method
        folder.mkdir()
        by_method[method] = minutes(folder, method, target, settings)
        assert_sane(by_method[method], cleans_ahead=cleans_ahead, folds=folds)
    (tmp_path / "eight").mkdir()
    eight = minutes(tmp_path / "eight", "pts.iops", target, EIGHT)
    assert_read_as_soon_as(reads(by_method["pts.lat"], in_flight=1), reads(eight))
    # The last rounds: a fresh drive takes writes for nothing.
    last = {
        minute.read_percent: minute.iops
        for minute in by_method["pts.iops"]
        if minute.streams[0].block_size_bytes == 4 * KIB
    }
    assert last[65] < 1.15 * max(last[0], last[100])


@pytest.mark.long
@pytest.mark.parametrize("name", ["hdd-7200", "raid5-4x2tb-wb"])
def test_a_disk_and_an_array_behind_a_cache_go_through_every_test(
    tmp_path: Path, name: str
) -> None:
    for method, settings in SHORTER.items():
        folder = tmp_path / method
        folder.mkdir()
        for minute in minutes(folder, method, f"sim:{name}?scale=300", settings):
            assert minute.in_flight_mean <= minute.in_flight, minute
