"""The machine loses its power in the middle of a run, again and again; the run file is on a disk.

What the guest's kernel had not sent to that disk is lost at each cut, as on a real machine; what
the disk had taken stays. The drive under test is QEMU's own.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.runfile import reader
from teijo.terms.record import StepRecord
from tests.guest import build
from tests.guest.machine import Guest, Hardware, Started, disk
from tests.guest.test_qemu_drives import TEIJO_SECONDS, drive, node_of

pytestmark = [pytest.mark.vm, pytest.mark.long]

CUTS = int(os.environ.get("TEIJO_CUTS", "2"))
"""A cut costs some fifteen seconds; TEIJO_CUTS=30 is the campaign."""
SEED = 14
STEPS_MOST = 3
"""So many steps of one life are told at most before its power is cut."""
ROUNDS = 5 + CUTS * 3 // 10
"""Four steps each: as many as the cuts leave undone, and a few that end the run."""
RESULTS_MIB = 64
OPEN, SEALED = "/results/cut.teijo.open", "/results/cut.teijo"
RUN = (
    "teijo run pts.iops {} --spec 2.0.2-client --set minute=1s block_sizes=4KiB,64KiB"
    f" mixes=100/0,0/100 precondition_times=1 rounds={ROUNDS} watch=1s -o /results/cut.teijo"
)
RESUME = f"teijo resume {SEALED}"


def told(started: Started, timeout: float) -> tuple[list[int], bool]:
    """Return the numbers of the steps that it said are done within so many seconds, and whether
    it has ended.
    """
    said, ended = started.look(timeout)
    events = [json.loads(line) for line in said.err.splitlines() if line.endswith("}")]
    assert not ended or said.code == 0, said.err[-3000:]
    return [event["seq"] for event in events if event["event"] == "step_done"], ended


def live(guest: Guest, node: str, command: str, steps: int, rest: float) -> tuple[list[int], bool]:
    """Let a life measure until it told so many steps, and a moment more; return what it told."""
    words = f"{command.format(node)} --destroy DUT --progress ndjson"
    # Of a life's single command a start is cheaper than to have Teijo loaded.
    started = guest.start(words, fresh=True)
    for _ in range(TEIJO_SECONDS):
        done, ended = told(started, timeout=1 if steps else 0)
        if ended or len(done) >= steps:
            return told(started, timeout=rest)
    raise AssertionError(f"not {steps} steps: {started.look()[0].err[-3000:]}")


def recorded(guest: Guest, folder: Path) -> tuple[StepRecord, ...]:
    """Return the answered steps of the run file as the guest has it; no file has none."""
    if guest.run(["test", "-e", OPEN]).code:
        return ()
    for end in ("", "-wal"):
        path = folder / f"cut.teijo.open{end}"
        path.unlink(missing_ok=True)
        if not guest.run(["test", "-e", f"{OPEN}{end}"]).code:
            path.write_bytes(guest.get(f"{OPEN}{end}"))
    reader.prove(folder / "cut.teijo.open")
    steps = reader.read(folder / "cut.teijo.open").steps
    return tuple(each for each in steps if each.answer is not None)


def mounted(guest: Guest) -> str:
    """Mount the disk with the results; return the drive under test."""
    guest.run("mkdir -p /results && mount -t ext4 /dev/vdc /results").good()
    return node_of(guest, "DUT")


@pytest.mark.timeout(300 + 60 * CUTS)
def test_power_cuts_in_mid_run_lose_no_step_that_was_told(
    new_guest: Callable[[Hardware], Guest], tmp_path: Path
) -> None:
    results = tmp_path / "results.img"
    build.call("mke2fs", "-q", "-t", "ext4", str(results), f"{RESULTS_MIB}M")
    plugged = ("-device", "nvme,drive=file-DUT,id=dut,serial=DUT")
    devices = (*drive(tmp_path, "DUT"), *plugged, *disk(results, "results"))
    guest, draw = new_guest(Hardware(devices=devices)), random.Random(SEED)
    kept: tuple[StepRecord, ...] = ()
    lost, counted = 0, 0
    for cut in range(CUTS):
        node = mounted(guest)
        command = RESUME if kept else RUN
        done, ended = live(guest, node, command, draw.randint(0, STEPS_MOST), draw.random())
        assert not ended
        guest.cut()
        guest.boot()
        mounted(guest)
        now = recorded(guest, tmp_path)
        assert now[: len(kept)] == kept
        lost += len({*done} - {each.seq for each in now})
        counted += len(done)
        kept = now
        print(f"cut {cut + 1}: {len(done)} steps told, {len(now)} in the file")
        guest.run("umount /results").good()
    print(f"{CUTS} power cuts, {counted} steps told before them, {lost} lost")
    assert lost == 0
    assert counted >= CUTS // 2 > 0
    node = mounted(guest)
    done, ended = live(guest, node, RESUME, 1 << 30, 0)
    assert ended
    verified = guest.run(["teijo", "verify", SEALED], TEIJO_SECONDS, fresh=True).good()
    assert f"{len(kept) + len(done)} steps" in verified
