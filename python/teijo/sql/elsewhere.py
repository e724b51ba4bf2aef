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
from teijo.sql.driver import DriverError, connected, fetched, rows_of, table_names
from teijo.sql.suite import TESTS, Site, tables
from teijo.sql.suite.operation import DialectName

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

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
            DriverError: it refuses to lock, or to make or drop tables.
        """
        self._engine = engine
        self._holding = connected(engine)
        try:
            self._lock(_LOCKS.get(dialect), url)
            names = table_names(self._engine)
            theirs = [name for name in names if MARK not in names or not is_ours(name)]
            if theirs:
                raise UnsafeError(
                    f"The database of {url} has tables: {', '.join(sorted(theirs)[:_SHOWN])}",
                    remedy="Name an empty database: the tests make and drop tables in it.",
                )
            if names:
                self._drop(names - {MARK})
            else:
                fetched(self._holding, f"create table {MARK} (run int)")
        except BaseException:
            self._holding.close()
            raise

    def end(self) -> None:
        """Remove the tables of the run, its mark last, and let others in; of a lost server none."""
        with suppress(DriverError):
            names = table_names(self._engine)
            if MARK in names:
                self._drop({name for name in names if is_ours(name)} - {MARK})
                self._drop({MARK})
        with suppress(Exception):  # of a server that is gone
            self._holding.close()

    def _drop(self, names: set[str]) -> None:
        with connected(self._engine) as connection:
            for name in sorted(names):
                fetched(connection, f"drop table {name}")

    def _lock(self, text: str | None, url: str) -> None:
        for _ in range(_LOOKS if text else 0):
            if any(row[0] for row in rows_of(self._holding, text or "")):
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
