"""Ground: the disks under overlay, btrfs and others that have no device number of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo.device import checks, ground, list_devices
from teijo.device.ground import Ground
from teijo.device.kernel import HOST, Number, Roots
from teijo.device.mounts import Mount, mounts_of
from teijo.errors import UnsafeError
from teijo.runner.placement import lies_on
from teijo.terms.geometry import Identity
from teijo.units import MIB
from tests.device.loops import Loops, need, run, try_to_write
from tests.device.test_stack import Tree


def mount(file_system: str, source: str, options: str = "rw", *, number: str = "0:99") -> Mount:
    return Mount(
        mount_id=1,
        number=Number.parse(number),
        point="/srv",
        file_system=file_system,
        source=source,
        process="self",
        options=options,
    )


def test_btrfs_is_told_by_its_source(loop: Path) -> None:
    number = Number.of(loop.stat().st_rdev)
    found = ground.under_mount(mount("btrfs", str(loop)), ())
    assert found == Ground(numbers=frozenset({number}))


def test_the_other_devices_of_a_btrfs_are_told_by_sysfs(loop: Path, tree: Tree) -> None:
    first, second = Number.of(loop.stat().st_rdev), Number(8, 17)
    devices = tree.roots.sys / "fs" / "btrfs" / "0c3f" / "devices"
    devices.mkdir(parents=True)
    for name, number in ((loop.name, str(first)), ("sdb1", "8:17")):
        (devices / name).symlink_to(tree.disk(name, number))
    found = ground.under_mount(mount("btrfs", str(loop)), (), tree.roots)
    assert found.numbers == {first, second}
    assert second in ground.carriers(mount("btrfs", str(loop)), (), tree.roots)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree")


@pytest.mark.parametrize(
    ("file_system", "source"),
    [("zfs", "rpool/ROOT"), ("fuse.mergerfs", "a:b"), ("overlay", "overlay"), ("unheard", "none")],
)
def test_what_cannot_be_told_is_blind_and_never_nothing(file_system: str, source: str) -> None:
    assert ground.under_mount(mount(file_system, source), ()).blind


def test_memory_and_other_machines_stand_on_no_disk() -> None:
    for kind in ("tmpfs", "nfs4", "rootfs"):
        assert ground.under_mount(mount(kind, kind), ()) == Ground()


def test_every_layer_of_an_overlay_is_followed_and_a_lost_one_makes_it_blind(
    tmp_path: Path,
) -> None:
    for name in ("one", "two:x", "a,b", "work"):
        (tmp_path / name).mkdir()
    below = Number.of(tmp_path.stat().st_dev)
    base = str(tmp_path)
    options = (
        rf"rw,lowerdir={base}/one:{base}/two\134:x::{base}/one,"
        rf"upperdir={base}/a\054b,workdir={base}/work,xino=off"
    )
    assert list(ground._folders(options)) == [
        f"{base}/one", f"{base}/two:x", f"{base}/one", f"{base}/a,b", f"{base}/work",
    ]  # fmt: skip
    table = mounts_of()
    found = ground.under_mount(mount("overlay", "overlay", options), table)
    assert below in found.numbers or below.major == 0
    assert not found.blind
    for lost in (f"lowerdir={base}/gone", "lowerdir=l/RELATIVE", "rw"):
        assert ground.under_mount(mount("overlay", "overlay", lost), table).blind


def test_an_overlay_on_itself_has_an_end() -> None:
    number = Number.of(Path("/proc/self").stat().st_dev)
    own = mount("overlay", "overlay", "lowerdir=/proc/self", number=str(number))
    assert ground.under_mount(own, (own,)) == Ground()


@pytest.fixture
def overlay(loops: Loops, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A loop device, and an overlay over a file system on it that is not mounted any more."""
    need("mkfs.ext4", "mount", "unshare")
    node = loops.new(size_bytes=64 * MIB)
    run("mkfs.ext4", "-q", str(node))
    base, merged = tmp_path / "base", tmp_path / "merged"
    base.mkdir()
    merged.mkdir()
    run("mount", str(node), str(base))
    try:
        for name in ("lower", "upper", "work"):
            (base / name).mkdir()
        layers = f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work"
        run("mount", "-t", "overlay", "-o", layers, "overlay", str(merged))
        try:
            yield node, merged
        finally:
            run("umount", str(merged))
    finally:
        run("umount", str(base))


def test_the_disk_under_an_overlay_is_neither_free_nor_written(
    overlay: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, merged = overlay
    number = Number.of(node.stat().st_rdev)
    (merged / "file").write_text("on the upper layer")
    table = mounts_of()
    assert number in ground.under_path(merged, table).numbers
    assert number in ground.under_path(merged / "file", table).numbers
    uses = {one.kernel_name: one.use for one in list_devices()}
    assert f"overlay at {merged}" in uses[node.name]
    with pytest.raises(UnsafeError, match=f"overlay at {merged}"):
        try_to_write(node)
    assert lies_on(Identity(kind="block", target=str(node)), merged), "nor is the run file there"
    monkeypatch.setattr(checks, "PROTECTED", (str(merged),))
    with pytest.raises(UnsafeError, match=f"protected: {merged} lies on it"):
        try_to_write(node)


def test_where_the_disks_of_the_root_cannot_be_told_no_disk_is_called_free(
    loop: Path, tmp_path: Path
) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    info = tmp_path / "proc" / "self" / "mountinfo"
    roots = Roots(sys=HOST.sys, proc=tmp_path / "proc", dev=HOST.dev)
    line = "1 0 0:31 / / rw - overlay overlay rw,lowerdir=/{},upperdir=/{}/u\n"
    info.write_text(line.format("nowhere", "nowhere"))
    uses = {one.kernel_name: one.use for one in list_devices(roots)}
    assert uses[loop.name] == "unknown: the disks under / cannot be told"
    info.write_text("1 0 0:2 / / rw - tmpfs tmpfs rw\n")
    assert {one.kernel_name: one.use for one in list_devices(roots)}[loop.name] == ""
