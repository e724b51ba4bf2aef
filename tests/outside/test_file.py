"""A file that somebody names is read within bounds, or refused in words; nothing is waited for."""

import os
from pathlib import Path

import pytest

from teijo.outside import file
from teijo.outside.file import TOML_MOST, Unreadable, read_bytes, read_text, toml_of


def test_a_regular_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 4096)
    assert read_bytes(path, most_bytes=4096) == b"x" * 4096
    with pytest.raises(Unreadable, match="larger than 3 KiB"):
        read_bytes(path, most_bytes=4095)


def test_nothing_but_a_regular_file_is_read_or_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, why in (
        ("pipe", "no regular file"),
        ("zero", "no regular file"),
        (".", "no regular file"),
        ("gone", "No such file"),
        ("a\0b", "null byte"),
        ("a" * 300, "too long"),
        ("\udcff", "No such file"),
    ):
        with pytest.raises(Unreadable, match=why):
            read_bytes(tmp_path / name, most_bytes=10)


def test_what_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(Unreadable, match="UTF-8"):
        read_text(tmp_path / "a", most_bytes=10)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ("a = " + "{a=" * 30_000, "nested too deeply|no TOML"),
        ("a" + ".a" * 40_000 + " = 1", "more than 32 parts"),
        ("[a" + " . b" * 40 + "]", "more than 32 parts"),
        ("a = " + "9" * 5000, "no TOML"),
        ("# " + "x" * TOML_MOST, "are the most"),
        ("a = 1e999999999\nb = ", "no TOML"),
        ("a = 1\na = 2", "no TOML"),
    ],
)
def test_a_toml_without_measure_is_refused(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        toml_of(text)


def test_toml_of_ordinary_depth_is_read() -> None:
    assert toml_of("a.b.c = [[1], [2]]\n[x.y]\nz = 'e.g. www.example.org'")["a"]["b"]["c"] == [
        [1],
        [2],
    ]
    assert file.NESTED_MOST == 32
