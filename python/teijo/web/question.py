"""What somebody asks of the list of runs, from the address and back into one."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from teijo.api import Column, Question
from teijo.terms.provenance import GroupName

ROWS: Final = 50
"""Of one page."""
GROUPS: Final = tuple(Column(name.value) for name in GroupName)
CHOSEN: Final = (Column.METHOD, Column.DEVICE, Column.ENDING, *GROUPS)
"""Columns with a menu of their values; of a group only where a run names one."""
_TEXT_MOST: Final = 200


def question_of(query: QueryParams) -> Question:
    """Return what an address asks; what is no question in it is left out."""
    only = tuple(
        (column, value[:_TEXT_MOST])
        for column in Column
        if column not in (Column.NAME, Column.TROUBLE)
        for value in query.getlist(column.value)[:8]
        if value
    )
    order, descending = Column.STARTED_AT, True
    sort = query.get("sort", "")
    with suppress(ValueError):
        order, descending = Column(sort.removeprefix("-")), sort.startswith("-")
    page = query.get("page", "1")[:6]
    number = int(page) if page.isascii() and page.isdigit() else 1
    return Question(
        text=query.get("q", "")[:_TEXT_MOST],
        only=only,
        trouble={"yes": True, "no": False}.get(query.get("trouble", "")),
        since=_day(query.get("since", "")),
        until=_day(query.get("until", "")),
        order=order,
        descending=descending,
        offset=(max(1, number) - 1) * ROWS,
        limit=ROWS,
    )


def _day(text: str) -> str:
    """Return a day as YYYY-MM-DD, "" of what is none."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def query_of(question: Question, extra: Mapping[str, str] | None = None) -> str:
    """Return the address of a question, "?…" or nothing."""
    pairs = [("q", question.text)] if question.text else []
    pairs += [(column.value, value) for column, value in question.only]
    if question.trouble is not None:
        pairs.append(("trouble", "yes" if question.trouble else "no"))
    pairs += [(name, day) for name in ("since", "until") if (day := getattr(question, name))]
    if (question.order, question.descending) != (Column.STARTED_AT, True):
        pairs.append(("sort", "-" * question.descending + question.order.value))
    if question.offset:
        pairs.append(("page", str(question.offset // ROWS + 1)))
    pairs += (extra or {}).items()
    return f"?{urlencode(pairs)}" if pairs else ""


def sorted_by(question: Question, column: Column) -> Question:
    """Return the question in the order of a column; asked once more, the other way round."""
    again = question.order is column
    descending = not question.descending if again else column is Column.STARTED_AT
    return replace(question, order=column, descending=descending, offset=0)


def chosen(question: Question, column: Column) -> str:
    """Return the value that is chosen of a column, "" for all."""
    return next((value for each, value in question.only if each is column), "")
