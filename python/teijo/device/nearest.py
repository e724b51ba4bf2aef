"""What a mistyped device was meant to be: the nearest of the names there are."""

import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from teijo.errors import PlanError, TargetError

NEAR: Final = 0.6
"""How alike two names must be, from 0 to 1 (difflib's ratio)."""

_LISTED: Final = re.compile(r'(.*) "([^"]*)"; (?:there are|it has): (.*)', re.DOTALL)
_APART: Final = re.compile(r", (?![^(]*\))")


def guess(word: str, names: Iterable[str]) -> str:
    """Return "; did you mean …?" for the nearest of the names, or nothing."""
    near = get_close_matches(word.lower(), list(names), n=1, cutoff=NEAR)
    return f"; did you mean {near[0]}?" if near else ""


def shortened(error: TargetError | PlanError) -> TargetError | PlanError:
    """Return an error that names all there are as one that names the nearest; the rest is said by
    its remedy.
    """
    listed = _LISTED.fullmatch(error.message.removesuffix("."))
    if listed is None:
        return error
    what, word, rest = listed.groups()
    names = [part.partition(" (")[0].removesuffix("(…)") for part in _APART.split(rest)]
    all_of_them = ", ".join(names)
    example = "sim:NAME?parameter=value" if "parameter" in what else "sim:NAME"
    return type(error)(
        f'{what} "{word}"{guess(word, names)}',
        remedy=f"Write {example}. There are: {all_of_them}.",
    )


def sibling(path: Path) -> str:
    """Return "; did you mean …?" for the name beside a path that is not there, or nothing."""
    with suppress(OSError):
        names = [each.name for each in path.parent.iterdir()]
        near = get_close_matches(path.name, names, n=1, cutoff=0.75)
        return f"; did you mean {path.parent / near[0]}?" if near else ""
    return ""
