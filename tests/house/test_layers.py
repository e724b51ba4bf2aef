"""The layers of each crate: a file uses files of its own layer and of those below it only, and no
files use each other in a circle. A crate's layers are the groups of `mod` in its `lib.rs`.
Python's modules import each other in no circle either, also not within a function or for types.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.house.rust_uses import Graph, circles, use_graph
from tests.house.tree import PACKAGE, ROOT, of_kind, syntax, text

CRATES = ("engine", "sim", "binding")


def source(crate: str) -> Path:
    return ROOT / "crates" / crate / "src"


@cache
def graph(crate: str) -> Graph:
    return use_graph(source(crate))


def layers(lib: str) -> list[list[str]]:
    """Return the groups of `mod` in a `lib.rs`, the highest first; a blank line parts them."""
    groups = [re.findall(r"^(?:pub )?mod (\w+);", group, re.M) for group in lib.split("\n\n")]
    return [group for group in groups if group]


def arrows_up(uses: Graph, order: list[list[str]]) -> list[str]:
    """Return each use of a higher layer, as `lower -> higher`."""
    height = {name: -depth for depth, group in enumerate(order) for name in group}
    return [
        f"{'::'.join(user)} -> {'::'.join(used)}"
        for user, names in sorted(uses.items())
        for used in sorted(names)
        if user and (not used or height[used[0]] > height[user[0]])
    ]


@pytest.mark.parametrize("crate", CRATES)
def test_no_file_of_a_crate_uses_a_layer_above_its_own(crate: str) -> None:
    order = layers(text(source(crate) / "lib.rs"))
    assert len(order) > 1, "the blank lines between the layers are gone"
    up = arrows_up(graph(crate), order)
    assert not up, f"move the item to the file it belongs to: {up}"


@pytest.mark.parametrize("crate", CRATES)
def test_no_files_of_a_crate_use_each_other_in_a_circle(crate: str) -> None:
    knots = [sorted("::".join(path) for path in knot) for knot in circles(graph(crate))]
    assert not knots, f"move what they share to a file below them: {knots}"


def drawn(page: str) -> list[list[str]]:
    """Return the layers as `docs/engine.md` draws them; an indented line goes on with its layer."""
    rows: list[list[str]] = []
    for line in page.split("## Layers")[1].split("```")[1].splitlines()[1:]:
        names = re.findall(r"\w+", line[:32])
        if line.startswith(" "):
            rows[-1] += names
        else:
            rows.append(names)
    return rows


def test_the_page_of_the_engine_draws_its_layers() -> None:
    page, lib = (text(ROOT / "docs" / "engine.md"), text(source("engine") / "lib.rs"))
    assert drawn(page) == layers(lib)


def crate_of(folder: Path, files: dict[str, str]) -> Graph:
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(body)
    return use_graph(folder)


def test_an_arrow_up_and_a_circle_are_seen(tmp_path: Path) -> None:
    lib = "pub mod top;\n\n// Below.\nmod a;\nmod b;\n"
    files = {"lib.rs": lib, "top.rs": "use crate::a::A;", "a.rs": "", "b.rs": ""}
    sound = crate_of(tmp_path, files | {"b.rs": "use crate::a;"})
    assert not arrows_up(sound, layers(lib))
    assert not circles(sound)
    up = crate_of(tmp_path, files | {"b.rs": "fn f() -> crate::top::T {}"})
    assert arrows_up(up, layers(lib)) == ["b -> top"]
    tied = crate_of(tmp_path, files | {"a.rs": "use super::b::B;", "b.rs": "use crate::a::*;"})
    assert circles(tied) == [{("a",), ("b",)}]


def test_a_name_counts_for_the_file_that_defines_it(tmp_path: Path) -> None:
    uses = crate_of(
        tmp_path,
        {
            "lib.rs": "pub mod folder;\nmod user;\nmod ground;\n",
            "folder/mod.rs": "mod leaf;\nmod other;\npub use self::leaf::{Leaf, f as g};",
            "folder/leaf.rs": "use super::other::Other;",
            "folder/other.rs": "pub use crate::ground::G;",
            "user.rs": "use crate::folder::{self as room, g, Leaf};\nfn h() { room::E::new() }",
            "ground.rs": "",
        },
    )
    assert uses["folder",] == set()
    assert uses["user",] == {("folder",), ("folder", "leaf")}
    assert uses["folder", "leaf"] == {("folder", "other")}
    assert uses["folder", "other"] == {("ground",)}


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("use crate::{a::{self, b::{C, D as E}}, f::*};", {"a", "f"}),
        ("pub(crate) use super::a::X;", {"a"}),
        ("let x = crate::a::X::<u8>::new(super::f::g());", {"a", "f"}),
        (
            "#[cfg(test)]\nmod tests { use crate::a::X; fn f() { if x { } } }\nuse crate::f::Y;",
            {"f"},
        ),
        ("#[cfg(test)]\n#[allow(x)]\nuse crate::a::X;\n", set()),
        ('// use crate::a::X;\n/* crate::f::Y */ const Q: &str = "crate::a::X";', set()),
        ('const R: &str = r#"crate::a "::X"#; const S: char = \'"\'; use crate::f::Y;', {"f"}),
        ("use std::a::X; use other::f::Y;", set()),
    ],
)
def test_uses_are_read_from_the_text(tmp_path: Path, line: str, used: set[str]) -> None:
    uses = crate_of(
        tmp_path, {"lib.rs": "mod a; mod f; mod m;", "a.rs": "", "f.rs": "", "m.rs": line}
    )
    assert uses["m",] == {(name,) for name in used}


def dotted(path: Path) -> tuple[str, ...]:
    """Return the name of a Python module."""
    names = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return names[:-1] if names[-1] == "__init__" else names


def imported(tree: ast.Module, known: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the modules that a file imports anywhere in it; a name counts for its module."""
    named = [
        (*(node.module or "").split("."), alias.name)
        if isinstance(node, ast.ImportFrom)
        else tuple(alias.name.split("."))
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    return {name if name in known else name[:-1] for name in named} & known


def test_no_python_modules_import_each_other_in_a_circle() -> None:
    sources = of_kind(".py", ".pyi")  # A stub is the face of the native module.
    files = {dotted(path): path for path in sources if path.is_relative_to(PACKAGE)}
    known = set(files)
    uses = {name: imported(syntax(path), known) - {name} for name, path in files.items()}
    found = [sorted(".".join(name) for name in knot) for knot in circles(uses)]
    assert not found, f"move what they share to a module below them: {found}"


def test_an_import_is_seen_wherever_it_is() -> None:
    body = "from a.b import c\nif TYPE_CHECKING:\n    from a import d\ndef f():\n    import a.e"
    modules = {("a",), ("a", "b"), ("a", "d"), ("a", "e")}
    assert imported(ast.parse(body), modules) == modules - {("a",)}
