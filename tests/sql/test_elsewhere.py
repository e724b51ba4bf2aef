"""A database of somebody else's: refused with tables of theirs, and left as empty as it was."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo import api
from teijo.errors import UnsafeError
from teijo.sql import server
from teijo.sql.elsewhere import MARK, Borrowed, is_ours
from teijo.sql.server import Opened, open_database
from teijo.terms.work import Database


@pytest.fixture
def home() -> Iterator[Path]:
    """Make a directory that a server's own user can reach."""
    home = Path(tempfile.mkdtemp(prefix="teijo-url-"))
    home.chmod(0o755)
    yield home
    shutil.rmtree(home)


def names_in(opened: Opened) -> set[str]:
    from sqlalchemy import inspect

    return set(inspect(opened.engine).get_table_names())


def do(opened: Opened, *texts: str) -> None:
    with opened.connect() as connection:
        for text in texts:
            connection.exec_driver_sql(text)


@pytest.mark.parametrize(
    ("name", "ours"),
    [("bench1", True), ("bench_10000", True), ("bench_3_c12", True), ("teijo_kv", True),
     (MARK, True), ("bench_10001", False), ("customers", False), ("bench1; drop", False),
     ("bench1\n", False)],
)  # fmt: skip
def test_a_table_is_known_by_the_names_that_tests_give(name: str, ours: bool) -> None:
    assert is_ours(name) == ours


def test_an_empty_database_is_marked_and_left_empty(home: Path) -> None:
    opened = open_database(Database(durable=False), home)
    borrowed = Borrowed(opened.engine, "sqlite", "x://y")
    assert names_in(opened) == {MARK}
    do(opened, "create table bench1 (i int)", "create table bench_2_c1 (i int)",
       "create table customers (i int)")  # fmt: skip
    borrowed.end()
    assert names_in(opened) == {"customers"}
    opened.close()


@pytest.mark.parametrize("table", ["bench1", "customers"])
def test_a_database_with_tables_and_no_mark_is_refused_and_left_alone(
    home: Path, table: str
) -> None:
    opened = open_database(Database(durable=False), home)
    do(opened, f"create table {table} (i int)")
    with pytest.raises(UnsafeError, match=table):
        Borrowed(opened.engine, "sqlite", "x://y")
    assert names_in(opened) == {table}
    opened.close()


def test_tables_of_a_killed_run_go_and_one_of_somebody_else_beside_them_stops_it(
    home: Path,
) -> None:
    opened = open_database(Database(durable=False), home)
    Borrowed(opened.engine, "sqlite", "x://y")
    do(opened, "create table bench1 (i int)")
    Borrowed(opened.engine, "sqlite", "x://y")
    assert names_in(opened) == {MARK}
    do(opened, "create table customers (i int)", "create table bench1 (i int)")
    with pytest.raises(UnsafeError, match="has tables: customers"):
        Borrowed(opened.engine, "sqlite", "x://y")
    assert names_in(opened) == {MARK, "bench1", "customers"}
    opened.close()


@pytest.fixture(params=["postgresql", "mariadb"])
def theirs(request: pytest.FixtureRequest, home: Path) -> Iterator[tuple[Opened, str]]:
    """Start a server that stands for somebody else's; return it with its URL."""
    name = request.param
    missing = {
        "mariadb": server._program("mariadbd") is None,
        "postgresql": server._postgres("initdb") is None,
    }
    if missing[name]:
        pytest.skip(f"{name} is not installed")
    opened = open_database(Database(server=name, durable=False), home)
    (folder,) = home.iterdir()
    if name == "postgresql":
        url = f"postgresql://teijo@localhost/postgres?unix_sock={folder}/data/.s.PGSQL.5432"
    else:
        url = f"mysql://root@localhost/bench?unix_socket={folder}/data/s"
    yield opened, url
    opened.close()


KILLED = """
import os, signal, sys
from teijo import api
def count(event):
    if type(event).__name__ == "StepDone":
        count.steps += 1
        if count.steps == 2:
            os.kill(os.getpid(), signal.SIGKILL)
count.steps = 0
api.run("classic.sql-bench", sys.argv[1], output=sys.argv[2], observer=count,
        settings={"server": sys.argv[3], "small": "on", "tests": "create"})
"""


# PyMySQL leaves the socket of a connection that fails, while the server starts, to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.long
def test_a_run_on_a_url_goes_on_after_kill_9_and_leaves_nothing(
    theirs: tuple[Opened, str], tmp_path: Path
) -> None:
    opened, url = theirs
    home = tmp_path / "home"
    home.mkdir()
    file = tmp_path / "run.teijo"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, f"dir:{home}", os.fspath(file), url], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert MARK in names_in(opened)
    assert "bench_1" in names_in(opened)
    (left,) = tmp_path.glob("*.open")
    run = api.resume(left)
    assert run.record.run.ending == "done"
    assert names_in(opened) == set()
    other = {"server": url, "rows": "1000", "passes": "1", "seconds": "100ms"}
    api.run("oltp", f"dir:{home}", output=tmp_path / "other", settings=other)
    assert names_in(opened) == set()
    do(opened, "create table customers (i int)")
    with pytest.raises(UnsafeError, match="has tables: customers"):
        api.run("oltp", f"dir:{home}", output=tmp_path / "third", settings=other)
    assert names_in(opened) == {"customers"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.long
def test_two_runs_do_not_work_in_one_database(
    theirs: tuple[Opened, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = theirs
    monkeypatch.setattr("teijo.sql.elsewhere._LOOKS", 2)
    first = open_database(Database(server=url), home)
    with pytest.raises(UnsafeError, match="Another run works"):
        open_database(Database(server=url), home)
    first.close()
    open_database(Database(server=url), home).close()
