"""Plans run by the external program fio, one process per lap, on a descriptor held open here.

fio opens the target anew as /proc/self/fd/N: the very device that is claimed, whatever became of
its name, and fio (which unlinks files that are too small for a job) has no name to remove.
"""

import errno
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from teijo.engine.fio import output
from teijo.engine.fio.job import JobFile, interval_ms, job_file
from teijo.engine.fio.process import FioProcess
from teijo.engine.plan import DIRECTIONS, Plan, StreamPlan, check_fits
from teijo.engine.session import Lap, Observer, Progress, StuckIo
from teijo.errors import DeviceError, HostError, StoppedAtOnce, StuckDevice
from teijo.terms.result import Direction, OperationResult, StepResult
from teijo.units import NS_PER_MS, NS_PER_S, format_duration

ENGINES: Final = ("io_uring", "libaio", "psync")
LOOK_S: Final = 0.1
"""Between two looks at a running fio."""
LOOKS_MOST: Final = 20
"""After so many looks without a report the observer is asked by the last one."""
START_NS: Final = NS_PER_S // 10
"""What fio takes, about, from its start to its first I/O."""
PAUSE_GAPS: Final = 20
"""Poisson arrivals leave a gap of so many mean ones once in 500 million."""
START_SILENCE_NS: Final = 10 * NS_PER_S
"""Before its first I/O fio may take so much longer: it starts, and says nothing for a while."""
BLIND_NS: Final = NS_PER_S
"""Who did not look for longer was not running; so much of it counts as silence."""
HOPELESS_ERRORS: Final = 1_000
"""After this many failed I/Os, and more failed than not, the device is taken for gone."""
_OPTIONS: Final = ("--output-format=json+", "--eta=never", "--status-interval=500ms")
_INSTALL: Final = "Install fio 3.20 or newer (Debian: apt install fio), or use --engine native."


