"""sql-bench's tests as data: their counts, and that a database understands every statement."""

import sqlite3

import pytest

from teijo.sql.suite import TESTS, Site, operations, tables
from teijo.sql.suite.atis import INSERTS, TABLES


def counts(test: str, *, small: bool = False) -> dict[str, int]:
    return {each.name: each.loops for each in operations(test, small=small)}


def test_alter_table_comes_before_atis_as_a_shell_sorts_them() -> None:
    assert TESTS[:2] == ("alter-table", "ATIS")
    assert len(TESTS) == 8


def test_create_makes_ten_thousand_tables_thrice() -> None:
    found = counts("create")
    made = ("create_MANY_tables", "create+drop", "create_key+drop")
    assert [found[name] for name in made] == [10_000] * 3


def test_atis_has_28_tables_and_9768_inserts() -> None:
    assert (len(TABLES), sum(TABLES.values()), INSERTS) == (28, 9768, 9768)
    assert counts("ATIS")["insert"] == 9768


@pytest.mark.parametrize(
    ("test", "name", "count"),
    [
        ("alter-table", "alter_table_add", 100),
        ("insert", "insert", 300_000),
        ("connect", "select_simple", 100_000),
        ("connect", "connect", 10_000),
        ("select", "insert", 10_000),
        ("wisconsin", "wisc_benchmark", 114),
        ("wisconsin", "insert", 31_000),
        ("big-tables", "select_many_fields", 1000),
    ],
)
def test_an_operation_is_done_as_often_as_the_suite_does_it(
    test: str, name: str, count: int
) -> None:
    assert counts(test)[name] == count


@pytest.mark.parametrize("test", TESTS)
def test_sqlite_understands_every_statement_of_the_small_test_and_nothing_is_left(
    test: str,
) -> None:
    site = Site(dialect="sqlite", small=True, client=3)
    database = sqlite3.connect(":memory:", isolation_level=None)
    for operation in operations(test, small=True):
        done = 0
        for text in operation.before(site, 0):
            database.execute(text)
        for loop in range(operation.loops):
            for text in operation.statements(site, loop):
                done += 1
                if operation.fails:
                    with pytest.raises(sqlite3.IntegrityError):
                        database.execute(text)
                else:
                    database.execute(text).fetchall()
        assert done == operation.loops * operation.each, operation.name
        for text in operation.after(site, operation.loops):
            database.execute(text)
    assert not database.execute("select * from sqlite_schema").fetchall()


def test_clients_have_tables_of_their_own() -> None:
    first, second = (Site(dialect="sqlite", client=client) for client in (0, 1))
    for test in TESTS:
        assert not set(tables(test, first)) & set(tables(test, second))


def test_only_mariadb_has_indexes_within_create_table() -> None:
    columns = [("a", "tinyint"), ("b", "double not null"), ("c", "blob")]
    made = {
        dialect: Site(dialect=dialect, options="X").create("t", columns, indexes=["a"])
        for dialect in ("mariadb", "postgresql")
    }
    assert made == {
        "mariadb": ["create table t (a tinyint, b double precision not null, c blob, "
                    "index t_1 (a)) X"],
        "postgresql": ["create table t (a smallint, b double precision not null, c text) X",
                       "create index t_1 on t (a)"],
    }  # fmt: skip
