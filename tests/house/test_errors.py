"""One style for every error: a cause in one sentence, and what to do about it."""

import re
from functools import cache

import pytest

from teijo.errors import TeijoError, sentence
from tests.house.raised import Site, kinds, sites

NAMES = ("fio ", "ssh-keygen ", "stdout ", "sim: ", "size: ", "chunk: ", "--")
"""What a cause may begin with in small letters: programs, and what a person typed."""
SETTING = re.compile(r"[a-z_]+=")
LIBRARY = re.compile(
    r"Value error|Input should|not a valid|Field required|\[Errno|Errno \d|Error\(|Traceback"
)
TO_TYPE = re.compile(r": .*\S|^(?:Write|Add|Name) (?:[-⟨`]|\S+=)|, add ⟨|FOLDER$|add ⟨\d+⟩ ⟨\d+⟩$")
"""A remedy that ends with what a person types has no full stop behind it: it would be copied."""
WITHOUT_REMEDY = {"Interrupted"}


@cache
def every_site() -> tuple[Site, ...]:
    """Return them all; not when this file is read, which each process of the tests does."""
    return tuple(sites())


def causes() -> list[tuple[str, str]]:
    """Return (where, cause) as a user reads it."""
    return [(each.where, TeijoError(each.cause).message) for each in every_site() if each.cause]


def begins_well(cause: str) -> bool:
    first = cause[0]
    return (
        first.isupper()
        or not first.isalpha()
        or bool(SETTING.match(cause))
        or any(cause.startswith(name) for name in NAMES)
    )


def test_the_walk_sees_the_errors_there_are() -> None:
    assert len(every_site()) > 300
    assert {each.kind for each in every_site()} >= {kind.__name__ for kind in kinds()} - {
        "TeijoError"
    }


def test_a_cause_begins_with_a_capital_or_with_what_was_typed() -> None:
    assert [each for each in causes() if not begins_well(each[1])] == []


def test_a_cause_is_one_line_before_any_list() -> None:
    lines = [(where, cause.split("\n")) for where, cause in causes()]
    wrong = [
        where
        for where, (first, *more) in lines
        if more and not (first.endswith(":") and all(_is_listed(each) for each in more))
    ]
    assert wrong == []


def _is_listed(line: str) -> bool:
    return line.startswith(("  ", "⟨")) or line in {
        "It was not run.", "No program was run.", "⟨0⟩ No program was run.",
    }  # fmt: skip


def test_a_cause_ends_as_a_sentence() -> None:
    assert [each for each in causes() if not each[1].endswith((".", "?", "⟩"))] == []
    assert [each for each in causes() if re.search(r"[.?]\.$", each[1])] == []


def test_no_library_speaks_in_an_error() -> None:
    said = [
        (each.where, text) for each in every_site() for text in (each.cause, each.remedy) if text
    ]
    assert [each for each in said if LIBRARY.search(each[1])] == []


def test_a_remedy_begins_with_a_capital_and_ends_with_a_full_stop_or_what_to_type() -> None:
    remedies = [(each.where, each.remedy) for each in every_site() if each.remedy]
    small = [each for each in remedies if not re.match(r"[A-Z⟨`]", each[1])]
    assert small == []
    assert [
        each for each in remedies if not each[1].endswith(".") and not TO_TYPE.search(each[1])
    ] == []


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("It is full", "It is full."),
        ("It is full.", "It is full."),
        ("Did you mean a?", "Did you mean a?"),
        ("They differ:\n  a", "They differ:\n  a"),
        ("", ""),
    ],
)
def test_a_cause_gets_one_full_stop(cause: str, told: str) -> None:
    assert sentence(cause) == told
    assert TeijoError(cause).message == told