class FioSession:
    """A `Session` whose laps are run by fio. The descriptor stays the caller's."""

    def __init__(self, descriptor: int, *, capacity_bytes: int, logical_block_bytes: int) -> None:
        """Look for fio and for the best of its engines that can read the target directly.

        Raises:
            teijo.errors.HostError: there is no fio, or one that is too old.
            teijo.errors.DeviceError: the target cannot be read with direct I/O.
        """
        self._descriptor = descriptor
        self._capacity_bytes = capacity_bytes
        self._logical_block_bytes = logical_block_bytes
        self._program = shutil.which("fio") or ""
        if not self._program:
            raise HostError("fio is not installed", remedy=_INSTALL)
        self._version = _version(self._program)
        self._cpus: tuple[int, ...] = ()
        self._io_timeout_ns = 120 * NS_PER_S
        self._engine, self._notes = self._choose_engine(logical_block_bytes)

    @property
    def backend(self) -> str:
        """Which fio and which of its engines serve: "fio 3.33 io_uring"."""
        return f"fio {self._version} {self._engine}"

    def now_ns(self) -> int:
        """Return CLOCK_MONOTONIC."""
        return time.monotonic_ns()

    def choices(self) -> dict[str, str]:
        """Return nothing: what fio chooses by itself it does not tell."""
        return {}

    def ceilings(self) -> None:
        """Return nothing: what the native engine could do says nothing of fio."""

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap in one fio process.

        `elapsed_ns` is fio's run time, in whole ms: its start and its end do not count. A lap
        that the observer stops, or that failed, holds what was measured until then.

        Raises:
            teijo.errors.PlanError: fio cannot drive this plan.
            teijo.errors.DeviceError: the target refused every I/O, or shrank.
            teijo.errors.HostError: fio failed by itself; the message is fio's.
        """
        # Asked before each lap, for a file may have shrunk: fio would make it longer, or remove it.
        device_bytes = os.lseek(self._descriptor, 0, os.SEEK_END)
        check_fits(plan, min(device_bytes, self._capacity_bytes), self._logical_block_bytes)
        job = job_file(
            plan,
            engine=self._engine,
            path=self._path,
            device_bytes=device_bytes,
            cpus=self._cpus,
        )
        with tempfile.TemporaryDirectory(prefix="teijo-fio-") as name:
            file = Path(name) / "lap.fio"
            file.write_text(job.text)
            silence = Silence(plan, self._io_timeout_ns)
            with FioProcess(self._program, file, self._descriptor, *_OPTIONS) as fio:
                try:
                    # Threads are counted before fio is ended; afterwards none is there to be seen.
                    failure = _watch(fio, job, observer, silence)
                    waiting = fio.waiting_threads()
                    fio.end()
                # Asked twice to stop: what is in flight is not waited for any more.
                except KeyboardInterrupt as stop:
                    waiting = fio.waiting_threads()
                    fio.end(patience_s=0.0)
                    if fio.is_left:
                        said = f"Fio cannot be ended: {silence.text(waiting)}."
                        raise StoppedAtOnce(said) from stop
                    raise
            if fio.is_left:
                raise _stuck(fio, silence, waiting)
            return self._lap(file.parent, plan, job, fio, failure)

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a lap from now on when no I/O comes back for longer."""
        self._io_timeout_ns = io_timeout_ns

    def pin(self, cpus: Sequence[int]) -> None:
        """Keep each of fio's threads on one of these processors, in their order."""
        self._cpus = tuple(cpus)

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return nothing: which of fio's I/Os are in flight is not known."""
        return ()

    def finish(self) -> None:
        """Do nothing: no I/O of fio is in flight between two laps."""

    def close(self) -> None:
        """Do nothing: fio has ended with its lap."""

    @property
    def _path(self) -> str:
        return f"/proc/self/fd/{self._descriptor}"

    def _choose_engine(self, block_size_bytes: int) -> tuple[str, tuple[str, ...]]:
        """Return the first engine that reads one block, and notes on those that did not."""
        refusals: list[tuple[str, str]] = []
        for engine in ENGINES:
            with tempfile.TemporaryDirectory(prefix="teijo-fio-") as folder:
                command = [
                    self._program, "--name=probe", f"--filename={self._path}", "--direct=1",
                    f"--ioengine={engine}", "--rw=read", f"--bs={block_size_bytes}",
                    f"--size={block_size_bytes}", "--allow_file_create=0", "--invalidate=0",
                ]  # fmt: skip
                probe = subprocess.run(
                    command, cwd=folder, pass_fds=(self._descriptor,), capture_output=True
                )
            if probe.returncode == 0:
                return engine, tuple(f"fio's {name}: {why}" for name, why in refusals)
            said = (probe.stderr + probe.stdout).decode().splitlines()
            refusals.append((engine, _complaint(said)))
        raise DeviceError(
            f"fio cannot read {block_size_bytes} B with direct I/O: {refusals[-1][1]}",
            remedy="Use a block device, or a file on a file system with O_DIRECT (ext4, xfs).",
        )

    def _lap(self, folder: Path, plan: Plan, job: JobFile, fio: FioProcess, failure: str) -> Lap:
        """Read what fio reported, and the logs in its folder."""
        ended_ns = time.monotonic_ns()
        if fio.report is None:
            raise HostError(
                f"fio did not report: {_complaint(fio.complaints)}",
                remedy="Mend what fio names, or use --engine native.",
            )
        groups = output.groups(fio.report)
        elapsed_ns = _elapsed_ns(job, groups)
        failure = failure or _fatal(fio.report, fio.complaints)
        _refuse_refusals(plan, groups, fio.failed)
        if failure and not any(group.ios for group in groups):
            raise DeviceError(failure, remedy="Look at the kernel's log (dmesg) for the device.")
        results = _results(folder, plan, job, groups, fio.failed)
        result = StepResult(
            started_ns=ended_ns - elapsed_ns,
            elapsed_ns=elapsed_ns,
            results=tuple(results),
            cursors=_cursors(plan, results),
        )
        return Lap(result=result, notes=self._notes + job.notes, failure=failure)


