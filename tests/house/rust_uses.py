"""The `use` graph of a crate, read from its text: which file names what another file defines.

A name counts for the file that defines it, not for the one that passes it on. So `pub use` of a
child is no arrow, and neither is `mod`; code under `#[cfg(test)]` is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LITERALS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*\""""
    r"""|b?'(?:\\[^u]|\\u\{\w+\}|[^\\'\n])'(?!\w)""",
    re.DOTALL,
)
TOKENS = re.compile(r"[A-Za-z_]\w*|::|[{}()\[\];,*#]|[^\s\w]")
OPENING, CLOSING = frozenset("({["), frozenset(")}]")

Modules = tuple[str, ...]
Graph = dict[Modules, set[Modules]]


@dataclass(frozen=True)
class Use:
    """One name of a `use`: the path as written, the name it gets here, whether it is passed on."""

    path: Modules
    name: str
    public: bool


@dataclass
class Module:
    """One file: its path in the crate, the modules it declares, what it imports and names."""

    path: Modules
    children: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    named: set[Modules] = field(default_factory=set)


def tokens(source: str) -> list[str]:
    """Return the tokens of a file without comments, literals and what only tests compile."""
    words = TOKENS.findall(LITERALS.sub(" 0 ", source))
    kept: list[str] = []
    at = 0
    while at < len(words):
        if words[at : at + 7] == ["#", "[", "cfg", "(", "test", ")", "]"]:
            at = end_of_item(words, at + 7)
        else:
            kept.append(words[at])
            at += 1
    return kept


def end_of_item(words: list[str], at: int) -> int:
    """Return where the item that begins at `at` is over: after its `;` or its braces."""
    depth = 0
    while at < len(words):
        depth += (words[at] in OPENING) - (words[at] in CLOSING)
        if depth == 0 and words[at] in (";", "}"):
            return at + 1
        at += 1
    return at


def use_tree(words: list[str], prefix: Modules = ()) -> Iterator[tuple[Modules, str]]:
    """Yield (path, name it gets) of each leaf of `a::{self, b::C as D, e::*}`."""
    path = list(prefix)
    for at, word in enumerate(words):
        if word == "{":
            for branch in branches(words[at + 1 : -1]):
                yield from use_tree(branch, tuple(path))
            return
        if word == "as":
            yield tuple(path), words[at + 1]
            return
        if word == "self" and path and path[-1] not in ("self", "super"):
            continue
        if word != "::":
            path.append(word)
    if path:
        yield tuple(path), path[-1]


def branches(words: list[str]) -> Iterator[list[str]]:
    """Split the inside of a group at its own commas."""
    depth, branch = 0, []
    for word in [*words, ","]:
        depth += (word == "{") - (word == "}")
        if word == "," and depth == 0:
            if branch:
                yield branch
            branch = []
        else:
            branch.append(word)


def read_module(path: Modules, source: str) -> Module:
    """Return what a file declares, imports and names."""
    module = Module(path)
    words = tokens(source)
    at = 0
    while at < len(words):
        word = words[at]
        if word == "mod" and words[at + 2] == ";":
            module.children.add(words[at + 1])
        if word == "use":
            end = words.index(";", at)
            public = at > 0 and (words[at - 1] == "pub" or words[at - 1] == ")")
            leaves = use_tree(words[at + 1 : end])
            module.uses += [Use(leaf, name, public) for leaf, name in leaves]
            at = end
        chain = [words[at]]
        while words[at + 1 : at + 2] == ["::"] and words[at + 2][0].isidentifier():
            chain.append(words[at + 2])
            at += 2
        if len(chain) > 1:
            module.named.add(tuple(chain))
        at += 1
    return module


def read_crate(source: Path) -> dict[Modules, Module]:
    """Return the modules of a crate from its `lib.rs` on, by their paths; () is the crate."""
    modules: dict[Modules, Module] = {}
    waiting: list[Modules] = [()]
    while waiting:
        path = waiting.pop()
        modules[path] = read_module(path, file_of(source, path).read_text(encoding="utf-8"))
        waiting += [(*path, child) for child in modules[path].children]
    return modules


def file_of(source: Path, path: Modules) -> Path:
    """Return the file of a module."""
    if not path:
        return source / "lib.rs"
    folder = source.joinpath(*path)
    return folder / "mod.rs" if (folder / "mod.rs").exists() else folder.with_suffix(".rs")


def resolve(
    modules: dict[Modules, Module], at: Modules, path: Modules, depth: int = 0
) -> Modules | None:
    """Return the module that defines what `path` means in the module `at`; None for others'."""
    assert depth < 20, f"{path} in {at} is passed on in a circle"
    here, rest = at, list(path)
    if rest[0] == "crate":
        here, rest = (), rest[1:]
    while rest and rest[0] in ("self", "super"):
        here = here[:-1] if rest[0] == "super" else here
        rest = rest[1:]
    anchored = len(rest) < len(path)
    for number, name in enumerate(rest):
        module = modules[here]
        passed = [use for use in module.uses if use.name == name and use.path != path]
        if name in module.children:
            here = (*here, name)
        elif passed:
            return resolve(modules, here, (*passed[0].path, *rest[number + 1 :]), depth + 1)
        elif number == 0 and not anchored:
            return None
        else:
            return here
        anchored = True
    return here


def use_graph(source: Path) -> Graph:
    """Return for each file of a crate the other files whose names it uses."""
    modules = read_crate(source)
    graph: Graph = {}
    for at, module in modules.items():
        paths = {use.path for use in module.uses if not passes_on(use, module)} | module.named
        ends = {resolve(modules, at, path) for path in paths}
        graph[at] = {end for end in ends if end is not None and end != at}
    return graph


def passes_on(use: Use, module: Module) -> bool:
    """Whether a `pub use` only shows what a child of this file defines."""
    first = use.path[1] if use.path[0] == "self" else use.path[0]
    return use.public and first in module.children


def circles(graph: Graph) -> list[set[Modules]]:
    """Return the groups of files that reach each other, the largest first."""
    reached = {start: reach(graph, start) for start in graph}
    groups = {
        frozenset(other for other in reached[one] if one in reached[other]) | {one}
        for one in graph
        if one in reached[one]
    }
    return sorted((set(group) for group in groups), key=len, reverse=True)


def reach(graph: Graph, start: Modules) -> set[Modules]:
    """Return everything that arrows lead to from a file."""
    seen: set[Modules] = set()
    waiting = list(graph[start])
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += graph[one]
    return seen
