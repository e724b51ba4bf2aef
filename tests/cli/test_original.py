"""`teijo as`: an original's words in, its texts and files out, a run file beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from teijo.cli import app
from teijo.methods.found import Found
from teijo.personas import registry
from teijo.personas.persona import Call, Order, Said
from teijo.terms.result import Answer
from teijo.terms.step import Step

CALLS: list[Call] = []


class Echo:
    """An original that drives a simulated drive for a moment."""

    names = ("echo", "echo-too")
    likes = ("2", "1")

    def order(self, name: str, call: Call) -> Order | Said:
        CALLS.append(call)
        if "-help" in call.words:
            return Said(stdout="usage of echo\n", exit_code=3)
        settings = {"rw": "randread", "bs": "4KiB", "seconds": "100ms"}
        return Order(
            method="workload", target="sim:mlc-a?capacity=1GiB", settings=settings, name=name,
            begins=Said(stdout="begins\n"),
        )  # fmt: skip

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        return Said(stderr="...done\n" if answer else "Reading")

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        return Said(stdout="IOPS\r\n", files=(("echo.csv", b"a,b\r\n"),), exit_code=5)


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
    assert (code, out, err) == (5, "begins\nIOPS\r\n", "Reading...done\n")
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
