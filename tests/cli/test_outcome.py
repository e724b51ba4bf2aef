"""What a run leaves behind, in words: its verdict with what must be said of its numbers. A second
Ctrl-C that comes as a run ends because of the first is not a kill.
"""

import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from teijo.cli.options import ProgressMode
from teijo.cli.outcome import carry_out, verdict
from teijo.document.model import Section, Verdict
from teijo.errors import Interrupted
from teijo.runner.events import Observer, Stopping
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


def _interrupt() -> None:
    """Raise the signal as a terminal does; a handler of Python runs before this returns."""
    os.kill(os.getpid(), signal.SIGINT)
    signal.sigtimedwait([], 0)


@pytest.fixture
def handlers_given_back() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handlers_given_back")
def test_a_second_ctrl_c_after_the_run_has_stopped_listening_changes_nothing() -> None:
    def act(*, observer: Observer, interrupt: object) -> object:
        del interrupt
        observer(Stopping(signal="SIGINT"))
        _interrupt()
        raise Interrupted("Stopped by SIGINT.")

    with pytest.raises(Interrupted):
        carry_out(act, ProgressMode.PLAIN)  # type: ignore[arg-type]


@pytest.mark.usefixtures("handlers_given_back")
def test_a_ctrl_c_before_the_run_listens_ends_it_as_any_program() -> None:
    def act(*, observer: Observer, interrupt: object) -> object:
        del observer, interrupt
        _interrupt()
        raise AssertionError("it goes on")

    with pytest.raises(KeyboardInterrupt):
        carry_out(act, ProgressMode.PLAIN)  # type: ignore[arg-type]
