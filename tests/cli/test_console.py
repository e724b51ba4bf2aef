"""A reader that goes away, a full disk behind stdout, a terminal without UTF-8: none of them is
an error of the program, and none ends a measurement.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import pytest

from teijo.cli import console, layout
from tests.house.tree import PACKAGE

READS = ("workload", "sim:mlc-a", "rw=randread", "seconds=100ms")
RUN = ("run", *READS, "--report", "text", "-o", "a")
FULL = Path("/dev/full")


def teijo(
    *arguments: str,
    folder: Path,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    environment: Mapping[str, str] | None = None,
    shell: str = "",
) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a folder; `shell` is what a shell adds behind the command."""
    program = [sys.executable, "-c", "from teijo.cli import main; main()", *arguments]
    if shell:
        program = ["bash", "-c", f'"$@" {shell}', "bash", *program]
    return subprocess.run(
        program,
        cwd=folder,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": os.environ["PATH"]} | (environment or {}),
        stdout=stdout,
        stderr=stderr,
        check=False,
    )


@pytest.fixture
def closed_pipe() -> Iterator[IO[bytes]]:
    """Return the end to write to of a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        yield pipe


def test_a_run_whose_log_and_stdout_are_closed_ends_as_it_would_have(
    tmp_path: Path, closed_pipe: IO[bytes]
) -> None:
    done = teijo(*RUN, folder=tmp_path, stdout=closed_pipe, stderr=closed_pipe)
    assert done.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"a.teijo", "a.txt"}


@pytest.mark.parametrize("progress", ["plain", "ndjson", "rich"])
def test_a_log_on_a_full_disk_ends_no_run(progress: str, tmp_path: Path) -> None:
    with FULL.open("wb", buffering=0) as full:
        done = teijo(*RUN, "--progress", progress, folder=tmp_path, stderr=full)
    assert (done.returncode, done.stdout) == (0, b"a.teijo\na.txt\n")


def test_data_that_nobody_reads_ends_as_cat_does(tmp_path: Path, closed_pipe: IO[bytes]) -> None:
    for arguments in (("methods",), ("--help",), ("devices", "--json")):
        done = teijo(*arguments, folder=tmp_path, stdout=closed_pipe)
        assert (done.returncode, done.stderr) == (console.CLOSED_PIPE, b"")


def test_data_that_a_full_disk_does_not_take_is_a_failure_of_the_host(tmp_path: Path) -> None:
    with FULL.open("wb", buffering=0) as full:
        done = teijo("methods", folder=tmp_path, stdout=full)
    assert done.returncode == 6
    assert done.stderr.startswith(b"error: stdout cannot be written: No space left")


def test_a_run_whose_paths_cannot_be_written_makes_its_reports_all_the_same(
    tmp_path: Path,
) -> None:
    with FULL.open("wb", buffering=0) as full:
        done = teijo(*RUN, folder=tmp_path, stdout=full)
    assert done.returncode == 6
    assert {path.name for path in tmp_path.iterdir()} == {"a.teijo", "a.txt"}


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_stream_that_is_closed_from_the_start_gets_no_other_file(
    closed: str, tmp_path: Path
) -> None:
    done = teijo(*RUN, folder=tmp_path, shell=closed)
    assert done.returncode == 0
    assert (tmp_path / "a.teijo").read_bytes().startswith(b"SQLite format 3")
    assert (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "euc_jp"])
def test_a_terminal_without_utf_8_gets_escapes(encoding: str, tmp_path: Path) -> None:
    spoken = {"PYTHONIOENCODING": encoding}
    for arguments in (("run", "-h"), RUN, (*RUN[:-1], "b", "--progress", "rich")):
        done = teijo(*arguments, folder=tmp_path, environment=spoken)
        assert done.returncode == 0, done.stderr
        assert b"Teijo itself failed" not in done.stderr
    if encoding == "ascii":
        told = teijo("run", "-h", folder=tmp_path, environment=spoken).stdout
        assert b"\\u2026" in told, "the ellipsis is written out"


def test_a_line_is_broken_between_words_and_keeps_its_indent() -> None:
    text = "  the quick brown fox jumps over the lazy dog"
    assert layout.lines(text, 20) == ["  the quick brown", "  fox jumps over the", "  lazy dog"]
    assert layout.lines("short", 20) == ["short"]


def test_a_word_longer_than_the_line_stays_whole() -> None:
    path = "/a/very/long/path/that/does/not/fit.teijo"
    assert layout.lines(f"recorded in {path}", 20) == ["recorded in", path]


def test_a_command_to_copy_stands_whole_on_a_line_of_its_own() -> None:
    command = "teijo resume a-rather-long-name.teijo.open --destroy S4EVNX0R"
    assert layout.lines(f"Continue with: {command}", 40) == ["Continue with:", f"  {command}"]
    assert layout.lines(f"  {command}", 40) == [f"  {command}"]


def test_wide_letters_take_two_columns() -> None:
    assert layout.lines("定常状態に達しました。次の試験に進みます。", 12) == [
        "定常状態に達",
        "しました。次",
        "の試験に進み",
        "ます。",
    ]


ROWS = (
    ("KEY", "DEFAULT", "MEANING"),
    ("minute", "60s", "how long one measurement takes in the standard's own words"),
    ("qd", "32", "queue depth"),
)


def test_a_table_that_is_no_terminals_has_a_line_a_row() -> None:
    assert len(list(layout.table(ROWS, None))) == len(ROWS)


def test_the_last_column_of_a_table_is_broken_between_words() -> None:
    lines = list(layout.table(ROWS, 50))
    assert max(map(len, lines)) <= 50
    assert lines[1].startswith("minute  60s      how long one measurement")
    assert lines[2].startswith(" " * 17)
    assert " ".join(" ".join(lines[1:3]).split()).endswith("the standard's own words")


def test_a_table_on_a_narrow_terminal_has_its_cells_below_each_other() -> None:
    lines = list(layout.table(ROWS, 30))
    assert max(map(len, lines)) <= 30
    assert lines[:3] == ["minute", "  60s", "  how long one measurement"]


class Stream:
    """A stream that says it is a terminal, and is none."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no descriptor")


def test_a_stream_whose_width_cannot_be_asked_is_as_wide_as_it_likes() -> None:
    assert console.width(Stream()) is None  # type: ignore[arg-type]
