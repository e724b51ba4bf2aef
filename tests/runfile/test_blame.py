"""A file is called damaged only if it is: a disk that fails for a moment is the host's fault."""

import sqlite3
from pathlib import Path

import pytest

from teijo.errors import HostError, RunFileError
from teijo.runfile.blame import blame
from tests.runfile.samples import sealed_run


def fault(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = code
    return error


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return sealed_run(tmp_path / "run")


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_CORRUPT])
def test_a_whole_file_that_could_not_be_read_is_not_called_damaged(
    database: Path, code: int
) -> None:
    told = blame(database, fault(code))
    assert isinstance(told, HostError)
    assert "it is whole" in told.message


def test_a_file_with_a_broken_page_is(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[4096:4112] = bytes(16)
    database.write_bytes(content)
    assert isinstance(blame(database, fault(sqlite3.SQLITE_CORRUPT)), RunFileError)


def test_so_is_one_whose_fault_is_no_page(database: Path) -> None:
    assert isinstance(blame(database, fault(sqlite3.SQLITE_ERROR)), RunFileError)


def test_a_disk_that_gives_no_byte_of_it_is_named(tmp_path: Path) -> None:
    told = blame(tmp_path, fault(sqlite3.SQLITE_IOERR_READ))  # a folder: it cannot be read
    assert isinstance(told, HostError)
    assert "cannot be read: Is a directory" in told.message
