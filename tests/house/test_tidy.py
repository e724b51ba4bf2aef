"""Size, openings and words of every file: the style card of the house, checked."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT, of_kind, place, syntax, text

LINES_OF_A_FILE = 500
LINES_OF_A_TEST_FILE = 800
LINES_OF_A_FUNCTION = 70
COLUMNS = 100

CODE = (".py", ".pyi", ".rs", ".sql", ".typ", ".toml")
PROSE = (".md", ".sh", ".lock", ".json", "")
# Generated, and full of addresses by nature.
FOREIGN = {"Cargo.lock", "LICENSE"}

# Spelled in halves, so that this file passes its own test.
MARKS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
NAMES_OF_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc", "stuff", "tools"}
NOT_OURS = re.compile(
    "|".join((r"(?<![\w.])/wo" + r"rk/", "bash_" + "jobs", r"(?<![\w.])/ro" + r"ot/"))
    + "|"
    + "|".join(("pypi" + r"\.org", "python" + r"hosted\.org", "index\\.crates" + r"\.io"))
)


def is_test(path: Path) -> bool:
    return "tests" in path.relative_to(ROOT).parts or "benches" in path.parts


def rust_functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) lines of each function; rustfmt closes it at its own indent."""
    opening = re.compile(r"^(\s*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn ")
    for first, line in enumerate(lines):
        match = opening.match(line)
        if match is None:
            continue
        opened = False
        for last in range(first, len(lines)):
            later = lines[last]
            opened |= "{" in later
            closed = later.startswith(match[1] + "}") or (last == first and later.endswith("}"))
            if closed:
                yield first, last
            if closed or (later.endswith(";") and not opened):
                break


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement and what holds some, and no expression: of those there are many."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (
            each
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case)
        )


def longest_functions(path: Path) -> Iterator[tuple[str, int]]:
    if path.suffix == ".rs":
        lines = text(path).splitlines()
        for first, last in rust_functions(lines):
            yield f"{place(path)}:{first + 1}", last - first + 1
    else:
        for node in statements(syntax(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{place(path)}:{node.lineno}", node.end_lineno - node.lineno + 1


def test_no_file_is_longer_than_a_sitting() -> None:
    long = {
        place(path): lines
        for path in of_kind(".py", ".pyi", ".rs", ".sql", ".typ")
        if (lines := len(text(path).splitlines()))
        > (LINES_OF_A_TEST_FILE if is_test(path) else LINES_OF_A_FILE)
    }
    assert not long, f"split these files: {long}"


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        where: lines
        for path in of_kind(".py", ".rs")
        for where, lines in longest_functions(path)
        if lines > LINES_OF_A_FUNCTION
    }
    assert not long, f"split these functions (at most {LINES_OF_A_FUNCTION} lines): {long}"


def test_the_length_of_a_rust_function_is_seen() -> None:
    body = ["    pub fn f(", "        a: u64,", "    ) -> u64 {", "        a;", "    }"]
    declared = ["    fn now(", "        &self,", "    ) -> u64;", "    fn later(&self) {}"]
    assert list(rust_functions(body)) == [(0, 4)]
    assert list(rust_functions(declared)) == [(3, 3)]


def test_no_line_is_wider_than_a_hundred_columns() -> None:
    wide = [
        f"{place(path)}:{number}"
        for path in of_kind(*CODE)
        for number, line in enumerate(text(path).splitlines(), 1)
        if len(line) > COLUMNS and "http" not in line and path.name != "pyproject.toml"
    ]
    assert not wide, f"wider than {COLUMNS} columns: {wide}"


def test_every_file_opens_by_saying_what_lives_in_it() -> None:
    silent = []
    for path in of_kind(".py", ".rs", ".sql"):
        body = text(path)
        match path.suffix:
            case ".py":
                opening = ast.get_docstring(syntax(path)) if body.strip() else "an empty file"
            case ".rs":
                opening = "\n".join(re.findall(r"\A(?://!.*\n)+", body))
            case _:
                opening = "\n".join(re.findall(r"\A(?:--.*\n)+", body))
        first = (opening or "").strip().split("\n\n")[0]
        if not first or len(first.splitlines()) > 5:
            silent.append(place(path))
    assert not silent, f"open these with one to five lines on what lives there: {silent}"


def test_no_mark_of_unfinished_work_is_left() -> None:
    marked = [
        f"{place(path)}:{number}: {line.strip()[:60]}"
        for path in of_kind(*CODE, *PROSE)
        if path.name not in FOREIGN
        for number, line in enumerate(text(path).splitlines(), 1)
        if MARKS.search(line)
    ]
    assert not marked, f"finish or delete: {marked}"


def test_no_file_is_named_after_nothing() -> None:
    nameless = [place(path) for path in of_kind(".py", ".rs") if path.stem in NAMES_OF_NOTHING]
    assert not nameless, f"a helper has a noun or has no home: {nameless}"


def test_no_file_names_a_machine_or_a_registry() -> None:
    named = [
        f"{place(path)}:{number}: {line.strip()[:60]}"
        for path in of_kind(*CODE, *PROSE)
        if path.name not in FOREIGN
        for number, line in enumerate(text(path).splitlines(), 1)
        if NOT_OURS.search(line)
    ]
    assert not named, f"paths of one machine, or hosts of a registry: {named}"


@pytest.mark.parametrize("line", ["a TO" + "DO b", "# FIX" + "ME", "XX" + "X"])
def test_a_mark_is_seen(line: str) -> None:
    assert MARKS.search(line)


@pytest.mark.parametrize("line", ["in /wo" + "rk/main", "open('/ro" + "ot/x')", "bash_" + "jobs.0"])
def test_a_path_of_one_machine_is_seen(line: str) -> None:
    assert NOT_OURS.search(line)
