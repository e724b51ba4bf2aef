"""A worker whose latencies are known one by one: `python -m tests.engine.known_worker LOG HOW …`.

It is the worker of the product with another session behind it. Every I/O that it claims to have
made stands in LOG as a line of its own: stream, operation, ns; and when each lap began on the
clock that no host is ahead of. HOW says how it behaves, word by word.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from teijo.engine import Lap, Plan, Progress
from teijo.engine.hosts import worker
from teijo.engine.hosts.wire import Hello, Open
from teijo.engine.session import Observer
from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.units import NS_PER_S

TEIJO, BUILD = "1.0", "of the tests"
AHEAD_NS = 3600 * NS_PER_S
IOS = 5000
INTERVALS = 4


class Joined:
    """A target that is only claimed to be open."""

    def __init__(self, ask: Open, log: Path, how: Sequence[str]) -> None:
        self.session = Known(log, how)
        changed = "f" if "elsewhere" in how else "0"
        self.digests = tuple(changed for _ in ask.probes)

    def close(self) -> None:
        pass


class Known:
    """A session whose laps are drawn from the seed of their plan."""

    backend = "known"

    def __init__(self, log: Path, how: Sequence[str]) -> None:
        self.log, self.how = log, how

    def run(self, plan: Plan, observer: Observer) -> Lap:
        began_ns = time.monotonic_ns()
        started_ns = began_ns + (AHEAD_NS if "ahead" in self.how else 0)
        with self.log.open("a") as log:
            print(f"began {began_ns}", file=log)
            parts = [part for placed in plan.streams for part in self.parts(placed, plan, log)]
            print(f"seed {plan.streams[0].seed} bytes {plan.total_bytes}", file=log)
        finished = tuple((one.stream, one.operation, one.intervals) for one in parts)
        ios = sum(part.count for part in parts)
        elapsed_ns = INTERVALS * plan.interval_ns
        look = Progress(elapsed_ns=elapsed_ns, ios=ios, bytes=0, errors=0, finished=finished)
        goes_on = observer(look)
        if "dies" in self.how:
            os.kill(os.getpid(), signal.SIGKILL)
        if "stands" in self.how:
            os.kill(os.getpid(), signal.SIGSTOP)
        while goes_on and "waits" in self.how:
            time.sleep(0.01)
            goes_on = observer(Progress(elapsed_ns=elapsed_ns, ios=ios, bytes=0, errors=0))
        result = StepResult(started_ns=started_ns, elapsed_ns=elapsed_ns, results=tuple(parts))
        return Lap(result=result, notes=("it is made up",))

    def parts(self, placed, plan: Plan, log) -> list[OperationResult]:
        draw = np.random.default_rng(placed.seed)
        stream, found = placed.stream, []
        for operation, share in (
            ("read", stream.read_percent),
            ("write", 100 - stream.read_percent),
        ):
            if not share:
                continue
            # A long tail, and another one on each host: averages of percentiles are wrong here.
            scale = 40.0 if "slow" in self.how else 1.0
            times = (draw.lognormal(11, 1.0, IOS) * scale).astype(np.int64)
            for one in times.tolist():
                print(f"io {stream.name} {operation} {one}", file=log)
            count = IOS + (1 if "lies" in self.how else 0)
            found.append(
                OperationResult(
                    stream=stream.name,
                    operation=operation,
                    count=count,
                    bytes=count * stream.block_size_bytes,
                    errors={5: 2} if "errors" in self.how else {},
                    latency=histogram_of(times),
                    intervals=series(times.reshape(INTERVALS, -1), stream.block_size_bytes, plan),
                )
            )
        return found

    def limit_io(self, io_timeout_ns: int) -> None:
        pass

    def finish(self) -> None:
        with self.log.open("a") as log:
            print("finish", file=log)

    def close(self) -> None:
        pass


def series(times: np.ndarray, block_bytes: int, plan: Plan) -> Intervals:
    ios = np.full(INTERVALS, times.shape[1], np.int64)
    return Intervals(
        length_ns=plan.interval_ns,
        index=np.arange(INTERVALS, dtype=np.int64),
        ios=ios,
        bytes=ios * block_bytes,
        errors=np.zeros(INTERVALS, np.int64),
        latency_ns_sum=times.sum(axis=1),
        latency_ns_min=times.min(axis=1),
        latency_ns_max=times.max(axis=1),
    )


def main() -> None:
    log, *how = sys.argv[1:]
    if "ahead" in how:
        # Of the worker alone: its clock is an hour ahead of that of the conductor.
        worker.time = SimpleNamespace(
            monotonic_ns=lambda: time.monotonic_ns() + AHEAD_NS,
            time_ns=lambda: time.time_ns() + AHEAD_NS,
            sleep=time.sleep,
        )
    if "chatters" in how:
        print("Welcome to rack2!", flush=True)
    build = "another" if "another" in how else BUILD
    hello = Hello(teijo=TEIJO, build=build, host=os.uname().nodename, kernel="k", cpus=1)
    worker.Worker(0, 1, hello, lambda ask: Joined(ask, Path(log), how)).serve()


if __name__ == "__main__":
    main()
