"""How lines fit a terminal: broken between words, never within one; a command stays whole."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from teijo.report.width import columns_of, padded, wrapped

USUAL: Final = 80
LEAST: Final = 20
WIDEST: Final = 96
"""A line of help is no longer, however wide the terminal is: nobody reads such lines."""
LAST_LEAST: Final = 28
"""Columns that the last column of a table needs to be read."""

_COMMAND: Final = re.compile(r"(?<=: )(?:teijo|sudo|umount|wipefs|mdadm) .*$")
"""A command at the end of a line, which a person copies."""


def lines(text: str, width: int) -> list[str]:
    """Return a message in lines of at most so many columns, its indent kept.

    A command at its end that does not fit gets its own line, whole. A word that is
    longer than a line, such as a path, stays whole too.
    """
    if columns_of(text) <= width:
        return [text]
    body = text.lstrip(" ")
    indent = text[: len(text) - len(body)]
    if body.startswith("teijo "):
        return [text]
    command = _COMMAND.search(body)
    if command is None:
        return list(wrapped(body, width, indent=indent))
    before = list(wrapped(body[: command.start()].rstrip(), width, indent=indent))
    return [*before, f"{indent}  {command[0]}"]


def table(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table, the first row its head; without a width, a line a row."""
    widths = [max(columns_of(row[place]) for row in rows) for place in range(len(rows[0]))]
    room = None if width is None else width - 2 - sum(widths[:-1]) - 2 * (len(widths) - 1)
    if room is not None and room < min(widths[-1], LAST_LEAST):
        yield from stacked(rows, width or USUAL)
        return
    hang = " " * (sum(widths[:-1]) + 2 * (len(widths) - 1))
    for row in rows:
        cells = [padded(text, each) for text, each in zip(row[:-1], widths, strict=False)]
        last = [row[-1]] if room is None else list(wrapped(row[-1], room)) or [""]
        yield "  ".join([*cells, last[0]]).rstrip()
        for more in last[1:]:
            yield hang + more


def stacked(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row of a table, its head left out, as its first cell and the others below it."""
    for first, *others in rows[1:]:
        yield first
        for text in others:
            yield from wrapped(text, width - 2, indent="  ")
