"""Databases to run statements on: SQLite in a file, a private server, or one that a URL names."""

import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
from importlib import import_module
from pathlib import Path
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Any, Final

from teijo.errors import HostError, PlanError
from teijo.outside.address import SCHEMES, UNREADABLE, URL_FORM, is_readable
from teijo.outside.secret import revealed
from teijo.outside.text import visible
from teijo.sql.driver import DriverError, connected, engine_of, fetched, rows_of, within
from teijo.sql.elsewhere import Borrowed
from teijo.sql.folder import Folder, Programs
from teijo.sql.suite.operation import DialectName
from teijo.terms.work import Database
from teijo.units import NS_PER_S

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

MISSING: Final = (
    "SQLAlchemy, PyMySQL and pg8000 are wanted to talk to databases, and one is missing"
)
FACT: Final = "setting "
"""Begins the names of a database's settings in a step's detail."""
_NULL_QUERIES: Final = 50
_READY_NS: Final = 60 * NS_PER_S
_LOOK_SECONDS: Final = 0.1
_LAST_WORD_SECONDS: Final = 1.0
"""Its keeper tells of the end of a server a moment after its connections break."""
_POSTGRES_PLACES: Final = Path("/usr/lib/postgresql")
_ANSWER_SECONDS: Final = 10.0
"""A server that a URL names is waited for so long until it has told its settings."""
_STATEMENT_SECONDS: Final = 3600
"""And so long for a statement: the longest of sql-bench takes minutes on a slow disk."""
_DRIVERS: Final[dict[DialectName, str]] = {
    "postgresql": "postgresql+pg8000",
    "mariadb": "mysql+pymysql",
}
_CONNECTIONS: Final = 300
"""A private server takes so many: more than `clients` may be."""
_LEVELS: Final = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
"""SQLite tells `synchronous` by number."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FACTS: Final[dict[DialectName, tuple[str, ...]]] = {
    "sqlite": ("journal_mode", "synchronous", "cache_size", "page_size"),
    "mariadb": (
        "version", "default_storage_engine", "innodb_flush_log_at_trx_commit",
        "innodb_flush_method", "innodb_doublewrite", "sync_binlog", "log_bin", "debug_no_sync",
        "innodb_buffer_pool_size",
    ),
    "postgresql": (
        "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method",
        "wal_level", "shared_buffers", "max_wal_size",
    ),
}  # fmt: skip


class Opened:
    """An open database: its dialect, and how to connect. `facts` are its settings."""

    def __init__(
        self,
        dialect: DialectName,
        engine: "Engine",
        folder: Folder | None = None,
    ) -> None:
        """Take it over, with the folder that is its own."""
        self.dialect = dialect
        self._engine = engine
        self._folder = folder
        self._borrowed: Borrowed | None = None
        self.facts = _facts_of(self)

    def connect(self) -> "Connection":
        """Return a new connection, on which each statement is a transaction of its own.

        Raises:
            DriverError: there is none.
        """
        return connected(self._engine)

    @property
    def engine(self) -> "Engine":
        """What makes connections."""
        return self._engine

    def borrow(self, url: str) -> None:
        """Take the database of somebody else's server, until it is closed.

        Raises:
            UnsafeError: it is not free.
            DriverError: it refuses what is needed.
        """
        self._borrowed = Borrowed(self._engine, self.dialect, url)

    def why(self) -> str:
        """Return what a private server said that has ended; "" for nothing."""
        if self._folder is None:
            return ""
        return visible(self._folder.said(_LAST_WORD_SECONDS).partition(" ")[2])

    def close(self) -> None:
        """Close it, and remove all that was private."""
        if self._borrowed is not None:
            self._borrowed.end()
        self._engine.dispose()
        if self._folder is not None:
            self._folder.close()


def open_database(database: Database, target: Path) -> Opened:
    """Return a database on a target directory, started if it is private.

    Raises:
        HostError: a program or a package is missing, or a server does not start.
        PlanError: no such server.
        UnsafeError: the database that a URL names has tables of others, or another run in it.
    """
    try:
        for name in ("sqlalchemy", "pymysql", "pg8000"):
            import_module(name)
    except ImportError as error:
        raise HostError(
            f"{MISSING}: {error.name}", remedy="Install them: pip install 'teijo[sql]'."
        ) from error
    match database.server:
        case "sqlite":
            return _sqlite(database, target)
        case "mariadb":
            return _mariadb(database, target)
        case "postgresql":
            return _postgresql(database, target)
        case url:
            return _elsewhere(url)


def _sqlite(database: Database, target: Path) -> Opened:
    folder = Folder(target, None)
    level = "FULL" if database.durable else "OFF"

    def connect() -> sqlite3.Connection:
        name = f"/proc/self/fd/{folder.data}/bench.db"
        db = sqlite3.connect(name, isolation_level=None, timeout=60, check_same_thread=False)
        db.execute(f"PRAGMA synchronous = {level}")
        return db

    try:
        folder.start(Programs())
        return Opened("sqlite", engine_of("sqlite://", creator=connect), folder)
    except DriverError as error:
        folder.close()
        raise HostError(
            f"No database can be made in {target}: {error.text}",
            remedy="Look at the disk of the target directory.",
        ) from error
    except BaseException:
        folder.close()
        raise


def _mariadb(database: Database, target: Path) -> Opened:
    server, install = _program("mariadbd"), _program("mariadb-install-db")
    if server is None or install is None:
        raise _no_server("MariaDB", "mariadb-server")
    folder = _folder_for(target, "mysql")
    user = _user("mysql")
    data = os.fspath(folder.path / "data")
    lazy = ["--innodb-flush-log-at-trx-commit=0", "--debug-no-sync"]
    prepare = [
        install, "--no-defaults", f"--datadir={data}", f"--tmpdir={data}",
        "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
    ]  # fmt: skip
    serve = [
        server, "--no-defaults", f"--datadir={data}", f"--tmpdir={data}", "--socket=s",
        "--pid-file=p", "--skip-networking", "--skip-grant-tables",
        f"--max-connections={_CONNECTIONS}",
        *([] if database.durable else lazy),
    ]  # fmt: skip
    programs = Programs(
        # A folder in the data directory is a database: there is one before the server listens.
        prepare=[prepare, ["mkdir", "-m", "700", os.path.join(data, "bench")]],  # noqa: PTH118
        serve=serve,
        stop=signal.SIGKILL,
        user=user,
        environment={"PATH": _PATH, "HOME": data, "TMPDIR": data},
    )
    url = "mysql+pymysql://root@localhost/bench?charset=utf8mb4"
    engine = engine_of(url, {"ssl_disabled": True, "defer_connect": True})
    _connect_over(engine, f"/proc/self/fd/{folder.data}/s")
    return _started(folder, programs, "mariadb", engine)


def _connect_over(engine: "Engine", path: str) -> None:
    """Let PyMySQL talk over a socket that is closed where nobody listens: its own stays open."""
    from sqlalchemy import event

    def connect(dialect: Any, _record: object, args: Any, params: Any) -> object:
        way = socket.socket(socket.AF_UNIX)
        try:
            way.connect(path)
            made = dialect.connect(*args, **params)
            made.connect(way)
        except BaseException:
            way.close()
            raise
        return made

    event.listen(engine, "do_connect", connect)


def _postgresql(database: Database, target: Path) -> Opened:
    server, install = _postgres("postgres"), _postgres("initdb")
    if server is None or install is None:
        raise _no_server("PostgreSQL", "postgresql")
    folder = _folder_for(target, "postgres")
    data = os.fspath(folder.path / "data" / "db")
    prepare = [
        install, "-D", data, "-U", "teijo", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C",
    ]  # fmt: skip
    lazy = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    serve = [
        server, "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories=..",
        "-c", "unix_socket_permissions=0700", "-c", f"max_connections={_CONNECTIONS}",
        *([] if database.durable else lazy),
    ]  # fmt: skip
    programs = Programs(
        prepare=[prepare],
        serve=serve,
        stop=signal.SIGQUIT,  # at once, and its children and shared memory go with it
        user=_user("postgres"),
        environment={"PATH": _PATH, "HOME": data, "LC_ALL": "C"},
    )
    path = f"/proc/self/fd/{folder.data}/.s.PGSQL.5432"
    url = "postgresql+pg8000://teijo@localhost/postgres"
    return _started(folder, programs, "postgresql", engine_of(url, {"unix_sock": path}))


def _started(folder: Folder, programs: Programs, dialect: DialectName, engine: "Engine") -> Opened:
    try:
        folder.start(programs)
        late_ns = monotonic_ns() + _READY_NS
        while True:
            try:
                return Opened(dialect, engine, folder)
            except DriverError as error:
                said = folder.said(0).partition(" ")[2]
                if said or monotonic_ns() > late_ns:
                    raise HostError(
                        f"The private server does not start: {said or error.text}",
                        remedy="Look at what it says; `--set server=sqlite` needs no server.",
                    ) from error
                sleep(_LOOK_SECONDS)
    except BaseException:
        folder.close()
        raise


def _elsewhere(url: str) -> Opened:
    if not is_readable(url):  # it may stand in a run file that somebody wrote by hand
        raise PlanError(UNREADABLE, remedy=URL_FORM)
    scheme, _, rest = url.partition("://")
    dialect = SCHEMES[scheme]
    waits = (
        {"timeout": _STATEMENT_SECONDS}
        if dialect == "postgresql"
        else dict.fromkeys(("read_timeout", "write_timeout"), _STATEMENT_SECONDS)
    )
    engine = engine_of(f"{_DRIVERS[dialect]}://{revealed(rest)}", waits)
    try:
        opened = within(_ANSWER_SECONDS, lambda: Opened(dialect, engine))
    except TimeoutError as error:
        raise HostError(
            f"{url} has not answered in {_ANSWER_SECONDS:.0f} s",
            remedy="Check that a database server listens there, and that nothing is in the way.",
        ) from error
    except DriverError as error:
        raise HostError(
            f"There is no connection to {url}: {error.text}",
            remedy="Check the server, the user, and the password in TEIJO_SQL_PASSWORD.",
        ) from error
    try:
        opened.borrow(url)
    except DriverError as error:
        raise HostError(
            f"The tests cannot work in the database of {url}: {error.text}",
            remedy="Its user needs the right to make and drop tables in it.",
        ) from error
    return opened


def _facts_of(opened: Opened) -> dict[str, str]:
    """Return the settings on which durability and caching hang, as the server tells them."""
    names = _FACTS[opened.dialect]
    with opened.connect() as connection:
        match opened.dialect:
            case "sqlite":
                told = {n: str(rows_of(connection, f"PRAGMA {n}")[0][0]) for n in names}
                told["synchronous"] = _LEVELS.get(told["synchronous"], told["synchronous"])
                return {"version": sqlite3.sqlite_version, **told}
            case "mariadb":
                text = "show variables"
            case "postgresql":  # not `show`: it fails on a setting that this version has not
                text = "select name, current_setting(name) from pg_settings"
        every = {str(name): visible(str(value)) for name, value in rows_of(connection, text)}
        return {name: every[name] for name in names if name in every}


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{_PATH}:{os.environ.get('PATH', '')}")


def _postgres(name: str) -> str | None:
    """Return a program of PostgreSQL: of the highest version that Debian has, or on the PATH."""
    found = [
        (int(each.name), each / "bin" / name)
        for each in (_POSTGRES_PLACES.iterdir() if _POSTGRES_PLACES.is_dir() else ())
        if each.name.isdecimal() and (each / "bin" / name).exists()
    ]
    return os.fspath(max(found)[1]) if found else _program(name)


def _user(name: str) -> tuple[int, int] | None:
    """Return who the server is to be, where we are root; both servers refuse to be root."""
    if os.geteuid() != 0:
        return None
    for each in (name, "nobody"):
        try:
            entry = pwd.getpwnam(each)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise HostError(
        "There is no user for the private server", remedy=f"Make one: adduser --system {name}."
    )


def _folder_for(target: Path, name: str) -> Folder:
    """Return a folder in which the server's user can work.

    Raises:
        HostError: it cannot be reached by that user.
    """
    user = _user(name)
    folder = Folder(target, user)
    if user is not None:
        looked = subprocess.run(
            ["ls", "-d", "--", os.fspath(folder.path / "data")],
            user=user[0], group=user[1], extra_groups=[], capture_output=True, check=False,
        )  # fmt: skip
        if looked.returncode:
            folder.close()
            who = pwd.getpwuid(user[0]).pw_name
            raise HostError(
                f"The server's user {who} cannot reach {target}",
                remedy=f"Let others pass through its folders: chmod o+x {target} and above.",
            )
    return folder


def _no_server(what: str, package: str) -> HostError:
    return HostError(f"{what} is not installed", remedy=f"Install it: apt-get install {package}.")


def null_query_ns(opened: Opened) -> int:
    """Return how long a statement takes that asks for nothing: the client and the way to it."""
    times = []
    with opened.connect() as connection:
        for _ in range(_NULL_QUERIES):
            at_ns = monotonic_ns()
            fetched(connection, "select 1")
            times.append(monotonic_ns() - at_ns)
    return sorted(times)[_NULL_QUERIES // 2]
