"""Transactions with a fixed rate of arrival: service and response time apart."""

import random
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Final

from teijo.sql.disk import DiskWatch
from teijo.sql.driver import fetched
from teijo.sql.elsewhere import TRANSACTED
from teijo.sql.server import Opened
from teijo.sql.timeline import Timeline, result_of
from teijo.terms.result import Performed
from teijo.terms.work import Transactions
from teijo.units import MEGA, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection

_TELLERS: Final = 10
"""A branch has so many tellers, and 100,000 accounts, as TPC-B has them."""
_ACCOUNTS: Final = 100_000
_TOGETHER: Final = 500
_LOOK_NS: Final = NS_PER_S // 10
_WOKEN: Final = ("woken", "woken_ns")


def transact(
    work: Transactions,
    opened: Opened,
    seed: int,
    disk: DiskWatch,
    look: "Callable[[int], bool]",
    facts: Mapping[str, str],
) -> Performed:
    """Make the table, and tell the facts; or carry out transactions for a time.

    Raises:
        DriverError: a statement was refused, or the server is gone.
    """
    if work.fills:
        return _filled(work, opened, disk, look, facts)
    shared = _Shared(work, seed, look)
    with ExitStack() as open_connections:
        # Before the time begins: what is due first must not wait until there is a connection.
        clients = [
            _Client(work, opened, open_connections.enter_context(opened.connect()), shared, each)
            for each in range(seed, seed + work.clients)
        ]
        with disk:
            shared.began_ns = monotonic_ns()
            threads = [threading.Thread(target=each.run, daemon=True) for each in clients]
            for thread in threads:
                thread.start()
            shared.wait()
            for thread in threads:
                thread.join()
            ended_ns = monotonic_ns()
    cleared_ns = monotonic_ns() - ended_ns
    for client in clients:
        if client.error is not None:
            raise client.error
    names = ("read", "write") if work.load == "key-value" else ("transaction",)
    results = tuple(
        result_of(name, [each.times[name] for each in clients])
        for name in names
        if any(each.times[name].took_ns for each in clients)
    )
    woken, woken_ns = (sum(getattr(each, name) for each in clients) for name in _WOKEN)
    return Performed(
        results=(*results, *disk.results(ended_ns - shared.began_ns)),
        elapsed_ns=ended_ns - shared.began_ns,
        cleared_ns=cleared_ns,
        detail={
            "late": str(shared.late),
            "due": str(shared.due),
            "woken": str(woken),
            "woken_ns": str(woken_ns),
        },
    )


def _filled(
    work: Transactions,
    opened: Opened,
    disk: DiskWatch,
    look: "Callable[[int], bool]",
    facts: Mapping[str, str],
) -> Performed:
    times = Timeline()
    with disk:
        began_ns = monotonic_ns()
        _fill(work, opened, times, look)
        elapsed_ns = monotonic_ns() - began_ns
    return Performed(
        results=(result_of("insert", [times]), *disk.results(elapsed_ns)),
        elapsed_ns=elapsed_ns,
        detail=facts,
    )


def _fill(
    work: Transactions, opened: Opened, times: Timeline, look: "Callable[[int], bool]"
) -> None:
    began_ns = monotonic_ns()
    filler = "x" * work.row_bytes
    with opened.connect() as connection:
        for table in TRANSACTED:
            fetched(connection, f"drop table if exists {table}")
        for text in _tables(work):
            fetched(connection, text)
        many = "teijo_kv" if work.load == "key-value" else "teijo_accounts"
        for first in range(0, work.rows, _TOGETHER):
            last = min(first + _TOGETHER, work.rows)
            rows = ",".join(
                f"({key},'{filler}')" if work.load == "key-value"
                else f"({key},{key // _ACCOUNTS},0,'{filler}')"
                for key in range(first, last)
            )  # fmt: skip
            at_ns = monotonic_ns()
            fetched(connection, f"insert into {many} values {rows}")
            ended_ns = monotonic_ns()
            times.took_ns.append(ended_ns - at_ns)
            times.ended_ns.append(ended_ns - began_ns)
            if not look(last):
                return


