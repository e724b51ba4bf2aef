"""How wide a text is, in columns of a terminal: what is East Asian and wide takes two."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r"\s+|[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+")
_NOT_FIRST: Final = frozenset("、。，．）」』】〕・：；！？ーぁぃぅぇぉっゃゅょァィゥェォッャュョ")
"""What must not begin a line (JIS X 4051)."""


def columns_of(text: str) -> int:
    """Return how many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return a text filled up with blanks to so many columns, on its left where `right`."""
    blanks = " " * (columns - columns_of(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, columns: int, *, indent: str = "") -> Iterator[str]:
    """Yield a text in lines of at most so many columns, broken at blanks or wide letters."""
    line = indent
    for word in _WORD.findall(text):
        fits = columns_of(line + word.rstrip()) <= columns or word in _NOT_FIRST
        if not fits and line.strip():
            yield line.rstrip()
            line = indent
        line += word if line.strip() else word.lstrip()
    if line.strip():
        yield line.rstrip()


def longest_piece(text: str) -> int:
    """Return the columns of the longest piece of a text that a narrow cell cannot break.

    Wide letters break anywhere, but a heading of fewer than four on a line is hard to read.
    """
    words = text.split()
    wide = max((columns_of(word) for word in words if columns_of(word) > len(word)), default=0)
    narrow = max((len(word) for word in words if columns_of(word) == len(word)), default=0)
    return max(narrow, min(wide, 8))
