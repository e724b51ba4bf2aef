"""The files of this repository as the house tests see them, tracked or about to be."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "teijo"


@cache
def files() -> tuple[Path, ...]:
    """Return every file that git tracks or would add, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = {ROOT / name for name in listed.split("\0") if name}
    return tuple(sorted(path for path in found if path.is_file()))


def of_kind(*endings: str) -> list[Path]:
    """Return the files with one of these endings (".py", ".rs")."""
    return [path for path in files() if path.suffix in endings]


def place(path: Path) -> str:
    """Return a path as people name it: from the root, with slashes."""
    return path.relative_to(ROOT).as_posix()


def text(path: Path) -> str:
    """Return a file's text."""
    return path.read_text(encoding="utf-8")


@cache
def syntax(path: Path) -> ast.Module:
    """Return a Python file's syntax tree."""
    return ast.parse(text(path), place(path))
