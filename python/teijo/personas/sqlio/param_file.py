"""SQLIO's parameter file (-F): a file, its threads, an affinity mask and a size on each line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.outside.file import Unreadable, read_text

_MOST_BYTES: Final = 64 * 1024
LINES_MOST: Final = 256
THREADS_MOST: Final = 256
SIZE_MOST_MB: Final = 2**40


@dataclass(frozen=True, kw_only=True)
class Line:
    """One file: `mask` 0 for no affinity, `size_mb` None for the size that it has."""

    file: str
    threads: int
    mask: int = 0
    size_mb: int | None = None


def read_param_file(path: Path) -> tuple[Line, ...]:
    """Return the lines of a parameter file.

    Raises:
        UsageError: it cannot be read, has no line, or one that is none.
    """
    try:
        text = read_text(path, most_bytes=_MOST_BYTES)
    except Unreadable as error:
        raise UsageError(
            f"The parameter file {path} {error}", remedy="Name one that is there: -Fparam.txt."
        ) from error
    return lines_in(text, str(path))


def lines_in(text: str, name: str) -> tuple[Line, ...]:
    """Return the lines of a parameter file's text; those that begin with # are comments.

    Raises:
        UsageError: there is none, or one has no meaning.
    """
    found = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            found.append(_line(words, f"{name}, line {number}"))
    if not found:
        raise UsageError(f"{name} names no file", remedy=_REMEDY)
    if len(found) > LINES_MOST:
        raise UsageError(
            f"{name} names {len(found):,} files, and {LINES_MOST} are the most",
            remedy="Name fewer files.",
        )
    return tuple(found)


_REMEDY: Final = "Write FILE THREADS [MASK [SIZE_IN_MB]]: /mnt/test/testfile.dat 2 0x0 100."


def _line(words: list[str], where: str) -> Line:
    if not 2 <= len(words) <= 4:
        raise UsageError(f"{where}: {len(words)} words are no line of it", remedy=_REMEDY)
    threads = _number(words[1], where)
    if not 1 <= threads <= THREADS_MOST:
        raise UsageError(f"{where}: {threads} threads, of 1 to {THREADS_MOST}", remedy=_REMEDY)
    mask = _number(words[2], where) if len(words) > 2 else 0
    size = _number(words[3], where) if len(words) > 3 else None
    if size is not None and not 1 <= size <= SIZE_MOST_MB:
        raise UsageError(f"{where}: a file cannot have {size:,} MB", remedy=_REMEDY)
    return Line(file=words[0], threads=threads, mask=mask, size_mb=size)


def _number(word: str, where: str) -> int:
    try:
        if len(word) > 20:
            raise ValueError
        return int(word, 16) if word.lower().startswith("0x") else int(word)
    except ValueError:
        raise UsageError(f"{where}: {word[:40]!r} is no number", remedy=_REMEDY) from None
