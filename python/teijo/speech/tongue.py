"""The language that Teijo talks in: help, progress, pages and errors. Data stays as it is.

`languages/CODE.toml` has the English text and its translation; what it does not have is English.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final

CATALOGUES: Final = Path(__file__).with_name("languages")
ENGLISH: Final = "en"
TONGUES: Final = (ENGLISH, "ja")
OPTION: Final = "--lang"
BY_TEMPLATE: Final = ("help", "help_long", "progress", "page", "page_long")
"""Tables whose texts are looked up by their template; the others' are found when they are made."""
# In the order in which POSIX has them decide.
_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


@dataclass(frozen=True)
class _Spoken:
    """One language."""

    code: str = ENGLISH
    texts: Mapping[str, str] = field(default_factory=dict)
    patterns: Sequence[tuple[re.Pattern[str], str]] = ()


_PROCESS: Final = [_Spoken()]
"""The language of this process: one entry."""
_HERE: Final[ContextVar[_Spoken | None]] = ContextVar("tongue", default=None)
"""The language of one answer among many that a process gives at once."""


def speak(code: str) -> None:
    """Talk in a language from now on; in English where there is no such language."""
    _PROCESS[0] = _spoken_in(code)


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Talk in a language inside the block: on this thread, and in the tasks it begins."""
    before = _HERE.set(_spoken_in(code))
    try:
        yield
    finally:
        _HERE.reset(before)


def _spoken_in(code: str) -> _Spoken:
    known = code in TONGUES and code != ENGLISH
    return _Spoken(code, *catalogue(code)) if known else _Spoken()


def _spoken() -> _Spoken:
    return _HERE.get() or _PROCESS[0]


def spoken() -> str:
    """Return the code of the language that is talked in."""
    return _spoken().code


def is_english() -> bool:
    """Tell whether it is the language that the texts are written in."""
    return _spoken().code == ENGLISH


def asked(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the language that --lang names, or the locale, wherever --lang is given."""
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if word == OPTION and place + 1 < len(arguments):
            return arguments[place + 1]
        if word.startswith(f"{OPTION}="):
            return word.removeprefix(f"{OPTION}=")
    locale = next((environment[name] for name in _VARIABLES if environment.get(name)), "")
    code = re.split(r"[_.@]", locale, maxsplit=1)[0].lower()
    return code if code in TONGUES else ENGLISH


def tr(template: str, /, **values: Any) -> str:
    """Return `template.format(**values)` in the language; the template is its key."""
    return _spoken().texts.get(template, template).format(**values)


def said(text: str) -> str:
    """Return a text in the language, found as a whole, or by the template it was made from.

    The text in the place of a value stays, unless its field is a capital: then it is a text.
    A sentence is found with its full stop or without.
    """
    if _spoken().code == ENGLISH or not text.strip():
        return text
    translated = _found(text)
    if translated is None and text.endswith("."):
        translated = _found(text[:-1])
        return text if translated is None else f"{translated.removesuffix('。')}。"
    return translated or text


def reasoned(text: str) -> str:
    """Return "what: why" in the language, each of the two found by itself."""
    what, colon, why = text.partition(": ")
    return f"{said(what)}{colon}{said(why)}"


def _found(text: str) -> str | None:
    """Return a text's translation, None where there is none."""
    if (whole := _spoken().texts.get(text)) is not None:
        return whole
    for pattern, translation in _spoken().patterns:
        if text.endswith(".") and not pattern.pattern.endswith("."):
            continue  # the full stop is no part of a value at the end
        if match := pattern.fullmatch(text):
            values = match.groupdict()
            values = {name: said(each) if name.isupper() else each for name, each in values.items()}
            found = translation.format(**values)
            if found != text:  # one of the most general templates may say nothing of its own
                return found
    return None


def reported(text: str) -> str:
    """Return what a report says too (a remark, a verdict, a state) as the report says it."""
    if _spoken().code == ENGLISH:
        return text
    from teijo.document.phrase import Phrase
    from teijo.report.language import Language, translator

    words = translator(Language(_spoken().code))
    if isinstance(text, Phrase) and words.knows(text.template):
        return words.text(text)
    own = said(text)
    return own if own != text else words.text(text)


def printed(text: str) -> str:
    """Return a text of a report (a remark) as the report has it."""
    from teijo.report.language import Language, translator

    return translator(Language(spoken())).text(text)


@cache
def catalogue(code: str) -> tuple[dict[str, str], tuple[tuple[re.Pattern[str], str], ...]]:
    """Return the texts of a language, and the patterns of those that have values in them.

    The longest template is tried first: it says most about what it is.
    """
    tables = {
        name: table if isinstance(table, dict) else {each["en"]: each[code] for each in table}
        for name, table in tomllib.loads((CATALOGUES / f"{code}.toml").read_text("utf-8")).items()
    }
    texts = {text: words for table in tables.values() for text, words in table.items()}
    found = (text for name in tables if name not in BY_TEMPLATE for text in tables[name])
    with_values = sorted((text for text in found if "{" in text), key=len, reverse=True)
    return texts, tuple((pattern_of(text), texts[text]) for text in with_values)


def pattern_of(template: str) -> re.Pattern[str]:
    """Return what finds a text that was made from a template, and the values in it."""
    parts, names = [], set()
    for before, name, _, _ in Formatter().parse(template):
        parts.append(re.escape(before))
        if name is not None and name in names:
            parts.append(f"(?P={name})")
        elif name is not None:
            names.add(name)
            parts.append(f"(?P<{name}>.*?)")
    return re.compile("".join(parts), re.DOTALL)