def _version(program: str) -> str:
    """Return "3.33" of "fio-3.33"."""
    text = subprocess.run([program, "--version"], capture_output=True, check=False).stdout.decode()
    match = re.search(r"fio-(\d+)\.(\d+)\S*", text)
    if match is None or (int(match[1]), int(match[2])) < (3, 20):
        raise HostError(f"{program} is no fio of version 3.20 or newer: {text!r}", remedy=_INSTALL)
    return match[0].removeprefix("fio-")


def _complaint(lines: list[str]) -> str:
    said = [line for line in lines if line.strip()]
    return said[0].strip().removeprefix("fio: ") if said else "it said nothing"


def _watch(fio: FioProcess, job: JobFile, observer: Observer | None, silence: "Silence") -> str:
    """Wait for fio's end, the observer's stop or a dead device; return why the lap failed.

    Raises:
        teijo.errors.StuckDevice: no I/O comes back any more.
    """
    begun_ns = time.monotonic_ns()
    seen, looks = 0, 0
    while not fio.has_ended(LOOK_S):
        elapsed_ns = time.monotonic_ns() - begun_ns
        progress = _progress(fio, elapsed_ns)
        if silence.is_over(progress.ios + progress.errors, time.monotonic_ns()):
            waiting = fio.waiting_threads()
            fio.end(patience_s=0.0)
            raise _stuck(fio, silence, waiting)
        if _hopeless(progress):
            return f"the device is gone: I/Os failed ({progress.errors})"
        if job.signal_after_ns and elapsed_ns >= job.signal_after_ns + START_NS:
            return ""
        looks += 1
        # fio says nothing while a thread of it is stuck; who asks to stop is heard all the same.
        if observer is not None and (fio.reports > seen or looks >= LOOKS_MOST):
            seen, looks = fio.reports, 0
            if not observer(progress):
                return ""
    return ""


class Silence:
    """How long no I/O of a running fio came back, in time in which somebody looked."""

    def __init__(self, plan: Plan, limit_ns: int) -> None:
        """Allow `limit_ns`, and what a plan of few I/Os a second pauses by itself besides."""
        rates = [placed.stream.rate for placed in plan.streams]
        # A stream without a rate has no pauses of its own: then the limit alone counts.
        slow = sum(rate.ios_per_second for rate in rates if rate) if all(rates) else None
        self._limit_ns = limit_ns + (0 if slow is None else round(PAUSE_GAPS * NS_PER_S / slow))
        self._done = 0
        self._looked_ns: int | None = None
        self.lasted_ns = -START_SILENCE_NS

    def is_over(self, done: int, now_ns: int) -> bool:
        """Return whether that is too long, where so many I/Os have come back by now."""
        before_ns = now_ns if self._looked_ns is None else self._looked_ns
        self._looked_ns = now_ns
        self.lasted_ns += min(now_ns - before_ns, BLIND_NS)
        if done != self._done:
            self._done, self.lasted_ns = done, 0
        return self.lasted_ns >= self._limit_ns

    def text(self, waiting: int) -> str:
        """Say it, with the threads that wait for the device."""
        lasted_ns = self.lasted_ns + (0 if self._done else START_SILENCE_NS)
        return (
            f"no I/O of fio has come back for {format_duration(max(0, lasted_ns))}, after "
            f"{self._done:,}; threads of fio that wait for the device: {waiting}"
        )


def _stuck(fio: FioProcess, silence: Silence, waiting: int) -> StuckDevice:
    words = silence.text(waiting)
    error = StuckDevice(
        f"{words[:1].upper()}{words[1:]}",
        remedy="Look at the kernel's log (dmesg), and at what the device stands on.",
    )
    error.has_stuck_ios = fio.is_left
    return error


def _progress(fio: FioProcess, elapsed_ns: int) -> Progress:
    """Return the totals of fio's last report."""
    groups = output.groups(fio.report) if fio.report else []
    return Progress(
        elapsed_ns=elapsed_ns,
        ios=sum(group.ios for group in groups),
        bytes=sum(group.bytes for group in groups),
        errors=sum(counter.total() for counter in fio.failed.values()),
    )


