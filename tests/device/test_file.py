"""File targets: never anybody else's, laid out before they are read, kept at the end."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teijo.device import keeper, open_target
from teijo.device.device import Device
from teijo.device.layout import has_holes
from teijo.errors import DeviceError, HostError, IdentityError, TargetError, UnsafeError
from teijo.terms.remark import RemarkKind
from teijo.units import MIB
from tests.device.loops import Loops, need, run

SIZE = 4 * MIB


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A folder whose file system accepts O_DIRECT."""
    probe = tmp_path / "probe"
    try:
        os.close(os.open(probe, os.O_RDWR | os.O_CREAT | os.O_DIRECT))
    except OSError:
        pytest.skip("needs a file system for temporary files that accepts O_DIRECT")
    probe.unlink()
    return tmp_path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A tmpfs of 8 MiB."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=8M", "tmpfs", str(place))
    yield place
    run("umount", "--lazy", str(place))  # a ring may hold the file a moment longer


def make(path: Path, **options: bool) -> Device:
    return open_target(f"{path}?size={SIZE}", write=True, **options)


def kinds(device: Device) -> set[RemarkKind]:
    return {remark.kind for remark in device.remarks()}


def test_a_new_file_is_made_at_its_size_and_wholly_written(scratch: Path) -> None:
    heard: list[tuple[int, int]] = []
    device = open_target(
        f"{scratch}/new?size={SIZE}",
        write=False,
        progress=lambda done, of: heard.append((done, of)),
    )
    try:
        assert device.geometry.capacity_bytes == SIZE
        assert device.identity.kind == "file"
        assert not device.replayable
        assert device.purge() is None
        device.check()
    finally:
        device.close()
    data = (scratch / "new").read_bytes()
    assert len(data) == SIZE
    assert len({data[at : at + 4096] for at in range(0, SIZE, 4096)}) == SIZE // 4096
    assert heard[-1] == (SIZE, SIZE)


def test_the_space_of_a_new_file_is_its_own(scratch: Path) -> None:
    make(scratch / "new").close()
    assert (scratch / "new").stat().st_blocks * 512 >= SIZE


def test_an_existing_file_is_refused_and_left_as_it_was(scratch: Path) -> None:
    old = scratch / "thesis.tex"
    old.write_bytes(b"x" * SIZE)
    with pytest.raises(UnsafeError, match="teijo did not make it") as caught:
        make(old)
    assert "--overwrite" in caught.value.remedy
    assert old.read_bytes() == b"x" * SIZE
    assert old.stat().st_nlink == 1


def test_an_existing_file_is_refused_through_a_link(scratch: Path) -> None:
    (scratch / "old").write_bytes(b"x" * SIZE)
    (scratch / "link").symlink_to(scratch / "old")
    with pytest.raises(UnsafeError):
        make(scratch / "link")
    assert (scratch / "old").read_bytes() == b"x" * SIZE


def test_an_existing_file_that_was_given_up_is_used(scratch: Path) -> None:
    (scratch / "old").write_bytes(b"x" * SIZE)
    device = make(scratch / "old", overwrite=True)
    device.close()
    make(scratch / "old").close()  # a file given up once is ours from then on


def test_a_file_teijo_made_is_used_again(scratch: Path) -> None:
    make(scratch / "new").close()
    make(scratch / "new").close()
    open_target(str(scratch / "new"), write=True).close()


def test_a_file_of_ours_that_somebody_wrote_to_since_is_theirs(scratch: Path) -> None:
    make(scratch / "new").close()
    (scratch / "precious").write_bytes(b"y" * SIZE)
    shutil.copyfile(scratch / "precious", scratch / "new")
    with pytest.raises(UnsafeError, match="somebody wrote to it since"):
        make(scratch / "new")
    assert (scratch / "new").read_bytes() == b"y" * SIZE


def test_a_copy_of_our_mark_on_another_file_makes_it_not_ours(scratch: Path) -> None:
    make(scratch / "new").close()
    (scratch / "other").write_bytes(b"y" * SIZE)
    try:
        mark = os.getxattr(scratch / "new", keeper.ATTRIBUTE)
    except OSError:
        pytest.skip("needs extended attributes on the temporary file system")
    os.setxattr(scratch / "other", keeper.ATTRIBUTE, mark)
    with pytest.raises(UnsafeError):
        make(scratch / "other")


