"""A target that stands still for a second under an open loop: who was late, and who was slow."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.runner.events import Event, Progress
from teijo.units import NS_PER_S

RATE = 1000
SECONDS = 4


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


class Freezer:
    """Freezes a file system for a second, once the run is a second old."""

    def __init__(self, folder: Path, fsfreeze: str) -> None:
        self._folder = folder
        self._fsfreeze = fsfreeze
        self._thread: threading.Thread | None = None
        self.frozen_ns = 0

    def observe(self, event: Event) -> None:
        if self._thread is None and isinstance(event, Progress) and event.elapsed_ns > NS_PER_S:
            self._thread = threading.Thread(target=self._freeze)
            self._thread.start()

    def _freeze(self) -> None:
        subprocess.run([self._fsfreeze, "--freeze", self._folder], check=True)
        began_ns = time.monotonic_ns()
        try:
            time.sleep(1)
        finally:
            self.frozen_ns = time.monotonic_ns() - began_ns
            subprocess.run([self._fsfreeze, "--unfreeze", self._folder], check=True)

    def join(self) -> None:
        assert self._thread is not None, "the run was too short to be frozen"
        self._thread.join()


@pytest.fixture
def stalled(file_system: Path, tmp_path: Path, need) -> tuple[dict[str, Any], Freezer]:
    """Run the open loop over the stall; give the export, and how long the stall was."""
    freezer = Freezer(file_system, need("fsfreeze"))
    run = api.run(
        "workload",
        f"{file_system}/target?size=16MiB",
        output=tmp_path / "run",
        settings={"rw": "randwrite", "qd": "4", "rate": str(RATE), "seconds": str(SECONDS)},
        observer=freezer.observe,
    )
    freezer.join()
    return json.loads(api.export(run.path, to="json")), freezer


def test_a_stall_is_seen_by_all_that_were_due_in_it_not_only_by_who_waited(stalled) -> None:
    content, freezer = stalled
    (step,) = content["steps"]
    (writes,) = step["results"]
    service, response = writes["latency_ns"], writes["response_ns"]
    assert response["p99"] > 20 * service["p99"], "service hides what response shows"
    assert response["p99"] > 0.8 * freezer.frozen_ns, "a hundredth was late by most of the stall"
    assert service["max"] > 0.9 * freezer.frozen_ns, "those in flight were stuck in it"
    assert writes["backlog_max"] > 0.5 * RATE * freezer.frozen_ns / NS_PER_S
    found = {one["name"]: one["value"] for one in content["findings"]["scalars"]}
    assert found["response p99"] > 20 * found["latency p99"]


def test_what_was_caught_up_with_is_a_schedule_kept(stalled) -> None:
    content, _ = stalled
    (step,) = content["steps"]
    assert step["results"][0]["ios"] == pytest.approx(RATE * SECONDS, rel=0.01)
    assert "schedule not kept" not in step["remarks"]
