"""Every text and number within a record, by its place, and the record with another one there."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

Place = tuple[object, ...]


def leaves_of(part: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every text, number and nothing within a part of a record."""
    if is_dataclass(part) and not isinstance(part, type):
        for each in fields(part):
            yield from leaves_of(getattr(part, each.name), (*place, each.name))
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from leaves_of(value, (*place, key))
    elif isinstance(part, tuple | list):
        for at, value in enumerate(part):
            yield from leaves_of(value, (*place, at))
    elif not isinstance(part, Enum | np.ndarray):
        yield place


def with_leaf(part: Any, place: Place, text: str) -> Any:
    """Return a record with a value in a place: of the kind that was there, where it can be."""
    if not place:
        return _like(part, text)
    first, *rest = place
    inner = tuple(rest)
    if isinstance(part, Mapping):
        return {k: with_leaf(v, inner, text) if k == first else v for k, v in part.items()}
    if isinstance(part, tuple | list):
        return type(part)(
            with_leaf(value, inner, text) if at == first else value for at, value in enumerate(part)
        )
    assert isinstance(first, str)
    return replace(part, **{first: with_leaf(getattr(part, first), inner, text)})


def _like(value: object, text: str) -> object:
    """Return the text as a value of the same kind; SQLite's integers have 64 bits."""
    try:
        match value:
            case bool():
                return not value
            case int():
                return max(-(2**63), min(2**63 - 1, int(text)))
            case float():
                return float(text)
    except ValueError:
        return value
    return text
