"""Text that remembers how it was made, so that a printer can say it in another language."""

from collections.abc import Iterable
from typing import Any


class Phrase(str):
    """English text with its template and the values put into it, which may be phrases too.

    It is an ordinary string to everybody but a translator, who looks up `template` and fills in
    `values` again, each translated first where it is a phrase.
    """

    template: str
    values: dict[str, Any]

    __slots__ = ("template", "values")


class Recalled(Phrase):
    """A phrase that a run file held: its words are its text, its template only a key to others.

    It is said in another language by its template where the catalogue has that, and else as the
    plain text that it is.
    """

    __slots__ = ()


class Verbatim(str):
    """Text that is the same in every language: a serial number, a path, the key of a setting."""

    __slots__ = ()


def say(template: str, /, **values: Any) -> Phrase:
    """Return `template.format(**values)` as a phrase.

    The template is the key of the translation, so it is a literal: what varies is a value.
    A number is formatted by the template (`{iops:,.1f}`), never before.

    Raises:
        KeyError: the template names a value that is not given.
    """
    phrase = Phrase(template.format(**values))
    phrase.template = template
    phrase.values = values
    return phrase


def listed(parts: Iterable[str]) -> str:
    """Return the parts with commas between them, each still to be translated by itself."""
    first, *rest = tuple(parts) or ("",)
    return say("{first}, {rest}", first=first, rest=listed(rest)) if rest else first


def joined(parts: Iterable[str]) -> str:
    """Return the parts with a middle dot between them, each still to be translated by itself."""
    first, *rest = tuple(parts) or ("",)
    return say("{first} · {rest}", first=first, rest=joined(rest)) if rest else first


def sentences(parts: Iterable[str]) -> str:
    """Return the sentences as one paragraph, each still to be translated by itself."""
    first, *rest = tuple(parts) or ("",)
    return say("{first} {rest}", first=first, rest=sentences(rest)) if rest else first


def capitalised(text: str) -> str:
    """Return a text that begins with a capital, and still remembers how it was made."""
    raised = text[:1].upper() + text[1:]
    if not isinstance(text, Phrase):
        return raised
    # A recalled phrase stays one: else its template would count as its words.
    phrase = type(text)(raised)
    phrase.template, phrase.values = text.template, text.values
    return phrase
