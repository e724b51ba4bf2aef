"""A report in Japanese: every text of every method's report is translated, or is data."""

import ast
import tomllib
from dataclasses import replace
from string import Formatter

from teijo.document.model import Column, Document, Facts, Paragraph, Section, Table
from teijo.document.phrase import Verbatim, say
from teijo.engine.native import SimulatedSession, simulated_presets
from teijo.report.language import CATALOGUES, Language, translated, translator
from teijo.terms.remark import REMEDIES, RemarkKind
from tests.house.tree import PACKAGE, of_kind, place, syntax
from tests.report.english import has_words, untranslated
from tests.report.samples import header

JAPANESE = translator(Language.JAPANESE)
CATALOGUE = tomllib.loads((CATALOGUES / "ja.toml").read_text("utf-8"))
PAIRS = [
    *((each["en"], each["ja"]) for name in ("sentences", "recorded") for each in CATALOGUE[name]),
    *(
        pair
        for name, table in CATALOGUE.items()
        if name not in ("sentences", "recorded")
        for pair in table.items()
    ),
]


def document(*blocks: object) -> Document:
    section = Section(title="Summary", blocks=blocks)  # type: ignore[arg-type]
    return Document(name="run", header=header(), sections=(section,))


def said(text: str) -> str:
    return JAPANESE.text(text)


def test_a_phrase_is_said_by_its_template_and_its_values_are_translated_first() -> None:
    inner = say("{count} {rounds}", count=3, rounds="rounds")
    assert said(say("STEADY STATE: NO, after {counted}", counted=inner)) == (
        "定常状態: 未到達（3 ラウンド 測定）"
    )


def test_numbers_keep_their_digits() -> None:
    english = say("{count:,} rows", count=1234567)
    assert said(english) == "1,234,567 行"


def test_a_text_is_found_with_its_first_letter_as_it_is_or_small() -> None:
    assert said("Measured") == said("measured") == "測定値"


def test_verbatim_text_and_text_nobody_translated_stay_as_they_are() -> None:
    assert said(Verbatim("rounds")) == "rounds"
    assert said("Example Drive 3000") == "Example Drive 3000"


def test_a_sentence_that_was_recorded_is_recognised_and_its_values_are_kept() -> None:
    assert said("minute 1s instead of 2s") == "minute 1s（規格値は 2s）"


def test_a_unit_is_no_word() -> None:
    table = Table(columns=(Column(name="min", unit="min"),), rows=())
    (block,) = translated(document(table), Language.JAPANESE).sections[0].blocks
    assert isinstance(block, Table)
    assert (block.columns[0].name, block.columns[0].unit) == ("最小", "min")


def test_everything_but_words_is_as_it_was() -> None:
    table = Table(columns=(Column(name="Round", digits=1),), rows=((1.25,), (None,)), folded=True)
    facts = Facts(rows=(("Serial no", "S3X9"),))
    english = document(table, facts)
    japanese = translated(english, Language.JAPANESE)
    assert japanese.name == english.name
    assert japanese.sections[0].title == "概要"
    assert japanese.sections[0].blocks == (
        replace(table, columns=(Column(name="ラウンド", digits=1),)),
        Facts(rows=(("シリアル番号", "S3X9"),)),
    )


def test_english_is_the_document_itself() -> None:
    english = document(Paragraph(text="None."))
    assert translated(english, Language.ENGLISH) is english


def places(text: str) -> list[tuple[str, str | None]]:
    return sorted((name, form) for _, name, form, _ in Formatter().parse(text) if name)


def test_a_translation_puts_in_what_its_template_does() -> None:
    assert [pair for pair in PAIRS if places(pair[0]) != places(pair[1])] == []


def test_no_text_is_translated_twice() -> None:
    units = CATALOGUE["units"]
    english = [text[:1].lower() + text[1:] for text, _ in PAIRS if text not in units]
    assert sorted(set(english)) == sorted(english)


def test_every_kind_of_remark_and_every_remedy_is_translated() -> None:
    texts = [*(kind.value for kind in RemarkKind), *REMEDIES.values()]
    assert {text for text in texts if not JAPANESE.knows(text)} == set()


def test_what_every_simulated_device_is_calibrated_to_is_translated() -> None:
    parts = (
        "raid5(3×hdd-7200)",
        "tier(mlc-a,hdd-7200)",
        "faulty(mlc-a)",
        "cache(hdd-7200)",
        "os(mlc-a)",
    )
    labels = {each.name: each.label_text for each in simulated_presets()}
    labels |= {each: SimulatedSession(each).facts.label_text for each in parts}
    assert [name for name, told in labels.items() if not JAPANESE.knows(told)] == []
    for name, told in labels.items():
        remark = f"{name} is a simulation, plausible: {told}"
        assert not has_words(said(remark).replace(name, "").partition("推定: ")[0]), name


def test_the_engine_of_a_simulated_run_says_so_in_japanese() -> None:
    assert said("native (simulated)") == "native（シミュレーション）"


def test_every_template_of_a_report_is_a_literal_and_is_translated() -> None:
    rooms = [PACKAGE / room for room in ("methods", "compare", "document", "report")]
    missing = {}
    for path in of_kind(".py"):
        if not any(path.is_relative_to(room) for room in rooms):
            continue
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                (template,) = node.args
                assert isinstance(template, ast.Constant), f"{place(path)}:{node.lineno}"
                if has_words(template.value) and not JAPANESE.knows(template.value):
                    missing[template.value] = f"{place(path)}:{node.lineno}"
    assert missing == {}


def test_every_text_of_every_report_is_translated_or_is_data(
    canned_report: tuple[Document, frozenset[str]],
) -> None:
    report, data = canned_report
    assert untranslated(replace(report, name=""), JAPANESE, data) == set()
