"""Text that came from outside is shown whole, in one line, and is obeyed by nobody."""

import csv
import io
import json
import shlex
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from teijo.outside.text import LONGEST, shell_path, spreadsheet_cell, visible, visible_json

ANY = st.text(st.characters(codec=None, categories=None), max_size=40)


def test_what_moves_a_cursor_or_turns_the_writing_is_written_out() -> None:
    for given_, shown in (
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\x00\x7f", "\\x00\\x7f"),
        ("abc\u202ecod.exe", "abc\\u202ecod.exe"),
        ("\u2066\u2069\u200b\u200d\ufeff", "\\u2066\\u2069\\u200b\\u200d\\ufeff"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\udcff", "\\udcff"),
        ("\ue000\U000e0041\u0378", "\\ue000\\U000e0041\\u0378"),
        ("\u3164\u2800", "\\u3164\\u2800"),
    ):
        assert visible(given_) == shown


def test_words_of_any_language_stay_as_they_are() -> None:
    for text in ("Modèle “X” 512", "シミュレーション　装置", "µs × 4 · ✂ – …", "Ωμέγα 10 °C", ""):
        assert visible(text) == text


@given(ANY)
def test_every_letter_that_is_shown_has_ink(text: str) -> None:
    shown = visible(text)
    kinds = {unicodedata.category(letter) for letter in shown}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert shown.encode().decode() == shown
    assert visible(shown) == shown


def test_a_text_without_end_is_cut_and_says_so() -> None:
    shown = visible("\x1b" * 10**6)
    assert shown.endswith("… (1,000,000 characters)")
    assert len(shown) < 4 * LONGEST + 40
    assert visible("a" * LONGEST) == "a" * LONGEST


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)))
def test_visible_json_says_the_same_with_nothing_raw(value: object) -> None:
    written = visible_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert not {unicodedata.category(letter) for letter in written.replace("\n", "")} & {
        "Cc", "Cf", "Cs", "Co", "Zl", "Zp",
    }  # fmt: skip
    assert json.loads(written) == whole(value)


def whole(value: object) -> object:
    """Return a value in which a lone surrogate is the six letters of its escape."""
    match value:
        case str():
            return "".join(
                f"\\u{ord(letter):04x}" if 0xD800 <= ord(letter) < 0xE000 else letter
                for letter in value
            )
        case list():
            return [whole(each) for each in value]
        case dict():
            return {whole(key): whole(each) for key, each in value.items()}
    return value


def test_a_cell_is_no_formula_and_numbers_are_numbers() -> None:
    for text in (
        "=1+1",
        "@SUM(1)",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "  =1",
        "\u00a0=1",
        "＝1",
        "=",
        "-",
    ):
        cell = spreadsheet_cell(text)
        assert cell == (text if len(text) == 1 else f"'{text}")
    for text in ("-5.25", "+3", "-1e-9", ".5", "-", "a=b", "", "4 KiB", "random"):
        assert spreadsheet_cell(text) == text
    assert spreadsheet_cell("\t=1") == "\\t=1"


@given(ANY)
def test_no_cell_of_any_text_begins_as_a_formula(text: str) -> None:
    cell = spreadsheet_cell(text)
    if cell[:1] in set("=+-@\t\r") and len(cell) > 1:
        float(cell)
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerow([cell, "x"])
    assert list(csv.reader(io.StringIO(target.getvalue()))) == [[cell, "x"]]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20))
def test_a_shell_reads_a_path_that_was_shown_as_that_path(text: str) -> None:
    word = shell_path(text)
    assert not word.startswith("-")
    assert visible(word) == word
    if not word.startswith("$'"):
        assert shlex.split(word) in ([text], [f"./{text}"])


def test_a_name_that_is_a_command_is_quoted_and_one_that_is_an_option_is_a_path() -> None:
    assert shell_path("a;reboot.teijo") == "'a;reboot.teijo'"
    assert shell_path(Path("-rf")) == "./-rf"
    assert shell_path("plain.teijo") == "plain.teijo"


def test_bash_reads_what_has_no_ink_as_it_was(need: Callable[[str], str]) -> None:
    for text in ("a\nb", "it's \\n\x1b[2J\n", "\t'"):
        command = [need("bash"), "-c", f"printf %s {shell_path(text)}"]
        assert subprocess.run(command, capture_output=True, check=True).stdout == text.encode()
