"""`teijo purge` of a drive of two namespaces on a real kernel: consent, a kill, a power cut."""

import json

import pytest

from tests.guest.machine import Guest
from tests.guest.test_nvme_tcp import AWAIT, LOOKS, TWO, Plugged, plugged, served
from tests.guest.test_qemu_drives import TEIJO_SECONDS

pytestmark = pytest.mark.vm

SANITIZE = 0x84
METHOD = "nvme-sanitize-block"


def sanitizes(drive: Plugged) -> int:
    return [one.get("opcode") for one in drive.log()].count(SANITIZE)


def test_a_sanitize_wants_both_namespaces_given_up_and_leaves_zeros_in_both(guest: Guest) -> None:
    with plugged(guest, serial="BOTH", duration=2.0) as drive:
        for number in (1, 2):
            drive.fill(number)
        words = f"teijo purge {drive.node(1)} --method {METHOD} --destroy"
        refused = guest.run(f"{words} BOTH-ns1", TEIJO_SECONDS)
        assert (refused.code, "BOTH-ns2" in refused.err, sanitizes(drive)) == (3, True, 0)
        assert drive.not_zero(2) > TWO[1]["size_bytes"] * 0.99
        done = guest.run(f"{words} BOTH-ns1,BOTH-ns2 --json", TEIJO_SECONDS)
        told = json.loads(done.good())
        assert (told["method"], told["stamps_gone"], told["zeros"]) == (METHOD, 64, 64)
        assert "Global Data Erased" in told["certificate"]
        assert [drive.not_zero(number) for number in (1, 2)] == [0, 0]
        assert sanitizes(drive) == 1


def test_a_sanitize_outlives_a_kill_and_a_power_cut_and_is_never_sent_again(guest: Guest) -> None:
    with plugged(guest, serial="KEPT", duration=90.0) as drive:
        words = f"--method {METHOD} --destroy KEPT-ns1,KEPT-ns2"
        started = guest.start(f"teijo purge {drive.node(1)} {words}")
        for _ in range(LOOKS):
            started.look(timeout=1)
            if sanitizes(drive):
                break
        started.kill("SIGKILL")
        assert started.wait().code == -9
        told = json.loads(guest.run(f"teijo device {drive.node(1)} --json", TEIJO_SECONDS).good())
        first = told["unfinished"][0]
        assert (first["kind"], first["refuses"], 0 < first["percent"] < 100) == (
            "sanitize", True, True,
        )  # fmt: skip
        small = "--set rw=randwrite bs=4KiB seconds=1 -o /tmp/kept.teijo"
        run = f"teijo run workload {drive.node(1)} --destroy KEPT-ns1 {small}"
        refused = guest.run(run, TEIJO_SECONDS)
        assert (refused.code, "sanitize" in refused.err) == (5, True), refused.err
        assert guest.run("ls /tmp/kept.teijo*").code == 2
        drive.server.kill("SIGKILL")
        assert drive.server.wait().code == -9
        drive.server = served(guest, drive.knobs)
        state = f"/sys/class/nvme/{drive.name}/state"
        guest.run(AWAIT.format(f"nvme smart-log {drive.node()} && grep -qx live {state}")).good()
        again = guest.run(f"teijo purge {drive.node(1)} {words}", TEIJO_SECONDS)
        assert again.code == 5, again.err
        assert drive.await_sanitized() == (1, True, 0xFFFF)
        shown = guest.run(f"teijo purge {drive.node(1)} --status", TEIJO_SECONDS).good()
        assert "its last sanitize: completed" in shown
        ended = guest.run(f"teijo purge {drive.node(1)} --finish", TEIJO_SECONDS)
        assert ended.code == 0, ended.err
        assert [drive.not_zero(number) for number in (1, 2)] == [0, 0]
        assert sanitizes(drive) == 1
