"""Databases on a target directory: made for a run, watched, and gone when it is."""

import contextlib
import gc
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from teijo.errors import DeviceError, HostError, PlanError
from teijo.sql import bench, folder, server
from teijo.sql.bench import Databases
from teijo.sql.disk import DiskWatch, below, mount_of
from teijo.sql.driver import DriverError, connected, engine_of
from teijo.sql.folder import Folder, Programs, remove_abandoned
from teijo.sql.keeper import _told
from teijo.sql.server import FACT
from teijo.sql.suite import operations
from teijo.sql.timeline import Timeline, result_of
from teijo.terms.work import Database, SqlBench, Transactions
from teijo.units import NS_PER_S

QUICK = Database(durable=False)


def always(done: int) -> bool:
    del done
    return True


@pytest.fixture
def home() -> Iterator[Path]:
    """Make a directory that a server's own user can reach."""
    home = Path(tempfile.mkdtemp(prefix="teijo-test-"))
    home.chmod(0o755)
    (home / "theirs").write_text("kept")
    yield home
    shutil.rmtree(home)


def perform(
    databases: Databases, test: str, database: Database = QUICK, **more: int
) -> Mapping[str, str]:
    detail: Mapping[str, str] = {}
    dialect = database.server
    assert dialect in ("sqlite", "mariadb", "postgresql")
    for place, each in enumerate(operations(test, small=True, dialect=dialect)):
        work = SqlBench(
            test=test, operation=each.name, place=place, count=each.count, small=True,
            database=database, **more,
        )  # fmt: skip
        done = databases.perform(work, 1, always)
        own = done.results[0]
        wanted = each.loops if each.connects else each.count
        assert own.count == wanted * work.clients, each.name
        assert own.timed.count == own.count
        assert int(own.intervals.ios.sum()) == own.count if own.intervals else False
        detail = done.detail
    return detail


@pytest.mark.parametrize("clients", [1, 3])
def test_a_test_runs_on_sqlite_and_leaves_nothing(home: Path, clients: int) -> None:
    databases = Databases(home)
    detail = perform(databases, "create", clients=clients)
    assert detail["loops"] == "10/10"
    assert [path.name for path in home.iterdir() if path.name != "theirs"]
    databases.close()
    assert [path.name for path in home.iterdir()] == ["theirs"]


def test_a_loop_that_takes_too_long_stops_and_tells_its_share(home: Path) -> None:
    databases = Databases(home)
    told = {}
    for place, each in enumerate(operations("alter-table", small=True)):
        work = SqlBench(
            test="alter-table", operation=each.name, place=place, count=each.count, small=True,
            time_limit_ns=0, database=QUICK,
        )  # fmt: skip
        done = databases.perform(work, 1, always)
        told[each.name] = done.detail["loops"], done.results[0].count
    # What was not added in time is added untimed: the drops find every column.
    assert told["alter_table_add"] == told["alter_table_drop"] == ("1/92", 1)
    assert told["create_index"] == ("8/8", 8)
    databases.close()


def test_work_of_another_version_is_refused(home: Path) -> None:
    databases = Databases(home)
    work = SqlBench(test="create", operation="x", place=0, count=1, database=QUICK)
    with pytest.raises(PlanError, match="no operation x"):
        databases.perform(work, 1, always)
    databases.close()


def test_a_statement_that_is_refused_is_said(home: Path) -> None:
    databases = Databases(home)
    work = SqlBench(
        test="create", operation="create_MANY_tables", place=0, count=10, small=True,
        database=Database(durable=False, options="NO SUCH OPTION"),
    )  # fmt: skip
    with pytest.raises(DeviceError, match="sqlite refused a statement: near"):
        databases.perform(work, 1, always)
    databases.close()


@pytest.mark.parametrize("load", ["tpcb", "key-value"])
@pytest.mark.parametrize("rate", [0, 200])
def test_transactions_have_a_service_and_with_a_rate_a_response_time(
    home: Path, load: str, rate: int
) -> None:
    databases = Databases(home)
    work = Transactions(
        load="tpcb" if load == "tpcb" else "key-value", duration_ns=200_000_000, rows=1000,
        rate_per_second=rate, read_percent=50, database=QUICK, fills=True,
    )  # fmt: skip
    databases.perform(work, 1, always)
    values = {**vars(work), "fills": False}
    results = [
        each
        for each in databases.perform(Transactions(**values), 1, always).results
        if each.stream != "disk"
    ]
    assert {each.operation for each in results} <= {"transaction", "read", "write"}
    for each in results:
        assert each.timed.count == each.count
        assert (each.response is not None) == bool(rate)
    databases.close()


