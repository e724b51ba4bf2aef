"""Verified reads beside writes of the same blocks, for gigabytes: a fault that is found is our own.

Drives a file by several streams and threads at once, with direct I/O, in eleven shapes; each wants
its share of the total. The file is made in the folder, and removed. Prints one line a shape; ends
with 1 if any sector was found wrong.

    PYTHONPATH=python python3 benchmarks/clean_traffic.py [--total 10GiB] [--folder DIR] [--loop]

With `--loop` (root) a loop device over the file is driven instead, and detached.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from teijo.engine import Lap, Session, open_descriptor
from teijo.engine.plan import Plan, StreamPlan, VerifyPlan
from teijo.terms.verification import Written
from teijo.terms.workload import Access, Content, Stream
from teijo.units import GIB, KIB, MIB, parse_size

RANGE_BYTES = 8 * MIB
SMALL_BYTES = 64 * KIB
MIX = ((4 * KIB, 5), (8 * KIB, 3), (16 * KIB, 2))


def main() -> int:
    """Drive every shape; return 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--total", type=parse_size, default=10 * GIB)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--loop", action="store_true")
    asked = parser.parse_args()
    moved = judged = unjudged = faulty = 0
    print(f"{'shape':42} {'GiB':>6} {'s':>6} {'judged':>12} {'not judged':>11} {'wrong':>6}")
    with session(asked.folder, loop=asked.loop) as target:
        print(f"backend {target.backend}")
        each = asked.total // len(SHAPES) // MIB * MIB + MIB
        for number, (name, streams) in enumerate(SHAPES.items(), start=1):
            began = time.monotonic()
            lap = drive(target, streams, each, number)
            took_s = time.monotonic() - began
            size = sum(part.bytes for part in lap.result.results)
            found = lap.result.verification
            assert found is not None, "the reads of every shape are verified"
            assert not lap.failure, lap.failure
            wrong = found.sectors_faulty
            print(
                f"{name:42} {size / GIB:6.2f} {took_s:6.1f} {found.sectors:12,} "
                f"{found.sectors_unjudged:11,} {wrong:6,}",
                flush=True,
            )
            moved, judged = moved + size, judged + found.sectors
            unjudged, faulty = unjudged + found.sectors_unjudged, faulty + wrong
    print(f"{moved / GIB:.2f} GiB: {judged:,} judged, {unjudged:,} not judged, {faulty:,} wrong")
    return 1 if faulty else 0


@contextmanager
def session(folder: Path, *, loop: bool) -> Iterator[Session]:
    """Open the engine on a new file, or a loop device over it, with direct I/O."""
    with (
        tempfile.NamedTemporaryFile(dir=folder, prefix="teijo-clean-") as file,
        ExitStack() as undo,
    ):
        file.write(bytes(RANGE_BYTES))
        file.flush()
        path = file.name
        if loop:
            command = ["losetup", "--find", "--show", path]
            made = subprocess.run(command, check=True, capture_output=True, text=True)
            path = made.stdout.strip()
            undo.callback(subprocess.run, ["losetup", "--detach", path], check=True)
        descriptor = os.open(path, os.O_RDWR | os.O_DIRECT)
        undo.callback(os.close, descriptor)
        with closing(open_descriptor(descriptor, capacity_bytes=RANGE_BYTES)) as opened:
            yield opened


def drive(target: Session, streams: tuple[StreamPlan, ...], total_bytes: int, number: int) -> Lap:
    """Fill the range, so that all of it is known, and drive the streams over it."""
    past = fill(target, number)
    verify = VerifyPlan(run=5, generation=(2 * number + 1) << 40, written=past)
    plan = Plan(
        streams=tuple(replace(stream, verify=verify, seed=number) for stream in streams),
        total_bytes=total_bytes,
    )
    return target.run(plan)


def fill(target: Session, number: int) -> tuple[Written, ...]:
    """Write the range once; return what that left behind."""
    verify = VerifyPlan(run=5, generation=2 * number << 40)
    once = stream("fill", 0, access=Access.SEQUENTIAL, block_size_bytes=64 * KIB)
    once = replace(once, verify=verify)
    return target.run(Plan(streams=(once,), total_bytes=RANGE_BYTES)).result.written


def stream(
    name: str,
    read_percent: int,
    *,
    size_bytes: int = RANGE_BYTES,
    block_size_bytes: int = 4 * KIB,
    **changes: object,
) -> StreamPlan:
    """Return a stream of two threads with 16 I/Os each in flight, changed where named."""
    plain = Stream(
        name=name,
        threads=2,
        queue_depth=16,
        read_percent=read_percent,
        block_size_bytes=block_size_bytes,
    )
    return StreamPlan(
        stream=replace(plain, **changes),  # type: ignore[arg-type]
        cursor_bytes=0,
        start_bytes=0,
        segments=1,
        segment_bytes=size_bytes,
        stride_bytes=size_bytes,
        seed=1,
    )


SHAPES: dict[str, tuple[StreamPlan, ...]] = {
    "random, 50/50": (stream("one", 50),),
    "random, 50/50 over 64 KiB": (stream("one", 50, size_bytes=SMALL_BYTES),),
    "random, sizes 4 to 16 KiB, 70/30": (
        stream("one", 70, block_mix=MIX, block_size_bytes=16 * KIB, alignment_bytes=4 * KIB),
    ),
    "Zipf, 50/50": (stream("one", 50, access=Access.ZIPF, skew=1.1),),
    "Pareto, 30/70, compressible": (
        stream(
            "one",
            30,
            access=Access.PARETO,
            skew=0.2,
            content=Content.COMPRESSIBLE,
            content_percent=40,
        ),
    ),
    "sequential, 50/50": (stream("one", 50, access=Access.SEQUENTIAL),),
    "shuffled, 50/50": (stream("one", 50, access=Access.SHUFFLED),),
    "sequential writer, random readers": (
        stream("writer", 0, access=Access.SEQUENTIAL, block_size_bytes=64 * KIB),
        stream("reader", 100),
    ),
    "sequential writer and readers over 64 KiB": (
        stream("writer", 0, size_bytes=SMALL_BYTES, access=Access.SEQUENTIAL),
        stream("reader", 100, size_bytes=SMALL_BYTES),
    ),
    "shuffled writer, sequential reader": (
        stream("writer", 0, access=Access.SHUFFLED, content=Content.REFILL),
        stream("reader", 100, access=Access.SEQUENTIAL),
    ),
    "two writers, two readers": (
        stream("first", 0, access=Access.SHUFFLED),
        stream("second", 0),
        stream("third", 100, access=Access.ZIPF, skew=1.1),
        stream("fourth", 100),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
