"""The load engine beside its peers: interleaved slices, medians, spread and ratios.

Targets are files made here and removed afterwards, /dev/null, and (as root) a loop device over
such a file; no other device is touched. A peer that is not installed is left out. CPU ns per I/O
counts the tool's own processes; what a loop device does in the kernel is in nobody's account.

    python3 benchmarks/peers.py --slice PATH [--fio PATH] [--t-io-uring PATH] [--elbencho PATH]
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

BLOCK = 4096
GIB = 1 << 30
BATCH_LIMIT = 32


@dataclass(frozen=True)
class Cell:
    """One target, direction and depth; blocks of 4 KiB, random."""

    name: str
    path: str
    rw: str
    depth: int
    size_bytes: int
    direct: bool = True


@dataclass(frozen=True)
class Sample:
    """One slice of one tool: I/Os per second and CPU ns per I/O."""

    iops: float
    cpu_ns: float


@dataclass
class Row:
    """All slices of one tool on one cell."""

    cell: str
    tool: str
    command: str
    samples: list[Sample] = field(default_factory=list)

    def median(self, what: str) -> float:
        """Give the median of one figure."""
        return float(statistics.median(getattr(one, what) for one in self.samples))

    def spread(self, what: str) -> tuple[float, float]:
        """Give the least and the greatest of one figure."""
        values = [getattr(one, what) for one in self.samples]
        return min(values), max(values)


class ToolFailed(Exception):
    """A peer gave no figure: what it said."""


def cpu_seconds() -> float:
    """Give the CPU time of all finished children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command: list[str]) -> tuple[str, float]:
    """Run a command; give its output and its CPU time in seconds."""
    before = cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolFailed(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout, cpu_seconds() - before


def teijo(program: str, cell: Cell, milliseconds: int, *, backend: str = "io_uring") -> list[str]:
    """Give the command of a slice of Teijo."""
    command = [program, cell.path, cell.rw, str(cell.depth), str(milliseconds)]
    command += ["--size", str(cell.size_bytes), "--backend", backend]
    return command if cell.direct else [*command, "--buffered"]


def fio(program: str, cell: Cell, milliseconds: int, *, tuning: str) -> list[str]:
    """Give the command of a slice of fio: default, tuned or gtod_reduce."""
    command = [program, "--name=slice", f"--filename={cell.path}", f"--rw=rand{cell.rw}"]
    command += [f"--bs={BLOCK}", "--ioengine=io_uring", f"--iodepth={cell.depth}"]
    command += [f"--size={cell.size_bytes}", "--time_based", f"--runtime={milliseconds}ms"]
    command += ["--output-format=json", "--allow_file_create=0"]
    if cell.direct:
        command.append("--direct=1")
    if tuning == "default":
        return command
    batch = min(cell.depth, BATCH_LIMIT)
    command += ["--registerfiles=1", "--fixedbufs=1", "--nonvectored=1", "--norandommap=1"]
    command += [f"--iodepth_batch_submit={batch}", "--iodepth_batch_complete_min=1"]
    command += [f"--iodepth_batch_complete_max={cell.depth}", "--thread=1"]
    command += ["--scramble_buffers=0", "--disk_util=0", "--invalidate=0", "--overwrite=1"]
    return command if tuning == "tuned" else [*command, "--gtod_reduce=1"]


def t_io_uring(program: str, cell: Cell, milliseconds: int) -> list[str]:
    """Give the command of t/io_uring: two seconds, its least to say anything."""
    del milliseconds
    batch = min(cell.depth, BATCH_LIMIT)
    flags = ["-p0", "-B1", "-F1", "-X1", "-n1", "-r2", "-R1", "-t1", "-O1"]
    return [program, f"-d{cell.depth}", f"-s{batch}", "-c1", *flags, cell.path]


def elbencho(program: str, cell: Cell, milliseconds: int) -> list[str]:
    """Give the command of a slice of elbencho, in whole seconds."""
    seconds = max(1, round(milliseconds / 1000))
    command = [program, "-r" if cell.rw == "read" else "-w", "-t", "1"]
    command += ["--iodepth", str(cell.depth), "--direct", "--rand", "-b", "4k"]
    command += ["-s", str(cell.size_bytes), "--randamount", "64g", "--timelimit", str(seconds)]
    return [*command, "--lat", "--latpercent", "--nolive", cell.path]


def read_teijo(output: str, _cpu: float) -> Sample:
    """Read what the example says of itself."""
    told = json.loads(output)
    if told["errors"]:
        raise ToolFailed(f"teijo: {told['errors']} I/Os failed")
    return Sample(told["iops"], told["cpu_ns_per_io"])


def read_fio(output: str, _cpu: float) -> Sample:
    """Read the CPU share of the job over its run time, so that start-up does not count."""
    job = json.loads(output[output.index("{") :])["jobs"][0]
    side = job["read"] if job["read"]["total_ios"] else job["write"]
    if job["error"] or not side["total_ios"]:
        raise ToolFailed(f"fio: error {job['error']}, {side['total_ios']} I/Os")
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000
    return Sample(side["iops"], busy * 1e9 / side["total_ios"])


def read_t_io_uring(output: str, cpu: float) -> Sample:
    """Read the best second; its CPU time is that of two."""
    told = re.findall(r"IOPS=([\d.]+)([KM]?)", output)
    if not told:
        raise ToolFailed(f"t/io_uring: {output[-200:]}")
    scale = {"": 1.0, "K": 1e3, "M": 1e6}
    iops = max(float(number) * scale[unit] for number, unit in told)
    if iops == 0:
        raise ToolFailed("t/io_uring: no I/O")
    return Sample(iops, cpu * 1e9 / (2 * iops))


def read_elbencho(output: str, cpu: float) -> Sample:
    """Read its IOPS; it runs longer than it is told to."""
    iops = re.search(r"IOPS\s*:?\s+(\d+)", output)
    elapsed = re.search(r"Elapsed(?: time)?\s*:?\s+(?:(\d+)m)?([\d.]+)(ms|s)", output)
    if not iops or not elapsed:
        raise ToolFailed(f"elbencho: {output[-200:]}")
    seconds = float(elapsed[2]) / (1000 if elapsed[3] == "ms" else 1) + 60 * int(elapsed[1] or 0)
    return Sample(float(iops[1]), cpu * 1e9 / (float(iops[1]) * seconds))


READERS = {
    "teijo": read_teijo,
    "fio": read_fio,
    "t/io_uring": read_t_io_uring,
    "elbencho": read_elbencho,
}


def tools(found: argparse.Namespace, cell: Cell) -> dict[str, list[str]]:
    """Give the command of each tool that can do this cell."""
    each = {"teijo": teijo(found.slice, cell, found.milliseconds)}
    if cell.depth == 1:
        each["teijo sync"] = teijo(found.slice, cell, found.milliseconds, backend="sync")
    if found.fio:
        for tuning in ("default", "tuned", "gtod_reduce"):
            each[f"fio {tuning}"] = fio(found.fio, cell, found.milliseconds, tuning=tuning)
    if found.t_io_uring and cell.rw == "read" and cell.direct:
        each["t/io_uring -t1"] = t_io_uring(found.t_io_uring, cell, found.milliseconds)
    if found.elbencho and cell.direct:
        each["elbencho"] = elbencho(found.elbencho, cell, found.milliseconds)
    return each


def measure(found: argparse.Namespace, cell: Cell) -> list[Row]:
    """Run slices of all tools on one cell, in turn; the first of each is thrown away."""
    pin = ["taskset", "-c", str(found.cpu)]
    rows = {
        name: Row(cell.name, name, " ".join(pin + command))
        for name, command in tools(found, cell).items()
    }
    for number in range(found.slices + 1):
        for name, row in list(rows.items()):
            try:
                output, cpu = run(row.command.split())
                sample = READERS[name.split(" ")[0]](output, cpu)
            except ToolFailed as failure:
                print(f"left out on {cell.name}: {failure}", file=sys.stderr)
                del rows[name]
                continue
            if number > 0:
                row.samples.append(sample)
    return list(rows.values())


def write_out(path: Path, size_bytes: int) -> None:
    """Write a file of random bytes, down to the disk."""
    with path.open("wb") as file:
        for _ in range(size_bytes >> 20):
            file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())


