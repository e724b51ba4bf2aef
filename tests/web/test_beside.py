"""A run with a page of its own: it is there from the first moment, and ends after the run."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from teijo.cli import app
from teijo.cli import page as cli_page
from teijo.web import beside
from tests.house.tree import PACKAGE

COMMAND = "from teijo.cli import main; main()"
LONG = ("rw=randread", "bs=4KiB", "seconds=1h", "--set", "holes=allow")
SHORT = ("run", "workload", "sim:slc-a?capacity=1GiB", "seconds=1", "--report", "none", "--serve")


@pytest.fixture
def running(scratch: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Give a run that goes on until it is stopped, and the address of its page."""
    target = scratch / "target.img"
    with target.open("wb") as file:
        file.truncate(1 << 24)
    process = subprocess.Popen(
        [
            sys.executable, "-c", COMMAND, "run", "workload", target, *LONG,
            "-o", scratch / "a", "--report", "none", "--progress", "ndjson", "--serve",
        ],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent), "TEIJO_BROWSER": "none"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    with process:
        told = (json.loads(line) for line in process.stderr)
        yield process, next(each["address"] for each in told if each["event"] == "page")
        process.kill()
        process.communicate()


def asked(address: str, path: str = "") -> tuple[int, str]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", path or parts.path)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def wait_for_its_end(address: str) -> None:
    """Return when nobody listens there any more."""
    parts = urlsplit(address)
    assert parts.hostname
    assert parts.port
    while True:
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=60) as client:
                client.recv(1)
        except ConnectionResetError:
            continue
        except ConnectionRefusedError:
            return


def test_its_page_is_there_from_the_first_moment_and_ends_after_it(
    running: tuple[subprocess.Popen[str], str],
) -> None:
    process, address = running
    status, text = asked(address)
    assert status == 200
    assert 'data-ending="running"' in text
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 7
    while 'data-ending="running"' in (text := asked(address)[1]):  # it was looked at just before
        threading.Event().wait(0.1)
    assert 'data-ending="interrupted"' in text
    wait_for_its_end(address)


def test_a_kill_of_the_run_ends_its_page(running: tuple[subprocess.Popen[str], str]) -> None:
    process, address = running
    assert asked(address)[0] == 200
    process.kill()
    wait_for_its_end(address)


def said_of(arguments: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as leaving:
        app.main([*arguments, "-o", str(folder / "a")])
    assert leaving.value.code == 0
    assert (folder / "a.teijo").exists()
    return capfd.readouterr().err


def test_without_its_packages_the_run_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_page, "find_spec", lambda name: None)
    assert "No page for this run, which goes on: jinja2 is missing" in said_of(
        SHORT, tmp_path, capfd
    )


def test_without_a_port_or_a_process_the_run_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(cli_page, "_started", none)
    assert "which goes on: Address already in use" in said_of(SHORT, tmp_path, capfd)


def test_a_server_that_cannot_begin_is_told_of_and_the_run_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = cli_page._started

    def broken(listening: socket.socket) -> subprocess.Popen[bytes]:
        child = started(listening)
        child.kill()
        child.wait()
        return child

    monkeypatch.setattr(cli_page, "_started", broken)
    assert "which goes on: its server has ended" in said_of(SHORT, tmp_path, capfd)


def test_a_program_reads_where_the_page_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEIJO_BROWSER", "none")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    lines = said_of((*SHORT, "--progress", "ndjson"), tmp_path, capfd).splitlines()
    (told,) = [each for each in map(json.loads, lines) if each["event"] == "page"]
    wait_for_its_end(told["address"])


def test_a_run_that_is_refused_has_no_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        app.main(["run", "workload", "sim:nothing", "-o", str(tmp_path / "a"), "--serve"])
    assert "browser" not in capfd.readouterr().err


def test_a_run_is_shown_before_the_index_knows_of_it(simulated: Path) -> None:
    serving = beside.serving_for(simulated.with_name(f"{simulated.name}.open"), 1)
    assert serving.begun == simulated.name
    assert not serving.token
    assert serving.host == "127.0.0.1"
    from teijo.runfile.shelf import id_of
    from teijo.web.desk import Desk

    desk = Desk(serving)
    assert desk.path_of(id_of(simulated.name)) == simulated


@pytest.mark.parametrize(
    ("environment", "platform", "is_root", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", False, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", False, True),
        ({}, "darwin", False, True),
        ({}, "linux", False, False),
        ({"DISPLAY": ":0", "TEIJO_BROWSER": "none"}, "linux", False, False),
        ({"DISPLAY": ":0"}, "linux", True, False),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, "linux", False, False),
    ],
)
def test_a_browser_is_opened_before_a_screen_alone(
    environment: dict[str, str], platform: str, is_root: bool, opens: bool
) -> None:
    found = beside.may_open_a_browser(environment, platform, is_root=is_root)
    assert found is opens