def test_the_disk_below_is_watched_by_its_own_counters(home: Path) -> None:
    number = below(home)
    if number is None:
        pytest.skip("this directory has no block device below it")
    with DiskWatch(number) as watch, (home / "written").open("wb") as written:
        written.write(b"x" * 1_000_000)
        os.fsync(written.fileno())
    found = {each.operation: each for each in watch.results(NS_PER_S)}
    assert found["disk-write"].count > 0
    assert found["disk-write"].moved_bytes >= 1_000_000
    assert int(found["disk-write"].intervals.ios.sum()) == found["disk-write"].count
    assert mount_of(home)


def test_a_directory_without_a_device_has_no_counters() -> None:
    with DiskWatch(None) as watch:
        pass
    assert watch.results(NS_PER_S) == ()
    assert below(Path("/proc")) is None


def test_an_open_loop_counts_from_when_it_was_due() -> None:
    times = Timeline()
    for part, values in (
        (times.ended_ns, [5, 1_500_000_000]),
        (times.took_ns, [5, 10]),
        (times.waited_ns, [5, 900]),
    ):
        part.extend(values)
    result = result_of("transaction", [times, Timeline()])
    assert result.response is not None
    assert (result.timed.max_ns, result.response.max_ns) == (10, 900)
    assert result.intervals is not None
    assert result.intervals.index.tolist() == [0, 1]


def left(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != "theirs")


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it takes more than a minute")


def wait_until_gone(home: Path) -> None:
    wait_until(lambda: not left(home))


HOLDS = """
import sys
from pathlib import Path
from teijo.sql.server import open_database
from teijo.terms.work import Database
opened = open_database(Database(server=sys.argv[2]), Path(sys.argv[1]))
print(opened.dialect, flush=True)
sys.stdin.read()
"""


