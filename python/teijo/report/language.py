"""A document in another language: its words by the catalogue, its numbers as they are.

The catalogue of a language is `languages/CODE.toml`: English text to text, nothing else.
"""

import re
import tomllib
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final, Literal, TypeVar, get_origin, get_type_hints

from teijo.document.model import Document
from teijo.document.phrase import Phrase, Recalled, Verbatim
from teijo.report.shown import shown

CATALOGUES: Final = Path(__file__).with_name("languages")
T = TypeVar("T")


class Language(StrEnum):
    """The languages a report is printed in, by their ISO 639 codes."""

    ENGLISH = "en"
    JAPANESE = "ja"


@dataclass(frozen=True)
class Translator:
    """Says English texts in one language; what its catalogue does not have stays as it is.

    `texts` are translations by template (its first letter small), `units` those of the few units
    that are words (the unit "min" is a minute, the word a minimum). `patterns` are templates of
    sentences that a run file before version 5 holds as plain text, so that their values must be
    found again.
    """

    language: Language
    texts: dict[str, str]
    units: dict[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]

    def text(self, text: str) -> str:
        """Return a text in this language. The values of a phrase are translated first."""
        if self.language is Language.ENGLISH or isinstance(text, Verbatim):
            return str(text)
        if isinstance(text, Recalled):
            return self._recalled(text)
        if isinstance(text, Phrase):
            values = {name: self._value(value) for name, value in text.values.items()}
            return self._found(text.template).format(**values)
        return self._plain(text)

    def document(self, document: Document) -> Document:
        """Return the document in this language, every character to be seen; its file name stays."""
        if self.language is Language.ENGLISH:
            return shown(document)
        return shown(replace(self._translated(document), name=document.name))

    def knows(self, template: str) -> bool:
        """Return whether the catalogue has a text, however its first letter is written."""
        return _lowered(template) in self.texts

    def _found(self, template: str) -> str:
        return self.texts.get(_lowered(template), template)

    def _recalled(self, phrase: Recalled) -> str:
        """Return a phrase of a run file; only a template of the catalogue is ever filled in."""
        translation = self.texts.get(_lowered(phrase.template))
        if translation is None:
            return self._plain(str(phrase))
        # The file's own template could name any attribute of a value: {a.__class__}.
        values = {name: self._recalled_value(value) for name, value in phrase.values.items()}
        return translation.format(**values)

    def _recalled_value(self, value: Any) -> Any:
        if isinstance(value, Recalled | Verbatim):
            return self.text(value)
        return self._found(value) if isinstance(value, str) else value

    def _plain(self, text: str) -> str:
        found = self._found(text)
        return found if found != text else self._recorded(text)

    def _recorded(self, text: str) -> str:
        for pattern, translation in self.patterns:
            if match := pattern.fullmatch(text):
                values = {name: self._found(value) for name, value in match.groupdict().items()}
                return _WRITTEN.format(translation, **values)
        return text

    def _value(self, value: Any) -> Any:
        return self.text(value) if isinstance(value, str) else value

    def _field(self, part: object, name: str) -> Any:
        value = getattr(part, name)
        if name == "unit" and not isinstance(value, Phrase):
            return self.units.get(value, value)
        return self._translated(value)

    def _translated(self, part: T) -> T:
        result: Any = part
        if isinstance(part, str):
            result = self.text(part)
        elif isinstance(part, tuple):
            result = tuple(self._translated(each) for each in part)
        elif is_dataclass(part) and not isinstance(part, type):
            names = _worded_fields(type(part))
            result = replace(part, **{name: self._field(part, name) for name in names})
        return result  # type: ignore[no-any-return]


class _Written(Formatter):
    """Fills in what was written out already: a number in a text has its commas."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return value if isinstance(value, str) else str(super().format_field(value, format_spec))


_WRITTEN: Final = _Written()


@cache
def translator(language: Language) -> Translator:
    """Return the translator into a language, its catalogue read once."""
    if language is Language.ENGLISH:
        return Translator(language, {}, {}, ())
    catalogue = tomllib.loads((CATALOGUES / f"{language}.toml").read_text("utf-8"))
    sentences = {each["en"]: each[language] for each in catalogue.pop("sentences")}
    recorded = {each["en"]: each[language] for each in catalogue.pop("recorded")}
    units = catalogue.pop("units")
    words = {text: said for table in catalogue.values() for text, said in table.items()}
    patterns = tuple((_pattern(text), said) for text, said in recorded.items() if "{" in text)
    texts = {_lowered(text): said for text, said in (words | sentences | recorded).items()}
    return Translator(language, texts, units, patterns)


def translated(document: Document, language: Language) -> Document:
    """Return a document in a language: every text of it, no number, no name of a file."""
    return translator(language).document(document)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _pattern(template: str) -> re.Pattern[str]:
    parts = []
    for before, name, _, _ in Formatter().parse(template):
        parts.append(re.escape(before) + ("" if name is None else f"(?P<{name}>.+?)"))
    first, rest = parts[0][:1], parts[0][1:]
    if first.isalpha():
        parts[0] = f"[{first.lower()}{first.upper()}]{rest}"
    return re.compile("".join(parts), re.DOTALL)


@cache
def _worded_fields(kind: type) -> tuple[str, ...]:
    """Return the fields that may hold text; a word of a closed set is meaning, not text."""
    hints = get_type_hints(kind)
    return tuple(each.name for each in fields(kind) if get_origin(hints[each.name]) is not Literal)
