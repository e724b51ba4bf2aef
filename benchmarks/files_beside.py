"""Work on files beside the originals: Bonnie++ and tiotest, on the same file system, in turns.

    python benchmarks/files_beside.py DIRECTORY [--rounds 5] [--tiotest PATH] [--strace]

DIRECTORY is on the file system that is compared: a loop device with ext4, a tmpfs. The image of a
loop device is written whole before: Teijo works in a folder of its own, which ext4 puts elsewhere,
and what a sparse image has never had there is slower to write (0.85). A round is one
run of the original and one of `teijo as`, by the same command line and read by the same reader of
what they print; who was first is second in the next round. Before each run all that is written is
flushed. A row shows the median rate of each, the ratio of the medians, the smallest and the largest
ratio of a round, and the ratio for a second of CPU, which a shared machine disturbs less. A phase
of less than 0.5 s has no rate in Bonnie++, and no row. `--strace` counts the system calls of one
small run of each instead, by name and size.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from teijo.files.worker import FilesWorker
from teijo.terms.work import FileIo, Files
from teijo.units import MIB

BYTES = 3 * MIB
"""As much as Bonnie++ 2.00 writes byte by byte."""
FIELDS = {
    "per-char write": 9, "block write": 11, "rewrite": 13, "per-char read": 15, "block read": 17,
    "seeks": 19, "create": 26, "stat": 28, "delete": 30, "create at random": 32,
    "stat at random": 34, "delete at random": 36,
}  # fmt: skip
"""Where Bonnie++'s CSV (1.98) has a rate; its CPU percent follows."""
TIO_THREADS, TIO_MIB, TIO_RANDOM = 4, 64, 20_000
Rate = tuple[float, float]
"""What is printed a second, and for a second of CPU."""


