"""SECURITY.md names a test for each promise, and each of them exists."""

import re

import pytest

from tests.house.tree import ROOT, text

PAGE = text(ROOT / "SECURITY.md")
GIVERS = ("A device", "A run file", "A plan", "What a reader of a report is sent", "A neighbour on")
ROW = re.compile(r"^\| (?!Promise|-)(.+) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`((?:tests|crates)/[\w/]+\.(?:py|rs))::(\w+)`")


def named() -> list[tuple[str, str]]:
    return NAMED.findall(PAGE)


@pytest.mark.parametrize(("path", "name"), named())
def test_a_test_that_stands_for_a_promise_exists(path: str, name: str) -> None:
    opening = "def" if path.endswith(".py") else "fn"
    assert re.search(rf"^\s*{opening} {name}\(", text(ROOT / path), re.MULTILINE)


def test_every_promise_names_its_test() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) > 20
    assert not [promise for promise, stands in rows if not NAMED.search(stands)]


@pytest.mark.parametrize("giver", GIVERS)
def test_everyone_who_may_give_us_something_is_promised_something(giver: str) -> None:
    (part,) = re.findall(rf"^### {giver}.*?(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert ROW.search(part)
