"""A server at a TCP address: used with its password, told to nobody; every failure is one error."""

import contextlib
import gc
import os
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo import api
from teijo.cli import options
from teijo.errors import DeviceError, HostError, PlanError, UsageError
from teijo.outside import secret
from teijo.runner.events import StepDone
from teijo.sql import server
from teijo.sql.driver import within
from teijo.sql.server import open_database
from teijo.terms.work import Database

# PyMySQL leaves the socket of a connection that fails to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
WORD = "hunter2-S3cret"
SMALL = {"small": "on", "tests": "create"}


@pytest.fixture(autouse=True)
def no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know the password of another."""
    monkeypatch.setattr(secret, "_known", {})
    monkeypatch.delenv(secret.PASSWORD, raising=False)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class Real:
    """A server of somebody else's on TCP: `boss` may do all, `guest` may make no table."""

    scheme: str
    port: int
    process: subprocess.Popen[bytes]

    def url(self, user: str = "boss", password: str = "") -> str:
        colon = f":{password}" if password else ""
        return f"{self.scheme}://{user}{colon}@127.0.0.1:{self.port}/theirs"


def program_of(name: str) -> str:
    found = server._postgres(name) or server._program(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def as_user(name: str, home: Path) -> dict[str, object]:
    user = server._user(name)
    if user is None:
        return {}
    os.chown(home, *user)
    return {"user": user[0], "group": user[1], "extra_groups": []}


def postgres(home: Path) -> Real:
    port, who = free_port(), as_user("postgres", home)
    (home / "word").write_text(WORD)
    (home / "word").chmod(0o644)
    data = home / "data"
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": home, **who}
    subprocess.run(
        [program_of("initdb"), "-D", data, "-U", "boss", "-A", "scram-sha-256",
         f"--pwfile={home}/word", "--no-sync"],
        check=True, **quiet,
    )  # fmt: skip
    texts = ("create database theirs", f"create user guest password '{WORD}'")
    subprocess.run(
        [program_of("postgres"), "--single", "-D", data, "postgres"],
        input="\n".join(texts).encode(), check=True,
        **{key: value for key, value in quiet.items() if key != "stdin"},
    )  # fmt: skip
    started = subprocess.Popen(
        [program_of("postgres"), "-D", data, "-c", f"port={port}", "-c", "fsync=off", "-c",
         "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={home}"],
        stderr=subprocess.DEVNULL, **quiet,
    )  # fmt: skip
    return Real("postgresql", port, started)


def mariadb(home: Path, *more: str) -> Real:
    port, who = free_port(), as_user("mysql", home)
    data, init = home / "data", home / "init"
    init.write_text(
        f"create database theirs; create user boss@'127.0.0.1' identified by '{WORD}';"
        f"grant all on theirs.* to boss@'127.0.0.1';"
        f"create user guest@'127.0.0.1' identified by '{WORD}';"
        "grant select on theirs.* to guest@'127.0.0.1';".replace(";", ";\n")
    )
    init.chmod(0o644)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
             "stderr": subprocess.DEVNULL, "cwd": home, **who}  # fmt: skip
    subprocess.run(
        [program_of("mariadb-install-db"), "--no-defaults", f"--datadir={data}",
         "--skip-test-db", "--auth-root-authentication-method=normal"],
        check=True, **quiet,
    )  # fmt: skip
    started = subprocess.Popen(
        [program_of("mariadbd"), "--no-defaults", f"--datadir={data}", f"--port={port}",
         "--bind-address=127.0.0.1", f"--socket={home}/s", f"--pid-file={home}/p",
         f"--init-file={init}", "--skip-name-resolve", *more],
        **quiet,
    )  # fmt: skip
    return Real("mysql", port, started)


MAKE: dict[str, Callable[[Path], Real]] = {"postgresql": postgres, "mariadb": mariadb}


@contextlib.contextmanager
def running(make: Callable[[Path], Real]) -> Iterator[Real]:
    home = Path(tempfile.mkdtemp(prefix="teijo-tcp-"))
    home.chmod(0o755)
    real = make(home)
    try:
        for _ in range(600):
            assert real.process.poll() is None
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", real.port)):
                break
            time.sleep(0.1)
        yield real
    finally:
        # At once, with its children: nothing of it is kept.
        real.process.send_signal(signal.SIGQUIT if real.scheme == "postgresql" else signal.SIGKILL)
        real.process.wait()
        shutil.rmtree(home)


