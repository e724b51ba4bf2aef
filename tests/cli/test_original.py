"""`teijo as`: an original's words in, its texts and files out, a run file beside them."""

import signal
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from teijo.cli import app, console
from teijo.cli.original_errors import check_folder, in_words_of
from teijo.errors import HostError, Interrupted, PlanError, TargetError, TeijoError, UnsafeError
from teijo.methods.found import Found
from teijo.personas import registry
from teijo.personas.persona import Call, Order, Said
from teijo.speech import tongue
from teijo.terms.result import Answer
from teijo.terms.step import Step

CALLS: list[Call] = []
NOW = datetime(2026, 1, 2)


class Echo:
    """An original that drives a simulated drive for a moment."""

    names = ("echo", "echo-too")
    likes = ("2", "1")
    naming = "Name what echo takes."
    is_stopped = False
    files_in: str | None = None
    file = "echo.csv"

    def order(self, name: str, call: Call) -> Order | Said:
        CALLS.append(call)
        if "-help" in call.words:
            return Said(stdout="usage of echo\n", exit_code=3)
        settings = {"rw": "randread", "bs": "4KiB", "seconds": "100ms"}
        return Order(
            method="workload", target="sim:mlc-a?capacity=1GiB", settings=settings, name=name,
            begins=Said(stdout="begins\n"), files_in=self.files_in,
        )  # fmt: skip

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        if self.is_stopped and answer is None:
            signal.raise_signal(signal.SIGINT)
        return Said(stderr="...done\n" if answer else "Reading", stdout="" if answer else "x\n")

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        return Said(stdout="IOPS\r\n", files=((self.file, b"a,b\r\n"),), exit_code=5)


@pytest.fixture(autouse=True)
def echo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    card = registry.PersonaCard(
        names=Echo.names, summary="says what it was asked", place="echo:Echo"
    )
    monkeypatch.setattr(registry, "CARDS", (card,))
    monkeypatch.setattr(registry, "loaded", lambda _: Echo())
    monkeypatch.chdir(tmp_path)
    CALLS.clear()


