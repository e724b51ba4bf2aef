"""Which program made a file: its version and the digest of its code, both as it recorded them."""

import re
from dataclasses import replace

import pytest

from teijo.runfile import program
from teijo.terms.record import Record
from tests.runfile.samples import record


def made_by(version: str, build: str | None) -> Record:
    empty = record()
    environment = {} if build is None else {program.BUILD: build}
    return replace(empty, run=replace(empty.run, version=version), environment=environment)


def test_a_program_is_known_by_version_and_code_alike() -> None:
    own, build = program.version(), program.build()
    assert re.fullmatch("[0-9a-f]{16}", build)
    assert program.made_here(made_by(own, build))
    assert not program.made_here(made_by("0.0.1", build))
    assert not program.made_here(made_by(own, "0123456789abcdef"))
    assert not program.made_here(made_by(own, None)), "of a time when it was not recorded"
    assert program.named(made_by("0.0.1", None)) == "teijo 0.0.1 (build unknown)"


def test_a_program_that_does_not_know_itself_knows_no_file_as_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program, "build", lambda: program.UNKNOWN)
    assert not program.made_here(made_by(program.version(), program.UNKNOWN))
