"""What stands on what, told from a made-up sysfs: disks, partitions, dm, md, other paths."""

from pathlib import Path

import pytest

from teijo.device import checks, stack
from teijo.device.checks import Subject
from teijo.device.identify import Identification, _namespace, describe
from teijo.device.kernel import Number, Roots
from teijo.terms.geometry import Geometry, Identity


class Tree:
    """Builds /sys as the kernel lays it out: real folders under devices, links elsewhere."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(sys=root / "sys", proc=root / "proc", dev=root / "dev")
        for folder in ("sys/block", "sys/dev/block", "proc", "dev"):
            (root / folder).mkdir(parents=True)

    def disk(self, name: str, number: str, **attributes: str) -> Path:
        folder = self.roots.sys / "devices" / "pci0" / name
        self._fill(folder, number, attributes)
        (self.roots.sys / "block" / name).symlink_to(folder)
        return folder

    def part(self, disk: Path, index: int, number: str) -> Path:
        folder = disk / f"{disk.name}{index}"
        self._fill(folder, number, {"partition": str(index)})
        return folder

    def hold(self, lower: Path, upper: Path) -> None:
        (lower / "holders" / upper.name).symlink_to(upper)
        (upper / "slaves" / lower.name).symlink_to(lower)

    def node(self, folder: Path) -> stack.Node:
        return stack.node_of(Number.parse((folder / "dev").read_text()), self.roots)

    def _fill(self, folder: Path, number: str, attributes: dict[str, str]) -> None:
        for name in ("holders", "slaves"):
            (folder / name).mkdir(parents=True)
        for name, text in (attributes | {"dev": number}).items():
            path = folder / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        (self.roots.sys / "dev" / "block" / number).symlink_to(folder)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def subject(tree: Tree, folder: Path) -> Subject:
    """A subject whose descriptor is not looked at."""
    node = tree.node(folder)
    found = Identification(
        identity=Identity(kind="block", target="x"),
        geometry=Geometry(capacity_bytes=1, nominal_capacity_bytes=1),
        number=node.number,
        node=node,
        disk_sequence=1,
        own_serial="S1",
    )
    return Subject(fd=-1, target="x", found=found, roots=tree.roots)


def names(nodes: tuple[stack.Node, ...]) -> list[str]:
    return [node.name for node in nodes]


def test_a_partition_reaches_its_disk_and_all_its_siblings(tree: Tree) -> None:
    disk = tree.disk("sda", "8:0")
    first = tree.part(disk, 1, "8:1")
    tree.part(disk, 2, "8:2")
    for folder in (disk, first):
        assert names(stack.reach(tree.node(folder), tree.roots)) == ["sda", "sda1", "sda2"]
    assert stack.whole_disk(tree.node(first), tree.roots).name == "sda"


def test_a_holder_of_a_sibling_partition_is_a_refusal_up_to_the_top(tree: Tree) -> None:
    disk = tree.disk("sda", "8:0")
    first, second = tree.part(disk, 1, "8:1"), tree.part(disk, 2, "8:2")
    raid, crypt = tree.disk("md0", "9:0"), tree.disk("dm-0", "253:0")
    tree.hold(second, raid)
    tree.hold(raid, crypt)
    answer = checks.ask("stack", subject(tree, first))
    assert answer.verdict == "refused"
    assert answer.evidence == "md0 is built on sda2; dm-0 is built on md0"


def test_what_stands_below_a_disk_is_found_to_the_bottom(tree: Tree) -> None:
    disk = tree.disk("sda", "8:0")
    part = tree.part(disk, 3, "8:3")
    volume = tree.disk("dm-1", "253:1")
    tree.hold(part, volume)
    numbers = {str(number) for number in stack.below(Number(253, 1), tree.roots)}
    assert numbers == {"253:1", "8:3", "8:0"}


def test_another_path_to_the_same_medium_is_a_refusal(tree: Tree) -> None:
    disk = tree.disk("sda", "8:0", device__wwid="naa.5000c500", device__model="X")
    tree.disk("sdb", "8:16", device__wwid="naa.5000c500", device__model="X")
    tree.disk("sdc", "8:32", device__wwid="naa.5000c5ff", device__model="X")
    answer = checks.ask("aliases", subject(tree, disk))
    assert answer.verdict == "refused"
    assert answer.evidence == "sdb has the same identity"


def test_two_disks_of_one_serial_and_model_are_not_told_apart(tree: Tree) -> None:
    disk = tree.disk("nvme0n1", "259:0", device__serial="S1", device__model="X")
    tree.disk("nvme1n1", "259:1", device__serial="S1", device__model="X")
    assert checks.ask("aliases", subject(tree, disk)).verdict == "refused"


def test_two_namespaces_of_one_drive_are_told_apart_by_their_wwid(tree: Tree) -> None:
    common = {"device__serial": "S1", "device__model": "X"}
    disk = tree.disk("nvme0n1", "259:0", wwid="eui.01", nsid="1", **common)
    other = tree.disk("nvme0n2", "259:1", wwid="eui.02", nsid="2", **common)
    assert checks.ask("aliases", subject(tree, disk)).verdict == "ok"
    assert _namespace(tree.node(disk), "S1", tree.roots) == "-ns1"
    assert _namespace(tree.node(other), "S1", tree.roots) == "-ns2"


def test_a_drive_with_one_namespace_has_its_plain_serial(tree: Tree) -> None:
    disk = tree.disk("nvme0n1", "259:0", nsid="1", device__serial="S1")
    assert _namespace(tree.node(disk), "S1", tree.roots) == ""


def test_a_disk_without_any_identity_makes_the_check_blind_not_ok(tree: Tree) -> None:
    disk = tree.disk("vdb", "254:16")
    assert checks.ask("aliases", subject(tree, disk)).verdict == "unknown"


def test_a_loop_whose_file_cannot_be_told_is_a_refusal_for_every_device(tree: Tree) -> None:
    disk = tree.disk("sda", "8:0")
    tree.disk("loop7", "7:7", loop__backing_file="/gone (deleted)")
    answer = checks.ask("stack", subject(tree, disk))
    assert answer.verdict == "refused"
    assert "loop7" in answer.evidence


def test_a_loop_without_a_node_is_told_by_its_path(tree: Tree, tmp_path: Path) -> None:
    disk = tree.disk("sda", "8:0")
    other = tmp_path / "file"
    other.write_text("")
    tree.disk("loop7", "7:7", loop__backing_file=str(other))
    (loop,) = stack.loops(tree.roots)
    assert loop.backing is not None
    assert loop.backing.inode == other.stat().st_ino
    assert checks.ask("stack", subject(tree, disk)).verdict == "ok"


def test_model_serial_and_wwid_are_read_where_each_bus_keeps_them(tree: Tree) -> None:
    nvme = tree.disk(
        "nvme0n1", "259:0", device__serial="S 1 ", device__model="Drive  ", wwid="eui.01"
    )
    scsi = tree.disk("sda", "8:0", device__vendor="ATA", device__model="Disk")
    (scsi / "device" / "vpd_pg80").write_bytes(b"\x00\x80\x00\x08  WD-77\x00")
    assert describe(tree.node(nvme)) == ("Drive", "S 1", "eui.01")
    assert describe(tree.node(scsi)) == ("Disk", "WD-77", "")
