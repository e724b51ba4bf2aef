"""What became of a limit, and what a script is told of it. No figure is looked at here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from teijo.compare.limit import SEPARATOR
from teijo.terms.record import Record

FACT: Final = "limits"
"""The row of the run file's environment that holds the limits a run was begun with."""
EXIT_NOT_MET: Final = 9
EXIT_NOT_KNOWN: Final = 11

Verdict = Literal["met", "not met", "not known"]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What became of one limit. `why` says what stands in the way where it is not known."""

    text: str
    verdict: Verdict
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    why: str = ""


def recorded_limits(record: Record) -> tuple[str, ...]:
    """Return the limits that a run was begun with."""
    text = record.environment.get(FACT, "")
    return tuple(part for part in text.split(SEPARATOR) if part.strip())


def fact_of(limits: Iterable[str]) -> str:
    """Return limits as the run file has them."""
    return SEPARATOR.join(limits)


def exit_code(several: Iterable[Judged]) -> int:
    """Return the exit code that says how the limits stand: the worst of them counts."""
    verdicts = {each.verdict for each in several}
    if "not met" in verdicts:
        return EXIT_NOT_MET
    return EXIT_NOT_KNOWN if "not known" in verdicts else 0
