"""What the guest's tests lean on and the host can tell: names to load, lines without a shell."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.guest.forking import LOADED
from tests.guest.machine import is_forked, plain

TESTS = Path(__file__).resolve().parents[1]


def test_each_module_that_is_loaded_before_a_fork_is_there() -> None:
    assert [name for name in LOADED if find_spec(name) is None] == []


@pytest.mark.parametrize(
    ("line", "words", "environment"),
    [
        ("teijo run x /dev/sda rw=read", ["teijo", "run", "x", "/dev/sda", "rw=read"], {}),
        ("A=/b C=d teijo devices", ["teijo", "devices"], {"A": "/b", "C": "d"}),
        ("A=b", [], {"A": "b"}),
    ],
)
def test_a_plain_line_is_its_words_and_what_is_set_before_them(
    line: str, words: list[str], environment: dict[str, str]
) -> None:
    assert plain(line) == (words, environment)


@pytest.mark.parametrize("sign", [*"|&;<>()$`\\\"'*?[]#~!{}\n"])
def test_a_line_that_a_shell_must_read_is_left_to_it(sign: str) -> None:
    assert plain(f"teijo device {sign}x") == ([], {})


def test_only_a_command_of_a_known_python_is_forked_and_none_that_a_start_must_read() -> None:
    assert is_forked(["teijo", "devices"], {"XDG_STATE_HOME": "/x"})
    assert is_forked(["python3", "-m", "tests.drives.tcmu"], {})
    assert not is_forked(["python3", "-c", "pass"], {})
    assert not is_forked(["teijo", "devices"], {"PYTHONPATH": "/x"})
    assert not is_forked([], {})


def test_every_test_that_needs_the_guest_lies_where_make_test_vm_looks() -> None:
    mark = "pytest.mark." + "vm"
    found = {path for path in TESTS.rglob("*.py") if mark in path.read_text()}
    assert {path.parent.name for path in found} == {"guest"}