def servers_in(home: Path) -> list[str]:
    found = []
    for each in Path("/proc").iterdir():
        try:
            line = (each / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if each.name.isdecimal() and os.fspath(home) in line and "-c" not in line.split("\0")[1:2]:
            found.append(line.replace("\0", " "))
    return found


def held(home: Path, name: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, os.fspath(home), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def end(process: subprocess.Popen[str], kind: int) -> None:
    process.send_signal(kind)
    process.communicate()


def test_kill_9_leaves_no_database(home: Path) -> None:
    process = held(home, "sqlite")
    assert left(home)
    end(process, signal.SIGKILL)
    wait_until_gone(home)


@pytest.mark.long
@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_kill_9_leaves_no_server_and_the_next_run_starts_clean(home: Path, name: str) -> None:
    missing = {
        "mariadb": server._program("mariadbd") is None,
        "postgresql": server._postgres("initdb") is None,
    }
    if missing[name]:
        pytest.skip(f"{name} is not installed")
    process = held(home, name)
    assert servers_in(home)
    end(process, signal.SIGKILL)
    wait_until_gone(home)
    assert not servers_in(home)
    databases = Databases(home)
    perform(databases, "create", Database(server=name))
    databases.close()
    assert not left(home)
    assert not servers_in(home)


def test_what_even_the_keeper_could_not_remove_goes_with_the_next_run(home: Path) -> None:
    process = held(home, "sqlite")
    (keeper,) = [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdecimal() and left(home)[0] in text_of(each / "cmdline")
    ]
    os.kill(keeper, signal.SIGKILL)
    end(process, signal.SIGKILL)
    abandoned = left(home)
    assert abandoned
    target = os.open(home, os.O_RDONLY)

    def gone() -> bool:
        remove_abandoned(target)
        return not left(home)

    wait_until(gone)  # the locks go with the last of its processes
    os.close(target)


def text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_a_folder_of_a_run_that_lives_and_one_of_somebody_else_stay(home: Path) -> None:
    living = Folder(home, None)
    living.start(Programs())
    for name in ("teijo-sql-0123456789abcdef", "teijo-sql-ours"):
        (home / name).mkdir()
    (home / "teijo-sql-0123456789abcdee").symlink_to(home / "teijo-sql-ours")
    before = left(home)
    target = os.open(home, os.O_RDONLY)
    remove_abandoned(target)
    os.close(target)
    assert left(home) == before
    living.close()
    assert living.name not in left(home)


def test_a_program_that_fails_is_told_with_what_it_said(home: Path) -> None:
    private = Folder(home, None)
    failing = Programs(prepare=[[sys.executable, "-c", "print('no room'); raise SystemExit(1)"]])
    with pytest.raises(HostError, match="does not start: no room"):
        private.start(failing)
    private.close()
    assert not left(home)


def test_what_a_program_left_running_is_gone_before_its_folder_is(home: Path) -> None:
    private = Folder(home, None)
    inner = "import time; print('begun', flush=True); time.sleep(3600)"
    outer = (
        "import subprocess, sys; "
        f"p = subprocess.Popen([sys.executable, '-c', {inner!r}], stdout=subprocess.PIPE); "
        f"p.stdout.readline(); open('../begun', 'w').write(str(p.pid)); p.wait()"
    )
    (private.path / "data").chmod(0o700)
    starting = threading.Thread(target=_start_in_vain, args=(private, outer), daemon=True)
    starting.start()
    begun = private.path / "begun"
    wait_until(lambda: begun.exists() and bool(begun.read_text()))
    child = int(begun.read_text())
    private.close()
    assert not left(home)
    assert not Path("/proc", str(child)).exists()
    starting.join()


def _start_in_vain(private: Folder, text: str) -> None:
    with contextlib.suppress(Exception):  # its folder is closed meanwhile
        private.start(Programs(prepare=[[sys.executable, "-c", text]]))


def test_a_keeper_that_ends_is_not_told_as_slow(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keeper.py").write_text("raise SystemExit(1)")
    monkeypatch.setattr(folder, "_KEEPER", tmp_path / "keeper.py")
    private = Folder(home, None)
    with pytest.raises(HostError, match="the process that keeps it has ended"):
        private.start(Programs())
    private.close()
    assert not left(home)


@pytest.mark.parametrize(("words", "kind"), [("database or disk is full", HostError),
                                             ("no such table", DeviceError)])  # fmt: skip
def test_a_full_disk_is_the_hosts_and_can_be_freed(
    home: Path, monkeypatch: pytest.MonkeyPatch, words: str, kind: type[Exception]
) -> None:
    from sqlalchemy.exc import OperationalError

    def refuse(connection: object, text: str) -> int:
        raise DriverError(OperationalError(text, None, sqlite3.OperationalError(words)))

    databases = Databases(home)
    monkeypatch.setattr("teijo.sql.bench.fetched", refuse)
    monkeypatch.setattr("teijo.sql.server._LAST_WORD_SECONDS", 0)
    with pytest.raises(kind, match=words):
        perform(databases, "create")
    databases.close()
    assert not left(home)


def test_the_time_of_an_operation_has_no_servers_start_in_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began_ns = []
    together = bench._together

    def noted(acts: list[bench._Act], look: Callable[[int], bool]) -> None:
        began_ns.append(time.monotonic_ns())
        together(acts, look)
        began_ns.append(time.monotonic_ns())

    monkeypatch.setattr(bench, "_together", noted)
    databases = Databases(home)
    first = operations("create", small=True)[0]
    work = SqlBench(
        test="create", operation=first.name, place=0, count=first.count, small=True, database=QUICK
    )
    entered_ns = time.monotonic_ns()
    done = databases.perform(work, 1, always)
    ended_ns = time.monotonic_ns()
    databases.close()
    assert done.elapsed_ns is not None
    assert began_ns[1] - began_ns[0] <= done.elapsed_ns <= ended_ns - entered_ns - done.cleared_ns
    assert f"{FACT}write cache of the device" in done.detail


def test_what_a_program_said_is_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\ntwo\n")
    descriptor = os.open(log, os.O_RDONLY)
    assert _told(descriptor) == "one two"
    os.close(descriptor)


@pytest.mark.parametrize(("what", "package"), [("mariadb", "mariadb-server"),
                                               ("postgresql", "postgresql")])  # fmt: skip
def test_a_server_that_is_not_installed_is_named_with_its_package(
    home: Path, what: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_program", lambda _: None)
    monkeypatch.setattr(server, "_postgres", lambda _: None)
    with pytest.raises(HostError) as caught:
        server.open_database(Database(server=what), home)
    assert package in caught.value.remedy


def test_a_server_that_does_not_listen_yet_leaves_no_socket_open(tmp_path: Path) -> None:
    engine = engine_of("mysql+pymysql://root@localhost/bench", {"defer_connect": True})
    server._connect_over(engine, str(tmp_path / "s"))
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(tmp_path / "s"))
        with warnings.catch_warnings(record=True) as left:
            warnings.simplefilter("always")
            for _ in range(3):
                with pytest.raises(DriverError) as refused:
                    connected(engine)
                assert refused.value.is_lost
                del refused
            gc.collect()
    assert [str(each.message) for each in left] == []


def test_the_null_query_is_a_time(home: Path) -> None:
    opened = server.open_database(QUICK, home)
    assert server.null_query_ns(opened) > 0
    assert opened.facts["synchronous"] == "OFF"
    opened.close()
    assert folder.PREFIX not in "".join(left(home))
