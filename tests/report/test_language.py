"""A report in Japanese: every text of every method's report is translated, or is data."""

import ast
import tomllib
from dataclasses import replace
from string import Formatter

import pytest

from teijo.compare.tables import with_unit
from teijo.document.model import Column, Document, Facts, Paragraph, Section, Table
from teijo.document.phrase import Verbatim, say
from teijo.engine.native import SimulatedSession, simulated_presets
from teijo.methods.parts import findings_of
from teijo.report.language import CATALOGUES, Language, translated, translator
from teijo.terms.purge import PurgeResult
from teijo.terms.record import Record
from teijo.terms.remark import REMEDIES, RemarkKind
from tests.house.tree import PACKAGE, of_kind, place, syntax
from tests.report.english import has_words, untranslated
from tests.report.samples import header

BEGAN = "2026-11-24T17:00:00+00:00"
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
    rooms = [PACKAGE / room for room in ("methods", "compare", "document", "lake", "report")]
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


def test_every_figure_that_a_run_has_once_is_named_in_japanese(
    canned_run: tuple[Record, frozenset[str]],
) -> None:
    record, data = canned_run
    for each in findings_of(record).scalars:
        # As a comparison has them: the name, and the unit beside it.
        named = with_unit(each.name, each.unit)
        assert untranslated((named,), JAPANESE, data) == set(), named


def test_a_recorded_text_whose_numbers_have_commas_is_translated_from_the_text_alone() -> None:
    text = "temperature 87 °C; the drive warns from 1,070 °C on"
    said = translator(Language.JAPANESE).text(text)
    assert "87 °C" in said
    assert "1,070 °C" in said
    assert said != text


@pytest.mark.parametrize("certificate", ["", "the drive certifies that nothing was written since"
                                             " (Global Data Erased)"])  # fmt: skip
def test_what_a_purge_left_is_told_in_japanese_but_for_names(certificate: str) -> None:
    purge = PurgeResult(
        method="nvme-sanitize-block", words="NVMe Sanitize, block erase", stamps_written=64,
        stamps_gone=63, zeros=7, certificate=certificate,
    )  # fmt: skip
    said = translator(Language.JAPANESE).text(purge.text)
    for each in ("NVMe Sanitize（ブロック消去）", "64 個", "63 個", "7 個"):
        assert each in said
    assert "stamps" not in said
    assert "certifies" not in said
    assert ("証明" in said) == bool(certificate)
    for earlier, told in (
        (f"taken over from the attempt begun {BEGAN}, which was interrupted", "引き継ぎました"),
        (
            f"purged anew, as the attempt begun {BEGAN} does not count: its stamps were not kept",
            "スタンプの記録がありません",
        ),
    ):
        if "taken over" in earlier and not certificate:
            continue  # it is not taken over without one
        said = translator(Language.JAPANESE).text(replace(purge, earlier=earlier).text)
        assert told in said
        assert BEGAN in said
        assert not has_words(said.replace("NVMe Sanitize", "").replace("Global Data Erased", ""))
