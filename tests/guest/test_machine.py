"""The guest itself: it boots Debian's kernel, has the witnesses, and runs Teijo as it is here."""

import json
from typing import Any

import pytest

from tests.guest.machine import Guest, GuestError

pytestmark = pytest.mark.vm

WITNESSES = ("nvme", "hdparm", "smartctl", "sg_inq", "sdparm", "wipefs", "modprobe")
MODULES = ("nvme-tcp", "target_core_user", "tcm_loop", "uio", "scsi_debug", "null_blk", "ahci")


def test_the_guest_has_the_modules_and_the_witnesses(guest: Guest) -> None:
    for module in MODULES:
        guest.run(["modprobe", "--dry-run", module]).good()
    for program in WITNESSES:
        guest.run(["/bin/bash", "-c", f"command -v {program}"]).good()


def test_teijo_is_here_with_its_engine(guest: Guest) -> None:
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


STATE = ["python3", "-m", "tests.guest.process_state", "one", "--two"]
SECONDS = 180


def state(guest: Guest, *, fresh: bool) -> tuple[dict[str, Any], float]:
    """Return what a process was given, without the number of its files, and what it has drawn."""
    started = guest.start(STATE, environment={"TOLD": "here", "TZ": "Asia/Tokyo"}, fresh=fresh)
    said = json.loads(started.wait(SECONDS).good().replace(f"/{started.number}.", "/N."))
    return said["told"], said["drawn"]


@pytest.mark.long
def test_a_forked_python_was_given_what_a_started_one_is_and_draws_its_own_numbers(
    guest: Guest,
) -> None:
    started, forked, again = (state(guest, fresh=fresh) for fresh in (True, False, False))
    assert forked[0] == started[0]
    assert set(started[0]["files"]) == {"0", "1", "2"}
    assert len({started[1], forked[1], again[1]}) == 3


@pytest.mark.long
@pytest.mark.parametrize(("words", "code"), [("devices --json", 0), ("no-such-verb", 2)])
def test_a_forked_teijo_says_and_ends_as_a_started_one(guest: Guest, words: str, code: int) -> None:
    fresh, forked = (guest.run(f"teijo {words}", SECONDS, fresh=each) for each in (True, False))
    assert forked == fresh
    assert fresh.code == code
    assert "vda" in fresh.out or code


def test_what_is_piped_into_a_forked_program_reaches_it_and_its_errors_come_back(
    guest: Guest,
) -> None:
    heard = guest.run("python3 -m json.tool", SECONDS, stdin=b'{"a": 1}')
    assert json.loads(heard.good()) == {"a": 1}
    missing = guest.run("python3 -m tests.guest.no_such_module", SECONDS)
    assert (missing.code, "No module named tests.guest.no_such_module" in missing.err) == (1, True)


def test_a_forked_program_is_killed_as_a_started_one_and_leaves_no_zombie(guest: Guest) -> None:
    for name, code in (("SIGKILL", -9), ("SIGTERM", -15)):
        server = guest.start("python3 -m http.server 8099")
        assert server.look(timeout=0.5)[1] is False
        server.kill(name)
        assert server.wait().code == code
        assert guest.run(["test", "-e", f"/proc/{server.pid}"]).code == 1


@pytest.mark.long
def test_the_python_that_forks_is_begun_anew_where_it_has_ended(guest: Guest) -> None:
    assert guest.run("teijo --version", SECONDS).code == 0
    parent = guest.run("pgrep -f tests.guest.forking").good().split()[0]
    under_way = guest.start("python3 -m http.server 8099")
    guest.run(["kill", "-9", parent]).good()
    with pytest.raises(GuestError, match="the Python that forks has ended"):
        under_way.look(timeout=30)
    guest.run(["kill", str(under_way.pid)]).good()
    assert guest.run("teijo --version", SECONDS).code == 0
    assert guest.run("pgrep -f tests.guest.forking").good().split()[0] != parent
