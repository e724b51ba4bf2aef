"""Who writes to a growing file, told by what the kernel lists and by dates."""

import os
from pathlib import Path

import pytest

from teijo.runfile import writers
from teijo.runfile.names import Names
from teijo.runfile.writers import FRESH_NS, Writers, last_write_ns
from teijo.units import NS_PER_S
from tests.runfile.samples import open_run

DATE_NS = 1_700_000_000 * NS_PER_S


def written_at(path: Path, at_ns: int) -> None:
    os.utime(path, ns=(at_ns, at_ns))


@pytest.fixture
def no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only locks count."""
    monkeypatch.setattr(writers, "FRESH_NS", 0)


@pytest.mark.usefixtures("no_dates")
def test_a_file_is_written_as_long_as_its_writer_has_it(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "a")
    path = recorder.names.open
    assert Writers.now().write_to(path)
    recorder.close()
    assert path.exists()
    assert not Writers.now().write_to(path)


@pytest.mark.usefixtures("no_dates")
def test_of_the_kernels_list_exclusive_locks_of_whole_files_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.teijo.open"
    path.touch()
    status = path.stat()
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    lines = {
        f"1: FLOCK  ADVISORY  WRITE 77 {device}:{status.st_ino} 0 EOF\n": True,
        f"1: FLOCK  ADVISORY  READ 77 {device}:{status.st_ino} 0 EOF\n": False,
        f"1: POSIX  ADVISORY  WRITE 77 {device}:{status.st_ino} 0 EOF\n": False,
        f"1: FLOCK  ADVISORY  WRITE 77 {device}:{status.st_ino}1 0 EOF\n": False,
        f"1: FLOCK  ADVISORY  WRITE 77 ff:{device[3:]}:{status.st_ino} 0 EOF\n": False,
        f"1: -> FLOCK  ADVISORY  WRITE 77 {device}:{status.st_ino} 0 EOF\n": False,
    }
    for line, held in lines.items():
        told = tmp_path / "locks"
        told.write_text(f"9: OFDLCK ADVISORY  READ -1 00:06:1 0 EOF\n{line}")
        monkeypatch.setattr(writers, "_LOCKS", told)
        assert Writers.now().write_to(path) is held, line
    monkeypatch.setattr(writers, "_LOCKS", tmp_path / "not there")
    assert not Writers.now().write_to(path)


def test_without_a_lock_it_is_the_date_of_the_file_or_of_its_log(tmp_path: Path) -> None:
    names = Names.of(tmp_path / "a")
    names.open.touch()
    names.logs[0].touch()
    written_at(names.open, DATE_NS)
    written_at(names.logs[0], DATE_NS + 5)
    assert last_write_ns(names.open) == DATE_NS + 5
    for age_ns, fresh in ((0, True), (FRESH_NS - 1, True), (FRESH_NS, False), (-1, False)):
        at = Writers(frozenset(), DATE_NS + 5 + age_ns)
        assert at.write_to(names.open) is fresh, age_ns
    names.logs[0].unlink()
    assert last_write_ns(names.open) == DATE_NS


def test_nobody_writes_to_what_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "evil\n.teijo.open"
    assert not Writers.now().write_to(gone)
    assert last_write_ns(gone) == 0
