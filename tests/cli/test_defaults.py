"""A person's defaults: notes that go with every run, from a file that may say anything."""

from pathlib import Path

import pytest

from teijo import api
from teijo.cli.defaults import default_notes, path_in
from teijo.cli.options import notes_from
from teijo.errors import PlanError
from teijo.terms.run_note import RunNote, noted
from tests.cli.conftest import Teijo


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of configuration with nothing in it, the one that the program looks at."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "teijo").mkdir()
    return tmp_path


def written(home: Path, text: str) -> dict[str, str]:
    (home / "teijo" / "defaults.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(home)}


def test_the_file_lies_where_the_desktop_has_its_settings() -> None:
    assert path_in({"HOME": "/home/k"}) == Path("/home/k/.config/teijo/defaults.toml")
    assert path_in({"HOME": "/home/k", "XDG_CONFIG_HOME": "/etc/x"}) == Path(
        "/etc/x/teijo/defaults.toml"
    )
    relative = {"HOME": "/home/k", "XDG_CONFIG_HOME": "here"}
    assert path_in(relative) == Path("/home/k/.config/teijo/defaults.toml")


def test_without_a_file_nothing_is_noted(home: Path) -> None:
    assert default_notes({"XDG_CONFIG_HOME": str(home)}) == {}


def test_what_the_line_says_goes_before_the_defaults(home: Path) -> None:
    written(home, '[note]\nsponsor = "Lab"\noperator = "K. Ito"\n')
    assert notes_from(["sponsor=Customer"]) == {"sponsor": "Customer", "operator": "K. Ito"}


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "[note]\nsponsor = 1\n",
        "note = 3\n",
        "[run]\ndestroy = 'S1'\n",
        "[note]\nsponsor = ['a']\n",
    ],
)
def test_a_file_that_says_something_else_is_refused_by_its_name(text: str, home: Path) -> None:
    environment = written(home, text)
    with pytest.raises(PlanError, match=r"defaults\.toml") as refusal:
        default_notes(environment)
    assert refusal.value.remedy


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(home: Path) -> None:
    import os

    os.mkfifo(home / "teijo" / "defaults.toml")
    with pytest.raises(PlanError, match="no regular file"):
        default_notes({"XDG_CONFIG_HOME": str(home)})


def test_notes_are_recorded_and_printed_as_what_they_are(teijo: Teijo, home: Path) -> None:
    written(home, '[note]\noperator = "K. \\u001b[31mIto"\n')
    path = home / "a.teijo"
    code, _, err = teijo(
        "run", "iops", "sim:mlc-a", "--set", "minute=10ms", "rounds=5", "amount=64MiB",
        "--note", "sponsor=Lab", "--note", "NAND=MLC", "--report", "text", "-o", path,
    )  # fmt: skip
    assert code == 0, err
    environment = api.open(path).record.environment
    assert noted(environment, RunNote.SPONSOR) == "Lab"
    assert noted(environment, RunNote.NAND) == "MLC"
    page = path.with_suffix(".txt").read_text()
    for row in ("Lab (as noted)", "MLC (as noted)", r"K. \x1b[31mIto (as noted)"):
        assert row in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ("sponser=x", "did you mean 'sponsor'?"),
        ("sponsor=" + "x" * 201, "201 characters"),
        ("sponsor", "KEY=VALUE"),
    ],
)
def test_a_note_that_is_none_is_a_usage_error(
    note: str, says: str, teijo: Teijo, home: Path
) -> None:
    code, out, err = teijo("run", "iops", "sim:mlc-a", "--note", note, "-o", home / "a")
    assert (code, out) == (2, "")
    assert says in err
    assert not list(home.glob("a*"))
