"""The page on what verified reads held: a verdict, how much was judged, each class of fault."""

from collections.abc import Sequence

from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Paragraph, Section, Table, Verdict
from teijo.document.phrase import Verbatim, say
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult
from teijo.terms.verification import Fault, Verification, joined

PLACES_SHOWN = 4
_STEPS: Fields[tuple[StepRecord, Verification]] = (
    ("Step", "", 0, lambda row: row[0].seq),
    ("Phase", "", None, lambda row: row[0].step.phase),
    ("Judged", "sectors", 0, lambda row: row[1].sectors),
    ("Not judged", "sectors", 0, lambda row: row[1].sectors_unjudged),
    ("Wrong", "sectors", 0, lambda row: row[1].sectors_faulty),
)
FOUND = (
    "A lost write is found where the writes had an order (sequential or shuffled), or where it was "
    "read soon after; flipped, misplaced and torn sectors are found in every read."
)
NOT_JUDGED = (
    "Not judged is what this run is not known to have written, and what was being written while it "
    "was read. "
)
MEANINGS = {
    Fault.FLIPPED: "bits flipped: the checksum is wrong",
    Fault.MISPLACED: "another address's sector",
    Fault.STALE: "an older write's: the last one was lost",
    Fault.TORN: "an older write's beside sectors of a newer one",
    Fault.FOREIGN: "of another run, or of no run",
    Fault.ZERO: "zeros where something was written",
}


def verdict_of(found: Verification) -> str:
    """Return what was found, in one line."""
    if found.faults:
        return say(
            "WRONG DATA: {faulty:,} of {judged:,} sectors read are not what was written",
            faulty=found.sectors_faulty,
            judged=found.sectors,
        )
    if not found.sectors:
        return "Nothing was judged: no sector was read that this run is known to have written"
    return say("All of {judged:,} sectors judged hold what was written", judged=found.sectors)


def verification_section(steps: Sequence[StepRecord]) -> Section | None:
    """Return the page, None for a run that verified nothing."""
    told = [
        (each, each.answer.verification)
        for each in steps
        if isinstance(each.answer, StepResult) and each.answer.verification is not None
    ]
    if not told:
        return None
    whole = joined(found for _, found in told)
    # Where nothing was judged, nothing was found to be right either.
    good = None if not whole.sectors and not whole.faults else not whole.faults
    blocks: tuple[Block, ...] = (
        Verdict(text=verdict_of(whole), good=good),
        listing(
            told, _STEPS, caption="Sectors of 512 B that were read and held to what was written"
        ),
        _faults_table(whole),
        Paragraph(text=_limits(whole)),
    )
    return Section(title="Verification", blocks=blocks)


def _faults_table(found: Verification) -> Table:
    faults = {each.fault: each for each in found.faults}

    def places(fault: Fault) -> str:
        first = faults[fault].first_bytes[:PLACES_SHOWN] if fault in faults else ()
        return Verbatim(", ".join(str(place) for place in first))

    fields: Fields[Fault] = (
        ("Class", "", None, lambda fault: fault.value),
        ("What was read", "", None, lambda fault: MEANINGS[fault]),
        ("Wrong", "sectors", 0, lambda fault: faults[fault].sectors if fault in faults else 0),
        ("First places, in bytes", "", None, places),
    )
    return listing(Fault, fields, caption="Faults by class")


def _limits(found: Verification) -> str:
    if found.sectors_unjudged:
        return NOT_JUDGED + FOUND
    return FOUND
