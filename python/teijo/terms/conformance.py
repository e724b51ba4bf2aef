"""How a run kept to a requirement of its standard: a line of the conformance ledger."""

from dataclasses import dataclass
from typing import Final, Literal

Conformance = Literal["met", "deviated", "not verifiable"]
CONFORMANCES: Final[tuple[Conformance, ...]] = ("met", "deviated", "not verifiable")


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """One requirement of the version, and what the record shows of it.

    `asked` is what the version asks for, `evidence` what was found: numbers and facts of the
    record. A deviation from an `optional` requirement is a choice the standard leaves to the
    operator, to be disclosed. A `decisive` requirement must be shown: what is not verifiable of
    it counts as a deviation. One that is `advisory` is only recommended: it is disclosed in its own
    line and has no part in whether the run conforms. `short` names what is wrong in a word or two,
    for a page's header.
    """

    requirement: str
    name: str
    asked: str
    verdict: Conformance
    evidence: str
    optional: bool = False
    decisive: bool = False
    advisory: bool = False
    short: str = ""

    @property
    def deviates(self) -> bool:
        """Whether it is a deviation that a page's header must show, be it the operator's choice."""
        return self.verdict == "deviated" and not self.advisory

    @property
    def spoils(self) -> bool:
        """Whether the run cannot be called conforming for this alone."""
        if self.optional:
            return False
        return self.deviates or (self.decisive and self.verdict != "met")
