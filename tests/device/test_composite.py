"""Several targets as one: all claimed and proven free before one is changed, and told apart."""

import fcntl
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from teijo.device import block, composite, file, inspect_target, kernel, open_target, survey
from teijo.device.composite import Composite, open_composite
from teijo.device.kernel import read_text
from teijo.device.target import CompositeTarget, parse_target
from teijo.errors import DeviceError, IdentityError, StuckDevice, TargetError, UnsafeError
from teijo.terms.purge import PurgeResult
from teijo.terms.remark import RemarkKind
from teijo.units import KIB, MIB
from tests.device.loops import LOOP_BYTES, Loops, need, run, serial_of

SIZE = 4 * MIB


@pytest.fixture
def pair(loops: Loops) -> tuple[Path, Path]:
    """Two free, blank loop devices."""
    return loops.new("a.img"), loops.new("b.img")


def target_of(text: str) -> CompositeTarget:
    target = parse_target(text)
    assert isinstance(target, CompositeTarget)
    return target


def open_all(
    text: str, destroy: str | None = None, *, write: bool = True, overwrite: bool = False
) -> Composite:
    return open_composite(target_of(text), write=write, destroy=destroy, overwrite=overwrite)


def serials(*nodes: Path) -> str:
    return ",".join(map(serial_of, nodes))


def is_free(node: Path) -> bool:
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


def test_every_member_is_claimed_until_the_end(pair: tuple[Path, Path]) -> None:
    a, b = pair
    several = open_all(f"stripe:{a},{b}", serials(a, b))
    try:
        assert (is_free(a), is_free(b)) == (False, False)
        assert several.geometry.capacity_bytes == 2 * LOOP_BYTES
        assert several.identity.serial == serials(a, b)
        assert "mounts" in several.identity.facts["preflight"]
        assert len(several.descriptors) == 2
        several.check()
    finally:
        several.release()
    assert (is_free(a), is_free(b)) == (True, True)


def test_serials_may_be_named_in_any_order(pair: tuple[Path, Path]) -> None:
    a, b = pair
    open_all(f"concat:{a},{b}", f"{serial_of(b)}, {serial_of(a)}").release()


@pytest.mark.parametrize("given", ["none", "first", "second", "strange", "one too many"])
def test_a_serial_that_is_missing_or_strange_refuses_all(
    pair: tuple[Path, Path], loops: Loops, given: str
) -> None:
    a, b = pair
    destroy = {
        "none": None,
        "first": serial_of(a),
        "second": serial_of(b),
        "strange": f"{serial_of(a)},S4EVNX0R",
        "one too many": f"{serials(a, b)},S4EVNX0R",
    }[given]
    with pytest.raises(UnsafeError) as caught:
        open_all(f"stripe:{a},{b}", destroy)
    assert f"--destroy {serials(a, b)}" in caught.value.remedy
    missing = {"none": a, "first": b, "second": a, "strange": b}.get(given, "S4EVNX0R")
    assert str(missing) in caught.value.message
    assert (is_free(a), is_free(b)) == (True, True)
    assert not any((loops.folder / "a.img").read_bytes())


