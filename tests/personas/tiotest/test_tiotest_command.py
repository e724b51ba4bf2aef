"""tiotest's command line: what it asks for, and what it refuses in the original's words."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.tiotest.command import Line, help_text, read
from teijo.personas.tiotest.persona import TiotestPersona

TRY = "Try 'tiotest -h' for more information"


def line_of(tmp_path: Path, *words: str, like: str = "0.4.2") -> Line:
    return read(like, words, tmp_path)


def refused(tmp_path: Path, *words: str) -> Said:
    with pytest.raises(Refused) as caught:
        read("0.4.2", words, tmp_path)
    return caught.value.said


def test_the_articles_line_is_what_the_method_is_set_to(tmp_path: Path) -> None:
    line = line_of(tmp_path, *["-t", "8", "-f", "128", "-b", "4096", "-r", "32768"])
    assert line.settings == {
        "threads": "8", "size": "128MiB", "block": "4096", "random": "32768", "skip": "none",
        "mmap": "no", "in_turn": "no", "synchronous": "no", "direct": "no", "drop_caches": "no",
        "one_block": "no",
    }  # fmt: skip


def test_every_switch_is_a_setting(tmp_path: Path) -> None:
    settings = line_of(tmp_path, "-MWSXFcT", "-k", "0", "-k2", "-L", "-o", "5", "-O").settings
    assert settings["skip"] == "write,read"
    assert {settings[name] for name in ("mmap", "in_turn", "synchronous", "direct")} == {"yes"}
    assert settings["drop_caches"] == settings["one_block"] == "yes"


@pytest.mark.parametrize(("like", "random"), [("0.4.2", 100_000), ("0.3.3", 1000), ("0.3.1", 1000)])
def test_random_calls_are_a_thousand_before_0_4_2(tmp_path: Path, like: str, random: int) -> None:
    assert line_of(tmp_path, like=like).random == random
    assert f"per thread (default: {random})" in help_text(like)


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("-f", "0"), f"Wrong file size\n{TRY}.\n"),
        (("-b", "x"), f"Wrong block size\n{TRY}.\n"),
        (("-t0",), f"Wrong number of threads\n{TRY}.\n"),
        (("-r", "0"), f"Wrong number of random I/O operations\n{TRY}.\n"),
        (("-o", "-1"), f"Wrong offset between threads\n{TRY}\n"),
        (("-k", "5"), f"Wrong test number 5\n{TRY}\n"),
        (("--raw",), f"tiotest: invalid option -- '-'\n{TRY}\n"),
        (("-f",), f"tiotest: option requires an argument -- 'f'\n{TRY}\n"),
    ],
)
def test_what_cannot_be_is_told_in_their_words(
    tmp_path: Path, words: tuple[str, ...], stderr: str
) -> None:
    said = refused(tmp_path, *words)
    assert (said.stderr, said.exit_code) == (stderr, 1)


def test_the_help_is_theirs_and_ends_with_1(tmp_path: Path) -> None:
    said = refused(tmp_path, "-h")
    assert said.exit_code == 1
    lines = said.stdout.splitlines()
    assert lines[0] == "tiotest v0.4.2 (C) 1999-2008 tiobench team <http://tiobench.sf.net/>"
    assert lines[2] == "  -f          Filesize per thread in MBytes (default: 10)"
    assert lines[-1] == "  -h          Print this help and exit"
    assert len(lines) == 21


def test_a_directory_that_is_not_there_leaves_empty_tables_and_exit_code_0(tmp_path: Path) -> None:
    said = refused(tmp_path, "-d", "nowhere", "-t2", "-f2")
    assert said.exit_code == 0
    assert said.stderr.count("No such file or directory: nowhere/_tiotest_pid0.thr") == 8
    assert "| Total        |        0.000 ms |" in said.stdout
    assert "| Write " not in said.stdout


@pytest.mark.parametrize("words", [("-R",), ("-d", ".", "-d", "."), ("-D", "40"), ("-d", "E:\\x")])
def test_what_teijo_lacks_is_a_named_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        line_of(tmp_path, *words)
    assert caught.value.remedy


def test_a_line_is_an_order_on_the_directory(tmp_path: Path) -> None:
    call = Call(words=("-f1",), like="", folder=tmp_path, now=datetime.now())
    order = TiotestPersona().order("tiotest", call)
    assert isinstance(order, Order)
    assert (order.method, order.target) == ("classic.tiotest", f"dir:{tmp_path}")
