"""The words a ledger puts on every page: nothing, OPTIONAL, or NON-CONFORMING with its reason."""

from collections.abc import Sequence

from teijo.document.phrase import listed, say
from teijo.terms.conformance import LedgerLine


def stamp_of_ledger(lines: Sequence[LedgerLine]) -> str:
    """Return what a page's header must show of a ledger; nothing where the run conforms.

    A run conforms if nothing deviates and what decides is shown: a whole device, purged by a
    method the standard names.
    """
    spoilt = [line for line in lines if line.spoils]
    if not spoilt:
        deviates = any(line.verdict == "deviated" for line in lines)
        return "OPTIONAL" if deviates else ""
    reasons = listed(dict.fromkeys(line.short for line in spoilt if line.decisive and line.short))
    return say("NON-CONFORMING: {reason}", reason=reasons) if reasons else "NON-CONFORMING"
