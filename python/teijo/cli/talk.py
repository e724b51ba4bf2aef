"""What the program says and where: data to stdout, talk to stderr, no colour needed to read it."""

import sys
from collections.abc import Sequence


def put(line: str) -> None:
    """Write one line of data to stdout."""
    sys.stdout.write(line + "\n")


def say(line: str) -> None:
    """Write one line of talk to stderr, at once."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def explain(message: str, remedy: str = "") -> None:
    """Write an error to stderr: what happened, then, after a blank line, what to do."""
    say(f"error: {message.strip()}")
    if remedy:
        say(f"\n{remedy.strip()}")


def examples(*lines: str) -> str:
    """Return the examples of a help page, kept as they are typed."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a plain table: a head, then rows, left-aligned, two spaces apart."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in [head, *rows]
    ]
