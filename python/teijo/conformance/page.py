"""The ledger's page: a verdict that counts, and a row for every requirement."""

from collections.abc import Sequence

from teijo.conformance.versions import Version
from teijo.document.model import Block, Column, Paragraph, Section, Table, Verdict
from teijo.document.phrase import say
from teijo.terms.conformance import Conformance, LedgerLine

TITLE = "Conformance"
VERDICT_COLUMN = 3
NOTE = (
    "Evidence is what the record holds: what was counted and timed, not what was set. Not "
    "verifiable is what the record does not show, and what this program knows from other programs "
    "alone and has not held to the standard's text. Limits without a figure in the standard are "
    "this program's and say so."
)


def ledger_section(lines: Sequence[LedgerLine], version: Version) -> Section:
    """Return the page of a ledger."""
    table = Table(
        columns=(
            Column(name="Requirement"),
            Column(name="Asked"),
            Column(name="Evidence"),
            Column(name="Verdict"),
        ),
        rows=tuple((line.name, line.asked, line.evidence, line.verdict) for line in lines),
        caption=say("Conformance to {revision}, {family}", revision=version.revision,
                    family=version.family),
        marked=tuple(
            (row, VERDICT_COLUMN) for row, line in enumerate(lines) if line.verdict == "deviated"
        ),
    )  # fmt: skip
    blocks: tuple[Block, ...] = (verdict_of(lines), table, Paragraph(text=NOTE))
    return Section(title=TITLE, blocks=blocks)


def verdict_of(lines: Sequence[LedgerLine]) -> Verdict:
    """Return the counts, and whether the run conforms: None where it is optional or unproven."""
    text = say(
        "CONFORMANCE: {met} met, {deviated} deviated, {open} not verifiable",
        met=count(lines, "met"),
        deviated=count(lines, "deviated"),
        open=count(lines, "not verifiable"),
    )
    if any(line.spoils for line in lines):
        return Verdict(text=text, good=False)
    return Verdict(text=text, good=None if any(line.deviates for line in lines) else True)


def count(lines: Sequence[LedgerLine], verdict: Conformance) -> int:
    """Return how many lines have a verdict."""
    return sum(line.verdict == verdict for line in lines)
