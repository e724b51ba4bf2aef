"""docs/architecture.md and the code agree: where each thing is said to be, it is."""

import re
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, files, text

PAGE = text(ROOT / "docs" / "architecture.md")
(WHERE,) = re.findall(r"^## Where is …\?\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| (?!What|-)(.+?) \| `([^`]+)` \| `([^`]+)` \|$", WHERE, re.MULTILINE)
ROOTS = (ROOT, PACKAGE, ROOT / "crates")
NAMED = re.compile(r"`([\w./]+(?:/|\.(?:py|rs|sql|md|typ|toml)))`")


def located(name: str) -> Path | None:
    """Return the file or folder of a name on the page: from the root, the package or the crates."""
    return next((root / name for root in ROOTS if (root / name).exists()), None)


def defines(path: Path, symbol: str) -> bool:
    """Return whether a file of Python or Rust defines a name at its top or in a class."""
    opening = r"(?:class|(?:async )?def|(?:pub(?:\(\w+\))? )?(?:struct|enum|trait|fn|const)) "
    return bool(
        re.search(rf"^\s*(?:{opening}{symbol}\b|{symbol}(?:: [\w\[\], .]+)? = )", text(path), re.M)
    )


def test_at_least_fifteen_things_are_listed_each_once() -> None:
    assert len(ROWS) >= 15
    assert len({thing for thing, _, _ in ROWS}) == len(ROWS) == WHERE.count("\n| ") - 1


@pytest.mark.parametrize(("thing", "file", "symbol"), ROWS)
def test_what_is_listed_is_where_the_page_says(thing: str, file: str, symbol: str) -> None:
    path = located(file)
    assert path is not None, f"{thing}: there is no {file}"
    assert defines(path, symbol), f"{thing}: {file} defines no {symbol}"


def test_a_newcomer_guesses_each_room_from_the_drawing_above() -> None:
    (drawing,) = re.findall(r"^## The rooms\n\n```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    rooms = set(re.findall(r"^  ([\w/.]+(?:  \w+\.py)?)", drawing, re.MULTILINE))
    drawn = {part.rstrip("/") for each in rooms for part in each.split()}
    told = {file.removeprefix("crates/").partition("/")[0] for _, file, _ in ROWS}
    assert told <= drawn, told - drawn
    assert len(told) >= 12


def test_every_file_and_folder_the_page_names_exists() -> None:
    names = {part for path in files() for part in (path.name, path.parent.name)}
    missing = [
        name
        for name in NAMED.findall(PAGE)
        if "NAME" not in name and located(name) is None and name.rstrip("/") not in names
    ]
    assert not missing


@pytest.mark.parametrize("line", ["class Grid:", "def f(x):", "pub struct Ring {", "A: Final = 1"])
def test_a_definition_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "a").write_text(f"# Grid f Ring A\n{line}\n")
    (symbol,) = (name for name in ("Grid", "Ring", "f", "A") if re.search(rf"\b{name}\b", line))
    assert defines(tmp_path / "a", symbol)
    (tmp_path / "a").write_text(f"# Grid f Ring A\nx = {symbol}\n")
    assert not defines(tmp_path / "a", symbol)
