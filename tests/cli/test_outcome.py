"""What a run leaves behind, in words: its verdict with what must be said of its numbers."""

from types import SimpleNamespace
from typing import Any

from teijo.cli.outcome import verdict
from teijo.document.model import Section, Verdict
from teijo.terms.remark import Remark, RemarkKind


def run_that(converged: bool | None, *kinds: RemarkKind, says: str = "") -> Any:
    """Return a run of the method m whose report says this verdict, or none."""
    verdicts = (Verdict(text=says, good=converged),) if says else ()
    document = SimpleNamespace(sections=(Section(title="Summary", blocks=verdicts),))
    return SimpleNamespace(
        record=SimpleNamespace(run=SimpleNamespace(method="m", ending="done")),
        remarks=tuple(Remark(kind=kind, text="") for kind in kinds),
        judged=(),
        document=lambda: document,
    )


def test_the_verdict_is_the_one_of_the_report() -> None:
    said = "STEADY STATE: NO, after 25 rounds"
    assert verdict(run_that(False, says=said)) == said


def test_remarks_are_counted_by_kind() -> None:
    kinds = (RemarkKind.SIMULATED, RemarkKind.DEVIATION, RemarkKind.DEVIATION)
    said = verdict(run_that(False, *kinds)).splitlines()[-1]
    assert said == "remarks: simulated, deviation from the standard (2)"


def test_a_run_whose_report_has_no_verdict_says_how_it_ended() -> None:
    assert verdict(run_that(None)) == "m: done"
