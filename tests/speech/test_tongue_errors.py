"""Every error in Japanese: each cause, each remedy, and each piece that is put into a cause."""

import re

import pytest

from teijo.engine.session import StuckIo
from teijo.errors import sentence
from teijo.report.language import Language, translator
from teijo.runner.stage import stuck_text
from teijo.speech import tongue
from teijo.units import NS_PER_S
from tests.house.raised import sites, without_guess

PIECES = ("ValueError", "Unreadable")
"""What is raised to be put into a cause."""


@pytest.fixture(autouse=True)
def japanese() -> object:
    tongue.speak("ja")
    yield
    tongue.speak(tongue.ENGLISH)


def has_words(text: str) -> bool:
    return (
        re.search(r"[A-Za-z]{2}", re.sub(r"⟨\d+⟩|--?[a-z-]+|\b[a-z]+:(?= ⟨)", "", text)) is not None
    )


def is_japanese(text: str) -> bool:
    return re.search(r"[\u3040-\u9fff]", text) is not None


def english(*kinds: str) -> set[str]:
    """Return the causes and remedies of these classes that stay English."""
    texts = set()
    for each in sites(*kinds):
        if each.cause is not None:
            cause = without_guess(each.cause)
            texts.add(cause if kinds else sentence(cause))
        texts.add(each.remedy or "")
    return {text for text in texts if has_words(text) and not is_japanese(tongue.said(text))}


def test_every_cause_and_every_remedy_is_translated() -> None:
    assert english() == set()


def test_every_piece_of_a_cause_is_translated() -> None:
    assert english(*PIECES) == set()


def test_every_cause_ends_as_a_sentence_in_japanese() -> None:
    causes = [sentence(without_guess(each.cause)) for each in sites() if each.cause]
    told = [tongue.said(cause) for cause in causes if cause.endswith(".") and has_words(cause)]
    assert [each for each in told if not each.endswith("。") or each.endswith("。。")] == []


def test_a_text_that_nobody_translated_is_seen() -> None:
    assert has_words("The ⟨0⟩ is full.")
    assert not is_japanese(tongue.said("The ⟨0⟩ is full of nobody's words."))
    assert not has_words("--size: ⟨0⟩.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("bs=0: it must be more than 0 bytes.", "bs=0: 0 バイトより大きくなければなりません。"),
        ("/a: b is no folder.", "/a: b はフォルダではありません。"),
        ("x: nobody knows.", "x: nobody knows."),
        ("Unknown setting 'a'; did you mean 'b'?", "設定 'a' はありません。'b' ではありませんか。"),
    ],
)
def test_a_sentence_is_found_with_its_full_stop_and_a_piece_within_it(text: str, told: str) -> None:
    assert tongue.said(text) == told


OLDEST = (
    StuckIo(operation="write", offset_bytes=8_192, length_bytes=4_096, age_ns=12 * NS_PER_S),
    StuckIo(operation="read", offset_bytes=0, length_bytes=512, age_ns=300 * NS_PER_S),
)
FIO = (
    "o I/O of fio has come back for 12 s, after 1,200; threads of fio that wait for the device: 4."
)


@pytest.mark.parametrize(
    "stop", ["The device does not answer.", "Stopped at once by a signal.", "Stopped by SIGINT."]
)
@pytest.mark.parametrize(
    "waiting",
    [
        stuck_text(OLDEST),
        stuck_text(OLDEST * 5),
        f"N{FIO}",
        f"Fio cannot be ended: n{FIO}",
        "The purge of /dev/sdx has not come back from the device for 2 min 00 s.",
        "Laying out /tmp/x does not come back from the device.",
    ],
)
def test_what_a_device_leaves_waiting_is_japanese_to_its_last_word(stop: str, waiting: str) -> None:
    told = tongue.said(f"{stop} {waiting} 12 finished steps are kept in /tmp/x.teijo.open.")
    english = set(re.findall(r"[A-Za-z]{3,}", re.sub(r"/[^ ]+", "", told)))
    assert english <= {"fio", "write", "read", "min", "SIGINT"}
    assert told.endswith("完了した 12 ステップは /tmp/x.teijo.open に保存されています。")
    own = translator(Language.JAPANESE).text(waiting)
    assert is_japanese(own) or waiting.startswith("Laying")


def test_no_template_is_so_general_that_a_new_cause_passes_for_translated() -> None:
    unheard = ("⟨1⟩ is no ⟨2⟩ of anybody's", "⟨1⟩ has no such thing")
    assert [tongue.said(cause) for cause in unheard] == list(unheard)
