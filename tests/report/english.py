"""English left in a document: every text of it that a translator has no words for."""

import re
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass

from teijo.document.phrase import Phrase, Verbatim
from teijo.methods.knobs import describe
from teijo.methods.registry import METHODS
from teijo.methods.settings import Settings
from teijo.report.language import Translator
from teijo.terms.record import Record
from teijo.terms.result import StepResult

FIELD = re.compile(r"\{[^}]*\}")
WORD = re.compile(r"\b(?:[A-Za-z][a-z]{2,}|to|by|of|at|in|on|is|or|no|YES|NO)\b")
NAMES = frozenset(method.id.rpartition(".")[2] for method in METHODS) - {"workload"}
SYMBOLS = frozenset({"min", "mid", "max", "ppm", "teijo"}) | NAMES
NO_WORDS = frozenset({"tone", "scale", "style", "at", "organisation"})
"""Fields of a document that hold a meaning or a name, not words."""


def has_words(text: str) -> bool:
    """Return whether a text is language: numbers, units, abbreviations and names are not."""
    return any(word.lower() not in SYMBOLS for word in WORD.findall(FIELD.sub("", text)))


def data_of(record: Record, settings: Settings) -> frozenset[str]:
    """Return every string that a report only quotes: what was recorded, and how it is set."""
    found = {*record.identity.facts, *record.environment}
    for part in (asdict(record.identity), asdict(record.run), record.environment):
        found |= {str(value) for value in part.values()}
    found |= set(record.identity.facts.values())
    found |= {word for each in describe(settings) for word in (each.key, each.value)}
    for each in record.steps:
        if isinstance(each.answer, StepResult):
            found |= set(each.answer.detail.values())
    return frozenset(text for text in found if has_words(text))


def untranslated(part: object, words: Translator, data: frozenset[str] = frozenset()) -> set[str]:
    """Return the texts and templates that stay English, without those that are data."""
    quoted = re.compile("|".join(re.escape(text) for text in sorted(data, key=len, reverse=True)))
    left = {text for text in _templates(part, words) if has_words(text)}
    return {text for text in left if has_words(quoted.sub("", text)) and not words.knows(text)}


def _templates(part: object, words: Translator) -> Iterator[str]:
    if isinstance(part, Verbatim):
        return
    if isinstance(part, Phrase):
        yield part.template
        yield from _templates(tuple(part.values.values()), words)
    elif isinstance(part, str):
        if words.text(part) == part:
            yield str(part)
    elif isinstance(part, tuple):
        for each in part:
            yield from _templates(each, words)
    elif is_dataclass(part):
        for each in fields(part):
            value = getattr(part, each.name)
            if each.name not in NO_WORDS and not (each.name == "unit" and value in words.units):
                yield from _templates(value, words)
