"""Every row has a checksum, and the tally knows all rows: against what docs/run-file.md says."""

import hashlib
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from teijo.errors import RunFileError
from teijo.runfile import reader, rows, schema
from teijo.runfile.codec import Value
from teijo.runfile.ledger import Ledger
from teijo.runfile.recorder import Recorder
from tests.runfile.samples import SECOND, measure, open_run, record, sealed_run


def by_the_page(table: str, values: list[Value]) -> int:
    """Return the checksum of a row as the page has it, written a second time."""
    text = table.encode()
    row = b"t" + len(text).to_bytes(8, "big") + text + len(values).to_bytes(2, "big")
    for value in values:
        if value is None:
            row += b"n"
        elif isinstance(value, int):
            row += b"i" + (value % 2**64).to_bytes(8, "big")
        else:
            content = value.encode() if isinstance(value, str) else value
            row += (b"t" if isinstance(value, str) else b"b") + len(content).to_bytes(8, "big")
            row += content
    return signed(int(hashlib.blake2b(row, digest_size=8).hexdigest(), 16))


def by_the_page_of_an_interval(step: int, stream: str, direction: str, numbers: list[int]) -> int:
    """Return the checksum of an interval as the page has it."""
    s = by_the_page("interval", [step, stream, direction]) % 2**64
    for x in numbers:
        s = ((s ^ (x % 2**64)) + 0x9E3779B97F4A7C15) % 2**64
        s = (s ^ (s >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        s = (s ^ (s >> 27)) * 0x94D049BB133111EB % 2**64
        s ^= s >> 31
    return signed(s)


def signed(number: int) -> int:
    """Return 64 bits as SQLite's integer."""
    return number - 2**64 if number >= 2**63 else number


def test_a_file_holds_the_checksums_and_the_tally_that_the_page_describes(tmp_path: Path) -> None:
    db = sqlite3.connect(sealed_run(tmp_path / "run"))
    count = total = 0
    for table in schema.KEYS:
        names = ", ".join((*schema.columns(table), "checksum"))
        found = db.execute(f"SELECT {names} FROM {table}").fetchall()
        assert found, table
        for *values, check in found:
            if table == "interval":
                assert check == by_the_page_of_an_interval(*values[:3], values[3:])
            else:
                assert check == by_the_page(table, values)
            count, total = count + 1, total + check
    expected = [count, signed(total % 2**64)]
    assert db.execute("SELECT * FROM tally").fetchall() == [
        (*expected, by_the_page("tally", expected))
    ]
    db.close()


def test_the_digest_is_the_one_that_the_page_describes(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    db = sqlite3.connect(path)
    digest = hashlib.sha256()
    for table, key in schema.KEYS.items():
        names = ", ".join(schema.columns(table))
        found = db.execute(f"SELECT {names} FROM {table} ORDER BY {key}").fetchall()
        if table == "interval":
            for place in sorted({row[:3] for row in found}):
                lines = [row[3:] for row in found if row[:3] == place]
                digest.update(rows.encoded(table, (*place, len(lines))))
                digest.update(b"".join(x.to_bytes(8, "big") for line in lines for x in line))
            continue
        for row in found:
            values = dict(zip(schema.columns(table), row, strict=True))
            if table == "run":
                del values["digest"]
            digest.update(rows.encoded(table, list(values.values())))
    assert db.execute("SELECT digest FROM run").fetchone() == (digest.hexdigest(),)
    db.close()


def test_values_of_other_kinds_never_have_the_same_bytes() -> None:
    values: list[tuple[Value, ...]] = [
        (None,), (0,), (1,), (-1,), ("",), ("1",), (b"",), (b"1",), ("n",), (),
        (None, None), ("ab", "c"), ("a", "bc"), (b"a", "bc"), ("a", b"bc"), ("abc",),
    ]  # fmt: skip
    assert len({rows.encoded("t", row) for row in values}) == len(values)
    assert rows.encoded("ab", ("c",)) != rows.encoded("a", ("bc",))


def test_a_number_with_a_fraction_is_never_written() -> None:
    with pytest.raises(ValueError, match=r"0\.5"):
        rows.encoded("t", (0.5,))  # type: ignore[arg-type]


def test_each_bit_of_each_number_of_an_interval_counts() -> None:
    numbers = np.array([[0, 1, 4096, 0, 500, 100, 2**62]], np.int64)
    right = rows.series_checksums(1, "s", "read", numbers)[0]
    for column in range(7):
        for bit in range(64):
            other = numbers.copy().view(np.uint64)
            other[0, column] ^= np.uint64(1 << bit)
            assert rows.series_checksums(1, "s", "read", other.view(np.int64))[0] != right
    for place in ((2, "s", "read"), (1, "t", "read"), (1, "s", "write")):
        assert rows.series_checksums(*place, numbers)[0] != right


CHANGES = {
    "a row of step 2 vanished": "DELETE FROM interval WHERE number = 1 AND step = 4",
    "a result vanished": "DELETE FROM result WHERE step = 6 AND place = 3",
    "a remark stands twice": (
        "INSERT INTO remark SELECT place + 1, kind, text, step, checksum, phrase FROM remark"
        " ORDER BY place DESC LIMIT 1"
    ),
    "a step came back as it was": "UPDATE remark SET text = 'x'",
    "a result is of another step": "UPDATE result SET step = 2 WHERE step = 6 AND place = 3",
    "a number became text": "UPDATE step SET phase = CAST(12 AS TEXT)",
    "the tally is another": "UPDATE tally SET row_count = row_count + 1",
    "the tally is gone": "DELETE FROM tally",
    "there are two tallies": "INSERT INTO tally SELECT * FROM tally",
    "a fact changed": "UPDATE environment SET value = value || ' '",
    "a setting changed": "UPDATE run SET settings = '{}'",
    "the capacity changed": "UPDATE device SET capacity_bytes = capacity_bytes + 512",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_in_an_open_file_is_refused_for_reading_and_for_a_resume(
    tmp_path: Path, change: str
) -> None:
    open_run(tmp_path / "run").close()
    path = tmp_path / "run.teijo.open"
    db = sqlite3.connect(path)
    db.execute(change)
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(RunFileError, match="damaged"):
        reader.read(path)
    with pytest.raises(RunFileError, match="damaged"):
        reader.read_running(path)
    with pytest.raises(RunFileError, match="damaged"):
        Recorder.reopen(path)
    assert path.read_bytes() == before
    assert not (tmp_path / "run.teijo.reserve").exists()


def test_what_changes_during_a_run_is_not_sealed(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    db = sqlite3.connect(tmp_path / "run.teijo.open")
    db.execute("UPDATE result SET count = count + 1 WHERE step = 4 AND place = 0")
    db.commit()
    db.close()
    recorder.end("steady")
    with pytest.raises(RunFileError, match="not sealed"):
        recorder.seal()
    recorder.close()
    assert not (tmp_path / "run.teijo").exists()


def test_a_row_that_changed_is_not_written_anew_with_a_right_checksum(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    recorder.begin(7, measure(3), 1, interval_ns=SECOND)
    db = sqlite3.connect(tmp_path / "run.teijo.open")
    db.execute("UPDATE step SET seed = seed + 1 WHERE seq = 7")
    db.execute("UPDATE run SET seed = seed + 1")
    db.commit()
    db.close()
    with pytest.raises(RunFileError, match="table step"):
        recorder.record(7, record().steps[2].answer)  # type: ignore[arg-type]
    with pytest.raises(RunFileError, match="table run"):
        recorder.end("steady")
    recorder.close()


def test_a_transaction_that_fails_leaves_the_tally_as_it_was(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "run")
    before = recorder._db.execute("SELECT * FROM tally").fetchall()

    def fails(ledger: Ledger) -> None:
        ledger.insert("environment", ("x", "y"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        recorder._commit(fails)
    assert recorder._db.execute("SELECT * FROM tally").fetchall() == before
    recorder.note("x", "z")
    assert reader.read(tmp_path / "run").environment["x"] == "z"
    recorder.close()
