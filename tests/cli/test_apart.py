"""Which command lines measure in a process of their own."""

import pytest

from teijo.cli.apart import measures


@pytest.mark.parametrize(
    "line", ["run iops x", "resume x", "quick /dev/x", "--lang ja run iops x", "--lang=ja quick ."]
)
def test_a_verb_that_measures_is_found_behind_the_programs_options(line: str) -> None:
    assert measures(line.split())


@pytest.mark.parametrize("line", ["", "--version", "--lang", "--lang run", "report run", "list"])
def test_every_other_command_line_needs_no_second_process(line: str) -> None:
    assert not measures(line.split())