def run(words: Sequence[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        app.main(["as", *words])
    out, err = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err


def test_what_the_original_says_is_all_that_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(["echo", "-a", "-o", "x"], capfd)
    assert (code, out, err) == (5, "begins\nx\nIOPS\r\n", "Reading...done\n")
    assert (tmp_path / "echo.csv").read_bytes() == b"a,b\r\n"
    (left,) = tmp_path.glob("*.teijo")
    assert left.name.startswith("echo-mlc-a-")


def test_every_word_behind_the_tool_is_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    run(["--like", "1", "-o", "one", "echo-too", "-help", "--seed", "3", "-h", "--lang"], capfd)
    (call,) = CALLS
    assert (list(call.words), call.like) == (["-help", "--seed", "3", "-h", "--lang"], "1")


def test_where_no_run_is_asked_for_none_is_left(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["echo", "-help"], capfd)[:2] == (3, "usage of echo\n")
    assert not list(tmp_path.iterdir())


def test_an_option_of_ours_behind_the_tool_is_refused_with_its_place(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, _, err = run(["echo", "--like", "1"], capfd)
    assert code == 2
    assert "teijo as --like … echo" in err
    assert not CALLS


def test_a_report_is_left_beside_the_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["--report", "text", "-o", "one", "echo"], capfd)
    assert {each.name for each in tmp_path.iterdir()} == {"one.teijo", "one.txt", "echo.csv"}


def test_a_file_of_the_original_replaces_a_link_and_not_what_it_leads_to(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "echo.csv").symlink_to("mine")
    run(["echo"], capfd)
    assert (tmp_path / "mine").read_text() == "kept"
    assert (tmp_path / "echo.csv").read_bytes() == b"a,b\r\n"


def test_without_a_tool_all_are_named_with_their_versions(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run([], capfd)
    assert code == 0
    line = next(each for each in out.splitlines() if each.startswith("echo, echo-too"))
    assert "says what it was asked" in line
    assert "2, 1" in line


def test_an_early_end_leaves_no_line_of_ours_among_those_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Echo, "is_stopped", True)
    before = signal.getsignal(signal.SIGINT)
    code, out, err = run(["echo"], capfd)
    signal.signal(signal.SIGINT, before)  # a second Ctrl-C is ignored up to the end of the process
    (left,) = tmp_path.iterdir()
    assert (code, out) == (7, "begins\nx\n")
    reading, named, error, *_ = err.split("\n")
    assert (reading, named) == ("Reading", left.name)
    assert error.startswith("error: Stopped by SIGINT.")
    assert "for the text of echo, run it anew" in err


def test_where_nobody_reads_the_text_the_run_goes_on_to_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def lost(data: bytes) -> None:
        if data != b"begins\n":
            raise console.Unread

    monkeypatch.setattr(console, "put_bytes", lost)
    code, out, err = run(["-o", "one", "echo"], capfd)
    assert (code, out, err) == (console.CLOSED_PIPE, "", "Reading...done\n")
    assert {each.name for each in tmp_path.iterdir()} == {"one.teijo", "echo.csv"}


def test_a_file_that_cannot_be_here_at_the_end_is_left_beside_the_run_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "taken").write_text("a file where a folder is to be")
    monkeypatch.setattr(Echo, "file", "taken/echo.csv")
    code, out, err = run(["-o", "elsewhere/one", "echo"], capfd)
    assert (code, out) == (6, "begins\nx\nIOPS\r\n")
    assert (tmp_path / "elsewhere" / "echo.csv").read_bytes() == b"a,b\r\n"
    assert "elsewhere/echo.csv" in err
    code, _, err = run(["-o", "taken/../two", "echo"], capfd)
    assert code == 6
    assert (tmp_path / "taken").read_text() == "a file where a folder is to be"


def test_where_the_files_cannot_be_left_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file where a folder is to be")
    monkeypatch.setattr(Echo, "files_in", "taken")
    code, out, err = run(["echo"], capfd)
    assert (code, out) == (6, "")
    assert "taken, which is no folder" in err
    monkeypatch.setattr(Echo, "files_in", ".")
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with pytest.raises(HostError, match="cannot be written"):
        check_folder(
            Echo().order("echo", Call(words=(), like="", folder=tmp_path, now=NOW)), "echo"
        )
    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (TargetError("x", remedy="Write a?size=8GiB."), "Name what echo takes."),
        (
            UnsafeError("x", remedy="Name another file, or add --overwrite to lose what it holds."),
            "Name another file, or add --overwrite to lose what it holds.\n"
            "It stands before the tool: teijo as --overwrite echo …",
        ),
        (
            HostError("x", remedy="Name a folder that exists and can be written with -o."),
            "Name a folder that exists and can be written with -o.\n"
            "It stands before the tool: teijo as -o FOLDER echo …",
        ),
        (
            PlanError("x", remedy="Ask for less: --set size=1."),
            "echo decides it by its own options: give another value there.",
        ),
        (
            Interrupted("x", remedy="Continue with: teijo resume one.teijo.open"),
            "Continue with: teijo resume one.teijo.open\n"
            "What goes on ends with Teijo's report; for the text of echo, run it anew.",
        ),
        (HostError("x", remedy="Elsewhere: teijo report a -o DIR"), None),
    ],
)
def test_a_remedy_is_told_to_who_typed_the_words_of_an_original(
    error: TeijoError, remedy: str | None
) -> None:
    error.has_stuck_ios = True
    with pytest.raises(type(error).__mro__[1]) as raised, in_words_of("echo", Echo()):
        raise error
    told = raised.value
    assert isinstance(told, TeijoError)
    assert told.remedy == remedy or (remedy is None and told is error)
    assert (told.message, told.exit_code) == (error.message, error.exit_code)
    assert told.has_stuck_ios or isinstance(error, PlanError)
    tongue.speak("ja")
    try:
        japanese = tongue.said(told.remedy)
    finally:
        tongue.speak("en")
    lines = zip(told.remedy.split("\n"), japanese.split("\n"), strict=True)
    assert "\n" not in told.remedy or all(ours != english for english, ours in lines)
