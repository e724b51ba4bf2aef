"""User ns above the floor: what each tool's own loop adds to the bare system calls of this machine.

The floor is `floor.c`, built here: a loop that submits and reaps, and does nothing else. All tools
take turns in small slices on one processor, in another order each round; a figure is the median,
over the rounds, of a tool's CPU ns per I/O less that of the bare loop in the same round.

    python3 benchmarks/floor.py --slice PATH [--fio PATH] [--t-io-uring PATH] [--json PATH]
"""

import argparse
import json
import os
import platform
import pty
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peers import Cell, ToolFailed, fio, read_fio, read_teijo, run, t_io_uring, teijo

GIB = 1 << 30
BARE = "bare loop"
# Options of fio that only its ring knows.
RING_ONLY = ("--registerfiles", "--fixedbufs", "--nonvectored", "--iodepth")
# Slices end by CPU time: on a busy host a piece of wall time may hold few I/Os, and what a slice
# costs once (pages touched first, caches) would stand in them.
WALL_MS_MAX = 20_000
# A slice of t/io_uring: statistics begin after the first second, the last is not printed.
T_IO_URING_SECONDS = 3

METHOD = (
    "One thread, 4 KiB, pinned to one processor. CPU ns per I/O are user and system time of the"
    " tool's own thread or process: on this kernel user time alone is counted in ticks, and a"
    " shared machine does not stretch CPU time as it does the wall's. Above the floor is the"
    " difference to the bare loop of the same round: median [first..third quartile] of the rounds."
)
CAVEATS = (
    "The kernel's part is taken for equal. What a tool makes the kernel do besides (a completion"
    " asked for, a vector, a descriptor shared between threads) stands in its figure.",
    "The bare loop makes no content and draws no offset; Teijo and the C loop stamp every sector"
    " written, fio and t/io_uring do not.",
    "t/io_uring tells I/Os per second with three digits (up to 0.5 %) and does no writes; fio tells"
    " CPU time in whole ms: some ns here.",
    "fio's time is that of its job as fio tells it. Its start-up is in nobody's figure.",
)


@dataclass(frozen=True)
class Case:
    """A cell, and whether it is done by plain system calls."""

    cell: Cell
    calls: bool


@dataclass(frozen=True)
class Tool:
    """A command, and what runs a slice of it: CPU ns per I/O."""

    name: str
    command: list[str]
    measure: Callable[[list[str]], float]


def by_floor(command: list[str]) -> float:
    """Run a slice of floor.c."""
    told = json.loads(run(command)[0])
    return float(told["cpu_ns"]) / float(told["ios"])


def by_teijo(command: list[str]) -> float:
    """Run a slice of Teijo."""
    return read_teijo(*run(command)).cpu_ns


def by_fio(command: list[str]) -> float:
    """Run a slice of fio."""
    return read_fio(*run(command)).cpu_ns


def by_t_io_uring(command: list[str]) -> float:
    """Run t/io_uring; take the CPU time and the I/Os between its first and its second line."""
    ours, its = pty.openpty()  # Into a pipe it would write at its end.
    process = subprocess.Popen(command, stdout=its, stderr=its)
    os.close(its)
    marks: list[tuple[float, float]] = []
    try:
        with os.fdopen(ours, errors="replace") as lines:
            for line in lines:
                found = re.search(r"^IOPS=([\d.]+)([KM]?)", line)
                if found:
                    # The CPU clock of another process, as clock_getcpuclockid(3) makes it.
                    cpu_ns = time.clock_gettime_ns(~process.pid << 3 | 2)
                    scale = {"": 1.0, "K": 1e3, "M": 1e6}[found[2]]
                    marks.append((cpu_ns, float(found[1]) * scale))
    except OSError:
        pass  # The other end of a terminal is closed so.
    if process.wait() != 0 or len(marks) < 2 or marks[1][1] == 0:
        raise ToolFailed("t/io_uring gave no figure")
    return (marks[1][0] - marks[0][0]) / marks[1][1]


def tools(found: argparse.Namespace, floor: Path, case: Case) -> list[Tool]:
    """Give every tool that is here and does this case; the floor first."""
    cell, pin = case.cell, ["taskset", "-c", str(found.cpu)]
    own = [*pin, str(floor), cell.path, cell.rw, str(cell.depth), str(found.milliseconds)]
    how = [str(cell.size_bytes)] + ["buffered"] * (not cell.direct) + ["sync"] * case.calls
    backend = "sync" if case.calls else "io_uring"
    bounded = teijo(found.slice, cell, WALL_MS_MAX, backend=backend)
    bounded += ["--cpu-ms", str(2 * found.milliseconds)]
    each = [
        Tool(BARE, [*own, "bare", *how], by_floor),
        Tool("C loop, histogram", [*own, "histogram", *how], by_floor),
        Tool("teijo", [*pin, *bounded], by_teijo),
    ]
    if found.t_io_uring and cell.rw == "read":
        command = [*t_io_uring(found.t_io_uring, cell, 0), *["-S1"] * case.calls]
        command = [word.replace("-r2", f"-r{T_IO_URING_SECONDS}") for word in command]
        each.append(Tool("t/io_uring", [*pin, *command], by_t_io_uring))
    if found.fio:
        command = fio(found.fio, cell, max(500, 5 * found.milliseconds), tuning="tuned")
        if case.calls:
            command = [word for word in command if not word.startswith(RING_ONLY)]
            command = [word.replace("=io_uring", "=psync") for word in command]
        each.append(Tool("fio tuned", [*pin, *command], by_fio))
    return each


