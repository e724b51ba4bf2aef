"""SQLIO's parameter file: files, threads, masks, sizes and comments."""

import os

import pytest

from teijo.errors import UsageError
from teijo.personas.sqlio.param_file import Line, lines_in, read_param_file

SHIPPED = "testfile.dat 2 0x0 100\n#other.dat 2 0x0 100\n"


def test_the_shipped_file_has_one_line_and_a_comment():
    assert lines_in(SHIPPED, "param.txt") == (
        Line(file="testfile.dat", threads=2, mask=0, size_mb=100),
    )


def test_mask_and_size_may_be_missing_and_the_mask_is_hex_or_decimal():
    text = "a 1\nb 2 0xF\nc 3 15\n\n  # no line\nd 4 0 2048\r\n"
    assert lines_in(text, "p") == (
        Line(file="a", threads=1),
        Line(file="b", threads=2, mask=15),
        Line(file="c", threads=3, mask=15),
        Line(file="d", threads=4, size_mb=2048),
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "# only\n", "a\n", "a 1 0 100 more\n", "a many\n", "a 0\n", "a 257\n", "a 1 0xZZ\n",
        "a 1 0 0\n", "a 1 0 -5\n", "a 9999999999999999999999999\n", "a 1\n" * 257,
        "a 1 0 99999999999999999\n",
    ],
)  # fmt: skip
def test_what_is_no_line_is_refused(text):
    with pytest.raises(UsageError):
        lines_in(text, "param.txt")


def test_a_file_that_is_none_is_refused_and_not_waited_for(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_param_file(tmp_path / "none.txt")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no regular file"):
        read_param_file(tmp_path / "pipe")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read_param_file(tmp_path / "bytes.txt")
