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
_BLOCKS = Path("/sys/dev/block")
_LAYERS_MOST: Final = 16


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
    return number if (_BLOCKS / number / "stat").exists() else None


def cache_of(number: str | None) -> str:
    """Return what the kernel takes a device's cache for: "write back" is lost with the power.

    Of "write through" no flush is ever asked for. "" is untold.
    """
    return "" if number is None else _word(_disk_of(number) / "queue" / "write_cache")


def _flushed(number: str) -> str | None:
    """Return the number of the device whose counter has the flushes of this one.

    The kernel counts them at disks: a partition, and what passes them on to one device below it
    (LVM, LUKS), have 0 for ever. None where several are below, or none is ever asked for.
    """
    for _ in range(_LAYERS_MOST):
        disk = _disk_of(number)
        lower = list((disk / "slaves").iterdir()) if (disk / "slaves").is_dir() else []
        if not lower:
            return _word(disk / "dev") or number if cache_of(number) != "write through" else None
        if len(lower) > 1:
            return None
        number = _word(lower[0] / "dev")
    return None


def _disk_of(number: str) -> Path:
    """Return the folder of a device in /sys; of a partition its disk's."""
    place = (_BLOCKS / number).resolve()
    return place.parent if (place / "partition").exists() else place


def _word(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


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


def _counters(number: str) -> list[int]:
    """Return the numbers of a device's `stat`, none where it cannot be read."""
    try:
        with open(f"{_BLOCKS}/{number}/stat", "rb") as counters:  # noqa: PTH123 — each second
            return [int(word) for word in counters.read().split()]
    except (OSError, ValueError):
        return []


def _read(number: str, flushed: str | None) -> _Reading | None:
    values = _counters(number)
    if not values:
        return None
    kinds = {
        READ: (values[0], values[2] * _SECTOR_BYTES, values[3]),
        WRITE: (values[4], values[6] * _SECTOR_BYTES, values[7]),
    }
    below_it = values if flushed == number else _counters(flushed) if flushed else []
    if len(below_it) >= _WITH_FLUSHES:
        kinds[FLUSH] = (below_it[15], 0, below_it[16])
    return _Reading(monotonic_ns(), kinds)


class DiskWatch:
    """Reads the counters once a second while a work runs. Of a directory without a device: none."""

    def __init__(self, number: str | None) -> None:
        """Name the device; nothing is read yet."""
        self._number = number
        self._flushed = None if number is None else _flushed(number)
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
        if self._number is None:
            return
        reading = _read(self._number, self._flushed)
        first = self._readings[0] if self._readings else reading
        if reading is not None and first is not None and reading.kinds.keys() == first.kinds.keys():
            self._readings.append(reading)

    def _watch(self) -> None:
        began_ns, second = self._readings[0].at_ns, 1
        while True:
            left_ns = began_ns + second * NS_PER_S - monotonic_ns()
            if self._over.wait(max(0, left_ns) / NS_PER_S):
                return
            self._look()
            second += 1

    def results(self, elapsed_ns: int) -> tuple[OperationResult, ...]:
        """Return reads, writes and flushes of the device, with what it did in each second.

        No second begins after the work that took `elapsed_ns`, however late a reading came.
        """
        if len(self._readings) < 2:
            return ()
        last = max(0, elapsed_ns - 1) // NS_PER_S
        return tuple(self._result(kind, last) for kind in self._readings[0].kinds)

    def _result(self, kind: str, last: int) -> OperationResult:
        readings = self._readings
        values = np.array([each.kinds[kind] for each in readings], np.int64)
        steps = np.maximum(np.diff(values, axis=0), 0)
        at_ns = np.array([each.at_ns - readings[0].at_ns for each in readings[:-1]], np.int64)
        seconds = np.minimum((at_ns + NS_PER_S // 2) // NS_PER_S, last)
        index, place = np.unique(seconds, return_inverse=True)
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
