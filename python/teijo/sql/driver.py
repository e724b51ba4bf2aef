"""Talks to databases through their drivers: what a driver raises becomes one error with one line.

No text of a server is shown as it is: it may hold what a terminal obeys, or the password.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar, cast

from teijo.outside.secret import redacted
from teijo.outside.text import visible

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

T = TypeVar("T")
_SAID_MOST: Final = 300
_DUPLICATE: Final = ("23505", "1062")
_LOST: Final = ("2003", "2006", "2013", "2014", "2055", "57P01", "57P02", "57P03")
_FULL: Final = ("53100", "1021", "1114", "SQLITE_FULL")
_NO_SPACE: Final = ("No space left", "disk is full", "is full")

# A pool tells of connections that broke, with a traceback, where nobody has said how to log.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())


class DriverError(Exception):
    """A server refused a statement, is gone, or answered what its driver does not understand."""

    def __init__(self, error: BaseException) -> None:
        """Take over what a driver raised."""
        cause = getattr(error, "orig", None) or error
        code, message = _told(cause)
        if cause is error and not isinstance(error, OSError):  # what a driver did not expect
            message = "its answer is not understood: it is too old, or no database server"
            code = type(error).__name__
        line = visible(" ".join(redacted(message).split()), most=_SAID_MOST)
        shown = visible(code, most=_SAID_MOST)
        self.text = f"{line} ({shown})" if shown else line
        self.is_duplicate = code in _DUPLICATE or isinstance(cause, sqlite3.IntegrityError)
        self.is_lost = (
            code in _LOST or isinstance(cause, OSError) or message.startswith("network error")
        )
        self.is_full = code in _FULL or any(words in message for words in _NO_SPACE)
        super().__init__(self.text)


def _told(cause: BaseException) -> tuple[str, str]:
    """Return the server's code and message: each driver has them in a place of its own."""
    match cause.args:
        case ({"M": str(message), **rest}, *_):
            return str(cast("Mapping[str, object]", rest).get("C", "")), message
        case (int(number), str(message), *_) if not isinstance(cause, OSError) and message:
            return str(number), message
        case _:
            name = getattr(cause, "sqlite_errorname", "")
            return str(name), str(cause) or type(cause).__name__


def engine_of(
    url: str,
    args: Mapping[str, object] | None = None,
    creator: Callable[[], object] | None = None,
) -> "Engine":
    """Return what makes connections, each statement on which is a transaction of its own.

    `args` are the driver's own; `creator` makes connections in its place.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    made = {} if creator is None else {"creator": creator}
    return create_engine(
        url,
        connect_args=dict(args or {}),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,  # nothing is open, and asking for it is time that is measured
        **made,
    )


def connected(engine: "Engine") -> "Connection":
    """Return a new connection.

    Raises:
        DriverError: there is none.
    """
    try:
        return engine.connect().execution_options(no_parameters=True)
    except Exception as error:  # a driver fails in many ways on what no server should answer
        raise DriverError(error) from error


def rows_of(connection: "Connection", text: str) -> list[tuple[object, ...]]:
    """Carry out a statement and return all its rows.

    Raises:
        DriverError: it was refused, or there is no understandable answer.
    """
    try:
        cursor = connection.exec_driver_sql(text)
        return cast("list[tuple[object, ...]]", cursor.fetchall()) if cursor.returns_rows else []
    except Exception as error:
        raise DriverError(error) from error


def fetched(connection: "Connection", text: str) -> int:
    """Carry out a statement, fetch all its rows, and return how many there are."""
    return len(rows_of(connection, text))


def table_names(engine: "Engine") -> set[str]:
    """Return the names of the tables there are.

    Raises:
        DriverError: nobody answers understandably.
    """
    from sqlalchemy import inspect

    try:
        return set(inspect(engine).get_table_names())
    except Exception as error:
        raise DriverError(error) from error


def within(seconds: float, act: Callable[[], T]) -> T:
    """Return what an act gives, or leave it behind: it waits for somebody else's server.

    Raises:
        TimeoutError: it has not ended in this time.
    """
    given: list[T] = []
    failed: list[BaseException] = []

    def carried_out() -> None:
        try:
            given.append(act())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=carried_out, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not given:
        raise TimeoutError
    return given[0]
