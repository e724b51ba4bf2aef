"""A target opened to be read: nothing is made, marked or changed, and what is in use is refused."""

import fcntl
import os
from pathlib import Path

import pytest

from teijo.device.kernel import Number, Roots
from teijo.device.target import parse_target
from teijo.device.to_read import _of_namespace, opened_to_read, unwritten_share
from teijo.errors import TargetError, TeijoError, UnsafeError
from tests.device.test_heads import fill

SIZE = 1 << 20


def listed(folder: Path) -> dict[str, tuple[int, int, list[str]]]:
    return {
        each.name: (each.stat().st_mtime_ns, each.stat().st_ino, os.listxattr(each))
        for each in folder.iterdir()
    }


def test_a_file_is_read_as_it_is_and_left_as_it_was(scratch: Path) -> None:
    place = scratch / "a.img"
    place.write_bytes(os.urandom(SIZE))
    before = listed(scratch)
    with opened_to_read(parse_target(str(place))) as (fd, geometry):
        assert geometry.capacity_bytes == SIZE
        assert fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    assert listed(scratch) == before
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_a_file_that_is_not_there_is_not_made(scratch: Path) -> None:
    target = parse_target(f"{scratch / 'none.img'}?size=8MiB")
    with pytest.raises(TargetError, match="not there yet"), opened_to_read(target):
        pass
    assert not list(scratch.iterdir())


def test_a_file_with_holes_is_read_only_where_that_is_accepted(scratch: Path) -> None:
    place = scratch / "holes.img"
    with place.open("wb") as file:
        file.truncate(SIZE)
    with (
        pytest.raises(TargetError, match="never written"),
        opened_to_read(parse_target(str(place))),
    ):
        pass
    with opened_to_read(parse_target(f"{place}?holes=allow")):
        pass
    # A file system that does not tell of its extents tells nothing.
    assert unwritten_share(parse_target(str(place))) in (1.0, None)


def test_a_file_that_a_run_has_is_refused(scratch: Path) -> None:
    place = scratch / "a.img"
    place.write_bytes(os.urandom(SIZE))
    with place.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            pytest.raises(UnsafeError, match="being measured"),
            opened_to_read(parse_target(str(place))),
        ):
            pass


def test_a_device_is_claimed_while_it_is_read_and_refused_where_it_is_in_use(
    loop_device: Path,
) -> None:
    target = parse_target(str(loop_device))
    with opened_to_read(target) as (_, geometry):
        assert geometry.capacity_bytes == 64 << 20
        with pytest.raises(OSError, match="busy"):
            os.open(loop_device, os.O_RDWR | os.O_EXCL)
    claim = os.open(loop_device, os.O_RDWR | os.O_EXCL)
    try:
        with pytest.raises(UnsafeError, match="in use"), opened_to_read(target):
            pass
    finally:
        os.close(claim)


def test_what_is_no_device_and_no_file_is_not_read(tmp_path: Path) -> None:
    for text in ("sim:mlc-a", f"dir:{tmp_path}"):
        with (
            pytest.raises(TeijoError, match="no block device"),
            opened_to_read(parse_target(text)),
        ):
            pass
        assert unwritten_share(parse_target(text)) is None


def test_what_a_namespace_holds_is_told_by_the_drive(tmp_path: Path) -> None:
    disk = fill(tmp_path / "dev/block/259:0", nuse="1024", size="16384")
    fill(disk / "queue", logical_block_size="4096")
    roots = Roots(sys=tmp_path)
    assert _of_namespace(Number(259, 0), roots) == pytest.approx(0.5)
    (disk / "nuse").write_text("9999999\n")
    assert _of_namespace(Number(259, 0), roots) == 0.0
    (disk / "nuse").unlink()
    assert _of_namespace(Number(259, 0), roots) is None
