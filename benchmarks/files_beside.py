"""Work on files beside the originals: Bonnie++ and tiotest, on the same file system, interleaved.

    python benchmarks/files_beside.py DIRECTORY [--rounds 5] [--tiotest PATH] [--strace]

DIRECTORY is on the file system that is compared: a loop device with ext4, a tmpfs. Each round runs
the original and then the engine on the same phases; a row shows the median rate of each, and the
median of a rate for a second of CPU, which a shared machine disturbs less. `--strace` counts the
system calls of one small run of each instead, by name and size.
"""

import argparse
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
from teijo.units import MIB, NS_PER_S

BYTES = 3 * MIB
"""As much as Bonnie++ 2.00 writes byte by byte."""
FIELDS = {"per-char write": 9, "per-char read": 15, "create": 26, "stat": 28, "delete": 30}
"""Where Bonnie++'s CSV (1.98) has a rate; its CPU percent follows."""
Rate = tuple[float, float]
"""Operations a second, and operations a second of CPU."""


def main() -> None:
    """Compare, or count system calls."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=64, help="times 1024 small files")
    parser.add_argument("--tiotest", default=shutil.which("tiotest"))
    parser.add_argument("--strace", action="store_true")
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        for _ in ours(options.ours, options.directory, options.files):
            pass
    elif options.strace:
        trace(options.directory, options.tiotest)
    else:
        compare(options)


def compare(options: argparse.Namespace) -> None:
    """Print the rates of both, round by round in turn."""
    both: dict[str, tuple[list[Rate], list[Rate]]] = {}
    for _ in range(options.rounds):
        pairs = [("bonnie", bonnie(options.directory, options.files))]
        if options.tiotest:
            pairs.append(("tiotest", tiotest(options.tiotest, options.directory)))
        for tool, theirs in pairs:
            for name, rate in theirs.items():
                both.setdefault(name, ([], []))[0].append(rate)
            for name, rate in ours(tool, options.directory, options.files):
                if name in theirs:
                    both[name][1].append(rate)
    print(f"{'phase':24}{'original/s':>12}{'engine/s':>12}{'ratio':>7}   ", end="")
    print(f"{'original/CPU s':>14}{'engine/CPU s':>14}{'ratio':>7}")
    for name, (theirs, mine) in both.items():
        cells = []
        for place, width in ((0, 12), (1, 14)):
            a, b = (statistics.median(one[place] for one in side) for side in (theirs, mine))
            cells.append(f"{a:{width},.0f}{b:{width},.0f}{b / a if a else 0:7.2f}")
        print(f"{name:24}" + "   ".join(cells))


def bonnie(directory: Path, files: int) -> dict[str, Rate]:
    """Return the rates of a run of Bonnie++; too short phases are left out."""
    command = ["bonnie++", "-d", str(directory), "-s", "128", "-r", "64", "-m", "x", "-q"]
    command += ["-n", f"{files}:0:0:1", *(["-u", "0"] if not Path("/root").stat().st_uid else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = done.stdout.strip().split(",")
    rates = {}
    for name, place in FIELDS.items():
        rate, percent = row[place], row[place + 1]
        if rate and "+" not in rate:
            each = float(rate) * (1024 if "char" in name else 1)
            rates[name] = (each, each / max(float(percent), 1) * 100)
    return rates


TIO = {"write": (0, 16), "random-write": (1, 0), "read": (2, 16), "random-read": (3, 0)}
TIO_THREADS, TIO_MIB, TIO_RANDOM = 4, 64, 20_000


def tiotest(program: str, directory: Path) -> dict[str, Rate]:
    """Return the rates of a run of tiotest."""
    command = [program, "-d", str(directory), "-t", str(TIO_THREADS), "-f", str(TIO_MIB)]
    command += ["-b", "4096", "-r", str(TIO_RANDOM), "-T"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rates = {}
    for line in done.stdout.splitlines():
        name, _, numbers = line.partition(":")
        if name == "total":
            continue
        mib, seconds, user, system = (float(one) for one in numbers.split(",")[:4])
        word = {"rwrite": "random-write", "rread": "random-read"}.get(name, name)
        calls = mib * MIB / 4096
        cpu = user + system
        rates[f"tiotest {word}"] = (calls / seconds, calls / cpu if cpu else 0.0)
    return rates


def ours(tool: str, directory: Path, files: int) -> Iterator[tuple[str, Rate]]:
    """Give the rate of each phase of the engine's."""
    folder = Path(tempfile.mkdtemp(dir=directory))
    worker = FilesWorker(f"dir:{folder}", folder, token="beside")
    try:
        for name, work in works(tool, files):
            done = worker.perform(work, 1, lambda *_: True)
            first, elapsed_ns = done.results[0], done.elapsed_ns or 0
            cpu_ns = sum(int(done.detail[key]) for key in ("cpu_user_ns", "cpu_system_ns"))
            count = first.bytes if "char" in name else first.count
            assert count is not None
            assert not first.errors, first
            yield name, (count * NS_PER_S / elapsed_ns, count * NS_PER_S / max(cpu_ns, 1))
    finally:
        worker.close()
        folder.rmdir()


def works(tool: str, files: int) -> Iterator[tuple[str, Files | FileIo]]:
    """Give the phases of a tool, in its order."""
    if tool == "tiotest":
        for word in ("write", "random-write", "read", "random-read"):
            yield f"tiotest {word}", FileIo(
                operation=word, file_bytes=TIO_MIB * MIB, chunk_bytes=4096, positioned=True,
                workers=TIO_THREADS, calls=TIO_THREADS * TIO_RANDOM, content="zero",
                fresh=word == "write", sparse=True,
            )  # fmt: skip
        return
    each = FileIo(operation="write", file_bytes=BYTES, chunk_bytes=1, timed_calls=8192)
    chunk = FileIo(operation="write", file_bytes=16 * MIB, chunk_bytes=8192)
    fresh = {"fresh": True, "content": "cumulative"}
    yield "per-char write", FileIo(**{**vars(each), **fresh})
    yield "block write", FileIo(**{**vars(chunk), **fresh})
    yield "rewrite", FileIo(**{**vars(chunk), "operation": "rewrite"})
    yield "per-char read", FileIo(**{**vars(each), "operation": "read"})
    yield "block read", FileIo(**{**vars(chunk), "operation": "read"})
    seek = {"operation": "seek", "calls": 8192, "workers": 5, "share": True, "processes": True}
    yield "seek", FileIo(**{**vars(chunk), **seek, "rewrite_percent": 10})
    for names, order in (("number-first", "listed"), ("number-last", "random")):
        small = {"count": files * 1024, "names": names, "directories": 1, "content": "zero"}
        suffix = "" if order == "listed" else " at random"
        yield f"create{suffix}", Files(operation="create", **small)
        yield f"stat{suffix}", Files(operation="stat", order=order, read=True, **small)
        yield f"delete{suffix}", Files(operation="delete", order=order, **small)


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
