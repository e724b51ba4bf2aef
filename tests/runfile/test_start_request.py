"""A run is told when to begin by a file beside it that only its own user is believed to write."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.runfile import start_request
from teijo.runfile.names import Names
from teijo.runfile.start_request import Start

START = Start(at_ns=1_700_000_000_123_456_789, ahead_ns=-5_000, error_ns=700)


def test_a_run_hears_what_it_was_told_and_no_other_run_does(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "one.teijo")
    assert start_request.told(names, "run") is None
    start_request.tell(names, "run", START)
    assert start_request.told(names, "run") == START
    assert start_request.told(names, "another") is None
    start_request.clear(names)
    assert start_request.told(names, "run") is None
    start_request.clear(names)


def test_a_person_may_leave_the_clocks_out(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "one.teijo")
    names.start.write_text("run 17\n")
    assert start_request.told(names, "run") == Start(at_ns=17)


@pytest.mark.parametrize("text", ["", "run", "run x", "run 1 2", "run 1 2 3 4", "other 1", "\0"])
def test_what_is_no_start_begins_nothing(tmp_path: Path, text: str) -> None:
    names = Names.of(tmp_path / "one.teijo")
    names.start.write_text(text)
    assert start_request.told(names, "run") is None


@given(st.binary(max_size=120))
def test_any_bytes_are_a_start_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    names = Names.of(tmp_path_factory.mktemp("any") / "one.teijo")
    names.start.write_bytes(data)
    assert start_request.told(names, "run") is None or data.startswith(b"run ")


def test_a_link_a_pipe_or_anothers_file_is_not_believed(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "one.teijo")
    (tmp_path / "real").write_text("run 1\n")
    names.start.symlink_to(tmp_path / "real")
    assert start_request.told(names, "run") is None
    names.start.unlink()
    os.mkfifo(names.start)
    assert start_request.told(names, "run") is None
    names.start.unlink()
    if os.geteuid() == 0:
        names.start.write_text("run 1\n")
        os.chown(names.start, 65534, 65534)
        assert start_request.told(names, "run") is None
