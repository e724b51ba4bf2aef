"""Statements on SQLite: how fast rows are inserted, read, changed and deleted, and committed."""

from typing import Annotated, get_args

from teijo import units
from teijo.methods.forms import whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.operations import CONTENT_SIZE, Operations, PassSettings
from teijo.terms.work import Sql, Statement


class SqlSettings(PassSettings, frozen=True):
    """How many statements of each kind, on what rows."""

    count: Annotated[int, Knob(whole(1, units.MEGA), "count=10000")] = meaning(
        "how many statements of each kind a pass sends", 1000
    )
    row_bytes: Annotated[int, Knob(CONTENT_SIZE, "size=4KiB")] = meaning(
        "how much content a row has", 100
    )
    rows_per_commit: Annotated[int, Knob(whole(1, units.MEGA), "rows_per_commit=100")] = meaning(
        "how many rows one transaction changes", 1
    )

    def works(self) -> tuple[Sql, ...]:
        """Return one pass: insert rows, read and change as many at random, delete them all."""
        # Selects and deletes send no content.
        sizes = {"insert": self.row_bytes, "select": 0, "update": self.row_bytes, "delete": 0}
        return tuple(
            Sql(
                statement=statement,
                count=self.count,
                row_bytes=sizes[statement],
                rows_per_commit=self.rows_per_commit,
            )
            for statement in get_args(Statement)  # in its order: rows must be there to be read
        )


SQL = Operations("sql", "SQL", SqlSettings)