@pytest.fixture(params=["postgresql", "mariadb"])
def real(request: pytest.FixtureRequest) -> Iterator[Real]:
    """Start a server of somebody else's that wants a password."""
    with running(MAKE[request.param]) as found:
        yield found


def read_everything(folder: Path) -> str:
    return "\n".join(
        each.read_bytes().decode(errors="replace") for each in folder.rglob("*") if each.is_file()
    )


def teijo(folder: Path, *words: str, password: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("teijo"), *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **({secret.PASSWORD: password} if password else {})},
    )  # fmt: skip


@pytest.mark.long
def test_a_run_over_tcp_with_a_password_tells_it_to_nobody(real: Real, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    words = [f"--set={name}={value}" for name, value in {**SMALL, "server": real.url()}.items()]
    ran = teijo(tmp_path, "run", "classic.sql-bench", f"dir:{home}", "-o", "x.teijo", *words,
                "--report", "html,text", password=WORD)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    said = [
        teijo(tmp_path, "list", ".").stdout,
        teijo(tmp_path, "export", "x.teijo", "--to", "json").stdout,
        teijo(tmp_path, "report", "x.teijo", "--format", "text", "--lang", "ja", "-o", "-").stdout,
    ]
    assert real.url() in said[1]
    assert "127.0.0.1" in said[2]
    for text in (ran.stdout, ran.stderr, *said, read_everything(tmp_path)):
        assert WORD not in text
    assert not list(home.iterdir())


@pytest.mark.long
def test_a_password_in_a_plan_is_used_and_told_to_nobody(
    real: Real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    url = real.url(password=WORD)
    monkeypatch.setattr(sys, "argv", ["script.py", f"--url={url}"])
    run = api.run(
        "classic.sql-bench", f"dir:{home}", output=tmp_path / "x", settings={**SMALL, "server": url}
    )
    assert run.record.run.settings["server"] == real.url()
    assert run.record.environment["command"] == f"script.py --url={real.url()}"
    assert WORD not in read_everything(tmp_path)


@pytest.mark.long
def test_a_wrong_password_and_a_user_without_rights_are_one_error_each(
    real: Real, tmp_path: Path
) -> None:
    with pytest.raises(HostError) as wrong:
        open_database(Database(server=_remembered(real.url(password=f"not-{WORD}"))), tmp_path)
    assert str(wrong.value).startswith(f"There is no connection to {real.url()}: ")
    assert "boss" in str(wrong.value).partition(" to ")[2]
    assert f"not-{WORD}" not in str(wrong.value)
    guest = _remembered(real.url("guest", WORD))
    with pytest.raises(HostError, match=r"cannot work in the database of .*: .*(denied|ERROR)"):
        open_database(Database(server=guest), tmp_path)


def _remembered(url: str) -> str:
    return secret.hidden(url)


@pytest.mark.long
def test_a_server_that_is_gone_in_mid_run_ends_it_and_the_run_file_opens(
    real: Real, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def observer(event: object) -> None:
        if isinstance(event, StepDone) and event.seq == 2:
            # Of PostgreSQL the server and its children: they share a memory that it cleans up.
            real.process.send_signal(
                signal.SIGQUIT if real.scheme == "postgresql" else signal.SIGKILL
            )
            real.process.wait()

    url = real.url(password=WORD)
    with pytest.raises(DeviceError, match=r"The connection to .* is lost: ") as caught:
        api.run("classic.sql-bench", f"dir:{home}", output=tmp_path / "x",
                settings={**SMALL, "server": url}, observer=observer)  # fmt: skip
    assert WORD not in str(caught.value)
    (left,) = [each for each in tmp_path.iterdir() if each != home]
    record = api.open(left).record
    assert (len(record.steps), record.run.ending) == (2, "failed")


@pytest.mark.long
def test_a_server_of_a_version_that_no_driver_knows_is_one_error(tmp_path: Path) -> None:
    with running(lambda home: mariadb(home, "--version=3.23.58-old")) as real:
        with pytest.raises(HostError, match=r"There is no connection to .*too old") as caught:
            open_database(Database(server=_remembered(real.url(password=WORD))), tmp_path)
        assert "\n" not in caught.value.message


over = threading.Event()


class Silent(socketserver.BaseRequestHandler):
    """Says nothing, until the test is over."""

    def handle(self) -> None:
        over.wait()


class Garbage(socketserver.BaseRequestHandler):
    """Says what is no protocol, with an escape for the terminal in it."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            self.request.sendall(b"\x1b[2J HTTP/1.1 400 Bad Request\r\n\r\n" * 40)
            self.request.recv(4096)


class Curt(socketserver.BaseRequestHandler):
    """Hangs up."""

    def handle(self) -> None:
        pass


class Parrot(socketserver.BaseRequestHandler):
    """Asks PostgreSQL's client for its password as it is, and repeats it in an error."""

    def handle(self) -> None:
        self.request.recv(4096)
        self.request.sendall(b"N")  # no TLS here
        self.request.recv(4096)
        self.request.sendall(b"R" + struct.pack("!ii", 8, 3))
        said = self.request.recv(4096)[5:].rstrip(b"\0")
        fields = b"SFATAL\0C28P01\0Mno such \x1b[31m" + said + b"\0\0"
        self.request.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)


@contextlib.contextmanager
def hostile(kind: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    before = set(threading.enumerate())
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as found:
        found.daemon_threads = True
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield int(found.server_address[1])
        found.shutdown()
    # What was left behind ends with its connection, and must not be met in another test.
    over.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    over.clear()
    gc.collect()


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
@pytest.mark.parametrize(("kind", "words"), [(Silent, "has not answered in"),
                                             (Garbage, "There is no connection to"),
                                             (Curt, "There is no connection to")])  # fmt: skip
def test_a_server_that_is_none_is_one_error(
    tmp_path: Path,
    scheme: str,
    kind: type[socketserver.BaseRequestHandler],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if kind is Silent:
        monkeypatch.setattr(server, "_ANSWER_SECONDS", 0.2)
    with hostile(kind) as port:
        url = _remembered(f"{scheme}://me:{WORD}@127.0.0.1:{port}/db")
        with pytest.raises(HostError, match=words) as caught:
            open_database(Database(server=url), tmp_path)
    said = caught.value.message
    assert said.isprintable()
    assert WORD not in said
    assert "".join(capfd.readouterr()) == ""
    assert not list(tmp_path.iterdir())


def test_a_server_that_repeats_the_password_tells_it_to_nobody(tmp_path: Path) -> None:
    with hostile(Parrot) as port:
        url = _remembered(f"postgresql://me:{WORD}@127.0.0.1:{port}/db")
        with pytest.raises(HostError, match="no such") as caught:
            open_database(Database(server=url), tmp_path)
    assert caught.value.message.isprintable()
    assert "***" in str(caught.value)
    assert WORD not in str(caught.value)


def test_nobody_at_an_address_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"There is no connection to .*: .+"):
        open_database(Database(server=f"mysql://me@127.0.0.1:{free_port()}/db"), tmp_path)


def test_what_takes_too_long_is_left_behind() -> None:
    over = threading.Event()
    with pytest.raises(TimeoutError):
        within(0.01, over.wait)
    over.set()
    assert within(60, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 // 0)


@pytest.mark.parametrize(
    "url",
    ["postgresql://me@host", "mysql://me@host/db?read_default_file=/etc/shadow",
     "mysql://me@host/db?password=x", "postgresql://me:a?b@host/db", "oracle://me@host/db",
     "postgresql://me@host/db/more", "postgresql:/me:word@host/db"],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_refused_and_not_repeated(
    url: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanError, match=r"^The URL of the server cannot be read\.\n"):
        open_database(Database(server=url), tmp_path)
    with pytest.raises(PlanError, match=r"^The URL of the server cannot be read\.\n"):
        api.preview("classic.sql-bench", f"dir:{tmp_path}", settings={"server": url})


def test_a_password_on_the_command_line_is_refused(tmp_path: Path) -> None:
    url = f"postgresql://me:{WORD}@host/db"
    with pytest.raises(UsageError, match="seen by everybody"):
        options.settings_from([f"server={url}"])
    ran = teijo(tmp_path, "run", "oltp", f"dir:{tmp_path}", "--set", f"server={url}")
    assert ran.returncode == 2
    assert WORD not in ran.stdout + ran.stderr
    assert not list(tmp_path.iterdir())
