"""A million, a thousand million and so on have names in units.py: a bare 1e9 says not of what."""

import ast

import pytest

from tests.house.tree import PACKAGE, of_kind, place, syntax

BARE = frozenset({10**6, 10**9, 10**12})


def bare(tree: ast.AST) -> list[int]:
    """Return the lines where one of these numbers is written out, in whatever spelling."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr) and is_bare(node)]


def is_bare(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value in BARE
        case ast.BinOp(left=ast.Constant(value=10), op=ast.Pow(), right=ast.Constant(value=power)):
            return power in (6, 9, 12)
        case _:
            return False


def test_large_numbers_are_written_by_their_names() -> None:
    written_out = []
    for path in of_kind(".py"):
        if not path.is_relative_to(PACKAGE) or path == PACKAGE / "units.py":
            continue
        written_out += [f"{place(path)}:{line}" for line in bare(syntax(path))]
    assert not written_out, f"write NS_PER_S, MEGA, GIGA of units.py: {written_out}"


@pytest.mark.parametrize("text", ["x / 1e9", "1_000_000", "10**9 * s", "1e12", "f(1000000)"])
def test_a_bare_number_is_seen(text: str) -> None:
    assert bare(ast.parse(text)) == [1]


@pytest.mark.parametrize("text", ["x / GIGA", "1_000", "10**3", "5_000_000", "'1e9'", "True"])
def test_another_number_is_let_be(text: str) -> None:
    assert bare(ast.parse(text)) == []
