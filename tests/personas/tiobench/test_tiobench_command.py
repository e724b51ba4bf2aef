"""tiobench.pl's command line, read as Getopt::Long reads it."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.tiobench.command import Line, read
from teijo.personas.tiobench.persona import TiobenchPersona


def line_of(tmp_path: Path, *words: str) -> Line:
    return read("tiobench.pl", words, tmp_path, memory_mib=512, release="6.1")


def refused(tmp_path: Path, *words: str) -> Said:
    with pytest.raises(Refused) as caught:
        line_of(tmp_path, *words)
    return caught.value.said


def test_without_options_it_is_twice_the_memory_on_1_2_4_and_8_threads(tmp_path: Path) -> None:
    line = line_of(tmp_path)
    assert (line.sizes, line.blocks, line.threads) == ((1024,), (4096,), (1, 2, 4, 8))
    assert (line.random, line.runs, line.identifier) == (4000, 1, "6.1")


def test_options_may_be_abbreviated_repeated_and_have_their_value_behind_a_sign(
    tmp_path: Path,
) -> None:
    line = line_of(
        tmp_path, "--size=8", "-size", "16", "--THREADS", "2", "--bl=8192", "--num", "3",
        "--ident", "a b", "--flush", "--nof", "--ta", ".",
    )  # fmt: skip
    assert line.settings == {
        "size": "8MiB,16MiB", "block": "8192", "threads": "2", "random": "4000", "passes": "3",
        "in_turn": "yes", "direct": "no", "drop_caches": "yes",
    }  # fmt: skip
    assert line.identifier == "a b"


def test_dir_is_an_abbreviation_of_directio(tmp_path: Path) -> None:
    line = line_of(tmp_path, "--dir", "elsewhere")
    assert (line.settings["direct"], line.folder) == ("yes", tmp_path / ".")


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("--bogus",), "Unknown option: bogus\n"),
        (("--d",), "Option d is ambiguous (debug, directio, dump)\n"),
        (("--size", "x"), 'Value "x" invalid for option size (number expected)\n'),
        (("--size",), "Option size requires an argument\n"),
        (("--help",), ""),
    ],
)
def test_what_cannot_be_is_answered_with_the_usage(
    tmp_path: Path, words: tuple[str, ...], stderr: str
) -> None:
    said = refused(tmp_path, *words)
    assert (said.stderr, said.exit_code) == (stderr, 1)
    assert said.stdout.startswith("Usage: tiobench.pl [<options>]\nAvailable options:\n\t[--help]")


def test_a_target_that_is_no_directory_is_refused_in_their_words(tmp_path: Path) -> None:
    told = "--target params must be either all devices or all directories\n"
    assert refused(tmp_path, "--target", "nowhere").stderr == told


@pytest.mark.parametrize(
    "words",
    [("--dump",), ("--progress",), ("--debug", "40"), ("--timeout", "9"), ("--target", "E:\\x"),
     ("--target", ".", "--target", ".")],
)  # fmt: skip
def test_what_teijo_lacks_is_a_named_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        line_of(tmp_path, *words)
    assert caught.value.remedy


def test_a_zero_is_an_option_that_was_not_given(tmp_path: Path) -> None:
    assert line_of(tmp_path, "--timeout", "0", "--debug", "0").sizes == (1024,)


def test_a_line_becomes_the_order_of_a_run_and_a_refusal_what_is_said(tmp_path: Path) -> None:
    def order(*words: str) -> Order | Said:
        call = Call(words=words, like="", folder=tmp_path, now=datetime(2026, 1, 2))
        return TiobenchPersona().order("tiobench", call)

    found = order("--size=64", "--threads=2")
    assert isinstance(found, Order)
    assert (found.method, found.target) == ("classic.tiobench", f"dir:{tmp_path}")
    assert (found.settings["size"], found.settings["threads"]) == ("64MiB", "2")
    said = order("--help")
    assert isinstance(said, Said)
    assert said.stdout.startswith("Usage: tiobench [<options>]")
