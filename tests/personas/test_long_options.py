"""Options are read as perl's Getopt::Long reads them; its words were printed by perl 5.36."""

import pytest

from teijo.personas.long_options import LongOption, long_options_of

VALUED, SWITCHES = ("size", "server", "skip-test"), ("log", "flushCaches", "silent")


def read(*words: str) -> list[LongOption]:
    return list(long_options_of(words, valued=VALUED, switches=SWITCHES))


def wrong(*words: str) -> str:
    return "".join(each.wrong for each in read(*words))


@pytest.mark.parametrize(
    "words",
    [("--size", "4"), ("--size=4",), ("-size", "4"), ("--SIZE=4",), ("--siz=4",), ("-siz", "4")],
)
def test_a_value_stands_behind_a_name_or_in_its_word(words: tuple[str, ...]) -> None:
    (found,) = read(*words)
    assert (found.name, found.value, found.wrong) == ("size", "4", "")


def test_what_is_no_option_is_skipped_and_two_dashes_end_them() -> None:
    assert [each.name for each in read("a", "--log", "-", "b", "--", "--silent")] == ["log"]


def test_a_value_may_look_like_an_option_or_be_empty() -> None:
    assert read("--size", "--log")[0].value == "--log"
    assert read("--size=")[0].value == ""


def test_what_is_wrong_is_said_in_getopts_words() -> None:
    assert wrong("--nosuch=1", "--size=2") == "Unknown option: nosuch\n"
    assert wrong("--=2") == "Unknown option: =2\n"
    assert wrong("--size") == "Option size requires an argument\n"
    assert wrong("--log=1") == "Option log does not take an argument\n"
    assert wrong("--si=1") == "Option si is ambiguous (silent, size)\n"


def test_a_name_is_known_in_small_letters_however_it_is_spelt() -> None:
    assert [each.name for each in read("--flushcaches", "--FLUSH")] == ["flushcaches"] * 2
