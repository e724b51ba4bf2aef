"""Every argument that a person or a program can get wrong is refused in words, with exit code 2."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo

NINES = "9" * 4000
LINES = (
    ("run", "workload", "~nosuchuser/x"),
    ("device", "~nosuchuser/x"),
    ("device", "sim:~nosuchuser/x.toml"),
    ("run", "workload", "sim:hdd-7200", "seconds=999999999999999999"),
    ("run", "workload", "sim:hdd-7200", "rate=1e300"),
    ("run", "workload", "sim:hdd-7200", "rate=1e-300"),
    ("run", "workload", "sim:hdd-7200", f"bs={NINES}"),
    ("run", "workload", "sim:hdd-7200", f"bs={NINES}TiB"),
    ("run", "workload", "sim:hdd-7200", f"qd={NINES}{NINES}"),
    ("run", "workload", "sim:hdd-7200", "threads=1000000000"),
    ("run", "workload", "sim:hdd-7200", "qd=1000000000"),
    ("run", "workload", "sim:hdd-7200", "rw=\udcff"),
    ("run", "workload", "sim:hdd-7200", "rw=a\0b"),
    ("run", "workload", "sim:hdd-7200", "seconds=1", "-o", "\udcff"),
    ("run", "workload", "sim:hdd-7200", "seconds=1", "--seed", NINES),
    ("run", "workload", "sim:hdd-7200", "seconds=1", "--max-drive-writes", "1e308"),
    ("run", "workload", "sim:hdd-7200", "seconds=1", "--max-drive-writes", "nan"),
    ("run", "iops", "sim:hdd-7200", "sizes=" + ",".join(["4KiB"] * 60_000)),
    ("run", "iops", "sim:hdd-7200", "sizes=" + "4KiB," * 200_000),
    ("run", "configuration", "sim:hdd-7200", "factors=" + '{"a":' * 5000),
    ("run", "configuration", "sim:hdd-7200", "precondition=1e300"),
    ("run", "configuration", "sim:hdd-7200", "--plan", "deep.toml"),
    ("run", "configuration", "sim:hdd-7200", "--plan", "pipe"),
    ("run", "configuration", "sim:hdd-7200", "--plan", "zero"),
    ("run", "wsat", "sim:hdd-7200", "capacity_times=1e300"),
    ("run", "workload", f"new?size={NINES}"),
    ("run", "workload", f"new?size={NINES}TiB"),
    ("run", "workload", "sim:mlc-a?capacity_bytes=0"),
    ("run", "workload", "sim:mlc-a?capacity=0"),
    ("run", "workload", "sim:\ud800"),
    ("run", "workload", "a" * 300),
    ("run", "workload", "a" * 30_000),
    ("device", "sim:deep.toml"),
    ("device", "sim:pipe.toml"),
    ("device", "sim:zero.toml"),
    ("device", "sim:raid0(4000000000×hdd-7200)"),
    ("device", "sim:raid0(1024×raid0(1024×raid0(1024×hdd-7200)))"),
    ("device", "sim:" + "raid0(2×" * 2000),
    ("device", "sim:mlc-a?capacity=8000000TiB"),
    ("device", f"sim:mlc-a?seed={NINES}"),
    ("device", "sim:mlc-a?scale=1e-300"),
    ("device", "stripe:" + "a," * 9000),
    ("preview", "iops", "sim:mlc-a", "--rates", f"{NINES}GB/s,9M"),
    ("preview", "iops", "sim:mlc-a", "--rates", f"1GB/s,{NINES}M"),
    ("preview", "iops", "sim:mlc-a", "--endurance", f"{NINES}TB"),
    ("preview", "iops", "sim:mlc-a", "minute=99999999999d"),
    ("steady", "--csv", "pipe", "--column", "a"),
    ("steady", "--csv", "zero", "--column", "a"),
    ("steady", "1", NINES),
    ("report", "a" * 300),
    ("run", "workload", "sim:hdd-7200", "seconds=1", "-o", "a" * 300),
    ("compare", "a=" + "b" * 300, "c"),
    ("report", "/"),
    ("report", "a\0b"),
    ("export", "\udcff"),
    ("resume", "pipe"),
    ("resume", "a" * 300),
    ("compare", "pipe", "zero"),
    ("fleet", "report", "a" * 300),
    ("fleet", "report", "a\0b"),
    ("fleet", "report", "pipe", "zero"),
)


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_what_is_without_measure_is_refused_and_nothing_is_made(
    teijo: Teijo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep.toml").write_text("device = " + "[" * 50_000)
    for name in ("pipe", "pipe.toml"):
        os.mkfifo(tmp_path / name)
    for name in ("zero", "zero.toml"):
        (tmp_path / name).symlink_to("/dev/zero")
    before = set(tmp_path.iterdir())
    code, out, err = teijo(*line)
    assert (code, out) == (2, ""), err
    assert len(err) < 25_000
    assert set(tmp_path.iterdir()) == before
