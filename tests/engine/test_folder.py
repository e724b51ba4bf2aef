"""The engine works on files below a descriptor, tells how far it is, and removes what it made."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teijo.engine.folder import Folder
from teijo.engine.session import Progress
from teijo.errors import PlanError
from teijo.terms.work import FileIo, Files


def always(now: Progress) -> bool:
    del now
    return True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    one = Folder(descriptor)
    os.close(descriptor)  # it has its own
    yield one
    one.clear()
    one.close()
    assert not list(tmp_path.iterdir())


def test_the_time_series_adds_up_to_the_result_and_is_told_while_it_goes_on(
    folder: Folder,
) -> None:
    looks: list[Progress] = []

    def look(now: Progress) -> bool:
        looks.append(now)
        return now.elapsed_ns < 1_300_000_000

    bytewise = FileIo(operation="write", file_bytes=1 << 40, chunk_bytes=1, fresh=True)
    done = folder.run(bytewise, 1, look)
    written = done.results[0]
    series = written.intervals
    assert series is not None
    assert int(series.ios.sum()) == written.count == written.bytes == written.timed.count
    assert int(series.latency_ns_sum.sum()) == written.timed.sum_ns
    assert list(series.index) == list(range(len(series.index)))
    finished = [part for now in looks for part in now.finished]
    assert [(stream, name) for stream, name, _ in finished] == [("files", "write")]
    assert np.array_equal(finished[0][2].ios, series.ios[:1])
    assert int(done.detail["cpu_system_ns"]) > 0


def test_what_has_no_meaning_is_refused(folder: Folder) -> None:
    whole = FileIo(operation="write", file_bytes=1 << 20, chunk_bytes=4096, fresh=True)
    for wrong in (
        replace(whole, chunk_bytes=1 << 21),
        replace(whole, workers=2000),
        replace(whole, style="mmap", operation="rewrite"),
        replace(whole, style="stdio", direct=True),
        replace(whole, operation="random-read"),
        replace(whole, operation="seek", calls=5, timed_calls=2),
        Files(operation="create", count=1, directories=1_000_000),
        Files(operation="create", count=1, order="listed"),
        Files(operation="stat", count=1),
    ):
        with pytest.raises(PlanError, match="plan cannot be run"):
            folder.run(wrong, 1, always)
