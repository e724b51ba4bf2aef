"""One operation of a test, and the place where its statements are to run."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

DialectName = Literal["sqlite", "mariadb", "postgresql"]
Counted = Literal["statements", "loops", "rows", "statements and rows"]
Column = tuple[str, str]
"""Its name, and its type in the words of `_TYPES` (others stay as they are)."""

_TYPES: dict[DialectName, dict[str, str]] = {
    "sqlite": {},
    "mariadb": {"double": "double precision"},
    "postgresql": {
        "tinyint": "smallint",
        "mediumint": "integer",
        "double": "double precision",
        "blob": "text",
    },
}


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where statements run: the server's dialect, the client's own tables, and the sizes.

    `client` is 0 for the only one; the tables of the others have its number in their names.
    """

    dialect: DialectName
    small: bool = False
    client: int = 0
    options: str = ""
    """What is put behind every CREATE TABLE: "ENGINE=InnoDB"."""

    def size(self, full: int, small: int) -> int:
        """Return a number of the suite: of the whole test, or of the small one."""
        return small if self.small else full

    def table(self, name: str) -> str:
        """Return the name of a table of this client."""
        return f"{name}_c{self.client}" if self.client else name

    def create(
        self,
        name: str,
        columns: Sequence[Column],
        *,
        primary: str = "",
        unique: Sequence[str] = (),
        indexes: Sequence[str] = (),
    ) -> list[str]:
        """Return the statements that make a table with its keys.

        Only MariaDB has indexes within CREATE TABLE; elsewhere each is a statement of its own, as
        the suite's server-cfg has it.
        """
        table = self.table(name)
        types = _TYPES[self.dialect]
        parts = []
        for column, kind in columns:
            word, blank, rest = kind.partition(" ")
            base, paren, size = word.partition("(")
            known = types.get(base)
            parts.append(f"{column} {known or base + paren + size}{blank}{rest}")
        if primary:
            parts.append(f"primary key ({primary})")
        parts += [f"unique ({each})" for each in unique]
        if self.dialect == "mariadb":
            parts += [f"index {table}_{n} ({each})" for n, each in enumerate(indexes, 1)]
            beside = []
        else:
            beside = [
                f"create index {table}_{n} on {table} ({each})" for n, each in enumerate(indexes, 1)
            ]
        options = f" {self.options}" if self.options else ""
        return [f"create table {table} ({', '.join(parts)}){options}", *beside]

    @cached_property
    def keys(self) -> list[int]:
        """The random keys of the test insert: a permutation of N … 2N-1."""
        count = self.size(100_000, 1000)
        keys = list(range(count, 2 * count))
        random.Random(1).shuffle(keys)
        return keys


Statements = Callable[[Site, int], Sequence[str]]


def nothing(site: Site, loop: int) -> Sequence[str]:
    """Return no statement."""
    del site, loop
    return ()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What the suite times by one line: `loops` of `each` statements.

    `before` and `after` are outside that time. `says` is the line's beginning, as the suite has
    it. `after` is given how many loops were carried out: `limited` ones stop at the time limit and
    are extrapolated, and what comes behind them finds the tables as all loops would have left them.
    Each statement of one that `fails` must be refused by the server, as a duplicate key. `connects`
    makes a connection for each loop.
    """

    name: str
    loops: int
    statements: Statements = nothing
    each: int = 1
    says: str = "Time for {name} ({count}): "
    counted: Counted = "statements"
    printed: int | None = None
    """What the suite prints as the count, where that is not what it did."""
    limited: bool = False
    fails: bool = False
    connects: bool = False
    before: Statements = nothing
    after: Statements = nothing
    notes: Sequence[str] = field(default=())
    """Lines that the suite prints before the operation."""

    @property
    def count(self) -> int:
        """How many statements all of it are; of connections alone, how many of those."""
        return self.loops * max(1, self.each)
