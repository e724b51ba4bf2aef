"""What drives share, by made-up trees of sysfs: a PCIe switch, an HBA, a loop, files, a map."""

import os
from pathlib import Path

import pytest

from teijo.device import topology
from teijo.device.kernel import Backing, Number, Roots
from teijo.device.stack import Loop, node_of
from teijo.device.target import BlockTarget, CompositeTarget, FileTarget, parse_target
from teijo.device.topology import way_of
from teijo.terms.topology import Part, Sharers, Way, groups_of, unknown_of
from tests.device.test_heads import fill

FAST = {"current_link_speed": "16.0 GT/s PCIe", "current_link_width": "4"}
WIDE = {"current_link_speed": "8.0 GT/s PCIe", "current_link_width": "8"}


class Host:
    """A made-up host: devices are added to its sysfs, and looked at by their numbers."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.numbers: dict[str, Number] = {}
        self.loops: list[Loop] = []
        fill(root / "proc/self", mountinfo="20 1 8:1 / / rw - ext4 /dev/sda1 rw")
        (root / "block").mkdir()
        monkeypatch.setattr(topology.stack, "loops", lambda roots: tuple(self.loops))

    @property
    def roots(self) -> Roots:
        return Roots(sys=self.root, proc=self.root / "proc", dev=self.root / "dev")

    def disk(self, place: str, number: str) -> Path:
        """Make a disk at a place below devices/, and its number."""
        folder = fill(self.root / "devices" / place, dev=number)
        fill(folder / "holders")
        link = self.root / "dev/block" / number
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
        self.numbers[folder.name] = Number.parse(number)
        return folder

    def way(self, name: str) -> Way:
        """Return the way to a disk, without its node in /dev."""
        seen = topology._Seen(self.roots)
        topology._add_block(self.numbers[name], seen)
        return Way(parts=tuple(seen.parts.values()), unknown=tuple(sorted(seen.unknown)))

    def groups(self, *names: str) -> dict[tuple[str, ...], Sharers]:
        ways = {name: self.way(name) for name in names}
        return {group.drives: group for group in groups_of("here", ways)}


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def named(group: Sharers) -> list[str]:
    return [f"{part.kind} {part.name}" for part in group.parts]


def test_four_nvme_drives_behind_a_switch_share_its_upper_link_and_no_other(host: Host) -> None:
    root = "pci0000:00/0000:00:01.0"
    upper = f"{root}/0000:01:00.0"
    fill(host.root / "devices" / root, **WIDE)
    fill(host.root / "devices" / upper, **WIDE)
    for place in range(4):
        port = f"{upper}/0000:02:0{place}.0"
        drive = f"{port}/0000:0{place + 3}:00.0"
        fill(host.root / "devices" / port, **FAST)
        pci = fill(host.root / "devices" / drive, numa_node="0", **FAST)
        fill(pci / "msi_irqs", **{str(40 + place): "msix"})
        fill(host.root / f"proc/irq/{40 + place}", effective_affinity_list=f"{place % 2},2")
        host.disk(f"{drive}/nvme/nvme{place}/nvme{place}n1", f"259:{place}")
    other = "pci0000:40/0000:40:01.0"
    fill(host.root / "devices" / f"{other}/0000:41:00.0", numa_node="1", **FAST)
    host.disk(f"{other}/0000:41:00.0/nvme/nvme9/nvme9n1", "259:9")
    names = tuple(f"nvme{place}n1" for place in range(4))
    groups = host.groups(*names, "nvme9n1")
    assert set(groups) == {names}
    behind = groups[names]
    assert named(behind)[:4] == [
        "PCIe bridge 0000:01:00.0", "PCIe bridge 0000:00:01.0", "PCIe root pci0000:00",
        "NUMA node 0",
    ]  # fmt: skip
    # Processors 0 and 1 serve two of them each, 2 all.
    assert sorted(named(behind)[4:]) == ["interrupts 0", "interrupts 1", "interrupts 2"]
    assert behind.narrowest is not None
    assert (behind.narrowest.name, behind.narrowest.link) == ("0000:01:00.0", "8.0 GT/s x8")
    assert behind.narrowest.usable == pytest.approx(7.2e9, rel=0.001)
    # A drive's own function is no adapter that others could hang on.
    assert "adapter" not in {part.kind for part in host.way("nvme0n1").parts}


def hba(host: Host, drives: int) -> tuple[str, ...]:
    port = "pci0000:16/0000:16:02.0"
    fill(host.root / "devices" / port, **WIDE)
    pci = fill(
        host.root / "devices" / f"{port}/0000:17:00.0",
        vendor="0x1000", device="0x0097", numa_node="-1", **WIDE,
    )  # fmt: skip
    fill(host.root / "class/scsi_host/host0", proc_name="mpt3sas", version_product="SAS3008")
    names = []
    for place in range(drives):
        sd = f"sd{chr(ord('a') + place)}"
        way = f"host0/port-0:{place}/end_device-0:{place}/target0:0:{place}/0:0:{place}:0/block"
        disk = host.disk(f"{pci.relative_to(host.root / 'devices')}/{way}/{sd}", f"8:{place * 16}")
        names.append(disk.name)
    return tuple(names)


def test_eight_drives_of_an_hba_share_it_and_its_link(host: Host) -> None:
    names = hba(host, 8)
    (group,) = host.groups(*names).values()
    assert group.drives == names
    assert named(group) == [
        "SCSI host host0", "adapter 0000:17:00.0", "PCIe bridge 0000:16:02.0",
        "PCIe root pci0000:16",
    ]  # fmt: skip
    assert group.parts[0].detail == "SAS3008"
    assert "1000:0097" in group.parts[1].detail
    assert group.parts[1].usable == pytest.approx(7.2e9, rel=0.001)
    # A node of −1 is none that is told, and no interrupt is.
    ways = {name: host.way(name) for name in names}
    assert unknown_of(ways) == {"NUMA node": names, "interrupts": names}


def test_a_loop_is_on_the_disk_of_its_file_and_a_map_on_that_of_its_slave(
    host: Host, tmp_path: Path
) -> None:
    (sda,) = hba(host, 1)
    part = fill(host.root / "dev/block/8:0" / "sda1", dev="8:1", partition="1")
    (host.root / "dev/block/8:1").symlink_to(part)
    loop = host.disk("virtual/block/loop0", "7:0")
    backing = Backing(file_device=Number(8, 1), inode=5, block_device=None, name="/x.img")
    gone = str(tmp_path / "x.img (deleted)")
    host.loops.append(Loop(node=node_of(Number(7, 0), host.roots), path=gone, backing=backing))
    mapped = host.disk("virtual/block/dm-0", "253:0")
    fill(mapped / "dm", name="data")
    fill(mapped / "slaves")
    (mapped / "slaves/sda").symlink_to(host.root / "dev/block/8:0")
    groups = host.groups(sda, loop.name, mapped.name)
    assert named(groups[sda, "loop0", "dm-0"])[0] == "disk sda"
    assert [part.kind for part in host.way("loop0").parts if part.detail == "ext4 at /"] == [
        "file system"
    ]
    assert Part(kind="array", name="dm-0", detail="data") in host.way("dm-0").parts
    host.loops[0] = Loop(node=host.loops[0].node, path="", backing=None)
    assert "disk" in host.way("loop0").unknown


def test_files_of_one_file_system_share_it_and_the_host(tmp_path: Path) -> None:
    places = [tmp_path / "a.img", tmp_path / "b.img"]
    places[0].write_bytes(b"x")  # of the other, its folder is looked at
    ways = {each.name: way_of(FileTarget(text=str(each), path=each)) for each in places}
    (group,) = groups_of("here", ways)
    number = places[0].stat().st_dev
    shared = {part.kind: part for part in group.parts}
    assert shared["file system"].name == f"{os.major(number)}:{os.minor(number)}"
    assert shared["host"].detail == str(len(os.sched_getaffinity(0)))


def test_of_what_is_no_disk_nothing_is_told_and_simulated_drives_share_nothing() -> None:
    parts = (FileTarget(text="a", path=Path("a")), FileTarget(text="b", path=Path("b")))
    several = CompositeTarget(text="concat:a,b", kind="concatenated", members=parts)
    gone = BlockTarget(text="/none/x", path=Path("/none/x"))
    for target in (several, gone):
        found = way_of(target)
        assert [part.kind for part in found.parts] == ["host"]
        assert set(found.unknown) == {"disk", "PCIe bridge", "NUMA node", "interrupts"}
    simulated = {name: way_of(parse_target("sim:mlc-a")) for name in "ab"}
    assert groups_of("here", simulated) == ()


@pytest.mark.parametrize("hostile", ["\x1b[31m", "<b>" * 200, "x\ny", ""])
def test_names_of_a_device_are_shown_and_never_obeyed(host: Host, hostile: str) -> None:
    (sda,) = hba(host, 1)
    (host.root / "class/scsi_host/host0/version_product").write_text(hostile)
    (host.root / "devices/pci0000:16/0000:16:02.0/0000:17:00.0/numa_node").write_text(hostile)
    for part in host.way(sda).parts:
        for text in (part.name, part.detail, part.link):
            assert text.isprintable()
            assert len(text) <= 200
