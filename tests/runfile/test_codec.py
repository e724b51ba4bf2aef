"""Values that no run writes, under right checksums: refused in words, never a traceback."""

import json
from pathlib import Path

import pytest

from teijo.errors import RunFileError
from teijo.runfile import reader
from teijo.runfile.codec import Value, from_json, reading_of, reading_row
from teijo.runfile.ledger import Ledger
from tests.runfile.samples import READINGS, open_run

DEEP = "[" * 100_000 + "]" * 100_000

BAD: list[tuple[str, int | None, str, Value]] = [
    ("run", None, "settings", '{"a":NaN}'),
    ("run", None, "settings", '{"a":-Infinity}'),
    ("run", None, "settings", '{"a":"\\ud800"}'),
    ("run", None, "settings", '{"\\udc00":1}'),
    ("run", None, "settings", '{"a":' + DEEP + "}"),
    ("run", None, "settings", '{"a":' + "9" * 5000 + "}"),
    ("run", None, "settings", "[]"),
    ("run", None, "settings", "{"),
    ("run", None, "ending", "sideways"),
    ("device", None, "facts", '{"a":1}'),
    ("device", None, "kind", "teapot"),
    ("step", 4, "step", '{"kind":"measure"}'),
    ("step", 4, "step", '{"kind":"' + "x" * 100_000 + '"}'),
    ("step", 4, "step", DEEP),
    ("step", 4, "cursors", '{"a":1.5}'),
    ("step", 4, "cursors", '{"a":true}'),
    ("step", 4, "health_after", '{"a":"b"}'),
    ("step", 4, "elapsed_ns", -1),
    ("step", 4, "witness", '{"wall_ns":1}'),
    ("step", 4, "witness", '{"unheard_of":1}'),
    ("step", 4, "verification", '{"faults":[{}]}'),
    ("step", 4, "written", '[{"a":1}]'),
    ("step", 4, "written", '{"a":NaN}'),
]


@pytest.mark.parametrize(
    ("table", "seq", "column", "value"), BAD, ids=[f"{b[2]} {str(b[3])[:20]}" for b in BAD]
)
def test_a_value_that_no_run_writes_is_refused(
    tmp_path: Path, table: str, seq: int | None, column: str, value: Value
) -> None:
    recorder = open_run(tmp_path / "run")
    recorder._db.execute("PRAGMA ignore_check_constraints = ON")

    def write(ledger: Ledger) -> None:
        assert ledger.amend(table, {column: value}, seq=seq)

    recorder._commit(write)
    recorder.close()
    with pytest.raises(RunFileError, match="damaged") as caught:
        reader.read(tmp_path / "run")
    assert len(str(caught.value)) < 1000, "a message is read by a person"


def test_a_value_of_another_type_than_its_column_is_refused(tmp_path: Path) -> None:
    """A table that is not STRICT takes it, and its text can be changed afterwards."""
    recorder = open_run(tmp_path / "run")
    db = recorder._db
    (text,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'remark'").fetchone()
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'remark'")
    db.execute("PRAGMA writable_schema = RESET")
    recorder._commit(lambda ledger: ledger.insert("remark", (9, "simulated", b"blob", None, None)))
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'remark'", (text,))
    recorder.close()
    with pytest.raises(RunFileError, match=r"remark\.text holds bytes"):
        reader.read(tmp_path / "run")


def test_text_with_escapes_of_whole_characters_is_read() -> None:
    text = json.dumps({"é": "✂ \U0001f600"})
    assert "\\ud83d" in text
    assert from_json(text) == {"é": "✂ \U0001f600"}


@pytest.mark.parametrize(
    "changed",
    [
        {"counters": "{}"},
        {"error": "and why not"},
        {"counters": '{"media_errors": -1}'},
        {"counters": '{"media_errors": 9223372036854775808}'},
        {"counters": '{"media_errors": true}'},
        {"counters": '{"media_errors": NaN}'},
        {"step": "1"},
        {"cost_ns": -1},
    ],
)
def test_a_reading_that_no_drive_gave_is_refused(changed: dict[str, Value]) -> None:
    row = dict(zip(("step", "at_ns", "cost_ns", "counters", "error"), reading_row(READINGS[1]),
                   strict=True))  # fmt: skip
    assert reading_of(row) == READINGS[1]
    with pytest.raises(ValueError, match=r"drive|stands where|JSON"):
        reading_of(row | changed)