def _branches(work: Transactions) -> int:
    return -(-work.rows // _ACCOUNTS)


def _tables(work: Transactions) -> list[str]:
    if work.load == "key-value":
        return [f"create table teijo_kv (k int not null primary key, v varchar({work.row_bytes}))"]
    size = work.row_bytes
    branches = range(_branches(work))
    tellers = range(_branches(work) * _TELLERS)
    return [
        "create table teijo_branches (id int not null primary key, balance bigint not null)",
        "create table teijo_tellers (id int not null primary key, branch int, balance bigint)",
        "create table teijo_accounts (id int not null primary key, branch int, balance bigint,"
        f" filler varchar({size}))",
        "create table teijo_history (teller int, branch int, account int, delta int,"
        " filler varchar(22))",
        "insert into teijo_branches values " + ",".join(f"({n},0)" for n in branches),
        "insert into teijo_tellers values " + ",".join(f"({n},{n // _TELLERS},0)" for n in tellers),
    ]


class _Shared:
    """The schedule that all clients draw from, and what ends them."""

    def __init__(self, work: Transactions, seed: int, look: "Callable[[int], bool]") -> None:
        self._work = work
        self._drawn = random.Random(seed)
        self._lock = threading.Lock()
        self._next_ns = 0.0
        self._look = look
        self._over = threading.Event()
        self.began_ns = 0
        self.done = 0
        self.due = 0
        self.late = 0

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def stop(self) -> None:
        self._over.set()

    def now_ns(self) -> int:
        return monotonic_ns() - self.began_ns

    def arrival_ns(self) -> int | None:
        """Return when the next one is due; None of one that is due after the end."""
        if not self._work.rate_per_second:
            now = self.now_ns()
            return now if now < self._work.duration_ns else None
        with self._lock:
            self._next_ns += self._drawn.expovariate(self._work.rate_per_second) * NS_PER_S
            if self._next_ns >= self._work.duration_ns:
                return None
            self.due += 1
            return int(self._next_ns)

    def wait(self) -> None:
        """Look from time to time until the time is over, and all that is due has been begun."""
        while not self.over and self.now_ns() < self._work.duration_ns:
            if not self._look(self.done):
                self.stop()
            sleep(_LOOK_NS / NS_PER_S)


class _Client:
    """One connection that carries out transactions as they are due.

    `woken` are those that it rested for, `woken_ns` how much too late the host woke it, in all.
    """

    def __init__(
        self,
        work: Transactions,
        opened: Opened,
        connection: "Connection",
        shared: _Shared,
        seed: int,
    ) -> None:
        self._work = work
        self._opened = opened
        self._connection = connection
        self._shared = shared
        self._drawn = random.Random(seed)
        self._keys = max(1, work.rows * work.working_set_percent // 100)
        self.times = {name: Timeline() for name in ("read", "write", "transaction")}
        self.woken = self.woken_ns = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._shared.over:
                due_ns = self._shared.arrival_ns()
                if due_ns is None:
                    return
                early_ns = due_ns - self._shared.now_ns()
                if early_ns > 0:
                    sleep(early_ns / NS_PER_S)
                    self.woken += 1
                    self.woken_ns += max(0, self._shared.now_ns() - due_ns)
                elif self._shared.now_ns() > self._work.duration_ns:
                    self._shared.late += 1  # it was due, and nobody was free until the end
                    continue
                self._one(due_ns)
        except BaseException as error:
            self.error = error
            self._shared.stop()

    def _one(self, due_ns: int) -> None:
        key = self._drawn.randrange(self._keys)
        if self._work.load == "tpcb":
            name, act = "transaction", self._tpcb
        elif self._drawn.randrange(100) < self._work.read_percent:
            name, act = "read", self._read
        else:
            name, act = "write", self._write
        began_ns = self._shared.now_ns()
        act(key)
        ended_ns = self._shared.now_ns()
        times = self.times[name]
        times.took_ns.append(ended_ns - began_ns)
        times.ended_ns.append(ended_ns)
        if self._work.rate_per_second:
            times.waited_ns.append(ended_ns - due_ns)
        self._shared.done += 1

    def _read(self, key: int) -> None:
        fetched(self._connection, f"select v from teijo_kv where k = {key}")

    def _write(self, key: int) -> None:
        value = self._drawn.randbytes(-(-self._work.row_bytes // 2)).hex()[: self._work.row_bytes]
        fetched(self._connection, f"update teijo_kv set v = '{value}' where k = {key}")

    def _tpcb(self, key: int) -> None:
        delta = self._drawn.randrange(-MEGA + 1, MEGA)
        teller = self._drawn.randrange(_branches(self._work) * _TELLERS)
        branch = teller // _TELLERS
        # SQLite takes the lock for writing first: a read that becomes a write could only fail.
        immediate = " immediate" if self._opened.dialect == "sqlite" else ""
        for text in (
            f"begin{immediate}",
            f"update teijo_accounts set balance = balance + {delta} where id = {key}",
            f"select balance from teijo_accounts where id = {key}",
            f"update teijo_tellers set balance = balance + {delta} where id = {teller}",
            f"update teijo_branches set balance = balance + {delta} where id = {branch}",
            f"insert into teijo_history values ({teller},{branch},{key},{delta},'')",
            "commit",
        ):
            fetched(self._connection, text)
