"""One Japanese word for one thing, and one polite style, in reports and on the command line."""

import re
import tomllib
from collections.abc import Iterator

import pytest

from tests.house.tree import PACKAGE, ROOT, text

CATALOGUES = ("report", "speech")
STAY = ("重み付き最小二乗",)
"""Terms of the field that hold a dropped word."""

INSTEAD = {
    "総合": "交互作用",
    "YES": "到達",
    "作業集合": "ワーキングセット",
    "崖": "性能低下点",
    "雑音": "ばらつき（ノイズ）",
    "未完了": "同時 I/O 数",
    "重み": "確からしさ",
    "横ばい": "変わらなくなった時点",
    "いいえ": "なし",
    "プロット": "図",
    "調査": "試験",
    "局面": "段階",
    "模擬": "シミュレーション",
    "深さ": "深度",
    "標本": "サンプル",
    "需要": "要求",
    "実寸": "実物大",
    "待機状態": "待ち状態",
    "代償": "コスト",
    "メモリー": "メモリ",
    "レイテンシー": "レイテンシ",
    "バッファー": "バッファ",
}
"""A word that was dropped, and the one in its place."""

PLAIN = re.compile(r"(?:[だうくすつぬむぶぐるたず]|ない)$")
POLITE = re.compile(r"(?:です|ます|でした|ました)$")
ASIDE = re.compile(r"（[^（）]*）|\([^()]*\)")


def said(room: str) -> Iterator[tuple[str, str]]:
    """Yield (English, Japanese) of a catalogue."""
    catalogue = tomllib.loads(text(PACKAGE / room / "languages" / "ja.toml"))
    for table in catalogue.values():
        if isinstance(table, dict):
            yield from table.items()
        else:
            yield from ((each["en"], each["ja"]) for each in table)


def dropped(japanese: str) -> list[str]:
    for term in STAY:
        japanese = japanese.replace(term, "")
    found = [word for word in INSTEAD if word in japanese]
    return [*found, *(["あふれ"] if japanese == "あふれ" else [])]


def plain_ends(japanese: str) -> list[str]:
    """Return the sentences that end as a book does (だ, である, a bare verb), not as a report."""
    ends = [part.strip(" :」}") for part in ASIDE.sub("", japanese).split("。")]
    return [end for end in ends if PLAIN.search(end) and not POLITE.search(end)]


@pytest.mark.parametrize("room", CATALOGUES)
def test_a_japanese_word_that_was_dropped_does_not_come_back(room: str) -> None:
    wrong = {english: dropped(japanese) for english, japanese in said(room) if dropped(japanese)}
    assert wrong == {}, f"see the table in {__file__}"


@pytest.mark.parametrize("room", CATALOGUES)
def test_every_japanese_sentence_ends_politely(room: str) -> None:
    plain = {english: plain_ends(japanese) for english, japanese in said(room)}
    assert {english: ends for english, ends in plain.items() if ends} == {}


@pytest.mark.parametrize("room", CATALOGUES)
def test_no_translation_ends_as_a_book_does(room: str) -> None:
    bookish = re.compile(r"(?:である|だ)(?:。|$)")
    assert [japanese for _, japanese in said(room) if bookish.search(japanese)] == []


def test_the_table_of_words_is_in_the_docs() -> None:
    page = text(ROOT / "docs" / "languages.md")
    assert [f"| {word} | {use} |" for word, use in INSTEAD.items()] == [
        row for row in page.splitlines() if re.match(r"\| [^\x00-\x7f]|\| YES", row)
    ]


@pytest.mark.parametrize("sentence", ["ノイズである。", "差がない", "続く。次です。", "認められず"])
def test_a_plain_end_is_seen(sentence: str) -> None:
    assert plain_ends(sentence) != []


@pytest.mark.parametrize("sentence", ["差はありません。", "未回復", "書き込み（終わる）です。"])
def test_a_polite_end_and_a_noun_are_let_be(sentence: str) -> None:
    assert plain_ends(sentence) == []