@contextmanager
def loop_device(path: Path) -> Iterator[str | None]:
    """Make a loop device with direct I/O over a file; None where it cannot be had."""
    command = ["losetup", "--find", "--show", "--direct-io=on", str(path)]
    done = None
    if os.geteuid() == 0 and shutil.which("losetup"):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done is None or done.returncode != 0:
        yield None
        return
    device = done.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=False)


def cells(folder: Path, loop: str | None, size_bytes: int) -> list[Cell]:
    """Give every target of the table that this host has."""
    hole = str(folder / "hole")
    every = [Cell(f"hole read QD{q}", hole, "read", q, 2 * GIB) for q in (1, 32, 128)]
    every += [
        Cell(f"/dev/null write QD{q}", "/dev/null", "write", q, GIB, direct=False)
        for q in (32, 128)
    ]
    if loop is not None:
        every += [Cell(f"loop {rw} QD32", loop, rw, 32, size_bytes) for rw in ("read", "write")]
    return [*every, Cell("file read QD32", str(folder / "file"), "read", 32, size_bytes)]


def table(rows: list[Row]) -> Iterator[str]:
    """Give a line for each row: medians, spread, ratios to Teijo's (above 1: Teijo leads)."""
    yield "| target | tool | K IOPS [min..max] | CPU ns/IO [min..max] | IOPS x | CPU x |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        own = next(one for one in rows if one.cell == row.cell and one.tool == "teijo")
        iops, cpu = row.median("iops"), row.median("cpu_ns")
        low, high = (one / 1000 for one in row.spread("iops"))
        least, most = row.spread("cpu_ns")
        yield (
            f"| {row.cell} | {row.tool} | {iops / 1000:.0f} [{low:.0f}..{high:.0f}] "
            f"| {cpu:.0f} [{least:.0f}..{most:.0f}] "
            f"| {own.median('iops') / iops:.2f} | {cpu / own.median('cpu_ns'):.2f} |"
        )


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slice", required=True, help="the example `slice` of teijo-engine")
    parser.add_argument("--fio", default=os.environ.get("FIO") or shutil.which("fio"))
    parser.add_argument("--t-io-uring", default=os.environ.get("T_IO_URING"))
    found = os.environ.get("ELBENCHO") or shutil.which("elbencho")
    parser.add_argument("--elbencho", default=found)
    parser.add_argument("--slices", type=int, default=7, help="of each tool on each target")
    parser.add_argument("--milliseconds", type=int, default=500, help="length of a slice")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, help="where the files are made (on a real disk)")
    parser.add_argument("--file-mib", type=int, default=1024, help="size of the written file")
    parser.add_argument("--only", default="", help="targets whose name begins so")
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    return parser.parse_args()


def main() -> None:
    """Measure all cells, print the table and the commands."""
    found = arguments()
    size_bytes = found.file_mib << 20
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="teijo-bench-", dir=found.folder) as name:
        folder = Path(name)
        with (folder / "hole").open("wb") as hole:
            hole.truncate(2 * GIB)
        write_out(folder / "file", size_bytes)
        shutil.copy(folder / "file", folder / "under")
        with loop_device(folder / "under") as loop:
            for cell in cells(folder, loop, size_bytes):
                if cell.name.startswith(found.only):
                    rows += measure(found, cell)
                    print(f"done: {cell.name}", file=sys.stderr)
        text = list(table(rows))
        print("\n".join(text))
        commands = {f"{row.cell}: {row.tool}": row.command for row in rows}
        print("\n" + "\n".join(f"{key}\n    {value}" for key, value in commands.items()))
    if found.json:
        host = {"kernel": platform.release(), "load": os.getloadavg(), "slices": found.slices}
        told = {"host": host, "rows": [asdict(row) for row in rows]}
        found.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
