"""A file that is made for one run alone (`keep=no`) goes with it, however the run ends."""

import os
import time
from pathlib import Path

import pytest

from teijo.device import marker, open_target
from teijo.device.marker import Holder
from teijo.errors import TargetError, UnsafeError
from teijo.units import MIB
from tests.crash.runs import in_a_child, kill_me

SIZE = 4 * MIB
RUN = Holder(run="11111111", run_file="/no/such/run.teijo.open")
OTHER = Holder(run="22222222")
PATIENCE_S = 60.0


def opened(path: Path, holder: Holder = RUN, **options: bool):
    text = f"{path}?size={SIZE}&direct=no&keep=no"
    return open_target(text, write=True, holder=holder, **options)


def left(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_it_is_made_whole_and_marked_and_removed_when_the_run_ends(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    device = opened(path)
    assert path.stat().st_size == SIZE
    with path.open("rb") as file:
        mark = marker.read_mark(file.fileno(), path)
    assert mark is not None
    assert mark.run == RUN.run
    device.close()
    assert left(tmp_path) == []


def test_it_is_removed_where_the_file_system_has_no_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> bytes:
        raise OSError(95, "Operation not supported")

    for name in ("setxattr", "getxattr", "removexattr"):
        monkeypatch.setattr(os, name, unsupported)
    device = opened(tmp_path / "disk.img")
    assert len(left(tmp_path)) == 2
    device.close()
    assert left(tmp_path) == []


def test_a_kill_of_its_run_removes_it(tmp_path: Path) -> None:
    def act() -> None:
        opened(tmp_path / "disk.img")
        kill_me()

    assert in_a_child(act) == -9
    end = time.monotonic() + PATIENCE_S
    while left(tmp_path) and time.monotonic() < end:
        time.sleep(0.01)
    assert left(tmp_path) == []


def test_what_exists_is_never_taken_for_it_nor_removed(tmp_path: Path) -> None:
    path = tmp_path / "thesis.tex"
    path.write_bytes(b"x" * SIZE)
    for options in ({}, {"overwrite": True}):
        with pytest.raises(UnsafeError, match="keep=no"):
            opened(path, **options)
    assert path.read_bytes() == b"x" * SIZE


def test_a_file_that_another_run_left_is_not_its_own(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    open_target(f"{path}?size={SIZE}&direct=no", write=True, holder=OTHER).close()
    with pytest.raises(UnsafeError, match="keep=no"):
        opened(path, overwrite=True)
    assert path.stat().st_size == SIZE


def test_what_stands_under_its_name_by_the_end_is_somebody_elses(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    device = opened(path)
    path.unlink()
    path.write_bytes(b"precious")
    device.close()
    assert path.read_bytes() == b"precious"


def test_a_run_that_goes_on_makes_it_anew_without_consent(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    opened(path).close()
    device = opened(path, make=False)
    assert path.stat().st_size == SIZE
    device.close()
    assert left(tmp_path) == []


def test_a_member_of_several_stays(tmp_path: Path) -> None:
    one, two = tmp_path / "a", tmp_path / "b"
    with pytest.raises(TargetError, match="made for one run alone"):
        open_target(f"concat:{one}?size={SIZE}&keep=no,{two}?size={SIZE}", write=True)
    assert left(tmp_path) == []
