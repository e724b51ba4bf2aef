"""The shim itself: which calls it sees, how they fail, and what its power cut loses."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.faults import shim

HEAD = """
import errno, os, sqlite3, sys
from pathlib import Path
from tests.faults.shim import Calls, Mode, Shim
folder = Path(sys.argv[1]) / "disk"
folder.mkdir()
attic = Path(sys.argv[1]) / "attic"
attic.mkdir()
shim = Shim()
shim.restrict_to(folder)
file = folder / "file"
def put(text, flags=os.O_WRONLY | os.O_CREAT, sync=False, path=file):
    descriptor = os.open(path, flags, 0o600)
    done = os.write(descriptor, text)
    if sync:
        os.fsync(descriptor)
    os.close(descriptor)
    return done
def sync_folder():
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
"""


def under_the_shim(library: Path, tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a few lines of Python in a process of their own, under the shim."""
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(script), str(tmp_path)],
        env={**os.environ, **shim.environment(library), "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=60,
    )


def told(library: Path, tmp_path: Path, script: str) -> str:
    """Return what such lines print."""
    done = under_the_shim(library, tmp_path, script)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_only_calls_of_the_asked_kinds_in_the_folder_are_counted(
    library: Path, tmp_path: Path
) -> None:
    script = """
    shim.begin(Calls.WRITE)
    put(b"one")
    put(b"two", path=attic / "elsewhere")
    print(shim.count, shim.fired)
    shim.begin(Calls.WRITE | Calls.OPEN | Calls.CLOSE | Calls.SYNC)
    put(b"one", sync=True)
    print(shim.count)
    """
    assert told(library, tmp_path, script).split() == ["1", "0", "4"]


def test_the_call_asked_for_fails_with_the_errno_asked_for_and_no_other(
    library: Path, tmp_path: Path
) -> None:
    script = """
    shim.begin(Calls.WRITE)
    shim.add(2, error=errno.ENOSPC)
    put(b"one")
    try:
        put(b"two")
    except OSError as error:
        print(error.errno == errno.ENOSPC, shim.where == f"write {file}")
    put(b"three")
    print(shim.count, shim.fired, file.read_text())
    """
    assert told(library, tmp_path, script).split() == ["True", "True", "3", "1", "three"]


def test_an_interrupted_call_is_made_again_by_python(library: Path, tmp_path: Path) -> None:
    script = """
    shim.begin(Calls.WRITE | Calls.SYNC)
    shim.add(1, error=errno.EINTR)
    shim.add(3, error=errno.EINTR)
    put(b"one", sync=True)
    print(shim.count, shim.fired, file.read_text())
    """
    assert told(library, tmp_path, script).split() == ["4", "2", "one"]


def test_a_short_write_writes_half_and_says_so(library: Path, tmp_path: Path) -> None:
    script = """
    shim.begin(Calls.WRITE)
    shim.add(1, Mode.SHORT)
    print(put(b"abcdef"), file.read_text())
    """
    assert told(library, tmp_path, script).split() == ["3", "abc"]


def test_a_disk_that_stays_full_fails_from_the_call_on(library: Path, tmp_path: Path) -> None:
    script = """
    shim.begin(Calls.WRITE)
    shim.add(2, Mode.FAIL_FROM, errno.ENOSPC)
    for n in range(4):
        try:
            print(put(b"x"))
        except OSError:
            print("full")
    """
    assert told(library, tmp_path, script).split() == ["1", "full", "full", "full"]


def test_killed_at_a_call_the_process_does_not_make_it(library: Path, tmp_path: Path) -> None:
    script = """
    shim.begin(Calls.WRITE)
    shim.add(2, Mode.KILL)
    put(b"one")
    put(b"two")
    """
    done = under_the_shim(library, tmp_path, script)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "disk" / "file").read_text() == "one"


