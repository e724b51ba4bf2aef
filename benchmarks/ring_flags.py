"""When completions are posted: the flags of a ring against each other, on a quiet and a busy host.

Slices of all variants take turns. What a variant brings is its IOPS by those of the first in the
same turn: the median of all turns with its quartiles. Targets are a file made here and, as root,
a loop device over a file on tmpfs; both are removed afterwards.

With --realtime (as root) a slice goes before everything else on this host, and only the threads
of the kernel behind its target wait: so a busy host comes near to a quiet one.

    python3 benchmarks/ring_flags.py --slice PATH [--turns 15] [--busy 2] [--realtime] [--json PATH]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

VARIANTS = {
    "defer": (),
    "coop": ("defer-taskrun",),
    "interrupt": ("defer-taskrun", "coop-taskrun"),
    "shared": ("defer-taskrun", "coop-taskrun", "single-issuer"),
}
"""What each leaves out. "interrupt" is a ring of one issuer, "shared" one of any number."""
CELLS = (("read", 4), ("read", 32), ("write", 32))
SIZE_BYTES = 1 << 29


@contextmanager
def made(folder: str) -> Iterator[Path]:
    """Give a file full of data in a new folder below this one."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="teijo-ring-") as name:
        path = Path(name) / "target"
        with path.open("wb") as file:
            for _ in range(SIZE_BYTES >> 20):
                file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())
        yield path


@contextmanager
def looped(path: Path) -> Iterator[Path]:
    """Give a loop device over a file."""
    command = ["losetup", "--find", "--show", str(path)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes busy beside what is measured."""
    loop = [sys.executable, "-c", "while True: pass"]
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen(loop))
            stack.callback(process.kill)
        yield


def iops_of(command: list[str], left_out: tuple[str, ...]) -> tuple[float, float, float]:
    """Run one slice; give IOPS, CPU ns per I/O and the 99th percentile of latency in ns."""
    without = [word for one in left_out for word in ("--without", one)]
    done = subprocess.run([*command, *without], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    has = set(found["techniques"])
    assert not has & set(left_out), f"{left_out} were left out, and are among {sorted(has)}"
    return float(found["iops"]), float(found["cpu_ns_per_io"]), float(found["p99_ns"])


def measured(command: list[str], turns: int) -> dict[str, list[tuple[float, float, float]]]:
    """Give the samples of every variant, in turns that begin with another one each time."""
    names = list(VARIANTS)
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    for turn in range(turns):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            samples[name].append(iops_of(command, VARIANTS[name]))
    return samples


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Give the lower quartile, the median and the upper one."""
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def row(name: str, samples: dict[str, list[tuple[float, float, float]]]) -> Iterator[str]:
    """Give a line of the table for each variant."""
    base = samples["defer"]
    for variant, seen in samples.items():
        iops = statistics.median(one[0] for one in seen)
        cpu = statistics.median(one[1] for one in seen)
        p99 = statistics.median(one[2] for one in seen)
        low, middle, high = quartiles([a[0] / b[0] for a, b in zip(seen, base, strict=True)])
        ratio = f"{middle:.2f} [{low:.2f}..{high:.2f}]" if variant != "defer" else "1"
        cells = (name, variant, f"{iops / 1000:.0f}", f"{cpu:.0f}", f"{p99 / 1000:.0f}", ratio)
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a table of all targets, directions and depths, without and with busy loops."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slice", required=True)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--milliseconds", type=int, default=250)
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=("file", "loop"))
    parser.add_argument("--realtime", action="store_true", help="ahead of all others (chrt)")
    found = parser.parse_args()
    everything = {}
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {found.turns} turns")
    print("| target | variant | K IOPS | CPU ns/IO | p99 µs | IOPS by those of defer |")
    print("|---|---|---|---|---|---|")
    with ExitStack() as stack:
        targets = {}
        if found.only != "loop":
            targets["file"] = stack.enter_context(made(found.folder))
        if found.only != "file" and os.geteuid() == 0:
            targets["loop"] = stack.enter_context(looped(stack.enter_context(made("/dev/shm"))))
        for loops in (0, found.busy):
            for target, path in targets.items():
                for rw, depth in CELLS:
                    command = [found.slice, str(path), rw, str(depth), str(found.milliseconds)]
                    command += ["--size", str(SIZE_BYTES)]
                    if found.realtime:
                        command = ["chrt", "--fifo", "1", *command]
                    with busy(loops):
                        samples = measured(command, found.turns)
                    name = f"{target} {rw} QD{depth}, {loops} busy loops"
                    everything[name] = samples
                    print("\n".join(row(name, samples)), flush=True)
    if found.json:
        found.json.write_text(json.dumps(everything))


if __name__ == "__main__":
    main()
