"""A question reads the lake and nothing else, changes nothing, and has its limits."""

from pathlib import Path

import pyarrow
import pytest

from teijo.errors import HostError, UsageError
from teijo.lake import session as session_module
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.session import Limits
from teijo.units import MIB
from tests.lake.made import another, lake_of


@pytest.fixture
def lake(tmp_path: Path, rows: RunRows) -> Lake:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (tmp_path / "lake" / "foreign").mkdir(parents=True)
    made = lake_of(tmp_path / "inside", [another(rows, number) for number in range(3)])
    (tmp_path / "inside" / "letter.csv").write_text("a,b\n1,2\n")
    return made


@pytest.mark.parametrize(
    "question",
    [
        "COPY runs TO '{folder}/out.csv'",
        "COPY (FROM runs) TO '{file}'",
        "EXPORT DATABASE '{folder}/out'",
        "ATTACH '{folder}/other.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit='100GB'",
        "RESET allowed_paths",
        "PRAGMA enable_external_access=true",
        "CALL enable_logging()",
        "CREATE TABLE x AS FROM runs",
        "INSERT INTO hidden VALUES ('a', 'b')",
        "DROP VIEW runs",
        "DELETE FROM hidden",
        "EXPLAIN ANALYZE COPY runs TO '{folder}/out.csv'",
        "FROM runs; FROM runs",
        "",
        "FROM read_csv('{folder}/secret.csv')",
        "FROM '{folder}/secret.csv'",
        "FROM read_csv('{folder}/inside/letter.csv')",
        "FROM read_text('/etc/hostname')",
        "FROM read_blob('{folder}/inside/teijo-lake.json')",
        "FROM glob('{folder}/*')",
        "FROM read_parquet('{folder}/inside/../secret.parquet')",
        "FROM query('COPY runs TO ''{folder}/out.csv''')",
        "SELECT * FROM nothing",
        "SELEKT 1",
    ],
)
def test_a_question_that_is_no_reading_of_the_lake_is_refused(
    lake: Lake, tmp_path: Path, question: str
) -> None:
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    (batch,) = lake.store.batches()
    file = lake.store.path(batch.partition.name_of("runs", batch.id))
    with pytest.raises(UsageError) as refusal:
        lake.sql(question.format(folder=tmp_path, file=file))
    assert refusal.value.remedy
    assert "\n" not in refusal.value.message
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert lake.sql("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 3}]


def test_a_question_sees_no_variable_of_the_program(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = pyarrow.table({"a": [1]})
    monkeypatch.setattr(session_module, "secret", secret, raising=False)
    with pytest.raises(UsageError, match="secret does not exist"):
        lake.sql("FROM secret")


@pytest.mark.parametrize(
    "question",
    [
        "FROM runs",
        "WITH a AS (FROM runs) SELECT count(*) FROM a",
        "DESCRIBE figures",
        "SHOW ALL TABLES",
        "SUMMARIZE SELECT value FROM figures",
        "VALUES (1)",
        "SELECT count(*) FROM histograms; ",
        "FROM figures ORDER BY value DESC LIMIT 3 -- the largest",
    ],
)
def test_a_question_in_any_form_of_select_is_answered(lake: Lake, question: str) -> None:
    assert lake.sql(question).num_rows > 0


def test_a_question_that_takes_too_much_memory_ends_as_that(lake: Lake) -> None:
    small = Lake(lake.store, Limits(memory_bytes=64 * MIB, threads=1))
    with pytest.raises(HostError, match="too much memory"):
        small.sql("SELECT list(a.range::VARCHAR || 'x') FROM range(50000000) AS a")


def test_the_limits_hold_in_the_session(lake: Lake) -> None:
    small = Lake(lake.store, Limits(memory_bytes=256 * MIB, threads=1))
    told = small.sql(
        "SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', 'memory_limit', "
        "'enable_external_access', 'lock_configuration', 'autoload_known_extensions')"
    ).to_pylist()
    found = {row["name"]: row["value"] for row in told}
    assert found["threads"] == "1"
    assert found["memory_limit"] == "256.0 MiB"
    assert found["enable_external_access"] == "false"
    assert found["lock_configuration"] == "true"
    assert found["autoload_known_extensions"] == "false"


def test_limits_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="memory"):
        Limits(memory_bytes=1)
    with pytest.raises(UsageError, match="threads"):
        Limits(threads=0)
