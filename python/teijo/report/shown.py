"""A document as a printer may have it: no text of it moves a cursor or hides a letter.

The texts of a run file are anybody's; see `teijo.outside.text`.
"""

from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import TypeVar

from teijo.document.model import Document
from teijo.outside.text import visible

T = TypeVar("T")
_PLAIN = frozenset({float, int, bool, type(None)})


def shown(document: Document) -> Document:
    """Return the document with every text in one line of characters that can be seen."""
    return _shown(document)


def _shown(part: T) -> T:
    """Return a part of a document; the part itself where nothing had to be done."""
    result: object = part
    if isinstance(part, str):
        result = visible(part)
    elif isinstance(part, tuple):
        # Most of a long table is numbers, which have nothing to hide.
        each = tuple([one if type(one) in _PLAIN else _shown(one) for one in part])
        result = part if all(map(is_, each, part)) else each
    elif is_dataclass(part) and not isinstance(part, type):
        new = {name: _shown(getattr(part, name)) for name in _names(type(part))}
        changed = {name: one for name, one in new.items() if one is not getattr(part, name)}
        result = replace(part, **changed) if changed else part
    return result  # type: ignore[return-value]


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
