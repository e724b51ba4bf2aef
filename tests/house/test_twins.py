"""Twins rhyme: a module and its test share their place and their name.

The rule. In `analysis/`, the room of formulae, NAME.py has its twin `tests/analysis/test_NAME.py`.
In every other room a test may have a theme (`tests/device/test_preflight.py`), but the tests of
a room reach every module of it: they import it, or a module of the room that does.
"""

import ast
from functools import cache
from pathlib import Path

from tests.house.tree import PACKAGE, ROOT, of_kind, place, syntax

TESTS = ROOT / "tests"
STRICT = {"analysis"}

NAMED = {
    "fuzz", "simulation", "crash", "cross", "faults", "golden", "house", "web", "world", "vm",
    "hardware", "guest", "drives",
}  # fmt: skip
"""Folders of tests that mirror no room."""


def modules() -> list[Path]:
    return [
        path
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE) and path.name != "__init__.py"
    ]


@cache
def imported(path: Path) -> set[str]:
    """Return the dotted names a file imports, and what it imports from them."""
    found: set[str] = set()
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{name.name}" for name in node.names}
    if path.is_relative_to(PACKAGE / "methods") and path.name == "method.py":
        found.add(dotted(path.with_name("pages.py")))  # Method.document imports it by its name
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


def test_every_module_is_reached_by_the_tests_of_its_room() -> None:
    missed = [path for path in modules() if dotted(path) not in reached(room_of(path))]
    assert not missed, f"no test of their room reaches {[place(path) for path in missed]}"


def test_every_formula_has_a_test_of_its_own() -> None:
    strict = [path for path in modules() if room_of(path) in STRICT]
    twins = {path: TESTS / room_of(path) / f"test_{path.stem}.py" for path in strict}
    missed = [place(path) for path, twin in twins.items() if not twin.exists()]
    assert strict
    assert not missed


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


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
