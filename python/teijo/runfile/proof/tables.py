"""The rows of a run file that no reading looks at: what belongs to nothing, or is said twice."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from teijo.document.phrase import say
from teijo.runfile import schema
from teijo.runfile.proof.flaw import Check, Flaw, Flaws
from teijo.terms.step import Measure, Step, step_from_json
from teijo.units import NS_PER_S

Place = tuple[int, str, str]

_OF_NO_STEP: Final = (
    "SELECT DISTINCT step FROM result WHERE step NOT IN"
    " (SELECT seq FROM step WHERE status = 'done')"
    " UNION SELECT step FROM remark WHERE step IS NOT NULL AND step NOT IN (SELECT seq FROM step)"
)
"""A remark of the whole run has no step: where no step has begun, SQL finds NULL not among them."""
_UNFINISHED: Final = (
    "SELECT seq FROM step WHERE status = 'running' AND seq <> (SELECT max(seq) FROM step)"
)
SAID_TWICE: Final = ("kind", "phase", "round", "cell", "interval_ns")
"""Columns of `step` that repeat what the step itself says."""


def table_flaws(
    db: sqlite3.Connection, version: int, series: Iterable[Place], steps: Mapping[int, Step]
) -> Flaws:
    """Give each step with rows that no step of a run leaves behind.

    `series` are the step, stream and operation of each time series there is, `steps` those that
    were read already, by their numbers.
    """
    series = tuple(series)
    statuses = dict(db.execute("SELECT seq, status FROM step NOT INDEXED").fetchall())
    place = ", ".join(name for name in schema.columns("result", version)[:4] if name != "place")
    found = db.execute(f"SELECT {place} FROM result NOT INDEXED WHERE intervals IS NOT NULL")
    timed = {tuple(row) for row in found}
    loose = {each[0] for each in series if each not in timed and statuses.get(each[0]) == "done"}
    loose |= {each[0] for each in series if each[0] not in statuses}
    loose |= {seq for (seq,) in db.execute(_OF_NO_STEP)}
    for seq in sorted(loose):
        yield Flaw(check=Check.TABLES, text="rows of it belong to nothing it did", step=seq)
    for (seq,) in db.execute(_UNFINISHED).fetchall():
        yield Flaw(check=Check.TABLES, text="it was never finished, and others follow", step=seq)
    yield from _column_flaws(db, steps)


def _column_flaws(db: sqlite3.Connection, steps: Mapping[int, Step]) -> Flaws:
    rows = db.execute(f"SELECT seq, step, {', '.join(SAID_TWICE)} FROM step")
    for seq, text, *columns in rows.fetchall():
        step = steps.get(seq) or step_from_json(text)
        if columns != said_twice(step):
            reason = say("its columns are not those of the step: {kind}", kind=step.kind)
            yield Flaw(check=Check.TABLES, text=reason, step=seq)


def said_twice(step: Step) -> list[str | int | None]:
    """Return what the columns `SAID_TWICE` must hold beside a step."""
    length = step.interval_ns if isinstance(step, Measure) else NS_PER_S
    round_number, cell = (getattr(step, name, None) for name in ("round_number", "cell"))
    return [step.kind, step.phase, round_number, cell, length]
