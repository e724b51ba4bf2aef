"""The documents say what is true: every verb, method, remark, term and command stands in them."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from teijo.errors import TeijoError, UsageError
from teijo.methods import registry
from teijo.methods.method import AnyMethod
from teijo.personas import registry as personas
from teijo.terms.geometry import Geometry
from teijo.terms.purge import METHODS
from teijo.terms.remark import REMEDIES, RemarkKind
from tests.house.tree import PACKAGE, ROOT, of_kind, place, syntax, text

README = text(ROOT / "README.md")
MAKEFILE = text(ROOT / "Makefile")
CLI_PAGE = ROOT / "docs" / "reference" / "cli.md"
GLOSSARY = text(ROOT / "docs" / "glossary.md")
DRIVE = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)
MAKE_TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))


def prose() -> list[Path]:
    return of_kind(".md")


def test_the_page_of_the_command_line_is_what_the_program_says() -> None:
    from teijo.cli.reference import page

    assert text(CLI_PAGE) == page(), "run `make docs`"


def test_every_verb_is_documented() -> None:
    from teijo.cli.reference import verbs

    for verb in verbs():
        assert f"## teijo {verb}" in text(CLI_PAGE)
        assert re.search(rf"`?teijo {verb}\b", README), f"README.md does not show teijo {verb}"


@pytest.mark.parametrize("method", registry.METHODS, ids=lambda method: method.id)
def test_every_method_has_a_page_and_stands_in_the_readme(method: AnyMethod) -> None:
    page = ROOT / "docs" / "methods" / f"{method.id.replace('.', '-')}.md"
    assert page.exists()
    assert f"`{method.id}`" in README


PURGE_PAGES = sorted((ROOT / "docs" / "purge").glob("*.md"))
PURGE_TOPICS = (
    "What is sent", "What is lost", "What Teijo checks first", "What can go wrong",
    "How to end what was left", "What was proven",
    "No purge has been run on hardware by this project",
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_purge_has_a_page_and_stands_in_the_overview(method: str) -> None:
    assert f"| `{method}` |" in text(ROOT / "docs" / "purge.md")
    assert [page for page in PURGE_PAGES if f"`{method}`" in text(page).split("## ")[0]]


@pytest.mark.parametrize("page", PURGE_PAGES, ids=lambda page: page.stem)
def test_a_page_of_purging_has_all_topics_and_names_tests_that_exist(page: Path) -> None:
    assert f"(purge/{page.name})" in text(ROOT / "docs" / "purge.md")
    assert tuple(re.findall(r"^## (.+)$", text(page), re.MULTILINE)) == PURGE_TOPICS
    named = set(re.findall(r"`(test_\w+)`", text(page)))
    assert named
    assert not named - names_of_tests()


@cache
def names_of_tests() -> set[str]:
    tests = (path for path in of_kind(".py") if path.is_relative_to(ROOT / "tests"))
    return {name for path in tests for name in re.findall(r"^def (test_\w+)", text(path), re.M)}


@pytest.mark.parametrize("kind", RemarkKind)
def test_every_remark_is_documented_and_has_a_remedy(kind: RemarkKind) -> None:
    assert f"*{kind.value}*" in GLOSSARY
    assert REMEDIES[kind]


def term_names() -> list[str]:
    return sorted(
        node.name
        for path in (PACKAGE / "terms").glob("*.py")
        for node in syntax(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


@pytest.mark.parametrize("name", term_names())
def test_every_term_of_the_code_is_in_the_glossary(name: str) -> None:
    assert f"`{name}`" in GLOSSARY


def test_every_make_target_a_document_shows_exists() -> None:
    shown = {
        (place(path), target)
        for path in prose()
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text(path), re.MULTILINE)
    }
    missing = {(page, target) for page, target in shown if target not in MAKE_TARGETS}
    assert not missing
    assert {"run", "test"} <= {target for page, target in shown if page == "README.md"}


def commands() -> list[tuple[str, str]]:
    """Every `teijo …` line of a code block in a document, without its comment."""
    return [
        (place(path), line.partition("  #")[0].strip())
        for path in prose()
        for block in re.findall(r"```(?:sh|console|bash)?\n(.*?)```", text(path), re.DOTALL)
        for line in (each.removeprefix("$ ") for each in block.splitlines())
        if line.startswith("teijo ")
    ]


def _ours(words: list[str]) -> list[str]:
    """Return the words of a command that are the program's own: of `as`, those before TOOL."""
    named = {name for card in personas.CARDS for name in card.names}
    tool = next((place for place, word in enumerate(words) if word in named), None)
    return words[2 : tool if words[1] == "as" else None]


