"""One thing that a classic tool's number may have in it besides the device."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from teijo import units
from teijo.document.phrase import say

Found = Literal["hidden", "clear", "unknown"]
DEVIATIONS: Final = 5
"""What lies within so many of them may be chance."""
_SHOWN: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([KMGT]iB|[kKMGT]?B|bytes)")


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """One thing that a number may hide, as far as a run shows it.

    `size` has the numbers that were measured, whichever way they came out; it is a sentence.
    `kind` names it to programs. `found` is unknown where the run cannot tell; then `size` says
    why.
    """

    kind: str
    name: str
    what: str
    size: str
    because: str
    strict: str
    found: Found


def entry(found: Found, kind: str, name: str, size: str, *texts: str) -> Hidden:
    """Return an entry; `texts` are what it is, how it follows, and what strict makes of it."""
    what, because, strict = texts
    return Hidden(
        kind=kind, name=name, what=what, size=size, because=because, strict=strict, found=found
    )


def found_of(*, seems: bool, surely: bool) -> Found:
    """Return what came of a check: what a few I/Os seem to show is neither there nor not."""
    if surely:
        return "hidden"
    return "unknown" if seems else "clear"


def too_few(size: str) -> str:
    """Return what was seen, and that it tells nothing."""
    return say("{seen} So few I/Os cannot tell.", seen=size)


def shown_bytes(text: str) -> int:
    """Return a size in bytes as facts and the environment show it ("31.3 GiB", "26GB"); 0: none.

    A fraction of a unit is shown there, which a person who writes a size may not use.
    """
    found = _SHOWN.fullmatch(text)
    if found is None:
        return 0
    unit = "B" if found[2] == "bytes" else found[2]
    return round(float(found[1]) * units.parse_size(f"1{unit}"))
