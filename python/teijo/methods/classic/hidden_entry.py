"""One thing that a classic tool's number may have in it besides the device."""

from dataclasses import dataclass
from typing import Literal

Found = Literal["hidden", "clear", "unknown"]


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
