"""Acting as CrystalDiskMark: its settings as words, what is refused, its window, its file."""

import re
import shlex
from datetime import datetime
from pathlib import Path

import pytest

from teijo.cli import app
from teijo.errors import PlanError, TeijoError, UsageError
from teijo.methods.classic.crystaldiskmark.method import CrystalDiskMark as Method
from teijo.methods.parts import found_in
from teijo.personas.crystaldiskmark.persona import CrystalDiskMarkPersona
from teijo.personas.persona import Call, Order, Said
from teijo.terms.step import Measure
from tests.methods.canned import DRIVE, Canned, play

NOW = datetime(2026, 11, 23, 8, 0, 10)
PERSONA = CrystalDiskMarkPersona()
HOSTILE = ["\x1b[31mred", "a" * 5000, "?size=", "\x00", "--", "-", "..", "%n%s", "sim:", "é" * 300]


def order(*words: str, like: str = "", folder: Path = Path(), screen: bool = False) -> Order | Said:
    call = Call(words=words, like=like, folder=folder, now=NOW, screen=screen)
    return PERSONA.order("crystaldiskmark", call)


def ran(*words: str, like: str = "", screen: bool = False):
    """Return what is said to a run of these words on a canned device: meanwhile, and at the end."""
    given = order(*words, like=like, screen=screen)
    assert isinstance(given, Order)
    played = play(Method(), Canned(lambda _: 8_000.0), overrides=given.settings, geometry=DRIVE)
    meanwhile = []
    for each in played.steps:
        meanwhile += [PERSONA.heard(given, each.step, None)]
        meanwhile += [PERSONA.heard(given, each.step, each.answer)]
    return meanwhile, PERSONA.outcome(given, found_in(played.record)), played


def test_every_option_becomes_a_setting_of_the_method():
    line = (
        "--profile peak --mix=R60/W40 --runs 3 --size 64MiB --interval 0 --measure 10 --data 0fill"
    )
    found = order(*shlex.split(line), "sim:mlc-a")
    assert isinstance(found, Order)
    assert found.target == "sim:mlc-a"
    assert dict(found.settings) == {
        "like": "8",
        "profile": "peak",
        "mix": "R60/W40",
        "runs": "3",
        "size": "64MiB",
        "interval": "0s",
        "measure": "10s",
        "data": "0fill",
    }
    five = order("--queues", "16", "--threads", "2", "sim:mlc-a", like="5")
    assert isinstance(five, Order)
    assert dict(five.settings) == {"like": "5", "queues": "16", "threads": "2"}


def test_a_folder_gets_a_file_of_its_own_that_goes_with_the_run(tmp_path):
    found = order("--size", "64MiB", str(tmp_path))
    assert isinstance(found, Order)
    assert re.fullmatch(
        rf"{tmp_path}/CrystalDiskMark[0-9A-F]{{8}}\.tmp\?size={64 * 1024**2}&keep=no", found.target
    )
    inside = order("sub", folder=tmp_path)
    assert isinstance(inside, Order)
    assert inside.target == f"sub?size={1024**3}&keep=no"


def test_a_file_that_is_there_is_named_as_it_is(tmp_path):
    (tmp_path / "old.dat").write_bytes(b"mine")
    found = order(str(tmp_path / "old.dat"))
    assert isinstance(found, Order)
    assert found.target == str(tmp_path / "old.dat")


def test_mix_by_itself_is_the_mix_of_the_window_and_takes_no_other_word_for_its_value():
    for words in (["--mix", "--runs", "2", "sim:mlc-a"], ["--runs", "2", "--mix", "sim:mlc-a"]):
        found = order(*words)
        assert isinstance(found, Order)
        assert (found.settings["mix"], found.target) == ("R70/W30", "sim:mlc-a")
    with pytest.raises(UsageError, match="--runs has no value"):
        order("--runs", "--mix", "sim:mlc-a")


@pytest.mark.parametrize(
    ("like", "words"),
    [
        ("3", ["--interval", "5", "."]),
        ("3", ["--queues", "5", "."]),
        ("5", ["--mix", "R70/W30", "."]),
        ("8", ["--threads", "4", "."]),
    ],
)
def test_an_option_of_another_version_names_that_version(like, words):
    with pytest.raises(UsageError, match=rf"CrystalDiskMark {like} has no --") as refused:
        order(*words, like=like)
    assert "--like" in refused.value.remedy


