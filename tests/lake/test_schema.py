"""The tables of this version, held to what docs/lake.md says of them."""

import hashlib
import re

import pyarrow

from teijo.lake.schema import LEADING, PARTITIONS, SCHEMA, TABLES, arrow_schema, columns_of
from teijo.lake.views import VIEWS
from teijo.terms.provenance import GroupName
from tests.house.tree import ROOT, text

PAGE = text(ROOT / "docs" / "lake.md")
_DIGEST_OF_1 = "880c5aa5"


def section(title: str) -> str:
    return PAGE.partition(f"\n### {title}\n")[2].partition("\n##")[0]


def told(title: str) -> list[tuple[str, str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", section(title), re.MULTILINE)
    return [(name, kind, meaning) for name, kind, meaning in rows]


def test_the_page_has_every_column_with_its_kind_and_meaning() -> None:
    assert told("Every table") == [
        *((each.name, each.kind, each.meaning) for each in LEADING),
        *((name, "text", told_of(name)) for name in PARTITIONS),
    ]
    for table, columns in TABLES.items():
        assert told(f"Table `{table}`") == [
            (each.name, each.kind, each.meaning) for each in columns
        ], table


def told_of(name: str) -> str:
    return next(meaning for found, _, meaning in told("Every table") if found == name)


def test_the_page_has_every_view_and_the_version() -> None:
    for view in VIEWS:
        assert f"`{view}`" in PAGE
    assert f"schema {SCHEMA}" in PAGE


def test_a_changed_table_is_another_schema() -> None:
    whole = repr([(table, [(c.name, c.kind) for c in columns_of(table)]) for table in TABLES])
    digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
    assert (SCHEMA, digest) == (1, _DIGEST_OF_1), "raise SCHEMA, and note the new digest here"


def test_every_name_of_a_group_has_a_column() -> None:
    names = {each.name for each in LEADING}
    assert {f"group_{name.value}" for name in GroupName} <= names


def test_the_columns_of_files_are_those_of_the_schema() -> None:
    for table in TABLES:
        schema = arrow_schema(table)
        assert schema.names == [column.name for column in columns_of(table)]
        assert isinstance(schema, pyarrow.Schema)
