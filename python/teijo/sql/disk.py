"""What the block device below a directory did meanwhile, by the kernel's own counters."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns
from typing import Final

import numpy as np

from teijo.terms.histogram import EMPTY, Histogram, histogram_of
from teijo.terms.result import Intervals, OperationResult
from teijo.units import NS_PER_MS, NS_PER_S

STREAM: Final = "disk"
READ: Final = "disk-read"
WRITE: Final = "disk-write"
FLUSH: Final = "disk-flush"
_SECTOR_BYTES: Final = 512
_WITH_FLUSHES: Final = 17
"""Numbers in `stat` since Linux 5.5; before, flushes were not counted."""


@dataclass(frozen=True)
class _Reading:
    """Counters at one time: (count, bytes, ticks in ms) of each kind."""

    at_ns: int
    kinds: Mapping[str, tuple[int, int, int]]


def below(folder: Path) -> str | None:
    """Return the number "major:minor" of the block device below a folder; None where there is none.

    A file system over several devices, in memory or on a network has a number without a device.
    """
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    return number if Path("/sys/dev/block", number, "stat").exists() else None


def mount_of(folder: Path) -> str:
    """Return how a folder's file system is mounted: its type and options; "" if untold."""
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        own, _, more = line.partition(" - ")
        fields, source = own.split(" "), more.split(" ")
        if len(fields) > 5 and fields[2] == number and len(source) > 2:
            return f"{source[0]} {fields[5]},{source[2]}"
    return ""


def _read(number: str) -> _Reading | None:
    try:
        with open(f"/sys/dev/block/{number}/stat", "rb") as counters:  # noqa: PTH123 — each second
            values = [int(word) for word in counters.read().split()]
    except (OSError, ValueError):
        return None
    kinds = {
        READ: (values[0], values[2] * _SECTOR_BYTES, values[3]),
        WRITE: (values[4], values[6] * _SECTOR_BYTES, values[7]),
    }
    if len(values) >= _WITH_FLUSHES:
        kinds[FLUSH] = (values[15], 0, values[16])
    return _Reading(monotonic_ns(), kinds)


class DiskWatch:
    """Reads the counters once a second while a work runs. Of a directory without a device: none."""

    def __init__(self, number: str | None) -> None:
        """Name the device; nothing is read yet."""
        self._number = number
        self._readings: list[_Reading] = []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "DiskWatch":
        """Begin: the seconds count from now."""
        self._look()
        if self._readings:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Read for the last time."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._look()

    def _look(self) -> None:
        if self._number is not None and (reading := _read(self._number)) is not None:
            self._readings.append(reading)

    def _watch(self) -> None:
        began_ns, second = self._readings[0].at_ns, 1
        while True:
            left_ns = began_ns + second * NS_PER_S - monotonic_ns()
            if self._over.wait(max(0, left_ns) / NS_PER_S):
                return
            self._look()
            second += 1

    @property
    def results(self) -> tuple[OperationResult, ...]:
        """Reads, writes and flushes of the device, with what it did in each second."""
        if len(self._readings) < 2:
            return ()
        return tuple(self._result(kind) for kind in self._readings[0].kinds)

    def _result(self, kind: str) -> OperationResult:
        readings = self._readings
        values = np.array([each.kinds[kind] for each in readings], np.int64)
        steps = np.maximum(np.diff(values, axis=0), 0)
        at_ns = np.array([each.at_ns - readings[0].at_ns for each in readings[:-1]], np.int64)
        index, place = np.unique((at_ns + NS_PER_S // 2) // NS_PER_S, return_inverse=True)
        sums = np.zeros((len(index), 3), np.int64)
        np.add.at(sums, place, steps)
        count, moved, ticks_ms = (int(value) for value in steps.sum(axis=0))
        nothing = np.zeros(len(index), np.int64)
        # The kernel has one sum of times, in ms: each I/O is given the mean of the whole step.
        mean_ns = ticks_ms * NS_PER_MS // count if count else 0
        each_ns = np.where(sums[:, 0] > 0, mean_ns, 0)
        return OperationResult(
            stream=STREAM,
            operation=kind,
            count=count,
            bytes=None if kind == FLUSH else moved,
            latency=_all_alike(count, mean_ns),
            intervals=Intervals(
                length_ns=NS_PER_S,
                index=index,
                ios=sums[:, 0],
                bytes=sums[:, 1],
                errors=nothing,
                latency_ns_sum=sums[:, 0] * mean_ns,
                latency_ns_min=each_ns,
                latency_ns_max=each_ns,
            ),
        )


def _all_alike(count: int, mean_ns: int) -> Histogram:
    """Return a histogram of which only the mean is known."""
    if not count:
        return EMPTY
    one = histogram_of(np.array([mean_ns], np.int64))
    return Histogram((one.values_ns, one.counts * count), mean_ns * count, mean_ns, mean_ns)
