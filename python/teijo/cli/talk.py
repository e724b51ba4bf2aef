"""What the program says and where: data to stdout, talk to stderr, no colour needed to read it.

Nothing else writes to a terminal: what came from outside passes `teijo.outside.text` here.
"""

import json
import sys
from collections.abc import Sequence
from typing import IO

from teijo.outside.text import visible, visible_json


def put(line: str) -> None:
    """Write one line of data to stdout."""
    _write(sys.stdout, visible(line))


def put_lines(text: str) -> None:
    """Write a text that has lines of its own to stdout, such as a report."""
    for line in text.split("\n"):
        put(line)


def put_json(value: object) -> None:
    """Write a value as indented JSON to stdout."""
    _write(sys.stdout, as_json(value, indent=2))


def say(line: str) -> None:
    """Write one line of talk to stderr, at once."""
    _write(sys.stderr, visible(line))
    sys.stderr.flush()


def say_lines(text: str) -> None:
    """Write a text that has lines of its own to stderr."""
    for line in text.split("\n"):
        say(line)


def say_json(value: object) -> None:
    """Write a value as one line of JSON to stderr, at once."""
    _write(sys.stderr, as_json(value))
    sys.stderr.flush()


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON without a raw character that a terminal would obey."""
    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def explain(message: str, remedy: str = "") -> None:
    """Write an error to stderr: what happened, then, after a blank line, what to do.

    Lines after the first are indented, so that no text within it can pass for another message.
    """
    first, *more = message.strip().split("\n")
    say(f"error: {first}")
    for line in more:
        say(line if line.startswith("  ") else f"  {line}")
    if remedy:
        say("")
        say_lines(remedy.strip())


def examples(*lines: str) -> str:
    """Return the examples of a help page, kept as they are typed."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a plain table: a head, then rows, left-aligned, two spaces apart."""
    shown = [[visible(text, most=CELL_MOST) for text in row] for row in [head, *rows]]
    widths = [max(len(row[place]) for row in shown) for place in range(len(head))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


CELL_MOST = 1000
"""More characters of one cell are not shown."""


def _write(stream: IO[str], text: str) -> None:
    """Write a line; a letter that the terminal's encoding has not is written out."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