def test_without_extended_attributes_the_mark_lies_beside_the_file(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> bytes:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", unsupported)
    monkeypatch.setattr(os, "getxattr", unsupported)
    make(scratch / "new").close()
    assert (scratch / ".new.teijo-target").exists()
    make(scratch / "new").close()
    (scratch / "new").unlink()
    (scratch / "new").write_bytes(b"z" * SIZE)
    with pytest.raises(UnsafeError):
        make(scratch / "new")


def test_a_file_two_runs_want_goes_to_the_first(scratch: Path) -> None:
    first = make(scratch / "new")
    try:
        with pytest.raises(UnsafeError, match="another run"):
            make(scratch / "new")
        with pytest.raises(UnsafeError, match="another run"):
            open_target(str(scratch / "new"), write=False)
    finally:
        first.close()


def test_a_file_another_program_has_open_is_refused_even_if_given_up(
    scratch: Path, helper: Callable[..., object]
) -> None:
    (scratch / "old").write_bytes(b"x" * SIZE)
    helper("sh", "-c", f"exec 3<{scratch / 'old'}; echo ready; cat")
    with pytest.raises(UnsafeError, match="is open in"):
        make(scratch / "old", overwrite=True)


def test_a_file_under_a_loop_device_is_refused_even_if_given_up(
    scratch: Path, loops: Loops
) -> None:
    node = loops.new("disk.img")
    with pytest.raises(UnsafeError, match=node.name):
        open_target(str(scratch / "disk.img"), write=True, overwrite=True)


def test_a_file_with_holes_is_no_target_for_reading_unless_allowed(scratch: Path) -> None:
    with (scratch / "sparse").open("wb") as file:
        file.truncate(SIZE)
    with pytest.raises(TargetError, match="never written") as caught:
        open_target(str(scratch / "sparse"), write=False)
    assert "holes=allow" in caught.value.remedy
    device = open_target(f"{scratch}/sparse?holes=allow", write=False)
    assert RemarkKind.DEVIATION in kinds(device)
    device.close()


def test_reserved_but_unwritten_space_counts_as_holes(scratch: Path) -> None:
    fd = os.open(scratch / "reserved", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(fd, 0, SIZE)
    unwritten = has_holes(fd, SIZE)
    os.pwrite(fd, b"x" * SIZE, 0)
    assert (unwritten, has_holes(fd, SIZE)) == (True, False)
    os.close(fd)


def test_a_full_disk_is_told_before_anything_is_written(small_disk: Path) -> None:
    with pytest.raises(HostError, match="free") as caught:
        open_target(f"{small_disk}/new?size=64MiB", write=True)
    assert caught.value.exit_code == 6
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_fills_up_while_the_space_is_reserved_leaves_nothing(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(HostError, match="free"):
        open_target(f"{small_disk}/new?size=4MiB", write=True)
    assert list(small_disk.iterdir()) == []


def test_a_file_in_memory_says_that_it_is_not_direct(small_disk: Path) -> None:
    device = open_target(f"{small_disk}/new?size=4MiB", write=True)
    assert RemarkKind.BUFFERED in kinds(device)
    device.close()


def test_refused_direct_io_names_the_file_system_and_leaves_nothing(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & os.O_DIRECT:
            if flags & os.O_CREAT:
                os.close(real(path, flags & ~os.O_DIRECT, *rest))  # type: ignore[arg-type]
            raise OSError(22, "Invalid argument")
        return real(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DeviceError, match="refuses direct I/O") as caught:
        make(scratch / "new")
    assert "direct=no" in caught.value.remedy
    assert list(scratch.iterdir()) == []
    monkeypatch.setattr(os, "open", real)
    device = open_target(f"{scratch}/new?size={SIZE}&direct=no", write=True)
    assert RemarkKind.BUFFERED in kinds(device)
    device.close()


def test_a_layout_that_is_interrupted_leaves_nothing(scratch: Path) -> None:
    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_target(f"{scratch}/new?size={SIZE}", write=True, progress=stop)
    assert list(scratch.iterdir()) == []


def test_another_size_than_the_files_is_refused(scratch: Path) -> None:
    make(scratch / "new").close()
    with pytest.raises(TargetError, match="size asks for"):
        open_target(f"{scratch}/new?size=8MiB", write=True)


def test_a_file_that_is_replaced_removed_or_cut_during_the_run_is_noticed(scratch: Path) -> None:
    path = scratch / "new"
    device = make(path)
    try:
        device.check()
        os.truncate(path, SIZE // 2)
        with pytest.raises(IdentityError, match="bytes large"):
            device.check()
        path.rename(scratch / "away")
        with pytest.raises(IdentityError, match="removed"):
            device.check()
        path.write_bytes(bytes(SIZE))
        with pytest.raises(IdentityError, match="another file"):
            device.check()
    finally:
        device.close()


def test_a_swap_file_is_refused(scratch: Path) -> None:
    need("mkswap", "swapon")
    path = scratch / "swapfile"
    path.write_bytes(bytes(SIZE))
    path.chmod(0o600)
    run("mkswap", str(path))
    try:
        run("swapon", str(path))
    except AssertionError as error:
        pytest.skip(f"this kernel does not swap on this file: {error}")
    try:
        with pytest.raises(UnsafeError, match="swap"):
            open_target(str(path), write=True, overwrite=True)
    finally:
        run("swapoff", str(path))


def test_the_lock_is_given_up_at_the_end(scratch: Path) -> None:
    make(scratch / "new").close()
    fd = os.open(scratch / "new", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)
