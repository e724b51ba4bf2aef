"""A remark's template and values in a run file: kept, said in Japanese, and never trusted."""

import json
import math
import random
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teijo.document.phrase import Phrase, Recalled, Verbatim, listed, say
from teijo.report.language import Language, translator
from teijo.runfile import phrases, reader
from teijo.runfile.export import to_json
from teijo.runfile.phrases import recalled, stored_of
from teijo.runfile.recorder import Recorder
from teijo.speech import tongue
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from tests.runfile.forging import Forger, as_version, forged
from tests.runfile.samples import record

JAPANESE = replace(translator(Language.JAPANESE), patterns=())
"""Japanese without the patterns that find the values in plain text again."""
SPLIT = say("{setting} instead of {value}", setting="minute 1s", value="2s")
WHOLE = say("{name}: {rate:,.1f} of {asked:,}", name=Verbatim("read"), rate=1234.56, asked=9999)
NESTED = say("member {number}: {text}", number=2, text=SPLIT)
CAUSES = say("{count} I/Os failed: {causes}.", count=3, causes="3 × Input/output error")


def with_phrase(folder: Path, *texts: str) -> Path:
    remarks = tuple(Remark(kind=RemarkKind.DEVIATION, text=text) for text in texts)
    recorder = Recorder.create(folder, replace(record(), steps=(), remarks=remarks))
    recorder.end("done")
    return recorder.seal()


def first_text(path: Path) -> str:
    return reader.read(path).remarks[0].text


def write_phrase(told: str, file: Forger) -> None:
    file.db.execute("UPDATE remark SET phrase = ?", (told,))


def same(one: object, other: object) -> bool:
    if isinstance(one, Phrase):
        assert isinstance(other, Recalled)
        assert (one, one.template) == (other, other.template)
        assert set(one.values) == set(other.values)
        return all(same(one.values[name], other.values[name]) for name in one.values)
    return (one, isinstance(one, Verbatim)) == (other, isinstance(other, Verbatim))


@pytest.mark.parametrize("text", [SPLIT, WHOLE, NESTED, CAUSES, listed(["a", SPLIT, "c"])])
def test_a_phrase_comes_back_from_a_run_file_as_it_was(tmp_path: Path, text: str) -> None:
    found = first_text(with_phrase(tmp_path / "run", text))
    assert same(text, found)


def test_the_phrase_of_a_step_and_of_a_later_remark_come_back_too(tmp_path: Path) -> None:
    step = record().steps[0]
    assert isinstance(step.answer, StepResult)
    recorder = Recorder.create(tmp_path / "run", replace(record(), steps=(), remarks=()))
    recorder.begin(1, step.step, step.seed, interval_ns=1_000_000_000)
    remark = Remark(kind=RemarkKind.IO_ERRORS, text=CAUSES)
    recorder.record(1, replace(step.answer, remarks=(remark,)))
    recorder.remark(Remark(kind=RemarkKind.DEVIATION, text=NESTED))
    recorder.end("done")
    of_step, later = reader.read(recorder.seal()).remarks
    assert of_step.step == 1
    assert same(CAUSES, of_step.text)
    assert same(NESTED, later.text)


def test_any_phrase_of_plain_values_makes_the_round_trip() -> None:
    chance = random.Random(12)
    letters = "aß{}:% 日\n\"'\\0"

    def word() -> str:
        return "".join(chance.choices(letters, k=chance.randrange(8)))

    def value(depth: int) -> Any:
        return chance.choice(
            (
                word,
                lambda: Verbatim(word()),
                lambda: chance.randrange(-(10**20), 10**20),
                lambda: chance.uniform(-1e9, 1e9),
                lambda: phrase(depth + 1) if depth < 3 else word(),
            )
        )()

    def phrase(depth: int) -> Phrase:
        values = {name: value(depth) for name in chance.sample(["a", "b_1", "rest"], k=2)}
        texts = [word().replace("{", "{{").replace("}", "}}") for _ in range(3)]
        forms = {
            name: chance.choice(("", ":,.1f", ":+.2f")) if type(each) is float else ""
            for name, each in values.items()
        }
        first, second = ("{" + name + form + "}" for name, form in forms.items())
        return say(f"{texts[0]}{first}{texts[1]}{second}{texts[2]}", **values)

    for _ in range(500):
        text = phrase(0)
        stored = stored_of(text)
        assert stored is not None
        assert same(text, recalled(str(text), stored))


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        say("{a}", a=None),
        say("{a}", a=[1]),
        say("{a}", a=True),
        say("{a}", a=math.nan),
        say("{a}", a=np.int64(3)),
        say("{a:>40}", a="x"),
        say("{a[0]}", a="xy"),
        say("{a!r}", a="x"),
        say("{a}", a="x" * phrases.JSON_CHARACTERS_MOST),
    ],
)
def test_what_could_not_come_back_is_stored_as_text_alone(text: str) -> None:
    assert stored_of(text) is None


def stored(template: object, **values: object) -> str:
    return json.dumps({"template": template, "values": values})


