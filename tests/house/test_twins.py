"""Twins rhyme: a module and its test share their place and their name.

The rule. In `analysis/`, the room of formulae, NAME.py has its twin `tests/analysis/test_NAME.py`.
In every other room a test may have a theme (`tests/device/test_preflight.py`), but the tests of
a room reach every module of it: they import it, or a module of the room that does.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, of_kind, place, syntax

TESTS = ROOT / "tests"
STRICT = {"analysis"}

NAMED = {
    "fuzz", "simulation", "crash", "faults", "golden", "house", "web", "world", "vm", "hardware",
}  # fmt: skip
"""Folders of tests that mirror no room."""


def modules() -> list[Path]:
    return [
        path
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE) and path.name != "__init__.py"
    ]


def imported(path: Path) -> set[str]:
    """Return the dotted names a file imports, and what it imports from them."""
    found: set[str] = set()
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{name.name}" for name in node.names}
    return found


def dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def reached(room: str) -> set[str]:
    """Return every module of a room that its tests import, or that is imported by such a one."""
    inside = {
        dotted(path): path
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE / room) or path == PACKAGE / f"{room}.py"
    }
    tests = [path for path in of_kind(".py") if path.is_relative_to(TESTS)]
    own = [path for path in tests if path.is_relative_to(TESTS / room)]
    found: set[str] = set()
    ahead = {name for test in own or tests for name in imported(test)} & set(inside)
    while ahead:
        found |= ahead
        ahead = {name for one in ahead for name in imported(inside[one])} & set(inside) - found
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_reached_by_the_tests_of_its_room(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in STRICT:
        assert (TESTS / room / f"test_{path.stem}.py").exists(), "a formula needs its own test"
    assert dotted(path) in reached(room), f"no test of tests/{room}/ reaches {place(path)}"


def test_a_test_that_is_named_after_no_module_has_a_theme_of_its_room() -> None:
    names = {name for path in modules() for name in (path.stem, path.parent.name)}
    parts = {part for name in names for part in name.split("_")}
    themes = {"browser", "capacity", "mistakes", "model", "help", "conversations", "engines", "fio"}
    lost = [
        place(path)
        for path in of_kind(".py")
        if path.is_relative_to(TESTS)
        and path.relative_to(TESTS).parts[0] not in NAMED
        and path.stem.startswith("test_")
        and path.stem.removeprefix("test_") not in names | themes
        and not set(path.stem.removeprefix("test_").split("_")) & parts
    ]
    assert not lost, f"named after no module, and no theme that this test knows: {lost}"


def test_every_room_of_tests_is_a_room_of_the_house_or_a_named_one() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    found = {
        path.relative_to(TESTS).parts[0]
        for path in of_kind(".py")
        if path.is_relative_to(TESTS) and path.parent != TESTS
    }
    assert found <= rooms | NAMED
