"""A target that stands still for a second under an open loop: who was late, and who was slow.

Nothing here depends on the speed of the host: arrivals are due by the run's own clock, and none
that is due in the standstill can end before it does.
"""

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from numpy.typing import NDArray

from teijo.engine import Progress
from teijo.terms.result import OperationResult
from tests.engine.plans import LONG_NS, SECOND_NS, for_time, opened, stream, written

RATE = 1000
DEPTH = 4
SIZE = 16 << 20
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878


@pytest.fixture
def file_system(loop_device: Path, tmp_path: Path, need) -> Iterator[Path]:
    """Give an ext4 file system on a loop device, mounted; it can be frozen."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    subprocess.run([need("mkfs.ext4"), "-q", "-F", loop_device], check=True, capture_output=True)
    made = subprocess.run(["mount", loop_device, folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"needs to mount a file system: {made.stderr.strip()}")
    yield folder
    for _ in range(100):  # the kernel lets go of a ring's file a little after its process does
        if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"{folder} cannot be unmounted")


def tell(folder: Path, what: int) -> None:
    """Freeze or thaw a file system at once; a program that does it would have to be started."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, what, 0)
    finally:
        os.close(descriptor)


class Freezer:
    """Freezes a file system for a second of the run; ends the run when all due by then are done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._frozen = False
        self.began_ns = 0
        self.ended_ns = 0

    def goes_on(self, look: Progress) -> bool:
        if look.ios < 100:
            return True
        if not self._frozen and not self.ended_ns:
            tell(self._folder, FIFREEZE)
            self._frozen = True
        elif not self.began_ns:
            self.began_ns = look.elapsed_ns
        elif self._frozen and look.elapsed_ns >= self.began_ns + SECOND_NS:
            self.ended_ns = look.elapsed_ns
            self.thaw()
        return self._frozen or look.ios < RATE * self.ended_ns // SECOND_NS

    def thaw(self) -> None:
        if self._frozen:
            tell(self._folder, FITHAW)
            self._frozen = False


def slow(values_ns: NDArray, counts: NDArray, limit_ns: int) -> int:
    """Return how many took so long or longer."""
    return int(counts[values_ns >= limit_ns].sum())


def stalled(folder: Path) -> tuple[OperationResult, Freezer]:
    """Write at a fixed rate over the standstill."""
    freezer = Freezer(folder)
    writes = stream(SIZE, read_percent=0, queue_depth=DEPTH, ios_per_second=float(RATE))
    with opened(written(folder / "target", SIZE)) as session:
        try:
            lap = session.run(for_time(LONG_NS, writes), freezer.goes_on)
        finally:
            freezer.thaw()
    (direction,) = lap.result.results
    return direction, freezer


def test_a_stall_is_seen_by_all_that_were_due_in_it_not_only_by_who_waited(
    file_system: Path,
) -> None:
    writes, freezer = stalled(file_system)
    frozen_ns = freezer.ended_ns - freezer.began_ns
    due = RATE * frozen_ns // SECOND_NS
    assert due >= RATE
    assert writes.response is not None
    late = slow(writes.response.values_ns, writes.response.counts, frozen_ns // 2)
    stuck = slow(writes.latency.values_ns, writes.latency.counts, frozen_ns // 2)
    assert late >= 0.45 * due, "who was due in the first half of it is late by the other half"
    assert 0 < stuck <= late / 10, "service hides what response shows: only who was in flight"
    assert writes.backlog_max is not None
    assert writes.backlog_max >= due - DEPTH - 1
