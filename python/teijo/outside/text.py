"""The one door for text that came from outside, on its way to a person or another program.

A drive's model, a run file's remark, a plan, a file's name: none of them may move a cursor, turn
the writing round, hide letters, begin a line of its own, or be a formula of a spreadsheet.
"""

import os
import re
import shlex
import unicodedata
from functools import cache
from typing import Final

LONGEST: Final = 20_000
"""More characters of one text are not shown."""

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of what has no ink, or nobody knows which: controls, marks of format and
direction, halves of pairs, private and unassigned places, ends of lines and paragraphs.
"""
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks by their category, and yet nothing to see (fillers, the empty Braille cell)."""
_SHORT: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# The full-width signs too, which a spreadsheet may take for the plain ones.
_FORMULA: Final = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def visible(text: str, *, most: int = LONGEST) -> str:
    """Return a text in one line with every character to be seen: ESC as its escape, x1b.

    Written out are controls (C0, DEL, C1), ends of lines, marks of format and direction,
    zero-width characters, lone surrogates, and what is private or unassigned. Text over `most`
    characters is cut, and says so. This is for reading: a backslash is not doubled.
    """
    if len(text) > most:
        text = f"{visible(text[:most])} … ({len(text):,} characters)"
    if text.isprintable() and not _BLANK.intersection(text):
        return text
    return "".join(_shown(letter) for letter in text)


def unspeakable(text: str) -> str:
    """Return why a text can be neither recorded nor handed on, or nothing: most texts can."""
    if "\0" in text:
        return "it holds a NUL character"
    return "it is no UTF-8 text" if _SURROGATE.search(text) else ""


def visible_json(text: str) -> str:
    """Return JSON that says the same, in which only line ends and what has ink are raw.

    A lone surrogate, which UTF-8 cannot hold, becomes the six letters of its escape.
    """
    lines = text.split("\n")
    return "\n".join(line if line.isprintable() else _escaped(line) for line in lines)


def spreadsheet_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula (OWASP, CSV injection).

    What begins with = + - @ gets an apostrophe before it; a number, or a lone sign, stays.
    """
    shown = visible(text)
    harmless = len(shown) == 1 or _NUMBER.fullmatch(shown) or not _FORMULA.match(shown)
    return shown if harmless else f"'{shown}"


def shell_word(text: str) -> str:
    """Return a text as one word of a shell's command line; it reads as no other text does.

    What has no ink is written out within $'…', where a backslash that is one is doubled: a line
    that ends cannot pass for the two letters of its escape.
    """
    if visible(text, most=len(text)) == text:
        return shlex.quote(text)
    doubled = (f"\\{each}" if each in "\\'" else visible(each) for each in text)
    return f"$'{''.join(doubled)}'"


def shell_path(path: str | os.PathLike[str]) -> str:
    """Return a path as one word of a command that a person may copy; it begins no option."""
    text = os.fspath(path)
    return shell_word(f"./{text}" if text.startswith("-") else text)


@cache
def _shown(letter: str) -> str:
    if letter in _SHORT:
        return _SHORT[letter]
    if unicodedata.category(letter) not in _UNSEEN and letter not in _BLANK:
        return letter
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped(line: str) -> str:
    return "".join(_json_letter(letter) for letter in line)


@cache
def _json_letter(letter: str) -> str:
    if _shown(letter) == letter:
        return letter
    if _SURROGATE.fullmatch(letter):
        return f"\\\\u{ord(letter):04x}"
    # JSON writes a character of more than 16 bits as its two halves in UTF-16.
    pair = letter.encode("utf-16-be").hex()
    return "".join(f"\\u{pair[at : at + 4]}" for at in range(0, len(pair), 4))
