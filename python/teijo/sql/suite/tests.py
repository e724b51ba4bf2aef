"""The tests by name, in the order in which the suite runs them."""

from collections.abc import Callable
from functools import cache
from typing import Final

from teijo.sql.suite import atis, create, insert, select, small_tests, wisconsin
from teijo.sql.suite.operation import DialectName, Operation, Site

_OF: Final[dict[str, Callable[[Site], list[Operation]]]] = {
    "alter-table": small_tests.alter_table,
    "ATIS": atis.operations,
    "big-tables": small_tests.big_tables,
    "connect": small_tests.connect,
    "create": create.operations,
    "insert": insert.operations,
    "select": select.operations,
    "wisconsin": wisconsin.operations,
}
TESTS: Final = tuple(_OF)
"""As a shell's glob sorts them in a locale with words: alter-table is before ATIS."""


@cache
def operations(test: str, *, small: bool, dialect: DialectName = "sqlite") -> tuple[Operation, ...]:
    """Return the operations of a test in their order; only statements depend on the dialect."""
    return tuple(_OF[test](Site(dialect=dialect, small=small)))


def tables(test: str, site: Site) -> tuple[str, ...]:
    """Return the names of the tables that a test makes."""
    match test:
        case "alter-table":
            names: tuple[str, ...] = ("bench",)
        case "ATIS":
            names = tuple(atis.TABLES)
        case "create":
            names = tuple(f"bench_{number}" for number in range(1, create.tables(site) + 1))
        case "wisconsin":
            names = wisconsin.TABLES
        case _:
            names = ("bench1", "bench2", "bench3")
    return tuple(site.table(name) for name in names)
