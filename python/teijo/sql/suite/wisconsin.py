"""The test wisconsin: the relations and query classes of the Wisconsin benchmark.

Source: D. Bitton, D. J. DeWitt, C. Turbyfill, "Benchmarking Database Systems", VLDB 1983. The
rows follow its rules; the suite loads them from files of its own.
"""

import random
from collections.abc import Sequence
from functools import cache

from teijo.sql.suite.operation import Operation, Site

TABLES = ("onek", "tenk1", "tenk2", "Bprime")
_INTS = (
    "unique1", "unique2", "two", "four", "ten", "twenty", "hundred", "thousand", "twothousand",
    "fivethous", "tenthous", "odd", "even",
)  # fmt: skip
_KEPT = ("unique1", "unique2", "hundred")
_STRINGS = ("stringu1", "stringu2", "string4")
_ROWS = (1000, 10_000, 10_000, 10_000)


def _name(number: int) -> str:
    letters = ""
    for _ in range(7):
        number, letter = divmod(number, 26)
        letters = chr(97 + letter) + letters
    return letters + "x" * 9


@cache
def _order(count: int) -> list[int]:
    numbers = list(range(count))
    random.Random(count).shuffle(numbers)
    return numbers


def _values(count: int, number: int) -> str:
    key = _order(count)[number]
    ints = (
        key, number, key % 2, key % 4, key % 10, key % 20, key % 100, key % 1000, key % 2000,
        key % 5000, key % 10_000, key % 50 * 2 + 1, key % 50 * 2,
    )  # fmt: skip
    texts = (_name(key), _name(number), ("aaaa", "hhhh", "oooo", "vvvv")[number % 4] + "x" * 12)
    return ",".join([*map(str, ints), *(f"'{text}'" for text in texts)])


def _create(site: Site, loop: int) -> list[str]:
    columns = [
        *((name, "int not null" if name in _KEPT else "int") for name in _INTS),
        *((name, "char(16)") for name in _STRINGS),
    ]
    return site.create(TABLES[loop], columns, unique=["unique1", "unique2"], indexes=["hundred"])


def _insert(site: Site, loop: int) -> list[str]:
    for table, rows in zip(TABLES, _ROWS, strict=True):
        if loop < rows:
            return [f"insert into {site.table(table)} values ({_values(rows, loop)})"]
        loop -= rows
    raise AssertionError("more rows than there are")


def _queries(site: Site, loops: int) -> list[str]:
    tenk, onek, prime = (site.table(name) for name in ("tenk1", "onek", "Bprime"))
    second = ", ".join(f"t2.{name} as t2{name}" for name in (*_INTS, *_STRINGS))
    other = ", ".join(f"B.{name} as B{name}" for name in (*_INTS, *_STRINGS))
    third = ", ".join(f"o.{name} as o{name}" for name in (*_INTS, *_STRINGS))
    selects = (
        f"select * from {tenk} where (unique2 > 301) and (unique2 < 402)",
        f"select * from {tenk} where (unique1 > 647) and (unique1 < 1648)",
        f"select * from {tenk} where unique2 = 2001",
        f"select * from {tenk} where (unique2 > 301) and (unique2 < 402)",
        f"select t1.*, {second} from {tenk} t1, {tenk} t2"
        " where (t1.unique2 = t2.unique2) and (t2.unique2 < 1000)",
        f"select t.*, {other} from {tenk} t, {prime} B where t.unique2 = B.unique2",
        f"select t1.*, {third} from {onek} o, {tenk} t1, {tenk} t2 where (o.unique2 = t1.unique2)"
        " and (t1.unique2 = t2.unique2) and (t1.unique2 < 1000) and (t2.unique2 < 1000)",
        f"select two, four, ten, twenty, hundred, string4 from {tenk}",
        f"select * from {onek}",
        f"select min(unique2) as x from {tenk}",
    )
    row = "0,2,0,10,50,688,1950,4950,9950,1,100,'somebody','somebody else','somewhere'"

    def insert(one: int, two: int) -> str:
        return f"insert into {tenk} values ({one},{two},{row})"

    def delete(two: int) -> str:
        return f"delete from {tenk} where unique2 = {two}"

    def update(to: int, two: int) -> str:
        return f"update {tenk} set unique2 = {to} where unique2 = {two}"

    changes = (
        insert(10001, 74001), insert(19991, 60001), delete(877), delete(876),
        update(10001, 1491), update(10023, 1480), insert(20002, 70002), insert(50002, 40002),
        delete(10001), delete(900), update(10088, 187), update(10003, 2000),
        update(10020, 1974), update(16001, 1140),
    )  # fmt: skip
    return [*(each for each in selects for _ in range(loops)), *changes]


def operations(site: Site) -> list[Operation]:
    """Return what is timed, in its order."""
    loops = site.size(10, 2)
    queries = len(_queries(site, loops))

    def query(at: Site, loop: int) -> Sequence[str]:
        return _queries_cached(at, loops)[loop : loop + 1]

    def drop(at: Site, loop: int) -> list[str]:
        del loop
        return [f"drop table {at.table(name)}" for name in TABLES]

    created = 1 if site.dialect == "mariadb" else 2
    return [
        # Its printed count is the last index of the list of four.
        Operation(name="create_table", loops=len(TABLES), statements=_create, each=created,
                  printed=len(TABLES) - 1, notes=("Wisconsin benchmark test", "")),
        Operation(name="insert", loops=sum(_ROWS), statements=_insert, notes=("Inserting data",),
                  says="Time to {name} ({count}): "),
        Operation(name="delete_big", loops=1, says="Time to {name} ({count}): ",
                  statements=lambda at, _: [
                      f"delete from {at.table('Bprime')} where unique2 >= 1000"]),
        Operation(name="wisc_benchmark", loops=queries, statements=query, after=drop,
                  notes=("Running the actual benchmark",)),
    ]  # fmt: skip


@cache
def _queries_cached(site: Site, loops: int) -> list[str]:
    return _queries(site, loops)
