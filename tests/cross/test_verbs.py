"""Every verb on a run of every classic method, on a simulated device and on a real place.

One run a method and place, which the verbs share: what is looked at is that each of them ends as
it must, says what it must, and claims nothing beyond the numbers of the run.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from teijo import api
from teijo.analysis.measures import written_in
from teijo.cli import app
from teijo.compare.judged import SHOWN
from teijo.compare.limit import LIMITS_MOST
from teijo.compare.limits import known_in
from teijo.errors import Interrupted
from teijo.methods.registry import card_named, method_named
from teijo.runner.events import Event, StepStarted
from teijo.runner.interrupt import Interrupt
from teijo.runner.rehearsal import rehearsed
from teijo.terms.result import StepResult
from tests.cli.conftest import Teijo
from tests.cli.conftest import teijo as teijo
from tests.cross.subjects import CLASSIC, FILES, KEPT, Place, Subject
from tests.runfile.memory import MEMORY
from tests.runfile.memory import tmp_path as tmp_path

TOLD = {
    "classic.orion": "Minimum Small Latency=",
    "classic.crystaldiskmark": "As CrystalDiskMark scores it: ",
    "classic.sqlio": "IOs/sec",
    "classic.diskspd": "MiB/s",
    "classic.bonnie": " in ",
    "classic.tiotest": "Up to ",
    "classic.tiobench": "Up to ",
    "classic.sql-bench": "2 tests in ",
    "oltp": "transactions a second",
}
"""What the verdict of each of them has in it."""


@dataclass(frozen=True)
class Ran:
    """A run that all verbs read; `home` is the directory its target lies in."""

    subject: Subject
    place: Place
    path: Path
    home: Path
    told: str

    @property
    def run(self) -> api.Run:
        return api.open(self.path)

    @property
    def command(self) -> tuple[str, ...]:
        return (self.subject.method, self.subject.target(self.place, self.home))


PLACES = [
    pytest.param(
        (subject, place),
        id=f"{subject.name}, {place}",
        marks=[pytest.mark.long] * (place != subject.places[0]),
    )
    for subject in CLASSIC
    for place in subject.places
]
"""The second place of a subject is long: `test_killed.py` is short there, and long on the first."""


@pytest.fixture(scope="session", params=PLACES)
def ran(request: pytest.FixtureRequest) -> Iterator[Ran]:
    """Give one run of each subject on each of its places, and what the command line said of it."""
    subject, place = request.param
    folder = Path(tempfile.mkdtemp(prefix="teijo-", dir=MEMORY if MEMORY.is_dir() else None))
    home = folder / "home"
    home.mkdir()
    (home / KEPT).write_text("kept")
    path = folder / "run.teijo"
    command = ("run", subject.method, subject.target(place, home), *subject.options)
    with (
        redirect_stdout(TextIOWrapper(BytesIO())),
        redirect_stderr(TextIOWrapper(BytesIO(), write_through=True)) as err,
        pytest.raises(SystemExit) as leaving,
    ):
        app.main([*command, "-o", str(path), "--seed", "1", "--report", "none"])
    told = err.buffer.getvalue().decode()
    assert not leaving.value.code, told
    yield Ran(subject, place, path, home, told)
    shutil.rmtree(folder)


def said(told: tuple[int, str, str], code: int = 0) -> str:
    """Return all that a verb printed, once it is seen that it ended as it must."""
    ended, out, err = told
    assert ended == code, err
    assert "Traceback" not in out + err
    return out + err


def test_a_preview_knows_the_steps_and_bytes_that_the_run_had(ran: Ran, teijo: Teijo) -> None:
    told = said(teijo("preview", *ran.command, *ran.subject.options))
    (row,) = [line.split()[1:] for line in told.splitlines() if line.startswith("steps")]
    assert row == [str(len(ran.run.record.steps))] * 3
    assert "Assumed" in told
    ahead = api.preview(*ran.command, settings=ran.subject.settings)
    steps = ((each.step, each.answer) for each in ran.run.record.steps)
    wrote = written_in((one, two) for one, two in steps if isinstance(two, StepResult))
    if ran.subject.method in ("oltp", "classic.sql-bench"):
        assert (wrote, ahead.least.written_bytes, ahead.most.written_bytes) == (None,) * 3
        assert told.count("not known") == 9
    elif ran.subject.simulated == FILES and not ran.subject.settings.get("largest"):
        assert (ahead.least.written_bytes, ahead.most.written_bytes) == (wrote, wrote)


def test_a_run_on_the_command_line_ends_with_its_verdict(ran: Ran) -> None:
    assert "ended: done" in ran.told
    assert TOLD[ran.subject.method] in ran.told
    assert "Traceback" not in ran.told
    assert ran.run.record.run.ending == "done"
    left = {path.name for path in ran.home.iterdir()}
    assert left == ({KEPT, "disk.img"} if ran.place == "file" else {KEPT})


def test_interrupted_in_the_middle_it_is_resumed_and_says_so(
    ran: Ran, teijo: Teijo, tmp_path: Path
) -> None:
    steps, stop = len(ran.run.record.steps), Interrupt()

    def observe(event: Event) -> None:
        if isinstance(event, StepStarted) and event.seq == steps // 2 + 1 and not event.replayed:
            stop.request("a test")

    (tmp_path / "home").mkdir()
    with pytest.raises(Interrupted):
        api.run(
            ran.subject.method,
            ran.subject.target(ran.place, tmp_path / "home"),
            output=tmp_path / "run",
            settings=ran.subject.settings,
            seed=1,
            observer=observe,
            interrupt=stop,
        )
    assert "INTERRUPTED" in said(teijo("list", tmp_path))
    told = said(teijo("resume", tmp_path / "run.teijo.open", "--report", "text"))
    assert TOLD[ran.subject.method] in told
    assert "resumed" in told
    assert "* resumed" in (tmp_path / "run.txt").read_text()
    assert api.open(tmp_path / "run.teijo").record.run.ending == "done"
    assert [path.name for path in (tmp_path / "home").iterdir()] in ([], ["disk.img"])
    twin = said(teijo("compare", ran.path, tmp_path / "run.teijo", "--format", "text", "-o", "-"))
    assert "* resumed" in twin
    if ran.place == "simulated":
        assert "no difference shown" in twin
        assert_nothing_differs(api.open(tmp_path / "run.teijo"), ran.run)


def assert_nothing_differs(one: api.Run, other: api.Run) -> None:
    """Make sure that two runs with the same numbers are not told apart."""
    comparison = api.compare({"one": [one], "other": [other]})
    for pairing in comparison.pairings:
        assert pairing.rows
        assert pairing.differing == 0
        assert pairing.overall is None or pairing.overall.verdict not in SHOWN


def test_compared_with_itself_it_is_refused_and_under_another_name_nothing_differs(
    ran: Ran, teijo: Teijo, tmp_path: Path
) -> None:
    assert "stands twice" in said(teijo("compare", ran.path, ran.path), code=2)
    shutil.copy(ran.path, tmp_path / "copy.teijo")
    assert "stands twice" in said(teijo("compare", ran.path, tmp_path / "copy.teijo"), code=2)
    run = ran.run
    named = replace(run, record=replace(run.record, run=replace(run.record.run, id="another")))
    assert_nothing_differs(run, named)


def test_a_sealed_run_stays_sealed(ran: Ran, teijo: Teijo, tmp_path: Path) -> None:
    copy = tmp_path / "copy.teijo"
    shutil.copy(ran.path, copy)
    before = copy.read_bytes()
    assert str(copy) in said(teijo("seal", copy))
    assert copy.read_bytes() == before


def test_it_is_exported_as_json_csv_and_parquet(ran: Ran, teijo: Teijo, tmp_path: Path) -> None:
    told = json.loads(said(teijo("export", ran.path, "--to", "json")))
    assert told["run"]["method"] == ran.subject.method
    assert len(told["steps"]) == len(ran.run.record.steps)
    assert told["findings"]["cells"] or told["findings"]["scalars"]
    results = sum(len(each.results) for each in ran.run.record.answers)
    for table, rows in (("steps", len(ran.run.record.steps)), ("results", results)):
        told = said(teijo("export", ran.path, "--to", "csv", "--table", table))
        assert len(told.splitlines()) == 1 + rows
        columnar = tmp_path / f"{table}.parquet"
        said(teijo("export", ran.path, "--to", "parquet", "--table", table, "-o", columnar))
        assert columnar.read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_its_report_is_text_csv_and_html_in_two_languages(
    ran: Ran, teijo: Teijo, tmp_path: Path, language: str
) -> None:
    said(teijo("report", ran.path, "--format", "text,csv,html", "--lang", language, "-o", tmp_path))
    ja = "" if language == "en" else ".ja"
    page, web = tmp_path / f"run{ja}.txt", tmp_path / f"run{ja}.html"
    lines = page.read_text().splitlines()
    assert len(lines) > 40
    assert not [line for line in lines if "None" in line.split() or "nan" in line.split()]
    assert "</html>" in web.read_text()
    assert len(list((tmp_path / "run-tables").iterdir())) > 1
    if language == "en":
        assert TOLD[ran.subject.method] in page.read_text()


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "ja"])
def test_its_report_is_a_pdf_in_two_languages(
    ran: Ran, teijo: Teijo, tmp_path: Path, language: str
) -> None:
    said(teijo("report", ran.path, "--format", "pdf", "--lang", language, "-o", tmp_path))
    (pdf,) = tmp_path.glob("*.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_it_proves_itself_and_a_simulated_one_by_its_replay_too(ran: Ran, teijo: Teijo) -> None:
    told = said(teijo("verify", ran.path))
    assert "Nothing in it contradicts anything else." in told
    code = 0 if ran.place == "simulated" else 11
    assert "replay" in said(teijo("verify", ran.path, "--replay"), code=code)


def test_it_is_listed_with_its_verdict(ran: Ran, teijo: Teijo) -> None:
    told = said(teijo("list", ran.path.parent))
    (line,) = [each for each in told.splitlines() if "run.teijo" in each]
    assert card_named(ran.subject.method).id in line
    assert TOLD[ran.subject.method].strip() in line


def test_each_of_its_figures_can_be_held_to_a_limit(ran: Ran, teijo: Teijo, tmp_path: Path) -> None:
    run = ran.run
    known = [each for each in known_in(run.record) if each.value is not None]
    assert known
    met = [f"{each.shown} <= 1000000000000 {each.unit}" for each in known]
    missed = [f"{each.shown} > 1000000000000 {each.unit}" for each in known]
    for texts, verdict in ((met, "met"), (missed, "not met")):
        for first in range(0, len(texts), LIMITS_MOST):
            judged = run.within(texts[first : first + LIMITS_MOST]).judged
            assert {each.verdict for each in judged} == {verdict}, judged
    method = method_named(ran.subject.method)
    ahead = rehearsed(method, method.settings_from(run.record.run.settings), run.record.geometry)
    assert {each.shown for each in known} <= {each.shown for each in known_in(ahead)}
    report = ("report", ran.path, "--format", "text", "-o", "-", "--limit")
    assert "LIMITS: 1 met" in said(teijo(*report, met[0]))
    assert "NOT MET" in said(teijo(*report, missed[0]), code=9)


def test_strict_hides_nothing_and_is_compared_with_the_original(
    ran: Ran, teijo: Teijo, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    target = ran.subject.target(ran.place, tmp_path / "home")
    command = ("run", ran.subject.method, target)
    if ran.subject.strict is None:
        told = said(teijo(*command, *ran.subject.options, "strict=on"), code=2)
        assert "Unknown setting 'strict'" in told
        return
    said(
        teijo(*command, *ran.subject.strict_options, "-o", tmp_path / "strict", "--report", "none")
    )
    told = said(
        teijo("compare", ran.path, tmp_path / "strict.teijo", "--format", "text", "-o", "-")
    )
    assert "How much of the number was the defect" in told
    assert "NOT MADE ALIKE: strict" in told
