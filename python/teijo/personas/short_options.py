"""Single-letter options as the C library's getopt reads them: many originals take theirs so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option as it was met: its letter, its value, and what getopt finds wrong with it.

    `value` is None of an option without one; `wrong` is empty, or what getopt prints of it.
    """

    letter: str
    value: str | None = None
    wrong: str = ""


def options_of(program: str, words: Sequence[str], known: str) -> Iterator[Option]:
    """Return the options in their order; `known` is the original's own string ("bd:f::").

    A letter before ":" takes a value, one before "::" only what stands in the same word. Words
    that are no options are skipped, as GNU's getopt does; see `operands_of`.
    """
    for each in _read(program, words, known):
        if isinstance(each, Option):
            yield each


def operands_of(program: str, words: Sequence[str], known: str) -> list[str]:
    """Return the words that are no options and no values of any."""
    return [each for each in _read(program, words, known) if isinstance(each, str)]


def _read(program: str, words: Sequence[str], known: str) -> Iterator[Option | str]:
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            yield from left
            return
        if not word.startswith("-") or word == "-":
            yield word
            continue
        rest = word[1:]
        while rest:
            letter, rest = rest[0], rest[1:]
            at = known.find(letter)
            if at < 0 or letter == ":":
                yield Option(letter="?", wrong=f"{program}: invalid option -- '{letter}'\n")
            elif known.startswith("::", at + 1):
                yield Option(letter=letter, value=rest or None)
                rest = ""
            elif known.startswith(":", at + 1):
                if not rest and not left:
                    wrong = f"{program}: option requires an argument -- '{letter}'\n"
                    yield Option(letter="?", wrong=wrong)
                    return
                yield Option(letter=letter, value=rest or left.pop(0))
                rest = ""
            else:
                yield Option(letter=letter)


def leading_number(text: str) -> int:
    """Return what C's atoi makes of a text: the whole number it begins with, 0 for none."""
    text = text.lstrip(" \t\n\v\f\r")
    sign, digits = text[:1] if text[:1] in ("-", "+") else "", ""
    for each in text[len(sign) :]:
        if each not in "0123456789":
            break
        digits += each
    # No file is so large; int() would refuse a longer one.
    value = int(digits[:19] or "0")
    return -value if sign == "-" else value
