"""A database of somebody else's server: taken when it is empty, and left as empty as it was.

A table of our own marks it, made first and dropped last: while it stands, the tables of the tests'
names are of a run. What else is there is never touched.
"""

import re
from contextlib import suppress
from functools import cache
from time import sleep
from typing import TYPE_CHECKING, Final

from teijo.errors import UnsafeError
from teijo.sql.suite import TESTS, Site, tables
from teijo.sql.suite.operation import DialectName

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

MARK: Final = "teijo_mark"
TRANSACTED: Final = (
    "teijo_history", "teijo_accounts", "teijo_tellers", "teijo_branches", "teijo_kv",
)  # fmt: skip
"""The tables of transactions."""
_CLIENT: Final = re.compile(r"_c[0-9]{1,2}\Z")
_LOCKS: Final[dict[DialectName, str]] = {
    "mariadb": "select get_lock(left(concat('teijo ', database()), 64), 0)",
    "postgresql": "select pg_try_advisory_lock(1952803439)",
}
"""Held for as long as its connection is: a server ends those of a client that was killed."""
_LOOKS: Final = 30
_LOOK_SECONDS: Final = 0.1
_SHOWN: Final = 5


class Borrowed:
    """The database behind a URL, for the time of a run."""

    def __init__(self, engine: "Engine", dialect: DialectName, url: str) -> None:
        """Lock it, remove what a run left that was killed, and mark it.

        Raises:
            UnsafeError: another run works in it, or it has tables of somebody else.
        """
        self._engine = engine
        self._holding = _connected(engine)
        try:
            self._lock(_LOCKS.get(dialect), url)
            names = self._names()
            theirs = [name for name in names if MARK not in names or not is_ours(name)]
            if theirs:
                raise UnsafeError(
                    f"The database of {url} has tables: {', '.join(sorted(theirs)[:_SHOWN])}",
                    remedy="Name an empty database: the tests make and drop tables in it.",
                )
            if names:
                self._drop(names - {MARK})
            else:
                self._holding.exec_driver_sql(f"create table {MARK} (run int)")
        except BaseException:
            self._holding.close()
            raise

    def end(self) -> None:
        """Remove the tables of the run, its mark last, and let others in; of a lost server none."""
        from sqlalchemy.exc import SQLAlchemyError

        with suppress(SQLAlchemyError, OSError):
            names = self._names()
            if MARK in names:
                self._drop({name for name in names if is_ours(name)} - {MARK})
                self._drop({MARK})
        with suppress(Exception):  # of a server that is gone
            self._holding.close()

    def _names(self) -> set[str]:
        from sqlalchemy import inspect

        return set(inspect(self._engine).get_table_names())

    def _drop(self, names: set[str]) -> None:
        with _connected(self._engine) as connection:
            for name in sorted(names):
                connection.exec_driver_sql(f"drop table {name}")

    def _lock(self, text: str | None, url: str) -> None:
        for _ in range(_LOOKS if text else 0):
            row = self._holding.exec_driver_sql(text or "").fetchone()
            if row is not None and row[0]:
                return
            # A server notices a client that was killed a moment later.
            sleep(_LOOK_SECONDS)
        if text:
            raise UnsafeError(
                f"Another run works in the database of {url}",
                remedy="Wait until it has ended, or name another database.",
            )


def is_ours(name: str) -> bool:
    """Return whether a table has one of the names that the tests give theirs."""
    return _CLIENT.sub("", name) in _every()


@cache
def _every() -> frozenset[str]:
    site = Site(dialect="sqlite")
    names = (name for test in TESTS for name in tables(test, site))
    return frozenset((*names, *TRANSACTED, MARK))


def _connected(engine: "Engine") -> "Connection":
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT", no_parameters=True)
