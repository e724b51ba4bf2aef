"""Comparisons of runs that somebody looks at: made one at a time, and kept for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import QueryParams

from teijo import api
from teijo.api.comparing import sided
from teijo.compare.for_programs import comparison_json
from teijo.compare.sides import check_count
from teijo.document.model import Document
from teijo.errors import UsageError
from teijo.report import html
from teijo.report.language import Language
from teijo.runfile.mark import mark_of
from teijo.speech import tongue

KEPT: Final = 6
_NAME_MOST: Final = 60
"""Characters of a side's name."""
_WORDS_MOST: Final = 40


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which runs are compared, by their ids; the others are held against the first.

    `sides` has a name for each of them, or "" for its own; `allow` is what may differ.
    """

    keys: tuple[str, ...]
    sides: tuple[str, ...]
    allow: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What stands in its address."""
        named = any(self.sides)
        found = []
        for key, side in zip(self.keys, self.sides, strict=True):
            found += [("run", key), *([("side", side)] if named else [])]
        return found + [("allow", word) for word in self.allow]

    def led_by(self, place: int) -> "Asked":
        """Return it with another run as the one that the others are held against."""
        order = [place, *(each for each in range(len(self.keys)) if each != place)]
        return self._of(order)

    def without(self, place: int) -> "Asked":
        """Return it without one run."""
        return self._of([each for each in range(len(self.keys)) if each != place])

    def _of(self, places: Sequence[int]) -> "Asked":
        return replace(
            self,
            keys=tuple(self.keys[each] for each in places),
            sides=tuple(self.sides[each] for each in places),
        )


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A comparison, or why there is none: then `trouble` says it, and the rest is empty.

    `runs` are those it is of, in the order they were asked for.
    """

    runs: tuple["Line", ...]
    trouble: UsageError | None = None
    document: Document | None = None
    json: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, html.Parts] = field(default_factory=dict)

    @property
    def whole(self) -> Document:
        """The report of it.

        Raises:
            UsageError: there is none.
        """
        if self.trouble is not None:
            raise self.trouble
        assert self.document is not None
        return self.document


@dataclass(frozen=True, kw_only=True)
class Line:
    """One of the runs in a few words, which are text from outside."""

    file: str
    device: str
    serial: str
    started_at: str


class Comparisons:
    """The comparisons that were asked for last."""

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        """`path_of` finds the file of a run by its id."""
        self._path_of = path_of
        self._kept: OrderedDict[tuple[Asked, tuple[str, ...]], Compared] = OrderedDict()
        self._turn = asyncio.Lock()

    async def made(self, asked: Asked, *, shown: bool = False) -> Compared:
        """Return a comparison; with the parts of its page in this language where it is `shown`.

        Raises:
            UsageError: they are too many, one of them is not there or cannot be read.
        """
        check_count(len(asked.keys))
        # Whoever waits for a turn takes no thread from those who ask for something else.
        async with self._turn:
            found = await asyncio.to_thread(self._found, asked)
            if shown and found.document is not None and tongue.spoken() not in found.parts:
                found.parts[tongue.spoken()] = await asyncio.to_thread(_parts, found.document)
        return found

    def _found(self, asked: Asked) -> Compared:
        paths = [self._path_of(key) for key in asked.keys]
        marks = [mark_of(path) for path in paths]
        place = (asked, tuple(mark.text for mark in marks))
        found = self._kept.pop(place, None) or _compared(asked, paths)
        if all(mark.is_settled() for mark in marks):
            self._kept[place] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


def asked_of(query: QueryParams) -> Asked:
    """Return what an address asks to be compared."""
    keys = query.getlist("run")
    sides = [side.strip()[:_NAME_MOST] for side in query.getlist("side")[: len(keys)]]
    words = [word.strip() for text in query.getlist("allow") for word in text.split(",")]
    return Asked(
        keys=tuple(keys),
        sides=(*sides, *("" for _ in keys[len(sides) :])),
        allow=tuple(sorted({word for word in words[:_WORDS_MOST] if word})),
    )


def _compared(asked: Asked, paths: Sequence[Path]) -> Compared:
    runs = [api.open(path) for path in paths]
    lines = tuple(_line(run) for run in runs)
    try:
        sides = sided(zip(asked.sides, runs, strict=True))
        comparison = api.compare(sides, allow=asked.allow)
        document = api.comparison_document(comparison)
    except UsageError as error:
        return Compared(runs=lines, trouble=error)
    return Compared(runs=lines, document=document, json=comparison_json(comparison))


def _line(run: api.Run) -> Line:
    identity = run.record.identity
    return Line(
        file=run.path.name,
        device=identity.model or identity.target,
        serial=identity.serial,
        started_at=run.record.run.started_at,
    )


def _parts(document: Document) -> html.Parts:
    return html.parts(document, Language(tongue.spoken()))