def main() -> None:
    """Compare, or count system calls."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=2048, help="size of Bonnie++'s large file")
    parser.add_argument("--files", type=int, default=192, help="times 1024 small files")
    parser.add_argument("--seeks", type=int, default=1 << 18)
    parser.add_argument("--tiotest", default=shutil.which("tiotest"))
    parser.add_argument("--strace", action="store_true")
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        ours(options.ours, options.directory, options.files)
    elif options.strace:
        trace(options.directory, options.tiotest)
    else:
        compare(options)


def compare(options: argparse.Namespace) -> None:
    """Print the rates of both, in turns."""
    folder = options.directory.resolve()
    root = [] if os.geteuid() else ["-u", "0"]
    bonnie = [
        "bonnie++",
        "-d",
        str(folder),
        "-s",
        f"{options.mib}:8k:{options.seeks}",
        "-r",
        f"{options.mib // 2}",
    ]
    calls = [(bonnie_rates, [*bonnie, "-m", "x", "-q", "-n", f"{options.files}:0:0:1", *root])]
    if options.tiotest:
        tiotest = [options.tiotest, "-d", str(folder), "-t", str(TIO_THREADS), "-f", str(TIO_MIB)]
        calls.append((tiotest_rates, [*tiotest, "-b", "4096", "-r", str(TIO_RANDOM), "-T"]))
    pairs: dict[str, list[tuple[Rate, Rate]]] = {}
    teijo = str(Path(sys.executable).with_name("teijo"))
    with tempfile.TemporaryDirectory(prefix="teijo-beside-") as runs:
        for number in range(options.rounds):
            for read, words in calls:
                ours = [teijo, "as", Path(words[0]).name, *words[1:]]
                both = [words, ours] if number % 2 == 0 else [ours, words]
                rates = {id(each): read(printed(each, runs)) for each in both}
                theirs, mine = rates[id(words)], rates[id(ours)]
                for name in theirs.keys() & mine.keys():
                    pairs.setdefault(name, []).append((theirs[name], mine[name]))
    print(f"{'phase':20}{'original':>12}{'Teijo':>12}{'ratio':>7}   of a round   per CPU s")
    for name in (*FIELDS, *TIO):
        if each := pairs.get(name):
            print(f"{name:20}{row(each)}")


def row(pairs: list[tuple[Rate, Rate]]) -> str:
    """Return the columns of a phase: medians, their ratio, its range, the ratio by CPU."""
    (theirs, mine), (their_cpu, my_cpu) = (
        [statistics.median(pair[side][place] for pair in pairs) for side in (0, 1)]
        for place in (0, 1)
    )
    ratios = sorted(mine[0] / theirs[0] for theirs, mine in pairs)
    by_cpu = f"{my_cpu / their_cpu:9.2f}" if their_cpu else f"{'-':>9}"
    span = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return f"{theirs:12,.0f}{mine:12,.0f}{mine / theirs:7.2f}   {span:12}{by_cpu}"


def printed(words: list[str], folder: str) -> str:
    """Return what a program prints, called in a folder, when all that was written is flushed."""
    os.sync()
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout


def bonnie_rates(text: str) -> dict[str, Rate]:
    """Return the rates of a run of Bonnie++; too short phases are left out."""
    cells = text.strip().splitlines()[-1].split(",")
    rates = {}
    for name, place in FIELDS.items():
        rate, percent = cells[place], cells[place + 1]
        if rate and "+" not in rate:
            rates[name] = (float(rate), float(rate) / max(float(percent), 1) * 100)
    return rates


TIO = {f"tiotest {name}": name for name in ("write", "rwrite", "read", "rread")}


def tiotest_rates(text: str) -> dict[str, Rate]:
    """Return the rates of a run of tiotest, in MiB."""
    rates = {}
    for line in text.splitlines():
        name, _, numbers = line.partition(":")
        if name in TIO.values():
            mib, seconds, user, system = (float(one) for one in numbers.split(",")[:4])
            cpu = user + system
            rates[f"tiotest {name}"] = (mib / seconds, mib / cpu if cpu else 0.0)
    return rates


def ours(tool: str, directory: Path, files: int) -> None:
    """Carry out the phases of a tool by the engine alone, whose system calls are counted."""
    folder = Path(tempfile.mkdtemp(dir=directory))
    worker = FilesWorker(f"dir:{folder}", folder, token="beside")
    try:
        for work in works(tool, files):
            worker.perform(work, 1, lambda *_: True)
    finally:
        worker.close()
        folder.rmdir()


def works(tool: str, files: int) -> Iterator[Files | FileIo]:
    """Give the phases of a tool, in its order."""
    if tool == "tiotest":
        for word in ("write", "random-write", "read", "random-read"):
            yield FileIo(
                operation=word, file_bytes=TIO_MIB * MIB, chunk_bytes=4096, positioned=True,
                workers=TIO_THREADS, calls=TIO_THREADS * TIO_RANDOM, content="zero",
                fresh=word == "write", sparse=True,
            )  # fmt: skip
        return
    each = FileIo(operation="write", file_bytes=BYTES, chunk_bytes=1, timed_calls=8192)
    chunk = FileIo(operation="write", file_bytes=16 * MIB, chunk_bytes=8192)
    fresh = {"fresh": True, "content": "cumulative"}
    yield FileIo(**{**vars(each), **fresh})
    yield FileIo(**{**vars(chunk), **fresh})
    yield FileIo(**{**vars(chunk), "operation": "rewrite"})
    yield FileIo(**{**vars(each), "operation": "read"})
    yield FileIo(**{**vars(chunk), "operation": "read"})
    seek = {"operation": "seek", "calls": 8192, "workers": 5, "share": True, "processes": True}
    yield FileIo(**{**vars(chunk), **seek, "rewrite_percent": 10})
    for names, order in (("number-first", "listed"), ("number-last", "random")):
        small = {"count": files * 1024, "names": names, "directories": 1, "content": "zero"}
        yield Files(operation="create", **small)
        yield Files(operation="stat", order=order, read=True, **small)
        yield Files(operation="delete", order=order, **small)


CALLS = ("openat", "unlink", "unlinkat", "write", "read", "lseek", "fsync", "close", "newfstatat")
CALLS += ("pwrite64", "pread64", "ftruncate", "getdents64", "mkdir", "mkdirat")
COUNTED = re.compile(rf"^(?:\d+ +)?(?:<\.\.\. )?({'|'.join(CALLS)})\b.*= (\d+)")


def trace(directory: Path, program: str | None) -> None:
    """Print how often each call was made on files below the directory, and how much it moved."""
    own = [sys.executable, __file__, str(directory), "--files", "1", "--ours"]
    root = ["-u", "0"]
    runs = [("bonnie++", ["bonnie++", "-d", str(directory), "-s", "16", "-r", "8", "-m", "x", "-q",
                          "-n", "1:0:0:1", *root], [*own, "bonnie"])]  # fmt: skip
    if program:
        command = [program, "-d", str(directory), "-t", str(TIO_THREADS), "-f", str(TIO_MIB), "-b",
                   "4096", "-r", str(TIO_RANDOM), "-T"]  # fmt: skip
        runs.append(("tiotest", command, [*own, "tiotest"]))
    for name, theirs, mine in runs:
        left, right = counted(theirs), counted(mine)
        print(f"{name}: call and bytes it returned; times by the original, by the engine")
        for key in sorted(set(left) | set(right)):
            if max(left[key], right[key]) > 30 or key[0] in ("fsync", "ftruncate"):
                mark = "" if left[key] == right[key] else "  *"
                print(f"  {key[0]:12}{key[1]:>10}{left[key]:>12,}{right[key]:>12,}{mark}")


def counted(command: list[str]) -> Counter[tuple[str, str]]:
    """Return how often a command made each call, and of one that moves bytes how many."""
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as log:
        calls = "trace=" + ",".join(CALLS)
        traced = ["strace", "-f", "-qq", "-e", calls, "-o", log.name, *command]
        subprocess.run(traced, capture_output=True, check=True)
        found: Counter[tuple[str, str]] = Counter()
        for line in log:
            if match := COUNTED.match(line):
                call, answer = match.groups()
                moves = call in ("write", "read", "pwrite64", "pread64")
                found[call, answer if moves else ""] += 1
        return found


if __name__ == "__main__":
    main()
