"""`teijo as orion` from its words to its files: on simulated devices, files and a loop device."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo import api
from teijo.cli import app

DRIVE = "sim:mlc-a?capacity=1GiB"
POINT = ["-run", "advanced", "-matrix", "point", "-num_small", "2", "-num_large", "1"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def orion(*words: str, before: tuple[str, ...] = ()) -> int:
    with pytest.raises(SystemExit) as end:
        app.main(["as", "-o", "run.teijo", "--seed", "1", *before, "orion", *words])
    assert isinstance(end.value.code, int)
    return end.value.code


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".txt", ".csv"))


def test_a_whole_run_leaves_its_files_and_a_run_file(here: Path, capfd) -> None:
    (here / "mytest.lun").write_text(f"{DRIVE}\n")
    assert (
        orion("-run", "simple", "-testname", "mytest", "-num_disks", "1", before=("--like", "10.2"))
        == 0
    )
    assert capfd.readouterr().out == (
        "ORION: ORacle IO Numbers -- Version 10.2.0.1.0\n"
        "Test will take approximately 9 minutes\nLarger caches may take longer\n"
    )
    assert left(here) == [
        f"mytest_{name}"
        for name in ("iops.csv", "lat.csv", "mbps.csv", "summary.txt", "trace.txt", "tradeoff.csv")
    ]
    found = api.open(here / "run.teijo").found
    most = max(side.iops[0] for side in found.small.values())
    summary = (here / "mytest_summary.txt").read_text()
    assert f"Maximum Small IOPS={most:.0f} @ " in summary
    assert f"Name: {DRIVE}\tSize: {2**30}\n1 FILEs found.\n" in summary
    assert len((here / "mytest_iops.csv").read_text().splitlines()) == 4


def test_the_trace_is_told_as_it_goes_where_verbose_asks(here: Path, capfd) -> None:
    (here / "orion.lun").write_text(f"{DRIVE}\n")
    assert orion(*POINT, "-duration", "1", "-verbose", before=("--like", "12.2")) == 0
    out = capfd.readouterr().out
    (trace,) = here.glob("orion_*_trace.txt")
    told = trace.read_text()
    # As it goes, nobody knows yet how large a simulated device is.
    assert told.replace(str(2**30), "0") in out
    assert "Maximum Small IOPS=" in out
    (hist,) = here.glob("orion_*_hist.txt")
    assert hist.read_text().count("Histogram @ Small=2 and Large=1") == 2


def direct(folder: Path) -> None:
    try:
        os.close(os.open(folder / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT))
    except OSError:
        pytest.skip(f"needs direct I/O in {folder}")
    (folder / "probe").unlink()


def test_two_files_are_one_volume_and_are_read_as_they_are(here: Path, capfd) -> None:
    direct(here)
    for name in ("a", "b"):
        (here / name).write_bytes(b"")
        os.truncate(here / name, 4 * 1024 * 1024)
    (here / "orion.lun").write_text("a\nb\n")
    assert orion(*POINT, "-duration", "1") == 0
    capfd.readouterr()
    (summary,) = here.glob("*_summary.txt")
    told = summary.read_text()
    assert f"Name: a\tSize: {2**22}\nName: b\tSize: {2**22}\n2 FILEs found.\n" in told
    record = api.open(here / "run.teijo").record
    assert record.geometry.capacity_bytes == 8 * 1024 * 1024


def test_a_file_is_written_only_where_its_contents_may_be_lost(here: Path, capfd) -> None:
    direct(here)
    (here / "a").write_bytes(b"kept" * 2**20)
    (here / "orion.lun").write_text("a\n")
    assert orion(*POINT, "-duration", "1", "-write", "20") == 3
    assert "--overwrite" in capfd.readouterr().err
    assert (here / "a").read_bytes() == b"kept" * 2**20
    assert not left(here)


@pytest.fixture
def loop(here: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root for a loop device")
    backing = here / "backing"
    backing.write_bytes(b"kept" * 2**20)
    made = subprocess.run(
        ["losetup", "--find", "--show", str(backing)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"needs a loop device: {made.stderr.strip()}")
    yield Path(made.stdout.strip())
    subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


def test_a_block_device_is_written_only_where_its_serial_is_named(
    here: Path, loop: Path, capfd
) -> None:
    (here / "orion.lun").write_text(f"{loop}\n")
    assert orion(*POINT, "-duration", "1", "-write", "20") == 3
    assert "--destroy" in capfd.readouterr().err
    assert (here / "backing").read_bytes() == b"kept" * 2**20
    assert not left(here)
