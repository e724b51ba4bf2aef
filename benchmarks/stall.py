"""A file system that is frozen for one second under 1,000 I/Os per second: what each tool reports.

Makes an ext4 file system on a loop device over a temporary file and removes both; no other device
is touched. Needs root. Prints one line per tool, latencies in ms, with the commands.

    python3 benchmarks/stall.py [--teijo PATH] [--fio PATH] [--seconds 8]
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

RATE = 1000
DEPTH = 32


@contextmanager
def file_system() -> Iterator[Path]:
    """Give a folder on an ext4 file system of its own."""
    with tempfile.TemporaryDirectory(prefix="teijo-stall-") as name:
        backing, folder = Path(name) / "backing", Path(name) / "mounted"
        backing.touch()
        folder.mkdir()
        with backing.open("r+b") as file:
            file.truncate(512 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", backing], check=True)
        command = ["losetup", "--find", "--show", "--direct-io=on", str(backing)]
        node = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            subprocess.run(["mount", node, folder], check=True)
            try:
                yield folder
            finally:
                time.sleep(1)
                subprocess.run(["umount", folder], check=True)
        finally:
            subprocess.run(["losetup", "--detach", node], check=True)


def frozen_once(folder: Path, after_s: float, work: Callable[[], bytes]) -> bytes:
    """Do the work, and freeze the file system for a second while it goes on."""

    def freeze() -> None:
        time.sleep(after_s)
        subprocess.run(["fsfreeze", "--freeze", folder], check=True)
        try:
            time.sleep(1)
        finally:
            subprocess.run(["fsfreeze", "--unfreeze", folder], check=True)

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        return work()
    finally:
        thread.join()


def printed(command: list[str]) -> bytes:
    """Return what a program prints; show how it was called."""
    print("$", shlex.join(command))
    return subprocess.run(command, check=True, capture_output=True).stdout


def wait_for_io(process: subprocess.Popen[bytes]) -> None:
    """Return when the file is laid out and the load has begun, which a busy host may delay."""
    assert process.stderr is not None
    for line in process.stderr:
        if json.loads(line)["event"] == "progress":
            return
    sys.exit(f"{process.args!r} ended before it began")


def of_teijo(teijo: str, folder: Path, seconds: int) -> list[tuple[str, dict[str, float]]]:
    """Return service and response of the native engine."""
    with tempfile.TemporaryDirectory(prefix="teijo-stall-") as name:
        run = Path(name) / "run.teijo"
        settings = ["rw=randwrite", f"qd={DEPTH}", f"rate={RATE}", f"seconds={seconds}"]
        command = [teijo, "run", "workload", f"{folder}/teijo.dat?size=128MiB"]
        command += [word for one in settings for word in ("--set", one)]
        command += ["--report", "none", "--progress", "ndjson", "-o", str(run)]
        print("$", shlex.join(command))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            wait_for_io(process)
            frozen_once(folder, seconds / 2, lambda: process.communicate()[0])
        content = json.loads(printed([teijo, "export", str(run)]))
    (part,) = content["steps"][-1]["results"]
    names = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
    return [
        (f"teijo, {word}", {shown: part[key][name] / 1e6 for name, shown in names.items()})
        for word, key in (("service", "latency_ns"), ("response", "response_ns"))
    ]


def of_fio(fio: str, folder: Path, seconds: int, engine: str, depth: int) -> dict[str, float]:
    """Return what fio calls the whole latency (lat)."""
    command = [
        fio, "--name=stall", f"--filename={folder}/fio.dat", "--size=128m", "--rw=randwrite",
        "--bs=4k", "--direct=1", f"--ioengine={engine}", f"--iodepth={depth}", "--time_based",
        f"--runtime={seconds}", f"--rate_iops={RATE}", "--lat_percentiles=1",
        "--percentile_list=50:99:99.9", "--output-format=json",
    ]  # fmt: skip
    prepare = [fio, "--name=lay", f"--filename={folder}/fio.dat", "--size=128m", "--rw=write"]
    subprocess.run([*prepare, "--bs=1m"], check=True, capture_output=True)
    report = json.loads(frozen_once(folder, seconds / 2, lambda: printed(command)))
    latency = report["jobs"][0]["write"]["lat_ns"]
    found = {f"p{float(key):g}": value / 1e6 for key, value in latency["percentile"].items()}
    return found | {"max": latency["max"] / 1e6}


def main() -> None:
    """Measure each tool once and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teijo", default="teijo")
    parser.add_argument("--fio", default="fio")
    parser.add_argument("--seconds", type=int, default=8)
    asked = parser.parse_args()
    with file_system() as folder:
        rows = of_teijo(asked.teijo, folder, asked.seconds)
        for engine, depth in (("psync", 1), ("io_uring", DEPTH)):
            found = of_fio(asked.fio, folder, asked.seconds, engine, depth)
            rows.append((f"fio {engine} QD {depth}, lat", found))
    names = ("p50", "p99", "p99.9", "max")
    print(f"\n{'ms':<28}" + "".join(f"{name:>12}" for name in names))
    for tool, found in rows:
        print(f"{tool:<28}" + "".join(f"{found[name]:>12.3f}" for name in names))


if __name__ == "__main__":
    main()