@pytest.mark.parametrize(
    "words",
    [
        [],
        [".", ".."],
        ["--runs"],
        ["--runs", "3", "--runs", "4", "."],
        ["--runs", "ten", "."],
        ["--qd", "3", "."],
        ["--size", "lots", "."],
        ["--data", "1fill", "."],
        ["--mix", "R71/W29", "."],
        ["-5", "."],
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_remedy(words):
    with pytest.raises((UsageError, PlanError)) as refused:
        order(*words)
    assert refused.value.remedy


@pytest.mark.parametrize("word", HOSTILE)
def test_strange_words_are_an_order_or_an_error_and_never_reach_a_terminal_raw(word):
    told = ""
    try:
        found = order(word)
        assert isinstance(found, Order)
        drive = found.memory["wanted"].drive
        told = found.memory["wanted"].name + ("" if drive is None else drive.name)
    except TeijoError as error:
        told = str(error)
    assert "\x1b" not in told
    with pytest.raises((UsageError, PlanError)):
        order(f"--{word}=x", ".")


def test_help_is_said_and_nothing_runs():
    said = order("--help")
    assert isinstance(said, Said)
    assert "--profile default|nvme|peak|real-world|demo" in said.stdout
    assert said.exit_code == 0


@pytest.mark.parametrize(("like", "rows"), [("3", 8), ("5", 8), ("8", 8)])
def test_the_text_is_on_stdout_and_in_the_file_that_the_original_saves(like, rows):
    _, said, played = ran("--data", "0fill", "sim:mlc-a", like=like)
    ((name, content),) = said.files
    assert re.fullmatch(r"CrystalDiskMark_\d{14}\.txt", name)
    assert content.decode() in (said.stdout, said.stdout.removesuffix("\r\n"))
    assert said.stdout.count(" MB/s") - 1 == rows
    assert "0Fill>" in said.stdout
    assert "[sim:mlc-a: 0" in said.stdout
    assert f"Teijo {played.record.run.version}, acting as CrystalDiskMark {like}." in said.stdout
    assert said.stderr == ""


def test_a_comment_of_one_s_own_takes_the_place_of_ours_and_an_empty_one_leaves_it_out():
    assert ran("--comment", "old firmware", "sim:x")[1].stdout.endswith("Comment: old firmware\r\n")
    assert "Comment" not in ran("--comment", "", "sim:x")[1].stdout
    assert "\x1b" not in ran("--comment", "\x1b[2J", "sim:x")[1].stdout


def test_the_text_says_what_was_asked_for_whatever_the_scale_of_a_simulation():
    _, said, _ = ran("sim:mlc-a")
    assert "   Test: 1 GiB (x5) [sim:mlc-a: 0% (0/256GiB)]\r\n" in said.stdout
    assert "Measure 5 sec / Interval 5 sec \r\n" in said.stdout


def test_the_window_is_drawn_over_itself_and_fills_up():
    meanwhile, said, played = ran("--runs", "2", "sim:mlc-a", screen=True)
    drawn = [each.stderr for each in meanwhile]
    assert "Preparing... Create Test File" in drawn[0]
    assert not drawn[0].startswith("\x1b[10A")
    assert all(text.startswith("\x1b[10A") for text in drawn[1:])
    assert "SEQ1M Q8T1 Read [1/2]" in "".join(drawn)
    assert "Interval Time 5 sec" in "".join(drawn)
    first = next(
        place
        for place, each in enumerate(played.steps)
        if isinstance(each.step, Measure) and each.step.round_number == 1
    )
    before, after = drawn[2 * first], drawn[2 * first + 1]
    assert "8388.61" not in before
    assert "|      8388.61 |              |" in after
    assert said.stderr.count("8388.61") == 4
    assert said.stderr.count("32.77") == 4
    assert "[2/2]" not in said.stderr


def test_no_window_is_drawn_where_there_is_no_terminal():
    meanwhile, _, _ = ran("sim:mlc-a")
    assert {each.stderr + each.stdout for each in meanwhile} == {""}


def test_teijo_as_crystaldiskmark_measures_a_simulated_drive_and_leaves_its_text(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        app.main(["as", "--seed", "1", "crystaldiskmark", "--runs", "1", "sim:mlc-a"])
    out, err = capfd.readouterr()
    assert (end.value.code, err) == (0, "")
    assert out.count(" us>\r\n") == 8
    (text,) = tmp_path.glob("CrystalDiskMark_*.txt")
    assert text.read_bytes().decode() == out
    assert len(list(tmp_path.glob("crystaldiskmark-*.teijo"))) == 1


def test_a_folder_is_measured_by_a_file_that_is_gone_afterwards(tmp_path, monkeypatch, capfd):
    place = tmp_path / "disk"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    words = ["--profile", "demo", "--runs", "1", "--size", "16MiB", "--interval", "0"]
    with pytest.raises(SystemExit) as end:
        app.main(["as", "crystaldiskmark", *words, "--measure", "50ms", str(place)])
    out, _ = capfd.readouterr()
    assert end.value.code == 0
    assert f"[{place}: " in out
    assert list(place.iterdir()) == []
