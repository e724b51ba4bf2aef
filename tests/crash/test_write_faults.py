"""The Nth statement to the run file fails, for every N, by one error or another: a named error, and
nothing is lost."""

import sqlite3
from pathlib import Path

import pytest

from teijo.errors import HostError
from teijo.runfile import reader, recorder
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.runner.events import Event, RunStarted, StepDone
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from tests.runner.acts import resume_paper, run_paper
from tests.runner.fakes import STEPS

pytestmark = pytest.mark.usefixtures("made_up")

MESSAGES = ("disk I/O error", "database or disk is full")


class Flaky(sqlite3.Connection):
    """A connection whose statements fail from the Nth on, or only the Nth."""

    fails_at = 0
    lasting = True
    message = "disk I/O error"
    count = 0

    def execute(self, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
        Flaky.count += 1
        late = Flaky.count > Flaky.fails_at and Flaky.lasting
        if Flaky.count == Flaky.fails_at or late:
            raise sqlite3.OperationalError(Flaky.message)
        return super().execute(*arguments)  # type: ignore[arg-type]


@pytest.fixture
def flaky(monkeypatch: pytest.MonkeyPatch) -> type[Flaky]:
    """Put a flaky connection under the recorder."""
    Flaky.count, Flaky.fails_at = 0, 10**9
    real = sqlite3.connect

    def connect(path: object, **options: object) -> sqlite3.Connection:
        if options.get("uri"):
            return real(path, **options)  # type: ignore[call-overload, no-any-return]
        return real(path, factory=Flaky, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(recorder.sqlite3, "connect", connect)
    return Flaky


def statements(flaky: type[Flaky], path: Path) -> tuple[int, Record]:
    """Return how many statements a run takes, and its record."""
    record = run_paper(path)
    return flaky.count, record


def ending_of(path: Path) -> HostError | None:
    """Run, and return the error it ended with; None where it ended well."""
    try:
        run_paper(path)
    except HostError as error:
        return error
    return None


@pytest.mark.parametrize("every", [13, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("message", MESSAGES)
def test_a_disk_that_fails_for_good_ends_the_run_and_it_can_go_on(
    tmp_path: Path, flaky: type[Flaky], message: str, every: int
) -> None:
    total, whole = statements(flaky, tmp_path / "whole")
    flaky.message, flaky.lasting = message, True
    place = 0
    first = 1 + MESSAGES.index(message)  # of every second place the two have all of them
    for place in range(first, total + 1, every):
        path = tmp_path / f"failed-{place}"
        flaky.count, flaky.fails_at = 0, place
        failed = ending_of(path)
        if flaky.count < place:  # how often intervals are handed over is a matter of time
            assert failed is None
            break
        assert failed is not None
        assert failed.exit_code == 6
        flaky.fails_at = 10**9
        names = Names.of(path)
        if not names.open.exists():  # it failed as it was made, or once it was sealed
            assert not names.sealed.exists() or reader.read(path).steps == whole.steps
            continue
        kept = reader.read(path)
        assert kept.steps == whole.steps[: len(kept.steps)], f"statement {place}"
        if kept.run.ending in ("running", "interrupted"):
            assert resume_paper(path).steps == whole.steps, f"statement {place}"
        else:
            assert reader.read(Recorder.reopen(path).seal()).steps == whole.steps
    assert place > 4 * STEPS


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.campaign)])
def test_a_disk_that_is_full_once_costs_a_remark_and_nothing_else(
    tmp_path: Path, flaky: type[Flaky], every: int
) -> None:
    counts: dict[type[Event], int] = {}

    def observe(event: Event) -> None:
        counts[type(event)] = flaky.count

    whole = run_paper(tmp_path / "whole", observer=observe)
    flaky.message, flaky.lasting = "database or disk is full", False
    squeezed = 0
    for place in range(counts[RunStarted] + 1, counts[StepDone] + 1, every):
        flaky.count, flaky.fails_at = 0, place
        try:
            record = run_paper(tmp_path / f"squeezed-{place}", observer=observe)
        except HostError:
            assert place > counts[StepDone]
        if place > counts[StepDone]:  # how often intervals are handed over is a matter of time
            break
        assert record.steps == whole.steps
        assert RemarkKind.RESULTS_DISK in [remark.kind for remark in record.remarks]
        squeezed += 1
    assert len(whole.steps) == STEPS
    assert squeezed > 4 * STEPS // every
