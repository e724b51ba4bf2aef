"""Help is there at once and shows examples: nothing heavy is imported for it."""

import subprocess
import sys

import pytest

from teijo.cli.reference import help_of, verbs
from tests.house.tree import PACKAGE

HEAVY = (
    "altair", "duckdb", "numpy", "pandas", "polars", "pyarrow", "rich", "sqlite3", "teijo.api",
    "teijo.engine", "typst", "vl_convert",
)  # fmt: skip
LOOK = """
import sys
from teijo.cli import main
try:
    main()
except SystemExit as leaving:
    assert not leaving.code, leaving.code
print(*sorted(set(sys.modules) & set(sys.argv_before)), file=sys.stderr)
"""


@pytest.mark.parametrize("verb", ["", *verbs()])
def test_help_imports_nothing_heavy(verb: str) -> None:
    look = LOOK.replace("sys.argv_before", repr(HEAVY))
    done = subprocess.run(
        [sys.executable, "-c", look, *([verb] if verb else []), "--help"],
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: teijo")
    assert done.stderr.split() == []


@pytest.mark.parametrize("verb", [None, *verbs()])
def test_every_help_page_shows_examples_of_its_verb(verb: str | None) -> None:
    page = help_of(verb)
    examples = page.partition("Examples:")[2].strip().splitlines()
    assert examples
    assert all(line.strip().startswith(f"teijo {verb or ''}".strip()) for line in examples)


def test_the_verbs_stand_in_the_order_of_their_use() -> None:
    assert verbs() == [
        "quick", "list", "methods", "devices", "device", "health", "purge", "preview", "run",
        "resume", "join", "report", "compare", "export", "fleet", "fleet bottleneck",
        "fleet report", "lake", "verify", "seal", "steady", "calibrate", "serve", "as",
    ]  # fmt: skip


def test_every_verb_has_a_file_of_its_name() -> None:
    for verb in verbs():
        # Python takes `as` for itself: no module can be imported by that name.
        name = "original" if verb == "as" else verb.replace(" ", "_")
        assert (PACKAGE / "cli" / f"{name}.py").exists()
