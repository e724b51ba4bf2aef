"""The language of the command line: found in the line or the locale, with English behind it."""

from string import Formatter

import pytest

from teijo.cli.reference import verbs
from teijo.speech import tongue
from tests.cli.conftest import Teijo


@pytest.fixture(autouse=True)
def english_afterwards() -> object:
    yield
    tongue.speak(tongue.ENGLISH)


def names(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize(
    ("arguments", "environment", "code"),
    [
        ((), {}, "en"),
        ((), {"LANG": "ja_JP.UTF-8"}, "ja"),
        ((), {"LANG": "fr_FR.UTF-8"}, "en"),
        ((), {"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        (("run", "--lang", "ja"), {"LANG": "C"}, "ja"),
        (("--lang=en", "run"), {"LANG": "ja_JP.UTF-8"}, "en"),
        (("run", "--", "--lang", "ja"), {}, "en"),
    ],
)
def test_the_line_goes_before_the_locale(
    arguments: tuple[str, ...], environment: dict[str, str], code: str
) -> None:
    assert tongue.asked(arguments, environment) == code


def test_a_translation_puts_in_the_values_of_its_text() -> None:
    texts, _ = tongue.catalogue("ja")
    assert {text: told for text, told in texts.items() if names(text) != names(told)} == {}


def test_a_value_stays_and_a_text_within_a_text_is_translated() -> None:
    tongue.speak("ja")
    assert tongue.said("There is no folder done") == "フォルダ done はありません"
    told = tongue.said("x.img cannot be opened: Permission denied")
    assert told == "x.img を開けません: 権限がありません"
    assert tongue.said("nobody has translated this") == "nobody has translated this"
    assert tongue.said("") == ""


def test_a_value_with_signs_of_a_pattern_or_a_template_is_only_text() -> None:
    tongue.speak("ja")
    assert tongue.said("There is no folder a{0}.*+(") == "フォルダ a{0}.*+( はありません"


def test_a_state_that_a_report_knows_is_said_as_there() -> None:
    tongue.speak("ja")
    assert tongue.reported("simulated") == "シミュレーション"


@pytest.mark.parametrize("verb", verbs())
def test_every_sentence_of_help_is_translated(verb: str, teijo: Teijo) -> None:
    code, out, _ = teijo(verb, "-h", "--lang", "ja")
    assert code == 0
    told = out.partition("例:")[0]
    for line in told.splitlines()[1:]:
        words = line.strip()
        if words and " " in words and not words.startswith(("-", "[")):
            assert any(letter > "\u3000" for letter in line), f"still English: {line!r}"


def test_a_mistake_is_told_in_the_language_of_the_line(teijo: Teijo) -> None:
    code, _, err = teijo("run", "workload", "sim:mlc-a", "bs=4", "--lang", "ja")
    assert code == 2
    assert err.startswith("エラー: bs=4: 4 バイトですが")
    code, _, err = teijo("devices", "--lang", "fr")
    assert (code, "none of en, ja" in err) == (2, True)


def test_english_is_spoken_without_a_catalogue() -> None:
    tongue.speak("tlh")
    assert (tongue.spoken(), tongue.tr("about {usual}", usual="1 s")) == ("en", "about 1 s")
