"""CrystalDiskMark's rows beside fio as KDiskMark calls it, on one file, in turns.

As root it makes a loop device with ext4 over a temporary file, and takes both away at the end; else
it takes a folder. A round is one whole run of either program, the other first in the next; each row
has one pass to warm up and one that counts. It prints the ratio of the rates, row by row: of the
best rounds, which other work on the host disturbed least, and of the medians. Both move blocks on a
kernel's page cache, so a rate is the cost of the calls.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from teijo import api
from teijo.methods.classic.crystaldiskmark.found import CrystalDiskMarkFound
from teijo.methods.classic.crystaldiskmark.rows import Place, places_of, rows_of
from teijo.terms.workload import Access
from teijo.units import MEGA, MIB

PLACES = places_of("8", rows_of("8", "default", queues=32, threads=1), mixes=False)
Rates = dict[Place, float]


def by_teijo(path: Path, folder: Path, seconds: float) -> Rates:
    """Return MB/s of each row, by the method."""
    settings = {"runs": "1", "interval": "0s", "measure": f"{round(seconds * 1000)}ms"}
    settings["size"] = str(path.stat().st_size)
    record = folder / f"run-{os.urandom(4).hex()}.teijo"
    run = api.run(
        "classic.crystaldiskmark", str(path), output=record, settings=settings, overwrite=True
    )
    found = run.found
    assert isinstance(found, CrystalDiskMarkFound)
    return {score.place: score.score_mb_s for score in found.scores}


def by_fio(path: Path, seconds: float, *, flush: bool) -> Rates:
    """Return MB/s of each row, by fio with KDiskMark's options."""
    return {place: [_fio(path, place, seconds, flush) for _ in range(2)][1] for place in PLACES}


def _fio(path: Path, place: Place, seconds: float, flush: bool) -> float:
    row = place.row
    order = "" if row.access is Access.SEQUENTIAL else "rand"
    words = [
        "fio", "--name=row", f"--filename={path}", "--ioengine=libaio", "--direct=1",
        "--randrepeat=0", f"--end_fsync={int(flush)}", "--refill_buffers=0", "--zero_buffers=0",
        f"--bs={row.block_size_bytes}", f"--rw={order}{place.column}", "--time_based=1",
        f"--iodepth={row.queue_depth}", f"--numjobs={row.threads}", f"--runtime={seconds}",
        f"--size={path.stat().st_size}", "--group_reporting", "--output-format=json",
    ]  # fmt: skip
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (job,) = json.loads(told[told.index("{") :])["jobs"]
    rate: float = job[place.column]["bw_bytes"] / MEGA
    return rate


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
    ours: list[Rates] = []
    theirs: list[Rates] = []
    unflushed: list[Rates] = []
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
    print(f"{'row':24} {'Teijo':>8} {'fio':>8}  {'best':>5} {'median':>6}  without end_fsync")
    for row in PLACES:
        best = [max(each[row] for each in rates) for rates in (ours, theirs, unflushed)]
        middle = [statistics.median(each[row] for each in rates) for rates in (ours, theirs)]
        print(
            f"{row.name:24} {best[0]:8.1f} {best[1]:8.1f}  {best[0] / best[1]:5.2f} "
            f"{middle[0] / middle[1]:6.2f}  {best[0] / best[2]:5.2f}"
        )


def main() -> None:
    """Compare on a loop device of our own, or in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where to measure instead of a loop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--size-mib", type=int, default=256)
    asked = parser.parse_args()
    size_bytes = asked.size_mib * MIB
    if asked.folder is not None:
        compare(asked.folder, rounds=asked.rounds, seconds=asked.seconds, size_bytes=size_bytes)
        return
    with loop_with_ext4(4 * size_bytes) as mount:
        compare(mount, rounds=asked.rounds, seconds=asked.seconds, size_bytes=size_bytes)


if __name__ == "__main__":
    main()