HOSTILE = {
    "an attribute": ("<class 'str'>", stored("{a.__class__}", a="x")),
    "an index": ("x", stored("{a[0]}", a="xy")),
    "a conversion": ("'x'", stored("{a!r}", a="x")),
    "a width": ("x" + " " * 9, stored("{a:10}", a="x")),
    "a width of gigabytes": ("x", stored("{a:9999999999}", a="x")),
    "a precision of gigabytes": ("1", stored("{a:.999999999f}", a=1.0)),
    "a form from a value": ("1.00", stored("{a:.{b}f}", a=1.0, b=2)),
    "a place": ("x", stored("{0}", **{"0": "x"})),
    "no name": ("x", stored("{}", **{"": "x"})),
    "a broken template": ("x", stored("{a", a="x")),
    "a number too large for its form": ("1", stored("{a:.1f}", a=10**400)),
    "a field too few": ("x ", stored("{a} {b}", a="x")),
    "a value too many": ("x", stored("{a}", a="x", b="y")),
    "another text": ("x", stored("{a}", a="y")),
    "a text for a number": ("x", stored("{a:,}", a="x")),
    "a template that is none": ("7", stored(7)),
    "no values": ("x", '{"template":"x","values":[]}'),
    "something more": ("x", '{"template":"x","values":{},"more":1}'),
    "no object": ("x", '["x"]'),
    "no JSON": ("x", "{"),
    "a truth": ("True", stored("{a}", a=True)),
    "nothing": ("None", stored("{a}", a=None)),
    "a list": ("[1]", stored("{a}", a=[1])),
    "NaN": ("nan", '{"template":"{a}","values":{"a":NaN}}'),
    "half a character": ("x\ud800", '{"template":"{a}","values":{"a":"x\\ud800"}}'),
    "too many fields": ("x" * 99, stored("{a}" * 99, a="x")),
    "a template too long": ("x" * 2000, stored("x" * 2000)),
    "too deep": ("x", '{"template":"{a}","values":{"a":' * 40 + '"x"' + "}}" * 40),
    "bottomless": ("x", '{"a":' * 3000 + "1" + "}" * 3000),
    "too long": ("x", stored("{a}", a="x") + " " * phrases.JSON_CHARACTERS_MOST),
}


@pytest.mark.parametrize(("text", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_phrase_stays_the_text_beside_it(text: str, told: str) -> None:
    found = recalled(text, told)
    assert type(found) is str
    assert found == text


def test_phrases_in_phrases_do_not_grow_beyond_a_text() -> None:
    value: object = "x" * 100
    for _ in range(phrases.DEPTH_MOST - 1):
        value = {"template": "{a}" * phrases.FIELDS_MOST, "values": {"a": value}}
    assert type(recalled("x", stored("{a}", a=value))) is str


def test_a_forged_phrase_in_a_run_file_changes_no_word(tmp_path: Path) -> None:
    whole = with_phrase(tmp_path / "run", SPLIT)
    for number, (_, told) in enumerate(HOSTILE.values()):
        name = tmp_path / f"forged-{number}.teijo"
        try:
            path = forged(whole, name, partial(write_phrase, told))
        except sqlite3.IntegrityError:
            continue  # the file's own CHECK refuses what is no JSON
        assert type(first_text(path)) is str
        assert first_text(path) == SPLIT


def test_a_changed_phrase_is_noticed_by_its_row(tmp_path: Path) -> None:
    path = with_phrase(tmp_path / "run", SPLIT)
    db = sqlite3.connect(path)
    db.execute("UPDATE remark SET phrase = NULL")
    db.commit()
    db.close()
    with pytest.raises(reader.RunFileError, match="checksum"):
        reader.read(path)


def test_a_stored_remark_is_said_in_japanese_by_its_template(tmp_path: Path) -> None:
    remarks = reader.read(with_phrase(tmp_path / "run", SPLIT, CAUSES)).remarks
    found = [one.text for one in remarks if one.kind is RemarkKind.DEVIATION]
    said = ["minute 1s（規格値は 2s）", "3 件の I/O が失敗しました: 3 × Input/output error。"]
    assert [JAPANESE.text(text) for text in found] == said
    assert JAPANESE.text(str(found[0])) == str(SPLIT), "without patterns no plain text is found"


def test_the_program_says_a_stored_remark_by_its_template() -> None:
    tongue.speak("ja")
    try:
        text = recalled(str(SPLIT), stored_of(SPLIT))
        assert tongue.reported(text) == "minute 1s（規格値は 2s）"
    finally:
        tongue.speak("en")


def test_a_template_that_the_catalogue_does_not_have_is_never_filled_in() -> None:
    told = say("{a} {b} unheard of", a="rounds", b="x")
    found = recalled(str(told), stored_of(told))
    assert isinstance(found, Recalled)
    assert JAPANESE.text(found) == str(told)


def test_an_older_file_says_the_same_in_japanese_and_exports_the_same(tmp_path: Path) -> None:
    new = with_phrase(tmp_path / "new", SPLIT, CAUSES)
    old = as_version(new, tmp_path / "old.teijo", 4)
    words = translator(Language.JAPANESE)
    texts = [[words.text(one.text) for one in reader.read(each).remarks] for each in (new, old)]
    assert texts[0] == texts[1]
    assert type(first_text(old)) is str
    assert to_json(reader.read(new), None) == to_json(reader.read(old), None)
