"""The guest itself: it boots Debian's kernel, has the witnesses, and runs Teijo as it is here."""

import pytest

from tests.guest.machine import Guest

pytestmark = pytest.mark.vm

WITNESSES = ("nvme", "hdparm", "smartctl", "sg_inq", "sdparm", "wipefs", "modprobe")
MODULES = ("nvme-tcp", "target_core_user", "tcm_loop", "uio", "scsi_debug", "null_blk", "ahci")


def test_the_guest_has_the_modules_and_the_witnesses(guest: Guest) -> None:
    for module in MODULES:
        guest.run(["modprobe", "--dry-run", module]).good()
    for program in WITNESSES:
        guest.run(["/bin/bash", "-c", f"command -v {program}"]).good()


def test_teijo_runs_in_the_guest_with_its_engine(guest: Guest) -> None:
    listed = guest.run(["teijo", "devices", "--json"], timeout=120)
    assert "vda" in listed.good()
    engine = guest.run(
        ["python3", "-c", "from teijo.engine import _native; print(_native.__file__)"], timeout=120
    )
    assert engine.good().strip().startswith("/teijo/")


def test_what_a_program_says_comes_back_with_its_exit_code(guest: Guest) -> None:
    code, out, err = guest.run("cat; echo spoken >&2; exit 7", stdin=b"heard")
    assert (code, out, err) == (7, "heard", "spoken\n")


def test_files_go_in_and_come_back_whole(guest: Guest) -> None:
    content = bytes(range(256)) * 4096
    guest.put("/tmp/there/content", content)
    assert guest.get("/tmp/there/content") == content
    assert guest.run(["stat", "-c", "%s", "/tmp/there/content"]).good() == f"{len(content)}\n"
    guest.run(["rm", "-r", "/tmp/there"]).good()


def test_a_program_under_way_can_be_looked_at_and_killed(guest: Guest) -> None:
    started = guest.start("echo begun; sleep 3600")
    said, ended = started.look(timeout=1)
    assert (said.out, ended) == ("begun\n", False)
    started.kill("SIGKILL")
    assert started.wait().code == -9