def test_every_command_a_document_shows_is_one_the_program_has() -> None:
    from teijo.cli.mistakes import verb_of
    from teijo.cli.reference import options, verbs

    unknown = []
    for page, line in commands():
        words = line.split()
        if words[1].startswith("-") or page.endswith("cli.md"):
            continue
        verb = verb_of(words[1:3], verbs())
        if not words[1:] or not verb.startswith(words[1]):
            unknown.append((page, line))
            continue
        given = {word.partition("=")[0] for word in _ours(words) if word.startswith("-")}
        if not given <= options(verb):
            unknown.append((page, f"{line}: {given - options(verb)}"))
    assert not unknown


def test_every_tool_version_and_setting_a_document_names_is_one_there_is() -> None:
    wrong = []
    for page, line in commands():
        words = shlex.split(line.rstrip("\\"))
        if words[1:2] == ["as"] and len(words) > 2 and not page.endswith("cli.md"):
            try:
                tool = next(word for word in words if any(word in c.names for c in personas.CARDS))
                like = words[words.index("--like") + 1] if "--like" in words else ""
                personas.check_like(tool, personas.persona_named(tool), like)
            except (StopIteration, UsageError):
                wrong.append((page, line))
        elif words[1:2] == ["run"] and words[2].startswith("classic."):
            method = registry.method_named(words[2])
            given = [word.partition("=")[::2] for word in words if re.match(r"[a-z_]+=", word)]
            try:
                method.settings(method.default_spec, dict(given), DRIVE)
            except TeijoError as error:
                wrong.append((page, f"{line}: {error}"))
    assert not wrong


def test_every_link_within_the_repository_leads_somewhere() -> None:
    broken = [
        (place(path), link)
        for path in prose()
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text(path))
        if "://" not in link and not link.startswith("mailto:")
        if not (path.parent / link).exists() and not link.endswith(".png")
    ]
    assert not broken


def test_every_picture_a_document_shows_is_there() -> None:
    missing = [
        (place(path), link)
        for path in prose()
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text(path))
        if not (path.parent / link).exists()
    ]
    assert not missing


def test_the_changelog_has_the_version_that_is_built() -> None:
    project = tomllib.loads(text(ROOT / "pyproject.toml"))["project"]
    workspace = tomllib.loads(text(ROOT / "Cargo.toml"))["workspace"]["package"]
    assert f"## [{project['version']}]" in text(ROOT / "CHANGELOG.md")
    assert project["version"] == workspace["version"], "pyproject.toml and Cargo.toml differ"
    assert project["license"] == workspace["license"] == "Apache-2.0"


def python_blocks() -> list[tuple[str, str]]:
    return [
        (place(path), block)
        for path in prose()
        for block in re.findall(r"```python\n(.*?)```", text(path), re.DOTALL)
    ]


@pytest.mark.parametrize(("page", "block"), python_blocks())
def test_every_python_example_is_python(page: str, block: str) -> None:
    ast.parse(block, page)


def test_the_lock_pins_every_package_that_the_project_asks_for() -> None:
    project = tomllib.loads(text(ROOT / "pyproject.toml"))["project"]
    asked = project["dependencies"] + project["optional-dependencies"]["test"]
    names = {re.split(r"[<>=\[ ;]", one)[0].lower() for one in asked}
    pinned = set(re.findall(r"^([a-z0-9-]+)==", text(ROOT / "requirements.lock"), re.MULTILINE))
    assert names <= pinned, f"run `make lock`: {names - pinned}"


def test_make_help_prints_every_target() -> None:
    shown = subprocess.run(
        ["make", "help", f"PYTHON={sys.executable}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert set(re.findall(r"^  make ([a-z-]+) ", shown, re.MULTILINE)) == MAKE_TARGETS
