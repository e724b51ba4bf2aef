"""QEMU's own NVMe drive, pulled out in the middle of a run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.guest.machine import Guest, Hardware, Started

pytestmark = [pytest.mark.vm, pytest.mark.long]

SIZE = 64 << 20
TEIJO_SECONDS = 240
NODE = "basename $(dirname $(dirname $(grep -l {} /sys/block/nvme*n1/device/serial)))"
LOOKS = 200


def drive(folder: Path, serial: str) -> tuple[str, ...]:
    """Return the words for the file under a drive."""
    image = folder / f"{serial}.img"
    with image.open("wb") as file:
        file.truncate(SIZE)
    return ("-drive", f"file={image},if=none,id=file-{serial},format=raw")


def node_of(guest: Guest, serial: str) -> str:
    return f"/dev/{guest.run(NODE.format(serial)).good().strip()}"


def await_steps(started: Started, count: int) -> None:
    """Wait until a run has recorded so many steps and has begun another."""
    for _ in range(LOOKS):
        said, ended = started.look(timeout=1)
        assert not ended, said.err[-3000:]
        events = [json.loads(line) for line in said.err.splitlines() if line.endswith("}")]
        names = [event["event"] for event in events]
        if names.count("step_done") >= count and names[-1] == "progress":
            return
    raise AssertionError(f"not {count} steps: {said.err[-3000:]}")


def test_a_drive_that_is_pulled_out_ends_the_run_and_what_was_measured_is_kept(
    new_guest: Callable[[Hardware], Guest], tmp_path: Path
) -> None:
    port = ("-device", "pcie-root-port,id=rp1,slot=1")
    plugged = ("-device", "nvme,drive=file-PLUG,id=dut,serial=PLUG,bus=rp1")
    guest = new_guest(Hardware(devices=(*port, *drive(tmp_path, "PLUG"), *plugged)))
    node = node_of(guest, "PLUG")
    started = guest.start(
        f"teijo run pts.iops {node} --spec 2.0.2-client --set minute=1s --destroy PLUG"
        " --progress ndjson -o /tmp/pulled.teijo",
        fresh=True,
    )
    await_steps(started, 4)
    guest.monitor.do("device_del", id="dut")
    guest.monitor.await_event("DEVICE_DELETED", device="dut")
    code, _, said = started.wait(TEIJO_SECONDS)
    events = [json.loads(line) for line in said.splitlines()]
    assert code == 5
    assert events[-1]["code"] == 5
    assert "gone" in events[-1]["message"]
    assert guest.run(["test", "-e", node]).code == 1
    recorded = sum(event["event"] == "step_done" for event in events)
    assert recorded >= 5
    verified = guest.run(["teijo", "verify", "/tmp/pulled.teijo"], TEIJO_SECONDS, fresh=True)
    assert f"{recorded} steps" in verified.good()
    reported = guest.run(
        ["teijo", "report", "/tmp/pulled.teijo", "--format", "text", "-o", "/tmp/pages"],
        TEIJO_SECONDS,
        fresh=True,
    )
    reported.good()
    assert "PLUG" in guest.run("cat /tmp/pages/*").good()
