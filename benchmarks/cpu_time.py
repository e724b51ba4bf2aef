"""What the program itself costs in CPU time: start, imports, and the reports of two runs.

Every act is a process of its own, user and system time of it and its children; acts and trees are
interleaved, and the median of the rounds is printed with the least and the greatest. `--beside`
measures another checkout (its folder `python`, with the engine built in it) in the same rounds.
All run from byte code, as an installed program does; wall time is not looked at.

    python3 benchmarks/cpu_time.py [--rounds 7] [--only report] [--beside FOLDER] [--json FILE]
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

HERE: Final = Path(__file__).resolve().parent.parent / "python"
PROGRAM: Final = ("-c", "from teijo.cli import program; program()")
DAY: Final = ("workload", "sim:slc-a", "rw=randrw", "bs=4KiB", "qd=1", "rate=20", "seconds=24h")
IOPS: Final = ("iops", "sim:mlc-a")
FIRST_STEP: Final = b'"step_started"'
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Tree:
    """A checkout under measurement: its folder of packages, and where its byte code is kept."""

    name: str
    packages: Path
    byte_code: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of its processes."""
        left = {name: text for name, text in os.environ.items() if name[:6] != "PYTHON"}
        return left | {
            "PYTHONPATH": str(self.packages),
            "PYTHONPYCACHEPREFIX": str(self.byte_code),
        }


@dataclass(frozen=True)
class Act:
    """One thing that is measured, what a user waits for, and the CPU seconds it may take."""

    name: str
    goal_s: float
    cost: Callable[[Tree], float]


def spent(arguments: tuple[str, ...], tree: Tree) -> float:
    """Return the CPU seconds of a process and all it waited for."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        env=tree.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {said.decode(errors='replace')[-400:]}")
    return usage.ru_utime + usage.ru_stime


def spent_to_first_step(folder: Path, tree: Tree) -> float:
    """Return the CPU seconds of a run up to its first step, which asks for the first I/O.

    A run is two processes; both have told in /proc what they took when the step begins.
    """
    words = ("run", "workload", "sim:mlc-a", "seconds=60", "--progress", "ndjson")
    output = folder / f"first-{tree.name}"
    child = subprocess.Popen(
        [sys.executable, *PROGRAM, *words, "--report", "none", "-o", str(output)],
        env=tree.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        assert child.stderr is not None
        _await(child.stderr, FIRST_STEP)
        below = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        return sum(_ticks(pid) for pid in (child.pid, *map(int, below))) / TICKS
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate()
        for left in folder.glob(f"{output.name}.*"):
            left.unlink()


def _await(stream: IO[bytes], word: bytes) -> None:
    told = b""
    for line in stream:
        if word in line:
            return
        told += line
    raise SystemExit(f"no run began: {told.decode(errors='replace')[-400:]}")


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def acts(folder: Path) -> list[Act]:
    """Return what is measured; the run files it needs are in the folder."""

    def teijo(*words: str) -> Callable[[Tree], float]:
        return partial(spent, (*PROGRAM, *words))

    def report(name: str) -> Callable[[Tree], float]:
        return teijo("report", str(folder / name), "--format", "html,pdf", "-o", str(folder))

    return [
        Act("teijo --help", 0.15, teijo("--help")),
        Act("teijo methods", 0.4, teijo("methods")),
        Act("teijo methods iops", 0.4, teijo("methods", "iops")),
        Act("import teijo.api", 0.4, partial(spent, ("-c", "import teijo.api"))),
        Act("run up to the first I/O", 0.7, partial(spent_to_first_step, folder)),
        Act("report of IOPS, HTML + PDF", 3.0, report("iops.teijo")),
        Act("report of a day, HTML + PDF", 2.0, report("day.teijo")),
        Act("report of a day, HTML", 1.2, teijo(
            "report", str(folder / "day.teijo"), "--format", "html", "-o", str(folder))),
    ]  # fmt: skip


def prepare(folder: Path, tree: Tree) -> None:
    """Write the two run files: a whole IOPS run, and a day second by second in both directions."""
    for name, words in (("iops", IOPS), ("day", DAY)):
        output = ("--seed", "1", "--report", "none", "-o", str(folder / name))
        spent((*PROGRAM, "run", *words, *output), tree)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="acts whose name has this in it")
    parser.add_argument("--beside", type=Path, help="another checkout's folder `python`")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="teijo-cpu-") as name:
        folder = Path(name)
        trees = [Tree("here", HERE, folder / "here")]
        if asked.beside is not None:
            trees.insert(0, Tree("beside", asked.beside.resolve(), folder / "beside"))
        prepare(folder, trees[-1])
        chosen = [act for act in acts(folder) if asked.only in act.name]
        taken = measured(chosen, trees, asked.rounds)
    told(chosen, trees, taken)
    if asked.json:
        rows = [{"act": act, "tree": tree, "seconds": cost} for (act, tree), cost in taken.items()]
        asked.json.write_text(json.dumps(rows, indent=1))
    return 0


def measured(
    chosen: list[Act], trees: list[Tree], rounds: int
) -> dict[tuple[str, str], list[float]]:
    """Return the CPU seconds by act and tree; the first round makes the byte code and is none."""
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for act in chosen:
            for tree in trees if number % 2 else trees[::-1]:
                cost = act.cost(tree)
                if number:
                    taken.setdefault((act.name, tree.name), []).append(cost)
    return taken


def told(
    chosen: list[Act], trees: list[Tree], taken: Mapping[tuple[str, str], list[float]]
) -> None:
    """Print a line for each act."""
    rounds = len(next(iter(taken.values())))
    print(f"CPU seconds, median [least … greatest] of {rounds} rounds; Python", end=" ")
    print(f"{platform.python_version()}, load {os.getloadavg()[0]:.1f}")
    print(f"{'act':30}" + "".join(f"{tree.name:>24}" for tree in trees) + f"{'goal':>8}")
    for act in chosen:
        cells = [taken[act.name, tree.name] for tree in trees]
        shown = (f"{statistics.median(c):.2f} [{min(c):.2f} … {max(c):.2f}]" for c in cells)
        print(f"{act.name:30}" + "".join(f"{cell:>24}" for cell in shown) + f"{act.goal_s:8.2f}")


if __name__ == "__main__":
    sys.exit(main())
