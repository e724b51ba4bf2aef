"""What git looks at before a commit: the steps of `make lint`, and a subject in the imperative."""

import re
import runpy

import pytest

from tests.house.tree import ROOT, text

CONFIGURATION = text(ROOT / ".pre-commit-config.yaml")
COMPLAINT = runpy.run_path(str(ROOT / ".ci" / "subject"))["complaint"]


@pytest.mark.parametrize(
    "subject",
    [
        "Print a PDF with a third less CPU",
        "Test the readers with damaged files",
        "Report what was measured",
        "Bring back the table",
        "Seed every step",
        "Need no root for a preview",
        "Use README's words",
        "Merge branch 'engine'",
        "fixup! Print a PDF",
    ],
)
def test_an_order_is_a_subject(subject: str) -> None:
    assert COMPLAINT(subject) == ""


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "Added a table",
        "Adds a table",
        "Adding a table",
        "Splitting the page",
        "Tried again",
        "The table is wider",
        "A wider table",
        "What a cache does",
        "docs: the ledger",
        "Docs: the ledger",
        "print a table",
        "Print a table.",
    ],
)
def test_what_is_no_order_is_told(subject: str) -> None:
    assert COMPLAINT(subject)


def test_the_hooks_are_the_steps_of_lint_and_nothing_is_fetched() -> None:
    (recipe,) = re.findall(r"^lint: .*\n((?:\t.*\n)+)", text(ROOT / "Makefile"), re.MULTILINE)
    steps = re.findall(r"\$\(MAKE\) (lint-\w+)", recipe)
    assert steps
    entries = re.findall(r"^ +entry: (.+)$", CONFIGURATION, re.MULTILINE)
    assert entries == [*(f"make {step}" for step in steps), ".ci/subject"]
    assert set(re.findall(r"repo: (\S+)", CONFIGURATION)) == {"local"}
    assert set(re.findall(r"language: (\S+)", CONFIGURATION)) == {"system"}
