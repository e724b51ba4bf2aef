"""CrystalDiskMark's rows beside fio as KDiskMark calls it, on one file, in turns.

As root it makes a loop device with ext4 over a temporary file, and takes both away at the end; else
it takes a folder. A round is one whole run of either program, the other first in the next; each row
has one pass to warm up and one that counts. It prints, row by row, the medians over the rounds: of
the rates, and of the median latency. On a loop device a thread of the kernel carries out every I/O,
so each small one waits for a processor twice: on a busy host the rate of I/Os one at a time tells
who was given the processor. The median latency leaves those waits out, and the last column is the
share of the time that Teijo's threads were ready and had no processor. `--cpu` keeps both programs
on one processor, where that thread of the kernel runs as well: on a virtual machine, waking the
other one takes ten times as long as a small I/O.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teijo import api
from teijo.analysis.validity import delay_share
from teijo.methods.classic.crystaldiskmark.found import CrystalDiskMarkFound, Score
from teijo.methods.classic.crystaldiskmark.rows import Place, places_of, rows_of
from teijo.terms.histogram import merged
from teijo.terms.workload import Access
from teijo.units import MEGA, MIB, NS_PER_US

PLACES = places_of("8", rows_of("8", "default", queues=32, threads=1), mixes=False)


@dataclass(frozen=True, kw_only=True)
class Pass:
    """The pass of a row that counts."""

    mb_s: float
    latency_us: float  # the median
    waited: float | None = None  # share of the time ready to run without a processor, if known


Passes = dict[Place, Pass]


def by_teijo(path: Path, folder: Path, seconds: float) -> Passes:
    """Return each row, by the method."""
    settings = {"runs": "1", "interval": "0s", "measure": f"{round(seconds * 1000)}ms"}
    settings["size"] = str(path.stat().st_size)
    record = folder / f"run-{os.urandom(4).hex()}.teijo"
    run = api.run(
        "classic.crystaldiskmark", str(path), output=record, settings=settings, overwrite=True
    )
    found = run.found
    assert isinstance(found, CrystalDiskMarkFound)
    return {score.place: _pass(score) for score in found.scores}


def _pass(score: Score) -> Pass:
    (answer,) = score.passes
    latency = merged(each.timed for each in answer.of(score.place.column))
    return Pass(
        mb_s=score.score_mb_s,
        latency_us=latency.quantile_ns(0.5) / NS_PER_US,
        waited=None if answer.witness is None else delay_share(answer.witness),
    )


def by_fio(path: Path, seconds: float, *, flush: bool) -> Passes:
    """Return each row, by fio with KDiskMark's options."""
    return {place: [_fio(path, place, seconds, flush) for _ in range(2)][1] for place in PLACES}


def _fio(path: Path, place: Place, seconds: float, flush: bool) -> Pass:
    row = place.row
    order = "" if row.access is Access.SEQUENTIAL else "rand"
    words = [
        "fio", "--name=row", f"--filename={path}", "--ioengine=libaio", "--direct=1",
        "--randrepeat=0", f"--end_fsync={int(flush)}", "--refill_buffers=0", "--zero_buffers=0",
        f"--bs={row.block_size_bytes}", f"--rw={order}{place.column}", "--time_based=1",
        f"--iodepth={row.queue_depth}", f"--numjobs={row.threads}", f"--runtime={seconds}",
        f"--size={path.stat().st_size}", "--group_reporting", "--output-format=json",
        "--lat_percentiles=1",
    ]  # fmt: skip
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (job,) = json.loads(told[told.index("{") :])["jobs"]
    told_of = job[place.column]
    return Pass(
        mb_s=told_of["bw_bytes"] / MEGA,
        latency_us=told_of["lat_ns"]["percentile"]["50.000000"] / NS_PER_US,
    )


@contextmanager
def loop_with_ext4(size_bytes: int) -> Iterator[Path]:
    """Yield the mount point of a file system of its own."""
    with tempfile.TemporaryDirectory(prefix="teijo-bench-") as name:
        folder = Path(name)
        image, mount = folder / "image", folder / "mount"
        mount.mkdir()
        with image.open("wb") as file:
            file.truncate(size_bytes)
        made = subprocess.run(
            ["losetup", "--find", "--show", image], capture_output=True, text=True, check=True
        )
        device = made.stdout.strip()
        try:
            subprocess.run(["mkfs.ext4", "-q", device], check=True)
            subprocess.run(["mount", device, mount], check=True)
            try:
                yield mount
            finally:
                # A keeper of the last run may hold its file a moment longer.
                subprocess.run(["umount", "--lazy", mount], check=True)
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


def compare(place: Path, *, rounds: int, seconds: float, size_bytes: int) -> None:
    """Measure in turns, and print a row of the table for each row of the window."""
    path = place / "crystaldiskmark.dat"
    with path.open("wb") as file:
        for _ in range(size_bytes // MIB):
            file.write(os.urandom(MIB))
        os.fsync(file.fileno())
    ours: list[Passes] = []
    theirs: list[Passes] = []
    unflushed: list[Passes] = []
    with tempfile.TemporaryDirectory(prefix="teijo-bench-runs-") as records:
        for number in range(rounds):
            acts: tuple[Callable[[], None], ...] = (
                lambda: ours.append(by_teijo(path, Path(records), seconds)),
                lambda: theirs.append(by_fio(path, seconds, flush=True)),
                lambda: unflushed.append(by_fio(path, seconds, flush=False)),
            )
            for act in acts if number % 2 == 0 else acts[::-1]:
                act()
    path.unlink()
    print(
        f"{'row':24} {'MB/s':>15} {'ratio':>6}  {'p50 µs':>17} {'ratio':>6}  no end_fsync  waited\n"
        f"{'':24} {'Teijo':>7} {'fio':>7} {'':6}  {'Teijo':>8} {'fio':>8}"
    )
    for row in PLACES:
        rates = [_middle([each[row].mb_s for each in by]) for by in (ours, theirs, unflushed)]
        waits = [_middle([each[row].latency_us for each in by]) for by in (ours, theirs)]
        waited = _middle([each[row].waited or 0.0 for each in ours])
        print(
            f"{row.name:24} {rates[0]:7.0f} {rates[1]:7.0f} {rates[0] / rates[1]:6.2f}  "
            f"{waits[0]:8.1f} {waits[1]:8.1f} {waits[0] / waits[1]:6.2f}  "
            f"{rates[0] / rates[2]:12.2f}  {waited:6.0%}"
        )


def _middle(values: list[float]) -> float:
    return statistics.median(values)


def main() -> None:
    """Compare on a loop device of our own, or in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where to measure instead of a loop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--size-mib", type=int, default=256)
    parser.add_argument("--cpu", type=int, help="keep both programs on this processor")
    asked = parser.parse_args()
    if asked.cpu is not None:
        os.sched_setaffinity(0, {asked.cpu})
    size_bytes = asked.size_mib * MIB
    if asked.folder is not None:
        compare(asked.folder, rounds=asked.rounds, seconds=asked.seconds, size_bytes=size_bytes)
        return
    with loop_with_ext4(4 * size_bytes) as mount:
        compare(mount, rounds=asked.rounds, seconds=asked.seconds, size_bytes=size_bytes)


if __name__ == "__main__":
    main()
