"""Databases to run statements on: SQLite in a file, a private server, or one that a URL names."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Final, cast

from teijo.errors import HostError, PlanError
from teijo.outside.secret import revealed
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
_POSTGRES_PLACES: Final = Path("/usr/lib/postgresql")
_SCHEMES: Final[dict[str, tuple[DialectName, str]]] = {
    "postgresql": ("postgresql", "postgresql+pg8000"),
    "postgres": ("postgresql", "postgresql+pg8000"),
    "mysql": ("mariadb", "mysql+pymysql"),
    "mariadb": ("mariadb", "mysql+pymysql"),
}
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
        """Return a new connection, on which each statement is a transaction of its own."""
        return self._engine.connect().execution_options(
            isolation_level="AUTOCOMMIT", no_parameters=True
        )

    @property
    def engine(self) -> "Engine":
        """What makes connections."""
        return self._engine

    def borrow(self, url: str) -> None:
        """Take the database of somebody else's server, until it is closed.

        Raises:
            UnsafeError: it is not free.
        """
        self._borrowed = Borrowed(self._engine, self.dialect, url)

    def why(self) -> str:
        """Return what a private server said that has ended; "" for nothing."""
        return self._folder.said(0).partition(" ")[2] if self._folder else ""

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
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    folder = Folder(target, None)
    folder.start(Programs())
    name = f"/proc/self/fd/{folder.data}/bench.db"
    level = "FULL" if database.durable else "OFF"

    def connect() -> sqlite3.Connection:
        db = sqlite3.connect(name, isolation_level=None, timeout=60, check_same_thread=False)
        db.execute(f"PRAGMA synchronous = {level}")
        return db

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    return Opened("sqlite", engine, folder)


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
        *([] if database.durable else lazy),
    ]  # fmt: skip
    programs = Programs(
        prepare=[prepare],
        serve=serve,
        stop=signal.SIGKILL,
        user=user,
        environment={"PATH": _PATH, "HOME": data, "TMPDIR": data},
    )
    socket = f"/proc/self/fd/{folder.data}/s"
    url = "mysql+pymysql://root@localhost/{}?charset=utf8mb4"
    opened = _started(
        folder, programs, "mariadb", url.format(""), {"unix_socket": socket, "ssl_disabled": True}
    )
    with opened.connect() as connection:
        connection.exec_driver_sql("create database bench")
    opened.engine.dispose()
    opened._engine = _engine(url.format("bench"), {"unix_socket": socket, "ssl_disabled": True})
    return opened


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
        "-c", "unix_socket_permissions=0700", *([] if database.durable else lazy),
    ]  # fmt: skip
    programs = Programs(
        prepare=[prepare],
        serve=serve,
        stop=signal.SIGQUIT,  # at once, and its children and shared memory go with it
        user=_user("postgres"),
        environment={"PATH": _PATH, "HOME": data, "LC_ALL": "C"},
    )
    socket = f"/proc/self/fd/{folder.data}/.s.PGSQL.5432"
    url = "postgresql+pg8000://teijo@localhost/postgres"
    return _started(folder, programs, "postgresql", url, {"unix_sock": socket})


def _started(
    folder: Folder, programs: Programs, dialect: DialectName, url: str, args: Mapping[str, object]
) -> Opened:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        folder.start(programs)
        engine = _engine(url, args)
        late_ns = monotonic_ns() + _READY_NS
        while True:
            try:
                return Opened(dialect, engine, folder)
            except (SQLAlchemyError, OSError) as error:
                said = folder.said(0).partition(" ")[2]
                if said or monotonic_ns() > late_ns:
                    why = said or str(error).splitlines()[0]
                    raise HostError(
                        f"The private server does not start: {why}",
                        remedy="Look at what it says; `--set server=sqlite` needs no server.",
                    ) from error
                sleep(_LOOK_SECONDS)
    except BaseException:
        folder.close()
        raise


def _engine(url: str, args: Mapping[str, object]) -> "Engine":
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    return create_engine(url, connect_args=dict(args), poolclass=NullPool)


def _elsewhere(url: str) -> Opened:
    from sqlalchemy.exc import SQLAlchemyError

    scheme, colon, rest = url.partition("://")
    if not colon or scheme not in _SCHEMES:
        raise PlanError(
            f"{url!r} is no server",
            remedy="Write sqlite, mariadb, postgresql, or a URL: postgresql://user@host/database.",
        )
    dialect, driver = _SCHEMES[scheme]
    try:
        opened = Opened(dialect, _engine(f"{driver}://{revealed(rest)}", {}))
        opened.borrow(url)
    except (SQLAlchemyError, OSError, ValueError) as error:
        raise HostError(
            f"There is no connection to {url}: {type(error).__name__}",
            remedy="Check the server, the user, and the password in TEIJO_SQL_PASSWORD.",
        ) from error
    return opened


def _facts_of(opened: Opened) -> dict[str, str]:
    """Return the settings on which durability and caching hang, as the server tells them."""
    found: dict[str, str] = {}
    with opened.connect() as connection:

        def ask(text: str) -> list[tuple[object, ...]]:
            rows = connection.exec_driver_sql(text).fetchall()
            return [tuple(row) for row in rows]

        match opened.dialect:
            case "sqlite":
                found["version"] = sqlite3.sqlite_version
                for name in _FACTS["sqlite"]:
                    found[name] = str(ask(f"PRAGMA {name}")[0][0])
            case "mariadb":
                every = {str(name): value for name, value in ask("show variables")}
                found = {n: str(every[n]) for n in _FACTS["mariadb"] if n in every}
            case "postgresql":
                found = {name: str(ask(f"show {name}")[0][0]) for name in _FACTS["postgresql"]}
    return found


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


def fetched(connection: "Connection", text: str) -> int:
    """Carry out a statement, fetch all its rows, and return how many there are."""
    cursor = connection.exec_driver_sql(text)
    return len(cast("list[object]", cursor.fetchall())) if cursor.returns_rows else 0


def null_query_ns(opened: Opened) -> int:
    """Return how long a statement takes that asks for nothing: the client and the way to it."""
    times = []
    with opened.connect() as connection:
        for _ in range(_NULL_QUERIES):
            at_ns = monotonic_ns()
            fetched(connection, "select 1")
            times.append(monotonic_ns() - at_ns)
    return sorted(times)[_NULL_QUERIES // 2]