def test_mappings_and_allocations_of_the_asked_size_fail(library: Path, tmp_path: Path) -> None:
    script = """
    import mmap
    shim.count_memory_from(1 << 24)
    for kind, act in ((Calls.ALLOC, bytearray), (Calls.MMAP, lambda size: mmap.mmap(-1, size))):
        shim.begin(kind)
        shim.add(1, error=errno.ENOMEM)
        act(1 << 20)
        try:
            act(1 << 24)
        except (MemoryError, OSError) as error:
            print(shim.fired)
    """
    assert told(library, tmp_path, script).split() == ["1", "1"]


def test_sqlite_works_under_the_shim(library: Path, tmp_path: Path) -> None:
    """Its write-ahead log is written and flushed through libc: both calls are seen there."""
    script = """
    db = sqlite3.connect(folder / "db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE t (a)")
    for kind in (Calls.WRITE, Calls.SYNC):
        shim.begin(kind)
        shim.add(1)
        try:
            db.execute("INSERT INTO t VALUES (1)")
        except sqlite3.OperationalError as error:
            print(error.sqlite_errorname, Path(shim.where).name)
        shim.disarm()
    """
    expected = ["SQLITE_IOERR_WRITE", "db-wal", "SQLITE_IOERR_FSYNC", "db-wal"]
    assert told(library, tmp_path, script).split() == expected


POWER_CUT = """
shim.track(attic)
shim.begin()
put(b"old", sync=True)
sync_folder()
{}
shim.power_cut()
print({{each.name: each.read_text() for each in sorted(folder.iterdir())}})
"""


@pytest.mark.parametrize(
    ("done", "left"),
    [
        ("put(b'new')", {"file": "old"}),
        ("put(b'new', sync=True)", {"file": "new"}),
        ("put(b'longer')", {"file": "old"}),
        ("os.truncate(file, 1)", {"file": "old"}),
        ("file.unlink()", {"file": "old"}),
        ("file.unlink(); sync_folder()", {}),
        ("put(b'x', path=folder / 'b', sync=True)", {"file": "old"}),
        ("put(b'x', path=folder / 'b', sync=True); sync_folder()", {"b": "x", "file": "old"}),
        ("put(b'x', path=folder / 'b'); sync_folder()", {"b": "", "file": "old"}),
        (
            "put(b'x', path=folder / 'b', sync=True); (folder / 'b').rename(file)",
            {"file": "old"},
        ),
        (
            "put(b'x', path=folder / 'b', sync=True); (folder / 'b').rename(file); sync_folder()",
            {"file": "x"},
        ),
        ("os.link(file, folder / 'b')", {"file": "old"}),
        ("shim.add(1, Mode.LOSE_FSYNC); put(b'new', sync=True)", {"file": "old"}),
    ],
)
def test_a_power_cut_leaves_what_was_flushed(
    library: Path, tmp_path: Path, done: str, left: dict[str, str]
) -> None:
    assert told(library, tmp_path, POWER_CUT.format(done)) == repr(left)


def test_what_a_failed_fsync_lost_the_next_one_does_not_bring_back(
    library: Path, tmp_path: Path
) -> None:
    done = """
shim.begin(Calls.SYNC)
shim.add(1)
descriptor = os.open(file, os.O_WRONLY)
os.write(descriptor, b"new")
try:
    os.fsync(descriptor)
except OSError:
    os.fsync(descriptor)
"""
    assert told(library, tmp_path, POWER_CUT.format(done)) == "{'file': 'old'}"


def test_the_environment_arms_a_program_from_its_start(library: Path, tmp_path: Path) -> None:
    report = tmp_path / "report"
    done = subprocess.run(
        ["/bin/dd", "if=/dev/zero", f"of={tmp_path}/out", "bs=1k", "count=3"],
        env={
            **shim.environment(library),
            "FAULT_KINDS": str(int(shim.Calls.WRITE)),
            "FAULT_NTH": "2",
            "FAULT_ERRNO": "28",
            "FAULT_PATHS": str(tmp_path),
            "FAULT_REPORT": str(report),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert report.read_text() == f"2 1 write {tmp_path}/out\n"