def measure(found: argparse.Namespace, floor: Path, case: Case) -> dict[str, object]:
    """Measure all tools of one case in turns; the first round is thrown away."""
    every = tools(found, floor, case)
    seen: dict[str, list[float]] = {one.name: [] for one in every}
    left_out: dict[str, str] = {}
    for number in range(found.rounds + 1):
        turn = number % len(every)
        for tool in every[turn:] + every[:turn]:
            if tool.name in left_out:
                continue
            try:
                cpu_ns = tool.measure(tool.command)
            except ToolFailed as failure:
                left_out[tool.name] = str(failure)
                continue
            if number > 0:
                seen[tool.name].append(cpu_ns)
    rows = []
    for tool in every:
        if tool.name in left_out or BARE in left_out:
            continue
        pairs = zip(seen[tool.name], seen[BARE], strict=True)
        low, middle, high = statistics.quantiles((one - bare for one, bare in pairs), n=4)
        row: dict[str, object] = {"tool": tool.name, "command": " ".join(tool.command)}
        row["cpu_ns_per_io"] = seen[tool.name]
        row["above_floor_ns"] = {"median": middle, "first_quartile": low, "third_quartile": high}
        rows.append(row)
    return {"case": case.cell.name, "rows": rows, "left_out": left_out}


def table(cases: list[dict[str, object]]) -> str:
    """Give the table of all cases."""
    lines = ["| case | tool | CPU ns/IO | user ns above the floor |", "|---|---|---|---|"]
    for case in cases:
        for row in case["rows"]:
            above = row["above_floor_ns"]
            told = f"{above['median']:.1f}"
            told += f" [{above['first_quartile']:.1f}..{above['third_quartile']:.1f}]"
            told = "the floor" if row["tool"] == BARE else told
            cpu_ns = statistics.median(row["cpu_ns_per_io"])
            lines.append(f"| {case['case']} | {row['tool']} | {cpu_ns:.1f} | {told} |")
        lines += [f"left out of {case['case']}: {why}" for why in case["left_out"].values()]
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slice", required=True, help="the example `slice` of teijo-engine")
    parser.add_argument("--cc", default=os.environ.get("CC") or "cc", help="the C compiler")
    parser.add_argument("--fio", default=os.environ.get("FIO") or shutil.which("fio"))
    parser.add_argument("--t-io-uring", default=os.environ.get("T_IO_URING"))
    parser.add_argument("--rounds", type=int, default=11, help="slices of each tool")
    parser.add_argument("--milliseconds", type=int, default=100, help="CPU time of a bare slice")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, help="where the sparse file is made")
    parser.add_argument("--only", default="", help="cases whose name begins so")
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    return parser.parse_args()


def main() -> int:
    """Build the floor, measure all cases, print the table."""
    found = arguments()
    with tempfile.TemporaryDirectory(prefix="teijo-floor-", dir=found.folder) as name:
        floor, hole = Path(name) / "floor", Path(name) / "hole"
        source = Path(__file__).with_name("floor.c")
        built = subprocess.run([found.cc, "-O2", "-o", floor, source], check=False)
        if built.returncode != 0:
            print("left out: the floor, which did not compile (Linux headers?)", file=sys.stderr)
            return 0
        with hole.open("wb") as file:
            file.truncate(2 * GIB)
        every = (
            Case(Cell("hole read QD32", str(hole), "read", 32, 2 * GIB), calls=False),
            Case(
                Cell("/dev/null write QD32", "/dev/null", "write", 32, GIB, direct=False),
                calls=False,
            ),
            Case(Cell("hole read QD1 sync", str(hole), "read", 1, 2 * GIB), calls=True),
        )
        chosen = [one for one in every if one.cell.name.startswith(found.only)]
        cases = [measure(found, floor, case) for case in chosen]
    notes = list(CAVEATS)
    if not found.t_io_uring:
        notes.append(
            "t/io_uring is left out: no package has it; `make bench FIO_SOURCE=…` builds it."
        )
    if not found.fio:
        notes.append("fio is left out: it is not installed.")
    print(table(cases), METHOD, *notes, sep="\n")
    if found.json:
        host = {"kernel": platform.release(), "machine": platform.machine(), "cpu": found.cpu}
        host |= {"load": os.getloadavg(), "rounds": found.rounds}
        told = {"host": host, "unit": "ns of CPU time per I/O", "method": METHOD}
        told |= {"notes": notes, "cases": cases}
        found.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
