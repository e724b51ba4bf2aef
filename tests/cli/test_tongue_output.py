"""What verbs print in Japanese: every text that is not data is translated."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teijo.engine import simulated_kinds, simulated_presets
from teijo.methods.knobs import describe
from teijo.methods.registry import CARDS, METHODS
from teijo.runfile.proof.flaw import MEANINGS, Check
from teijo.speech import tongue
from teijo.terms.geometry import Geometry
from tests.cli.conftest import Teijo
from tests.house.tree import PACKAGE, of_kind, place, syntax

DRIVE = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)
SIGNS = frozenset({"ID", "IOPS", "LBA", "MB/s"})


@pytest.fixture(autouse=True)
def japanese() -> object:
    tongue.speak("ja")
    yield
    tongue.speak(tongue.ENGLISH)


def is_japanese(text: str) -> bool:
    return re.search(r"[\u3040-\u9fff]", text) is not None


def english(texts: Iterator[str], said: Callable[[str], str] = tongue.reported) -> list[str]:
    return [text for text in dict.fromkeys(texts) if not is_japanese(said(text))]


def templates() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of each literal that the command line says: `tr(…)`, heads of tables."""
    for path in of_kind(".py"):
        if not any(path.is_relative_to(PACKAGE / room) for room in ("cli", "speech")):
            continue
        for node in ast.walk(syntax(path)):
            match node:
                case ast.Call(
                    func=ast.Name(id="tr") | ast.Attribute(attr="tr"),
                    args=[ast.Constant(value=str() as text), *_],
                ):
                    yield f"{place(path)}:{node.lineno}", text
                case (
                    ast.Call(func=ast.Attribute(attr="columns"), args=[ast.Tuple(elts=heads), _])
                    | ast.Call(func=ast.Name(id="Table"), args=[_, ast.Tuple(elts=heads), *_])
                ):
                    for head in heads:
                        if isinstance(head, ast.Constant) and head.value:
                            yield f"{place(path)}:{node.lineno}", str(head.value)


def test_every_text_of_the_command_line_is_in_the_catalogue() -> None:
    texts, _ = tongue.catalogue("ja")
    found = list(templates())
    assert len(found) > 60
    words = [
        (at, text) for at, text in found if re.search(r"[A-Za-z]{2}", re.sub(r"{.*?}", "", text))
    ]
    assert [each for each in words if each[1] not in texts and each[1] not in SIGNS] == []


def test_what_methods_are_and_what_each_setting_means_is_translated() -> None:
    assert english(card.summary for card in CARDS) == []
    settings = (
        setting.meaning
        for method in METHODS
        for spec in (method.specs or ("",))
        for setting in describe(method.settings(spec, {}, DRIVE))
    )
    assert english(settings) == []


def test_what_simulated_devices_are_is_translated() -> None:
    presets = simulated_presets()
    assert english(text for one in presets for text in (one.about, one.label)) == []
    assert english(about for _, about in simulated_kinds()) == []


def test_what_verify_looks_at_is_translated() -> None:
    assert english(each.value for each in Check) == []
    assert english(iter(MEANINGS.values())) == []


def test_list_and_verify_print_japanese_and_json_stays_as_it_is(
    teijo: Teijo, tmp_path: Path
) -> None:
    path = tmp_path / "a.teijo"
    teijo("run", "workload", "sim:mlc-a", "rw=randread", "seconds=1", "-o", path, "--report=none")
    (tmp_path / "b.teijo").write_bytes(b"GIF89a")
    code, out, _ = teijo("list", tmp_path, "--lang", "ja")
    head, *rows = out.splitlines()
    assert code == 0
    assert head.split() == ["日付", "デバイス", "方法", "ファイル", "判定"]
    assert [is_japanese(row) for row in rows] == [True, True]
    code, out, _ = teijo("verify", path, "--lang", "ja")
    assert code == 0
    assert [line for line in out.splitlines() if not is_japanese(line)] == []
    english_json = teijo("list", tmp_path, "--json")[1]
    assert teijo("list", tmp_path, "--json", "--lang", "ja")[1] == english_json


def test_quick_prints_its_table_in_the_language_of_the_locale(
    teijo: Teijo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "q.teijo"
    code, out, _ = teijo("quick", "sim:mlc-a", "passes=2", "-o", path, "--report", "none")
    assert code == 0
    assert "試験" in out
    assert "注記: シミュレーション" in out
