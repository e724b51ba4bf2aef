"""What a person says of a run and no device can tell: a closed list, recorded and printed."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

PREFIX: Final = "note: "
"""What the name of a note begins with among the facts of a run's environment."""
LONGEST: Final = 200
"""Characters of one note: it is shown in a header."""


class RunNote(StrEnum):
    """What may be noted, by its key."""

    SPONSOR = "sponsor"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    VENDOR = "vendor"
    NAND = "nand"
    HBA = "hba"
    PCIE = "pcie"
    REPORT_DATE = "report-date"


MEANINGS: Final[Mapping[RunNote, str]] = {
    RunNote.SPONSOR: "who asked for the test",
    RunNote.OPERATOR: "who carried it out",
    RunNote.AUDITOR: "who checked it",
    RunNote.VENDOR: "who makes the device",
    RunNote.NAND: "its NAND type: SLC, MLC, TLC, QLC",
    RunNote.HBA: "the host bus adapter between it and the host",
    RunNote.PCIE: "the PCIe link it is on",
    RunNote.REPORT_DATE: "the date of the report (1.0)",
}


def as_facts(notes: Mapping[RunNote, str]) -> dict[str, str]:
    """Return notes as rows of a run's environment."""
    return {f"{PREFIX}{note}": text for note, text in notes.items()}


def noted(environment: Mapping[str, str], note: RunNote) -> str:
    """Return what was noted, or nothing."""
    return environment.get(f"{PREFIX}{note}", "")
