"""The ledger of a record: each requirement of its version and test, with verdict and evidence;
and the words that it puts on every page.

Pure: it can be drawn up from an old file, and under another version of the standard.
"""

from collections.abc import Sequence
from dataclasses import replace

from teijo.conformance.requirement import Case, Found, Known, Requirement
from teijo.conformance.requirements import REQUIREMENTS
from teijo.conformance.versions import version_of
from teijo.document.phrase import listed, say
from teijo.terms.conformance import LedgerLine
from teijo.terms.finding import Findings
from teijo.terms.record import Record


def ledger(record: Record, findings: Findings) -> tuple[LedgerLine, ...]:
    """Return a line for every requirement of the record's test under its version."""
    version = version_of(record.run.spec)
    case = Case(record, findings, version)
    return tuple(
        _line(requirement, case)
        for requirement in REQUIREMENTS
        if requirement.applies(record.run.method, version)
    )


def _line(requirement: Requirement, case: Case) -> LedgerLine:
    known = requirement.known_of(case.record.run.method, case.version)
    found = _held_to_the_text(known, requirement.check(case))
    asked = requirement.asked
    return LedgerLine(
        requirement=requirement.id,
        name=requirement.name,
        asked=asked if isinstance(asked, str) else asked(case),
        verdict=found.verdict,
        evidence=found.evidence,
        optional=requirement.optional,
        decisive=requirement.decisive,
        advisory=requirement.advisory,
        short=found.short,
    )


def _held_to_the_text(known: Known, found: Found) -> Found:
    """Return the finding; a requirement that was not read in the standard is never met for sure."""
    if known != "code" or found.verdict == "deviated":
        return found
    text = say("{told}; what is asked was not checked against the text", told=found.evidence)
    return replace(found, verdict="not verifiable", evidence=text)


def stamp_of_ledger(lines: Sequence[LedgerLine]) -> str:
    """Return what a page's header must show of a ledger; nothing where the run conforms.

    A run conforms if nothing deviates and what decides is shown: a whole device, purged by a
    method the standard names. What is only recommended stands in its own line.
    """
    spoilt = [line for line in lines if line.spoils]
    if not spoilt:
        return "OPTIONAL" if any(line.deviates for line in lines) else ""
    reasons = listed(dict.fromkeys(line.short for line in spoilt if line.decisive and line.short))
    return say("NON-CONFORMING: {reason}", reason=reasons) if reasons else "NON-CONFORMING"
