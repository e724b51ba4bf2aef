"""Names that people type: what is said where there is none of that name."""

import difflib
from collections.abc import Iterable

from teijo.errors import PlanError


def unknown(what: str, given: str, valid: Iterable[str], accepted: Iterable[str] = ()) -> PlanError:
    """Return the error for a name that is none of the valid ones, with the nearest of them."""
    names = list(valid)
    near = difflib.get_close_matches(given.lower(), [*names, *accepted], n=1, cutoff=0.5)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return PlanError(
        f"Unknown {what} {given!r}{guess}", remedy=f"Valid are: {', '.join(names) or 'none'}."
    )
