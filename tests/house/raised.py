"""Where the product raises an error, and the text of it with its values left open."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from teijo import errors
from tests.house.tree import PACKAGE, of_kind, place, syntax

OPEN = "⟨{}⟩"
"""What stands for a value in a text: nothing that any translation or rule knows."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """One place that makes an error: cause and remedy, None where they are made elsewhere."""

    where: str
    kind: str
    cause: str | None
    remedy: str | None


def kinds(root: type[errors.TeijoError] = errors.TeijoError) -> list[type[errors.TeijoError]]:
    """Return every class of error."""
    return [root, *(leaf for branch in root.__subclasses__() for leaf in kinds(branch))]


def template(node: ast.expr | None, known: Mapping[str, ast.expr]) -> str | None:
    """Return a text with numbered places for its values; None if all of it is a value."""
    count = iter(range(100))

    def told(part: ast.expr) -> str | None:
        match part:
            case ast.Constant(value=str() as text):
                return text
            case ast.JoinedStr(values=parts):
                return "".join(told(each) or OPEN.format(next(count)) for each in parts)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                both = [told(left), told(right)]
                return "".join(each or OPEN.format(next(count)) for each in both)
            case ast.Name(id=name) if name in known:
                return told(known[name])
        return None

    return None if node is None else told(node)


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what a module's names are set to at its top."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
    return found


def sites(*names: str, below: Path = PACKAGE) -> Iterator[Site]:
    """Yield every call of these classes in the product; of every error where none is named."""
    wanted = set(names) or {kind.__name__ for kind in kinds()}
    for path in of_kind(".py"):
        if not path.is_relative_to(below):
            continue
        known = constants(syntax(path))
        for node in ast.walk(syntax(path)):
            match node:
                case ast.Call(func=ast.Name(id=kind), args=[first, *_], keywords=keywords) if (
                    kind in wanted
                ):
                    remedy = next((each.value for each in keywords if each.arg == "remedy"), None)
                    yield Site(
                        where=f"{place(path)}:{node.lineno}",
                        kind=kind,
                        cause=template(first, known),
                        remedy=template(remedy, known),
                    )


def without_guess(cause: str) -> str:
    """Return a cause as it is without a guess behind it ("; did you mean …?")."""
    return re.sub(r"(?<=[A-Za-z])⟨\d+⟩$", "", cause)