def test_a_refusal_names_the_member_and_no_file_is_made_for_the_others(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    upper = loops.over(b)
    text = f"stripe:{tmp_path}/new?size=4MiB&direct=no,{a},{b}"
    with pytest.raises(UnsafeError, match=rf"{b} must not be written.*{upper.name} is a loop"):
        open_all(text, serials(a, b))
    assert not (tmp_path / "new").exists()
    assert is_free(a)


def test_every_refused_member_is_named(pair: tuple[Path, Path], loops: Loops) -> None:
    a, b = pair
    loops.over(a), loops.over(b)
    with pytest.raises(UnsafeError) as caught:
        open_all(f"stripe:{a},{b}", serials(a, b))
    for node in (a, b):
        assert f"{node} must not be written" in caught.value.message
    assert "\n" not in caught.value.message


def test_somebody_elses_file_refuses_all(loop: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_bytes(b"dear" * MIB)
    text = f"concat:{tmp_path}/new?size=4MiB&direct=no,{letter}?direct=no"
    with pytest.raises(UnsafeError, match="letter exists and teijo did not make it"):
        open_all(text)
    assert [path.name for path in tmp_path.glob("new*")] == []
    assert letter.read_bytes() == b"dear" * MIB
    open_all(f"concat:{letter}?direct=no,{loop}", serial_of(loop), overwrite=True).release()


def test_a_chunk_that_fits_no_member_is_refused_before_a_file_is_laid_out(tmp_path: Path) -> None:
    text = f"stripe?chunk=8MiB:{tmp_path}/a?size=4MiB&direct=no,{tmp_path}/b?size=4MiB&direct=no"
    heard: list[int] = []
    with pytest.raises(TargetError, match="holds less than 8 MiB"):
        open_composite(
            target_of(text),
            write=True,
            destroy=None,
            overwrite=False,
            progress=lambda done, _: heard.append(done),
        )
    assert (list(tmp_path.iterdir()), heard) == ([], [])


def test_a_device_named_twice_is_refused_through_a_link_too(loop: Path, tmp_path: Path) -> None:
    (tmp_path / "by-id").symlink_to(loop)
    for write in (True, False):
        for other in (loop, tmp_path / "by-id"):
            with pytest.raises(TargetError, match="the same disk or file"):
                open_all(f"stripe:{loop},{other}", serial_of(loop), write=write)
    assert is_free(loop)


def test_a_file_named_twice_is_refused_under_any_name_and_before_it_is_made(
    tmp_path: Path,
) -> None:
    (tmp_path / "old").write_bytes(bytes(SIZE))
    (tmp_path / "hard").hardlink_to(tmp_path / "old")
    (tmp_path / "soft").symlink_to(tmp_path / "old")
    for names in (("old", "hard"), ("old", "soft"), ("new", "new"), ("new", "./new")):
        members = ",".join(f"{tmp_path}/{name}?size=4MiB&direct=no" for name in names)
        with pytest.raises(TargetError, match="the same disk or file"):
            open_all(f"concat:{members}")
    assert not (tmp_path / "new").exists()


def test_partitions_of_one_disk_are_the_same_disk(loop: Path, tmp_path: Path) -> None:
    need("addpart")
    sectors = 4 * MIB // 512
    parts = []
    for number in (1, 2):
        run("addpart", str(loop), str(number), str(number * sectors), str(sectors))
        major, minor = read_text(sysfs_of(loop) / f"{loop.name}p{number}" / "dev").split(":")
        parts.append(tmp_path / f"part{number}")
        os.mknod(parts[-1], stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
    try:
        for one, other in (parts, (loop, parts[1])):
            with pytest.raises(TargetError, match="the same disk or file"):
                open_all(f"stripe:{one},{other}", write=False)
    finally:
        for number in (1, 2):
            run("delpart", str(loop), str(number))


def sysfs_of(node: Path) -> Path:
    return kernel.sysfs(kernel.Number.of(node.stat().st_rdev))


def test_a_loop_and_the_device_or_file_under_it_are_the_same(
    loop: Path, loops: Loops, tmp_path: Path
) -> None:
    upper = loops.over(loop)
    for text in (f"concat:{upper},{loop}", f"concat:{loop},{loops.folder}/disk.img?direct=no"):
        with pytest.raises(TargetError, match="one lies on the other"):
            open_all(text, write=False)


def test_a_file_on_a_file_system_of_another_member_is_the_same_disk(
    loop: Path, tmp_path: Path
) -> None:
    need("mkfs.ext4")
    run("mkfs.ext4", "-q", str(loop))
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    run("mount", str(loop), str(mnt))
    try:
        for members in (f"{loop},{mnt}/f?size=4MiB", f"{mnt}/f?size=4MiB,{loop}"):
            with pytest.raises(TargetError, match="one lies on the other"):
                open_all(f"concat:{members}", write=False)
        assert not (mnt / "f").exists()
    finally:
        run("umount", "--lazy", str(mnt))


def test_files_of_one_file_system_are_two_targets(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    text = f"stripe:{tmp_path}/a?size=4MiB&direct=no,{tmp_path}/b?size=8MiB&direct=no"
    several = open_composite(
        target_of(text),
        write=True,
        destroy=None,
        overwrite=False,
        progress=lambda done, of: heard.append((done, of)),
    )
    assert several.geometry.capacity_bytes == 2 * SIZE
    assert several.purge() is None
    assert not [one for one in several.remarks() if one.kind is RemarkKind.NOT_PURGED]
    several.release()
    assert heard[-1] == (3 * SIZE, 3 * SIZE)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)
    open_all(text).release()
    for name in ("a", "b"):
        with (tmp_path / name).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_is_true_of_all_members_is_remarked_once(pair: tuple[Path, Path]) -> None:
    a, b = pair
    several = open_all(f"stripe:{a},{b}", write=False)
    texts = [one.text for one in several.remarks() if one.kind is RemarkKind.BUFFERED]
    several.release()
    assert len(texts) == 1
    assert str(a) not in texts[0]


def test_what_is_true_of_one_member_is_remarked_with_its_name(
    pair: tuple[Path, Path], loops: Loops
) -> None:
    a, b = pair
    upper = loops.over(b)
    several = open_all(f"stripe:{a},{b}", write=False)
    texts = [one.text for one in several.remarks() if one.kind is RemarkKind.FOREIGN_IO]
    several.release()
    assert texts == [f"{b}: in use: {upper.name} is a loop over {b.name}"]


def test_a_purge_reaches_every_member_and_names_the_weakest(
    pair: tuple[Path, Path], loops: Loops
) -> None:
    a, b = pair
    for name in ("a.img", "b.img"):
        (loops.folder / name).write_bytes(b"\xa5" * LOOP_BYTES)
    several = open_all(f"stripe:{a},{b}", serials(a, b))
    done = several.purge()
    several.release()
    assert done is not None
    assert done.claimed
    assert done.words.startswith("2 members, the weakest by block discard")
    for name in ("a.img", "b.img"):
        assert not any((loops.folder / name).read_bytes())


def test_a_format_beside_a_discard_counts_as_the_discard(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    done = iter(
        [
            PurgeResult(method="nvme-format", words="NVMe Format"),
            PurgeResult(method="discard", words="block discard", claimed=True),
        ]
    )
    monkeypatch.setattr(block, "purge", lambda *_, **__: next(done))
    several = open_all(f"stripe:{a},{b}", serials(a, b))
    assert several.purge() == PurgeResult(
        method="discard", words="2 members, the weakest by block discard", claimed=True
    )
    several.release()


def test_a_member_that_cannot_be_purged_makes_the_whole_not_purged(
    loop: Path, tmp_path: Path
) -> None:
    text = f"concat:{loop},{tmp_path}/f?size=4MiB&direct=no"
    several = open_all(text, serial_of(loop))
    done = several.purge()
    texts = [one.text for one in several.remarks() if one.kind is RemarkKind.NOT_PURGED]
    several.release()
    assert done is None
    assert texts == [f"1 of 2 members were purged; cannot be: {tmp_path}/f?size=4MiB&direct=no"]


def test_a_member_of_another_size_is_noticed_by_name(pair: tuple[Path, Path], loops: Loops) -> None:
    a, b = pair
    several = open_all(f"stripe:{a},{b}", write=False)
    try:
        os.truncate(loops.folder / "b.img", LOOP_BYTES // 2)
        run("losetup", "--set-capacity", str(b))
        with pytest.raises(IdentityError, match=f"{b} is .* bytes large"):
            several.check()
    finally:
        several.release()


def test_a_member_that_is_gone_is_a_device_error_that_names_it(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    several = open_all(f"stripe:{a},{b}", write=False)
    real, second = kernel.disk_sequence, several.descriptors[1]

    def gone(fd: int) -> int | None:
        if fd == second:
            raise OSError(6, "No such device or address")
        return real(fd)

    monkeypatch.setattr(kernel, "disk_sequence", gone)
    try:
        with pytest.raises(DeviceError, match=f"{b} is gone"):
            several.check()
    finally:
        several.release()


def test_looking_shows_every_member_and_what_gives_all_up(
    pair: tuple[Path, Path], loops: Loops
) -> None:
    a, b = pair
    text = f"stripe?chunk=64KiB:{a},{b}"
    seen = inspect_target(text)
    assert [member.identity.target for member in seen.members] == [str(a), str(b)]
    assert seen.destroy == serials(a, b)
    assert seen.geometry == survey(text).geometry
    assert seen.geometry.capacity_bytes == 2 * LOOP_BYTES
    open_all(text, seen.destroy).release()
    loops.over(b)
    assert inspect_target(text).destroy == ""


def test_looking_at_files_makes_none(tmp_path: Path) -> None:
    text = f"stripe?chunk=64KiB:{tmp_path}/a?size=4MiB,{tmp_path}/b?size=5MiB"
    assert inspect_target(text).geometry.capacity_bytes == 2 * SIZE
    assert survey(text).geometry.capacity_bytes == 2 * SIZE
    assert survey(text).geometry.capacity_bytes % (64 * KIB) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_serial_for_files_alone_is_a_mistake(tmp_path: Path) -> None:
    text = f"concat:{tmp_path}/a?size=4MiB&direct=no,{tmp_path}/b?size=4MiB&direct=no"
    with pytest.raises(TargetError, match="--destroy names block devices"):
        open_all(text, "S1")
    assert list(tmp_path.iterdir()) == []


def test_fio_is_not_asked_for_several(tmp_path: Path) -> None:
    text = f"concat:{tmp_path}/a?size=4MiB,{tmp_path}/b?size=4MiB"
    with pytest.raises(TargetError, match="fio drives one"):
        open_target(text, write=True, engine="fio")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_several_that_is_never_laid_out_is_left_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, closed, claimed = threading.Event(), [], []

    def claim(*given: Any, **named: Any) -> file.Opened:
        claimed.append(file.claim_file(*given, **named))
        return claimed[-1]

    monkeypatch.setattr(composite, "claim_file", claim)
    monkeypatch.setattr(file, "fill", lambda *_, **__: released.wait(60))
    monkeypatch.setattr(composite, "give_back", closed.append)
    target = target_of(f"concat:{tmp_path}/a?size={SIZE},{tmp_path}/b?size={SIZE}")
    try:
        with pytest.raises(StuckDevice, match="Laying out"):
            open_composite(target, write=True, destroy=None, overwrite=False, silence_ns=1)
        assert len(claimed) == 2
        assert not closed, "to close what hangs would hang as well"
    finally:
        released.set()
        for each in claimed:
            file.give_back(each)
