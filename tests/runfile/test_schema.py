"""docs/run-file.md says what schema.sql has: every table, every column, in its order."""

import re
import sqlite3
from pathlib import Path

from teijo.runfile import schema

PAGE = Path(__file__).parents[2] / "docs" / "run-file.md"


def documented() -> dict[str, list[str]]:
    """Return the columns of each table the page describes."""
    tables: dict[str, list[str]] = {}
    for name, body in re.findall(
        r"^### Table `(\w+)`$(.*?)(?=^##|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL
    ):
        tables[name] = re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)
    return tables


def real() -> dict[str, list[str]]:
    """Return the columns of each table a new run file has."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(db)
    return {
        table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        for table in schema.TABLES
    }


def test_the_page_describes_every_table_and_column() -> None:
    assert documented() == real()


def test_the_page_names_the_marks() -> None:
    page = PAGE.read_text()
    assert f"`PRAGMA application_id` is {schema.APPLICATION_ID}" in page
    assert f"`PRAGMA user_version` is {schema.VERSION}" in page


def test_the_page_names_every_ending_and_status() -> None:
    page = PAGE.read_text()
    script = schema.schema_text()
    for words in re.findall(r"(?:ending|status) +IN \(([^)]*)\)", script):
        for word in re.findall(r"'([^']*)'", words):
            assert f"`{word}`" in page
