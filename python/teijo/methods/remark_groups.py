"""Remarks that say the same with other figures, as one that says from where to where they go."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from teijo.document.phrase import Phrase, Verbatim
from teijo.terms.remark import Remark, RemarkKind

FIGURES: Final = frozenset({"own", "seen", "share", "achieved", "waiting", "mean"})
"""Values of a remark's text that a step has its own of: what was seen, never what was asked."""
_NUMBER: Final = re.compile(r"[0-9][0-9,]*(\.[0-9]+)?")

Touched = TypeVar("Touched")
Key = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Group(Generic[Touched]):
    """One text, and what it touches, each once and in order."""

    kind: RemarkKind
    text: str
    touched: tuple[Touched, ...]


def grouped(
    remarks: Iterable[tuple[Remark, Touched]],
) -> tuple[Group[Touched], ...]:
    """Return the remarks in groups of one kind and one text, figures aside, as they first came."""
    groups: dict[Key, tuple[list[Remark], dict[Touched, None]]] = {}
    for remark, touched in remarks:
        said, all_touched = groups.setdefault(_key(remark), ([], {}))
        said.append(remark)
        all_touched[touched] = None
    return tuple(
        Group(kind=said[0].kind, text=_in_one([each.text for each in said]), touched=tuple(touched))
        for said, touched in groups.values()
    )


def _key(remark: Remark) -> Key:
    text = remark.text
    if not isinstance(text, Phrase):
        return (remark.kind, str(text))
    values = (
        (name, None if _is_figure(name, each) else each) for name, each in text.values.items()
    )
    return (remark.kind, text.template, *values)


def _is_figure(name: str, value: object) -> bool:
    return name in FIGURES and isinstance(value, str) and _NUMBER.fullmatch(value) is not None


def _in_one(texts: list[str]) -> str:
    """Return one text of a group: its own where it is the only one, else with figures from – to."""
    first = texts[0]
    if not isinstance(first, Phrase) or len(set(texts)) == 1:
        return first
    phrases = [each for each in texts if isinstance(each, Phrase)]
    values = dict(first.values)
    for name in (each for each in values if _is_figure(each, values[each])):
        values[name] = _from_to([str(each.values[name]) for each in phrases])
    # A recalled phrase stays one: else its template would count as its words.
    phrase = type(first)(first.template.format(**values))
    phrase.template, phrase.values = first.template, values
    return phrase


def _from_to(figures: list[str]) -> Verbatim:
    ordered = sorted(figures, key=lambda each: float(each.replace(",", "")))
    least, most = ordered[0], ordered[-1]
    return Verbatim(least if least == most else f"{least}–{most}")