def _hopeless(progress: Progress) -> bool:
    """Return whether a device is gone: fio itself would go on failing for ever."""
    return progress.errors > max(HOPELESS_ERRORS, progress.ios)


def _fatal(report: output.Report, complaints: list[str]) -> str:
    """Return why fio gave up by itself; errors that it counted do not make it give up."""
    if not any(job["error"] and not job["total_err"] for job in report["jobs"]):
        return ""
    return f"fio gave up: {_complaint(complaints)}"


def _elapsed_ns(job: JobFile, groups: list[output.Group]) -> int:
    """Return how long the slowest stream took: its legs ran one after the other."""
    took: Counter[str] = Counter()
    for leg, stream in job.legs:
        took[stream] += max((g.runtime_ns for g in groups if g.leg == leg), default=0)
    return max(took.values(), default=0)


def _refuse_refusals(
    plan: Plan, groups: list[output.Group], failed: Mapping[Direction, Counter[int]]
) -> None:
    """Raise where nothing but EINVAL came back: direct I/O of this block size is refused."""
    numbers = set(failed["read"]) | set(failed["write"])
    if numbers == {errno.EINVAL} and not any(group.ios for group in groups):
        sizes = sorted({placed.stream.block_size_bytes for placed in plan.streams})
        raise DeviceError(
            f"The target refuses direct I/O in blocks of {sizes[0]} B (EINVAL)",
            remedy="Use a block size that is a multiple of what the device addresses.",
        )


def _results(
    folder: Path,
    plan: Plan,
    job: JobFile,
    groups: list[output.Group],
    failed: Mapping[Direction, Counter[int]],
) -> list[OperationResult]:
    """Return what came of every stream and direction the plan asks for."""
    results = []
    for placed in plan.streams:
        stream = placed.stream
        for direction in filter(placed.moves, DIRECTIONS):
            legs = [
                group
                for leg, name in job.legs
                for group in groups
                if (group.leg, group.direction, name) == (leg, direction, stream.name)
            ]
            # fio does not say which job failed: with several streams, the first one answers.
            mine = failed[direction] if placed is _first(plan, direction) else Counter[int]()
            numbers = _series(folder, plan, legs)
            series = output.columns(numbers, mine.total(), plan.interval_ns)
            results.append(output.operation_result(stream.name, legs, mine, series))
    return results


def _first(plan: Plan, direction: Direction) -> StreamPlan | None:
    return next((placed for placed in plan.streams if placed.moves(direction)), None)


def _series(folder: Path, plan: Plan, legs: list[output.Group]) -> output.Series:
    """Return the intervals of a stream's legs, the second one after the first."""
    step_ms = interval_ms(plan)
    series: output.Series = {}
    for leg in legs:
        # fio's logs count from the start of their leg, not of the lap.
        late = 0 if leg is legs[0] else round(legs[0].runtime_ns / (step_ms * NS_PER_MS))
        samples = {
            kind: output.log_samples(_read(folder / f"{leg.leg}_{kind}.log"), step_ms)
            for kind in ("iops", "lat")
        }
        for index, row in output.intervals(leg, samples["iops"], samples["lat"], step_ms).items():
            before = series.get(index + late, (0, 0, 0))
            series[index + late] = (before[0] + row[0], before[1] + row[1], before[2] + row[2])
    return series


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _cursors(plan: Plan, results: list[OperationResult]) -> dict[str, int]:
    """Return where each sequential stream goes on: as far as it moved bytes, round its range."""
    cursors = {}
    for placed in plan.streams:
        stream = placed.stream
        moved = sum(part.moved_bytes for part in results if part.stream == stream.name)
        ahead = (placed.cursor_bytes + moved) % placed.segment_bytes
        cursors[stream.name] = (
            ahead - ahead % stream.block_size_bytes if stream.access == "sequential" else 0
        )
    return cursors
