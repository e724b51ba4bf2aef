"""Statements on SQLite: how fast rows are inserted, read, changed and deleted, and committed."""

from typing import Annotated, get_args

from teijo import units
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.operations import Operations, PassSettings, content_size
from teijo.terms.work import Sql, Statement


class SqlSettings(PassSettings, frozen=True):
    """How many statements of each kind, on what rows."""

    count: Annotated[
        int,
        Knob(
            key="count",
            meaning="how many statements of each kind a pass sends",
            example="10000",
            parse=knobs.whole_number(1, units.MEGA),
        ),
    ] = 1000
    row_bytes: Annotated[
        int,
        Knob(
            key="size",
            meaning="how much content a row has",
            example="4KiB",
            parse=content_size,
            show=knobs.show_size,
        ),
    ] = 100
    rows_per_commit: Annotated[
        int,
        Knob(
            key="rows_per_commit",
            meaning="how many rows one transaction changes",
            example="100",
            parse=knobs.whole_number(1, units.MEGA),
        ),
    ] = 1

    def works(self) -> tuple[Sql, ...]:
        """Return one pass: insert rows, read and change as many at random, delete them all."""
        sizes = {"insert": self.row_bytes, "select": 0, "update": self.row_bytes, "delete": 0}
        return tuple(
            Sql(
                statement=statement,
                count=self.count,
                row_bytes=sizes[statement],
                rows_per_commit=self.rows_per_commit,
            )
            for statement in get_args(Statement)
        )


SQL = Operations("sql", "SQL", SqlSettings)
