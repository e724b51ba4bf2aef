"""Work on databases of a target directory: operations of sql-bench, and transactions.

A database is opened with the first work that names it, and closed, with all that was private,
when another is named or the run ends.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING

from teijo.errors import DeviceError, HostError, PlanError
from teijo.sql.disk import DiskWatch, below, cache_of, mount_of
from teijo.sql.driver import DriverError, fetched, table_names
from teijo.sql.server import FACT, Opened, null_query_ns, open_database
from teijo.sql.suite import Operation, Site, operations, tables
from teijo.sql.timeline import Timeline, result_of
from teijo.sql.transactions import transact
from teijo.terms.result import Performed
from teijo.terms.work import Database, SqlBench, Transactions
from teijo.units import NS_PER_S

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

Look = Callable[[int], bool]


class Databases:
    """The databases of a target directory, one at a time."""

    def __init__(self, target: Path) -> None:
        """Name the directory; nothing is opened yet."""
        self._target = target
        self._named: Database | None = None
        self._opened: Opened | None = None
        self._clients: list[Connection] = []

    def perform(self, work: SqlBench | Transactions, seed: int, look: Look) -> Performed:
        """Carry out a work, and watch the disk below the directory meanwhile.

        Raises:
            HostError: a program is missing, a server does not start, or the disk is full.
            DeviceError: a statement was refused, or the server is gone.
        """
        opened = self._open(work.database)
        disk = DiskWatch(below(self._target))
        try:
            match work:
                case SqlBench():
                    return self._bench(work, opened, disk, look)
                case Transactions():
                    facts = self._facts(opened) if work.fills else {}
                    return transact(work, opened, seed, disk, look, facts)
        except DriverError as error:
            why = opened.why()
            if error.is_full or DriverError(Exception(why)).is_full:
                raise HostError(
                    f"The disk of {self._target} is full: {error.text}",
                    remedy="Free space there, and resume the run.",
                ) from error
            told = f"{error.text} {why}".strip()
            raise DeviceError(
                f"The connection to {opened.dialect} is lost: {told}"
                if error.is_lost
                else f"{opened.dialect} refused a statement: {told}",
                remedy="Look at the disk of the target directory, and at the server.",
            ) from error

    def _open(self, database: Database) -> Opened:
        if self._opened is None or self._named != database:
            self.close()
            self._opened = open_database(database, self._target)
            self._named = database
        return self._opened

    def _bench(self, work: SqlBench, opened: Opened, disk: DiskWatch, look: Look) -> Performed:
        options = work.database.options
        sites = [
            Site(dialect=opened.dialect, small=work.small, client=client, options=options)
            for client in range(work.clients)
        ]
        every = operations(work.test, small=work.small, dialect=opened.dialect)
        if work.place >= len(every) or every[work.place].name != work.operation:
            raise PlanError(
                f"{work.test} has no operation {work.operation} at {work.place}",
                remedy="The run file is of another version of this program.",
            )
        operation = every[work.place]
        if work.place == 0:
            self._begin(work, opened, sites)
        for site, connection in zip(sites, self._clients, strict=True):
            for text in operation.before(site, 0):
                fetched(connection, text)
        facts = self._facts(opened) if work.place == 0 else {}
        acts = [
            _Act(operation, site, connection, opened, work.time_limit_ns)
            for site, connection in zip(sites, self._clients, strict=True)
        ]
        before, wall_ns = os.times(), monotonic_ns()
        with disk:
            _together(acts, look)
            wall_ns = monotonic_ns() - wall_ns
        after, ended_ns = os.times(), monotonic_ns()
        for site, connection, act in zip(sites, self._clients, acts, strict=True):
            for text in operation.after(site, act.loops):
                fetched(connection, text)
        detail = {
            "wall_ns": str(wall_ns),
            "user_ns": str(round((after.user - before.user) * NS_PER_S)),
            "system_ns": str(round((after.system - before.system) * NS_PER_S)),
            "rows": str(sum(act.rows for act in acts)),
            "loops": f"{min(act.loops for act in acts)}/{operation.loops}",
            **facts,
        }
        result = result_of(work.operation, [act.times for act in acts])
        return Performed(
            results=(result, *disk.results(wall_ns)),
            elapsed_ns=wall_ns,
            cleared_ns=monotonic_ns() - ended_ns,
            detail=detail,
        )

    def _begin(self, work: SqlBench, opened: Opened, sites: list[Site]) -> None:
        """Connect anew, and remove tables that an interrupted test left."""
        self._disconnect()
        self._clients = [opened.connect() for _ in sites]
        there = table_names(opened.engine)
        for site, connection in zip(sites, self._clients, strict=True):
            for name in tables(work.test, site):
                if name in there:
                    fetched(connection, f"drop table {name}")

    def _facts(self, opened: Opened) -> dict[str, str]:
        facts = {f"{FACT}{name}": value for name, value in opened.facts.items()}
        return {
            "dialect": opened.dialect,
            "null_query_ns": str(null_query_ns(opened)),
            f"{FACT}mount": mount_of(self._target),
            f"{FACT}write cache of the device": cache_of(below(self._target)) or "unknown",
            **facts,
        }

    def _disconnect(self) -> None:
        for each in self._clients:
            with suppress(Exception):  # of a server that is gone
                each.close()
        self._clients = []

    def close(self) -> None:
        """Close what is open, and remove what was private."""
        self._disconnect()
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()


class _Act:
    """One client's part in an operation."""

    def __init__(
        self,
        operation: Operation,
        site: Site,
        connection: "Connection",
        opened: Opened,
        limit_ns: int,
    ) -> None:
        self._operation = operation
        self._site = site
        self._connection = connection
        self._opened = opened
        self._limit_ns = limit_ns
        self.times = Timeline()
        self.rows = 0
        self.loops = 0
        self.error: BaseException | None = None

    def run(self, began_ns: int, look: Look) -> None:
        """Carry out the loops, until `look` or the time limit says stop."""
        one = self._in_a_connection if self._operation.connects else self._statements
        for loop in range(self._operation.loops):
            one(loop, began_ns)
            self.loops = loop + 1
            if not look(len(self.times.took_ns)):
                return
            if self._operation.limited and monotonic_ns() - began_ns > self._limit_ns:
                return

    def _in_a_connection(self, loop: int, began_ns: int) -> None:
        at_ns = monotonic_ns()
        with self._opened.connect() as connection:
            for text in self._operation.statements(self._site, loop):
                self.rows += fetched(connection, text)
        self._note(at_ns, began_ns)

    def _statements(self, loop: int, began_ns: int) -> None:
        for text in self._operation.statements(self._site, loop):
            at_ns = monotonic_ns()
            if self._operation.fails:
                self._refused(text)
            else:
                self.rows += fetched(self._connection, text)
            self._note(at_ns, began_ns)

    def _refused(self, text: str) -> None:
        try:
            fetched(self._connection, text)
        except DriverError as error:
            if error.is_duplicate:
                return
            raise
        raise DeviceError(
            "The database took a second row of the same key",
            remedy="Look at the server: a key that is not unique is none.",
        )

    def _note(self, at_ns: int, began_ns: int) -> None:
        ended_ns = monotonic_ns()
        self.times.took_ns.append(ended_ns - at_ns)
        self.times.ended_ns.append(ended_ns - began_ns)


def _together(acts: list[_Act], look: Look) -> None:
    """Run all clients at once; the first one looks, and its stop is everybody's."""
    began_ns, stopped = monotonic_ns(), threading.Event()

    def looked(done: int) -> bool:
        if not look(done):
            stopped.set()
        return not stopped.is_set()

    def carried_out(act: _Act) -> None:
        try:
            act.run(began_ns, lambda _: not stopped.is_set())
        except BaseException as error:
            act.error = error
            stopped.set()

    threads = [threading.Thread(target=carried_out, args=(act,), daemon=True) for act in acts[1:]]
    for thread in threads:
        thread.start()
    try:
        acts[0].run(began_ns, looked)
    except BaseException:
        stopped.set()
        raise
    finally:
        for thread in threads:
            thread.join()
    for act in acts:
        if act.error is not None:
            raise act.error
