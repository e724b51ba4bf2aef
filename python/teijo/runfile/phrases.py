"""The template and the values of a remark's text as a run file holds them, and back.

A file is what anybody wrote: nothing in it is formatted but plain fields with the forms that our
own texts use, and only a phrase that comes to the very text beside it is one.
"""

import re
from string import Formatter
from typing import Any, Final

from teijo.document.phrase import Phrase, Recalled, Verbatim
from teijo.runfile.codec import from_json, to_json

JSON_CHARACTERS_MOST: Final = 16_384
TEMPLATE_CHARACTERS_MOST: Final = 1024
FIELDS_MOST: Final = 16
DEPTH_MOST: Final = 16
"""A phrase within a phrase within …: a list of ten parts is ten deep."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_FORM: Final = re.compile(r"(\+?,?(\.[0-9])?[fg]?|,)")


class _Unfit(ValueError):
    """It is no phrase that may be stored, or filled in."""


_FAULTS: Final = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


def stored_of(text: str) -> str | None:
    """Return a text's template and values as JSON, None of text that was not made of any."""
    if not isinstance(text, Phrase):
        return None
    try:
        stored = to_json(_plain(text))
    except _FAULTS:
        return None
    return stored if isinstance(recalled(str(text), stored), Recalled) else None


def recalled(text: str, stored: str | None) -> str:
    """Return a text with the template and values stored beside it, or alone if they do not fit."""
    if stored is None or len(stored) > JSON_CHARACTERS_MOST:
        return text
    try:
        return _phrase(from_json(stored), text, DEPTH_MOST)
    except _FAULTS:
        return text


def _plain(value: object) -> object:
    match value:
        case Phrase():
            values = {name: _plain(each) for name, each in value.values.items()}
            return {"template": value.template, "values": values}
        case Verbatim():
            return {"verbatim": str(value)}
        case str():
            return str(value)
        case int() | float() if not isinstance(value, bool):
            return value
        case _:
            raise _Unfit


def _phrase(stored: dict[str, Any], text: str | None, depth: int) -> Recalled:
    """Rebuild a phrase, which must come to `text` where that is known."""
    template, values = stored["template"], stored["values"]
    if set(stored) != {"template", "values"} or not isinstance(values, dict) or not depth:
        raise _Unfit
    if fields_of(template) != set(values):
        raise _Unfit
    found = {name: _value(each, depth - 1) for name, each in values.items()}
    phrase = Recalled(template.format(**found))
    if len(phrase) > JSON_CHARACTERS_MOST or text not in (None, str(phrase)):
        raise _Unfit
    phrase.template, phrase.values = template, found
    return phrase


def _value(stored: object, depth: int) -> str | int | float:
    match stored:
        case {"verbatim": str(text)}:
            return Verbatim(text)
        case dict():
            return _phrase(stored, None, depth)
        case str() | int() | float() if not isinstance(stored, bool):
            return stored
        case _:
            raise _Unfit


def fields_of(template: object) -> set[str]:
    """Return the names in a template that has plain fields only.

    Raises:
        ValueError: it is none, is too long, or one of its fields is not plain.
    """
    if not isinstance(template, str) or len(template) > TEMPLATE_CHARACTERS_MOST:
        raise _Unfit
    fields = [each for each in Formatter().parse(template) if each[1] is not None]
    if len(fields) > FIELDS_MOST:
        raise _Unfit
    for _, name, form, conversion in fields:
        # A field such as {a.b} or {a[0]} would reach into the objects of this program.
        plain = _NAME.fullmatch(name or "") and _FORM.fullmatch(form or "") and not conversion
        if not plain:
            raise _Unfit
    return {str(name) for _, name, _, _ in fields}
