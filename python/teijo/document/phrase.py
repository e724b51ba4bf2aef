"""Text that remembers how it was made, so that a printer can say it in another language."""

from typing import Any


class Phrase(str):
    """English text with its template and the values put into it, which may be phrases too.

    It is an ordinary string to everybody but a translator, who looks up `template` and fills in
    `values` again, each translated first where it is a phrase.
    """

    template: str
    values: dict[str, Any]

    __slots__ = ("template", "values")


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
