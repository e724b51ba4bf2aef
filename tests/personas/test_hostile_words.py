"""Hostile and mistaken command lines of every persona: an answer or an error, never a traceback."""

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import pytest

from teijo.cli import app
from teijo.errors import TeijoError
from teijo.personas.persona import Call, Order
from teijo.personas.registry import CARDS, PersonaCard, loaded
from teijo.speech import tongue

NOW = datetime(2026, 1, 2, 3, 4, 5)
DIGITS = "1" * 4000
LONG = "x" * 4000
VALUES = (
    "", "-1", "0", "9" * 26, DIGITS, "1e400", "NaN", "-", "--", "../../x", "/nonexistent/x", LONG,
    "fifo", "folder", "binary", "sparse", "loop", "1:2:3:4:5", "1,2,3", "0x", "1.5", "\u0663",
    "E:\\x",
)  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHILMNORSTUWXZ6:"
LONG_OPTIONS = {
    "orion": "run testname num_disks size_small size_large type num_streamio simulate stripe write "
    "cache_size duration matrix num_small num_large storax verbose help",
    "crystaldiskmark": "size runs profile data mix queues threads interval measure comment",
    "tiobench": "size numruns target block random threads identifier debug dump progress timeout",
    "run-all-tests": "server user host database password time-limit machine dir suffix comments "
    "cmp create-options skip-test hw optimization log small-test loop-count",
}
BEFORE = {
    "orion": ("-run", "simple", "-testname", "good"),
    "crystaldiskmark": ("good.dat",),
    "bonnie++": ("-d", "folder"),
    "tiotest": ("-d", "folder"),
    "crystaldiskinfo": ("sim:mlc-a",),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of what can be named by mistake."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.dat").write_bytes(bytes(65536))
    (tmp_path / "good.lun").write_text("good.dat\n")
    for suffix in ("", ".lun"):
        os.mkfifo(f"fifo{suffix}")
        (tmp_path / f"folder{suffix}").mkdir()
        (tmp_path / f"binary{suffix}").write_bytes(bytes(range(256)))
        (tmp_path / f"loop{suffix}").symlink_to(f"loop{suffix}")
        with (tmp_path / f"sparse{suffix}").open("wb") as sparse:
            sparse.truncate(1 << 30)
    return tmp_path


def options_of(name: str) -> Iterator[tuple[str, str]]:
    """Give the options of a persona, and what stands between one and its value."""
    for word in LONG_OPTIONS.get(name, "").split():
        dashes = "-" if name == "orion" else "--"
        yield from ((dashes + word, ""), (dashes + word, "="))
    if name not in LONG_OPTIONS:
        yield from ((f"-{letter}", "glued") for letter in LETTERS)
        yield from ((f"-{letter}", "") for letter in LETTERS)


def lines_of(name: str) -> Iterator[tuple[str, ...]]:
    """Give command lines: none, single words, options without a value, and with wrong ones."""
    before = BEFORE.get(name, ())
    yield ()
    for word in (*VALUES, "-h", "--help", "-help", "--nosuch", "-Z", "--=", "-=", "E:\\x"):
        yield (word,)
        yield (*before, word)
    for option, between in options_of(name):
        yield (*before, option)
        for value in VALUES:
            match between:
                case "glued":
                    yield (option + value, *before) if name in ("sqlio", "diskspd") else (
                        *before, option + value,
                    )  # fmt: skip
                case "=":
                    yield (*before, f"{option}={value}")
                case _:
                    yield (*before, option, value)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.names[0])
def test_every_mistake_is_answered_by_the_original_or_refused_with_a_remedy(
    card: PersonaCard, folder: Path
) -> None:
    there = sorted(folder.iterdir())
    # This one looks at a drive for every line that it takes, and takes most of them.
    every = 5 if card.names[0] == "crystaldiskinfo" else 1
    for words in islice(lines_of(card.names[0]), 0, None, every):
        call = Call(words=words, like="", folder=folder, now=NOW)
        try:
            answer = loaded(card).order(card.names[0], call)
        except TeijoError as error:
            assert error.remedy, words  # noqa: PT017 — most lines raise, some do not
            assert error.exit_code == 2, words  # noqa: PT017
        else:
            assert isinstance(answer, Order) or answer.stdout or answer.stderr, words
    assert sorted(folder.iterdir()) == there


@pytest.mark.parametrize("name", [name for card in CARDS for name in card.names])
@pytest.mark.parametrize("word", ["a\nb", "\x1b[2J", "-\udcff", "-m\x00", "-m" + "x" * 5000])
def test_a_word_that_cannot_be_shown_is_refused_before_any_persona_sees_it(
    name: str, word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        app.main(["as", name, word])
    out, err = capfd.readouterr()
    assert (end.value.code, out) == (2, "")
    assert name in err
    assert "\x1b" not in err
    assert len(err) < 500


@pytest.mark.parametrize(
    "line",
    [
        "crystaldiskmark --data NaN good.dat",
        "tiotest -d folder -t 99999999",
        "tiotest -d folder -f 9999999999999999999",
        "run-all-tests --time-limit=nan --server=sqlite",
        "orion -run simple -testname good -size_small 0",
    ],
)
def test_a_wrong_value_is_not_remedied_by_an_option_that_the_original_has_not(
    line: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there = sorted(folder.iterdir())
    with pytest.raises(SystemExit) as end:
        app.main(["as", *line.split()])
    assert end.value.code == 2
    err = capfd.readouterr().err
    assert "--set" not in err
    assert "give another value there" in err
    assert sorted(folder.iterdir()) == there


MISSING = [
    ("crystaldiskinfo nosuch", "/dev/disk/by-id/NAME"),
    ("crystaldiskinfo good.dat", "/dev/disk/by-id/NAME"),
    ("sqlio -kR nosuch.dat", "-frandom or -fsequential"),
    ("sqlio -kR folder", "folder/testfile.dat"),
    ("diskspd -d1 nosuch.dat", "-c8G"),
    ("diskspd -d1 empty", "Remove it"),
    ("diskspd -d1 folder/", "folder/testfile.dat"),
    ("orion -run simple -testname away", "one path on each line"),
    ("orion -run simple -testname into", "a file that is there, or a block device"),
    ("sqlio -kW -s1 good.dat", "teijo as --overwrite sqlio …"),
    ("orion -run advanced -testname good -write 20 -size_large 1", "teijo as --overwrite orion …"),
]


@pytest.mark.parametrize(("line", "remedy"), MISSING)
def test_what_is_no_target_is_remedied_as_the_tool_names_its_own(
    line: str, remedy: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "away.lun").write_text("nosuch\n")
    (folder / "into.lun").write_text("folder\n")
    (folder / "empty").touch()
    there = sorted(folder.iterdir())
    with pytest.raises(SystemExit):
        app.main(["as", *line.split()])
    err = capfd.readouterr().err
    assert remedy in err
    assert "?size=" not in err
    assert sorted(folder.iterdir()) == there


def test_what_each_tool_names_is_said_in_japanese() -> None:
    tongue.speak("ja")
    try:
        told = {card.names[0]: tongue.said(loaded(card).naming) for card in CARDS}
    finally:
        tongue.speak("en")
    assert [name for name, text in told.items() if text == loaded_naming(name)] == []


def loaded_naming(name: str) -> str:
    return next(loaded(card).naming for card in CARDS if name in card.names)
