"""Reads a small file that somebody names: a plan, a sheet, a description of a device.

A name may lead anywhere. Only regular files are read, no more than a bound, and none is waited
for: a pipe without a writer, a terminal or /dev/zero is refused by its kind.
"""

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, Final

MIB: Final = 1024 * 1024
TOML_MOST: Final = 256 * 1024
"""Bytes of a plan or a description; the longest example has 2 KiB."""
NESTED_MOST: Final = 32

_DOTTED: Final = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]{{1,999}}\s*\.\s*){{{NESTED_MOST}}}")
"""Keys within keys: tomllib takes quadratic time for them."""


class Unreadable(ValueError):
    """Why a file was not read, in words that go on after its name."""


def read_bytes(path: Path, *, most_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        Unreadable: it is not there, no regular file, or larger than `most_bytes`.
    """
    # Without O_NONBLOCK, opening a pipe would wait for its writer, before its kind can be seen.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot be read: {_why(error)}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable("is no regular file")
        # A duplicate, because the file object closes its own and `finally` closes this one.
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read: {_why(error)}") from error
    finally:
        os.close(descriptor)
    if len(data) > most_bytes:
        raise Unreadable(f"is larger than {most_bytes // 1024:,} KiB")
    return data


def read_text(path: Path, *, most_bytes: int) -> str:
    """Return the text of a regular file in UTF-8.

    Raises:
        Unreadable: as `read_bytes`, or it is no UTF-8.
    """
    try:
        return read_bytes(path, most_bytes=most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("is no UTF-8 text") from error


def toml_of(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        Unreadable: it is no TOML, too long, nested too deeply, or has a number beyond bounds.
    """
    if len(text) > TOML_MOST:
        raise Unreadable(f"has {len(text):,} characters, and {TOML_MOST:,} are the most")
    if _DOTTED.search(text):
        raise Unreadable(f"has keys of more than {NESTED_MOST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise Unreadable("is nested too deeply") from error
    # Python refuses an integer of more than 4,300 digits by a plain ValueError.
    except (tomllib.TOMLDecodeError, ValueError, OverflowError) as error:
        raise Unreadable(f"is no TOML{_place(error)}") from error


def _place(error: Exception) -> str:
    """Return where a TOML text cannot be read, if that is known."""
    found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    if found is not None:
        return f": line {found[1]} cannot be read from column {found[2]} on"
    return ": its end comes too early" if "end of document" in str(error) else ""


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
