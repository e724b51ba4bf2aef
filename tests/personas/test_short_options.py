"""Options of one letter are read as the C library's getopt reads them."""

import pytest

from teijo.personas.short_options import Option, leading_number, operands_of, options_of


def read(words: list[str], known: str = "ab:c::") -> list[tuple[str, str | None]]:
    return [(each.letter, each.value) for each in options_of("tool", words, known)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-a", "-b", "x"], [("a", None), ("b", "x")]),
        (["-abx"], [("a", None), ("b", "x")]),
        (["-b", "-a"], [("b", "-a")]),
        (["-c", "5"], [("c", None)]),
        (["-c5"], [("c", "5")]),
        (["x", "-a"], [("a", None)]),
        (["--", "-a"], []),
        (["-"], []),
    ],
)
def test_letters_stand_alone_or_together_and_take_what_follows(
    words: list[str], told: list[tuple[str, str | None]]
) -> None:
    assert read(words) == told


def test_what_is_no_option_is_an_operand() -> None:
    assert operands_of("tool", ["x", "-b", "y", "-c", "z", "-", "--", "-a"], "ab:c::") == [
        "x", "z", "-", "-a",
    ]  # fmt: skip


def test_an_unknown_letter_and_a_missing_value_are_told_in_getopts_words() -> None:
    assert list(options_of("tool", ["-q"], "ab:")) == [
        Option(letter="?", wrong="tool: invalid option -- 'q'\n")
    ]
    assert list(options_of("tool", ["-b"], "ab:")) == [
        Option(letter="?", wrong="tool: option requires an argument -- 'b'\n")
    ]
    assert read(["-:"])[0][0] == "?"


@pytest.mark.parametrize(
    ("text", "number"),
    [("64g", 64), (" -3x", -3), ("+7", 7), ("abc", 0), ("", 0), ("9" * 5000, int("9" * 19))],
)
def test_a_number_is_what_a_text_begins_with(text: str, number: int) -> None:
    assert leading_number(text) == number
