"""What the program says and where: data to stdout, messages to stderr, no colour needed to read it.

Nothing else writes to a terminal: what came from outside passes `teijo.outside.text` here.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any, Final

from teijo.cli import layout
from teijo.errors import HostError, sentence
from teijo.outside.text import visible, visible_json
from teijo.speech import tongue

CLOSED_PIPE = 141
"""What a shell says of a program that a closed pipe ended: 128 and SIGPIPE, as of `cat`."""
CELL_MOST = 1000
"""More characters of one cell are not shown."""


class Unread(Exception):
    """Nobody reads stdout any more, so what wrote to it has nothing left to do."""


def put(line: str, style: str = "") -> None:
    """Write one line of data to stdout, on a terminal in a style of rich's ("dim", "yellow").

    Raises:
        Unread: its reader has gone.
        HostError: it cannot be written for another reason.
    """
    shown = visible(line)
    _data(_styled(shown, style) if style and width(sys.stdout) is not None else shown)


def _styled(line: str, style: str) -> str:
    """Return a line in a style, as far as the terminal has it and NO_COLOR lets it."""
    from rich.console import Console
    from rich.text import Text

    painter = Console(force_terminal=True)
    with painter.capture() as painted:
        # As Text, for brackets in what a drive says are no markup.
        painter.print(Text(line, style=style), soft_wrap=True, end="")
    return painted.get()


def put_lines(text: str) -> None:
    """Write a text that has lines of its own to stdout, such as a report; raises as `put`."""
    for line in text.split("\n"):
        put(line)


def put_json(value: object) -> None:
    """Write a value as indented JSON to stdout; raises as `put`."""
    _data(as_json(value, indent=2))


def put_bytes(data: bytes) -> None:
    """Write a file's bytes to stdout; raises as `put`."""
    try:
        sys.stdout.flush()
        # Past the text layer, which was flushed so that its lines come first.
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise _lost(error) from error


def name(path: str | os.PathLike[str]) -> None:
    """Write to stdout what lies on the disk by now: it does so whether or not anybody reads it.

    Raises:
        HostError: it cannot be written, and not because its reader has gone.
    """
    try:
        put(os.fspath(path))
        finish()
    except Unread:
        pass


def finish() -> None:
    """Bring all data that was written to its reader; raises as `put`."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _lost(error) from error


def say(line: str) -> None:
    """Write one message to stderr, at once; where nobody listens, nothing happens."""
    _end_raw()
    for part in _broken(visible(line), sys.stderr):
        STDERR.write(part + "\n")
    STDERR.flush()


def say_raw(text: str) -> None:
    """Write a text of our own to stderr as it is, at once: line ends and all.

    A message that follows begins a line of its own, also where this text ends within one.
    """
    STDERR.write(text)
    STDERR.flush()
    STDERR.is_within_line = bool(text) and not text.endswith("\n")


def _end_raw() -> None:
    """End the line that `say_raw` left unfinished, if it did."""
    if STDERR.is_within_line:
        say_raw("\n")


def say_lines(text: str) -> None:
    """Write a text that has lines of its own to stderr."""
    for line in text.split("\n"):
        say(line)


def say_json(value: object) -> None:
    """Write a value as one line of JSON to stderr, at once."""
    _end_raw()
    STDERR.write(as_json(value) + "\n")
    STDERR.flush()


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON without a raw character that a terminal would obey."""
    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


_DETAILS_MOST: Final = 40
"""Of what is wrong with something so many things are told, and how many there are besides."""


def explain(message: str, remedy: str = "", details: Sequence[str] = ()) -> None:
    """Write an error to stderr: what happened, then, after a blank line, what to do.

    `details` are all that is wrong, a line each. Lines after the first are indented, so that no
    text within it can pass for another message.
    """
    first, *more = tongue.said(sentence(message.strip())).split("\n")
    say(tongue.tr("error: {a}", a=first))
    for line in more:
        say(line if line.startswith("  ") else f"  {line}")
    for detail in details[:_DETAILS_MOST]:
        say(f"  {tongue.said(detail)}")
    if len(details) > _DETAILS_MOST:
        say(f"  {tongue.tr('… and {n} more', n=len(details) - _DETAILS_MOST)}")
    if remedy:
        say("")
        say_lines(tongue.said(remedy.strip()))


def examples(*lines: str) -> str:
    """Return the examples of a help page, kept as they are typed."""
    return "\n".join(lines)


def columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a plain table: a head, then rows, left-aligned, two spaces apart.

    The head is in the language of the messages. On a terminal the last column is broken between
    words; where that leaves no room, each row takes its own lines.
    """
    heads = tuple(tongue.said(text) for text in head)
    shown = [[visible(text, most=CELL_MOST) for text in row] for row in [heads, *rows]]
    return list(layout.table(shown, width(sys.stdout)))


def width(stream: IO[str]) -> int | None:
    """Return the columns of the terminal that a stream is, None of what is no terminal."""
    try:
        if not stream.isatty():
            return None
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return None
    # A terminal whose size nobody has set says 0.
    return max(found or layout.USUAL, layout.LEAST)


def spelled(text: str, stream: IO[str]) -> str:
    """Return a text in which a letter that the stream's encoding has not is written out."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return ascii(text)[1:-1]


class Stderr:
    """stderr, as long as somebody reads it: a log that is closed or full ends no measurement."""

    is_within_line = False
    """Whether a text that was written as it is ended within a line."""

    @property
    def encoding(self) -> str:
        """How its letters become bytes; a library that draws asks for it."""
        return getattr(sys.stderr, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write what can be written."""
        try:
            sys.stderr.write(spelled(text, sys.stderr))
        except OSError:
            _silence(sys.stderr)
        return len(text)

    def flush(self) -> None:
        """Bring it to its reader, if there is one."""
        try:
            sys.stderr.flush()
        except OSError:
            _silence(sys.stderr)

    def __getattr__(self, attribute: str) -> Any:
        """Be stderr in everything else."""
        return getattr(sys.stderr, attribute)


STDERR = Stderr()


def _data(line: str) -> None:
    try:
        sys.stdout.write(spelled(line, sys.stdout) + "\n")
    except OSError as error:
        raise _lost(error) from error


def _broken(line: str, stream: IO[str]) -> Iterable[str]:
    columns = width(stream)
    return [line] if columns is None else layout.lines(line, columns)


def _lost(error: OSError) -> Exception:
    """Return what ends a command whose data cannot be written; from now on none is."""
    _silence(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return Unread()
    return HostError(
        f"stdout cannot be written: {error.strerror}.",
        remedy="See to the disk or the terminal that it leads to.",
    )


def _silence(stream: IO[str]) -> None:
    """Lead a stream to nowhere: what it still holds would fail again at the end of the process."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
