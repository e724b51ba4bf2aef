"""An emulated drive that is lost in the middle of a run, and what may go on with it after."""

import json

import pytest

from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
from tests.guest.machine import Guest, Ran, Started
from tests.guest.test_qemu_drives import TEIJO_SECONDS, await_steps

pytestmark = pytest.mark.vm

SIZE = 8 << 20
FILE = "/tmp/lost.teijo"
SHORT = (
    "--spec 2.0.2-client --set minute=1s block_sizes=4KiB mixes=100/0,0/100 precondition_times=1"
    " rounds=5 purge=discard watch=off"
)


def begun(guest: Guest, node: str, serial: str) -> Started:
    """Start a run, and return once three of its steps are recorded and another goes on."""
    guest.run(f"rm -f {FILE}*")
    words = f"{SHORT} --destroy {serial} --progress ndjson -o {FILE}"
    started = guest.start(f"teijo run pts.iops {node} {words}")
    await_steps(started, 3)
    return started


def kept(guest: Guest, ended: Ran) -> int:
    """Make sure that a run that lost its drive kept all that it told; return how many steps."""
    events = [json.loads(line) for line in ended.err.splitlines()]
    assert ended.code == events[-1]["code"] == 5, ended.err[-2000:]
    told = sum(event["event"] == "step_done" for event in events)
    assert told >= 3
    said = guest.run(["teijo", "verify", FILE], TEIJO_SECONDS).good()
    assert f"{told} steps" in said
    return told


def resumed(guest: Guest, serial: str) -> Ran:
    return guest.run(f"teijo resume {FILE} --destroy {serial}", TEIJO_SECONDS)


def replug(drive: nvme_tcp.Plugged, serial: str) -> None:
    """Put a drive of this serial in its place, with the memory of the one before."""
    drive.guest.run(f"nvme disconnect -n {drive.subsystem}")
    drive.server.kill("SIGKILL")
    drive.server.wait()
    drive.knobs["serial"] = serial
    drive.server = nvme_tcp.served(drive.guest, drive.knobs)
    drive.connect()


def test_a_run_whose_nvme_controller_is_killed_keeps_all_that_it_told(guest: Guest) -> None:
    one = [{"size_bytes": SIZE}]
    with nvme_tcp.plugged(guest, loss_seconds=3, namespaces=one, serial="LOST") as drive:
        started = begun(guest, drive.node(1), "LOST")
        drive.server.kill("SIGKILL")
        kept(guest, started.wait(TEIJO_SECONDS))
        replug(drive, "LOST")
        ran = resumed(guest, "LOST")
        assert (ran.code, "the run has ended" in ran.err) == (2, True)


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_with_its_own_drive_alone(guest: Guest) -> None:
    one = [{"size_bytes": SIZE}]
    with nvme_tcp.plugged(guest, namespaces=one, serial="MINE") as drive:
        started = begun(guest, drive.node(1), "MINE")
        started.kill("SIGKILL")
        started.wait()
        replug(drive, "ANOTHER")
        ran = resumed(guest, "MINE")
        assert (ran.code, "is not the device this run began on" in ran.err) == (4, True), ran.err
        assert resumed(guest, "ANOTHER").code == 3
        replug(drive, "MINE")
        ran = resumed(guest, "MINE")
        assert ran.code == 0, ran.err
        shown = guest.run(f"teijo report {FILE} --format text -o /tmp/lost", TEIJO_SECONDS)
        shown.good()
        assert "resumed" in guest.run("cat /tmp/lost/*").good()


@pytest.mark.long
def test_a_run_whose_sas_drive_is_killed_keeps_all_that_it_told(guest: Guest) -> None:
    with tcmu.plugged(guest, "sas", serial="LOSTSAS") as drive:
        started = begun(guest, drive.node, "LOSTSAS")
        drive.cut()
        kept(guest, started.wait(TEIJO_SECONDS))
        drive.start()
