"""Where a drive hangs: bridges, ports, RAID; zones; told from made-up trees of sysfs."""

import struct
from pathlib import Path

import pytest

from teijo.device import checks, zones
from teijo.device.drive.place import place_of
from teijo.device.kernel import Number
from teijo.device.stack import Node
from tests.device.test_heads import fill
from tests.device.test_stack import Tree, subject

PCI = "devices/pci0000:00/0000:00:17.0"


def disk_at(root: Path, way: str, name: str = "sda", **files: str) -> Node:
    folder = fill(root / way / name, **files)
    (folder / "holders").mkdir(exist_ok=True)
    return Node(number=Number(8, 0), name=name, folder=folder)


def driver(root: Path, folder: Path, name: str) -> None:
    fill(root / "drivers" / name)
    (folder / "driver").symlink_to(root / "drivers" / name)


def test_a_usb_bridge_is_named_with_its_driver_and_speed(tmp_path: Path) -> None:
    usb = fill(
        tmp_path / PCI / "usb2/2-1",
        idVendor="152d",
        idProduct="0578",
        manufacturer="JMicron\x1b[2J",
        product="JMS578",
        speed="5000",
    )
    fill(usb / "2-1:1.0")
    driver(tmp_path, usb / "2-1:1.0", "uas")
    bridge = place_of(disk_at(usb, "2-1:1.0/host4/target4:0:0/4:0:0:0/block")).bridge
    assert bridge is not None
    assert (bridge.vendor_id, bridge.product_id, bridge.product) == ("152d", "0578", "JMS578")
    assert bridge.maker == "JMicron\\x1b[2J"
    assert (bridge.driver, bridge.speed_mbit) == ("uas", "5000")


def test_the_hosts_end_of_a_sata_link(tmp_path: Path) -> None:
    fill(
        tmp_path / PCI / "ata3/link3/ata_link/link3",
        sata_spd="3.0 Gbps",
        hw_sata_spd_limit="6.0 Gbps",
    )
    port = place_of(disk_at(tmp_path, f"{PCI}/ata3/host2/target2:0:0/2:0:0:0/block")).port
    assert port is not None
    assert (port.kind, port.speed_now, port.speed_possible) == ("SATA", "3.0 Gb/s", "6.0 Gb/s")


def test_the_adapters_end_of_a_sas_link(tmp_path: Path) -> None:
    fill(
        tmp_path / PCI / "host6/port-6:0/phy-6:0/sas_phy/phy-6:0",
        negotiated_linkrate="6.0 Gbit",
        maximum_linkrate="12.0 Gbit",
    )
    way = f"{PCI}/host6/port-6:0/end_device-6:0/target6:0:0/6:0:0:0/block"
    port = place_of(disk_at(tmp_path, way)).port
    assert port is not None
    assert (port.kind, port.speed_now, port.speed_possible) == ("SAS", "6.0 Gb/s", "12.0 Gb/s")


@pytest.mark.parametrize(
    ("name", "pci_class", "level", "hidden", "told"),
    [
        ("ahci", "0x010601", "", "no", "ahci makes no volumes"),
        ("megaraid_sas", "0x010700", "", "unknown", "does not say what this is"),
        ("mpt3sas", "0x010700", "", "no", "makes no volumes"),
        ("other", "0x010400", "", "unknown", "does not say"),
        ("smartpqi", "0x010700", "RAID 5", "volume", "smartpqi says RAID 5"),
        ("smartpqi", "0x010700", "N/A", "drive", "no RAID level"),
    ],
)
def test_whether_raid_hides_a_drive_is_told_or_unknown(
    tmp_path: Path, name: str, pci_class: str, level: str, hidden: str, told: str
) -> None:
    pci = fill(tmp_path / PCI, **{"class": pci_class})
    driver(tmp_path, pci, name)
    disk = disk_at(tmp_path, f"{PCI}/host2/target2:0:0/2:0:0:0/block")
    if level:
        fill(disk.folder / "device", raid_level=level)
    raid = place_of(disk).raid
    assert raid.hidden == hidden
    assert told in raid.told_by


def test_nvme_drives_that_an_adapter_hides_are_counted(tmp_path: Path) -> None:
    driver(tmp_path, fill(tmp_path / PCI, remapped_nvme="2"), "ahci")
    disk = disk_at(tmp_path, f"{PCI}/ata1/host2/target2:0:0/2:0:0:0/block")
    assert place_of(disk).raid.told_by == "2 NVMe drives are hidden behind ahci"


def test_a_member_of_an_array_of_this_host_is_one(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    lower, upper = tree.disk("sda", "8:0"), tree.disk("md127", "9:127")
    tree.hold(lower, upper)
    assert place_of(tree.node(lower)).raid.hidden == "member"
    assert place_of(tree.node(upper)).raid.hidden == "volume"


def block_characteristics(zoned: int) -> bytes:
    return struct.pack(">BBHHBBB", 0, 0xB1, 60, 1, 0, 3, zoned << 4).ljust(64, b"\0")


@pytest.mark.parametrize(
    ("told", "page", "kind", "verdict"),
    [
        ("none", 0, "none", "ok"),
        ("none", 2, "none", "ok"),
        ("none", 1, "host-aware", "refused"),
        ("host-managed", 0, "host-managed", "refused"),
        ("host-aware", 0, "host-aware", "refused"),
        ("", 0, "", "unknown"),
        ("sideways", 0, "", "unknown"),
    ],
)
def test_a_disk_of_zones_is_not_written(
    tmp_path: Path, told: str, page: int, kind: str, verdict: str
) -> None:
    tree = Tree(tmp_path)
    disk = tree.disk("sda", "8:0", **({"queue__zoned": told} if told else {}))
    (disk / "device").mkdir(exist_ok=True)
    (disk / "device" / "vpd_pgb1").write_bytes(block_characteristics(page))
    assert zones.zoned(tree.node(disk)) == kind
    first = tree.part(disk, 1, "8:1")
    for folder in (disk, first):
        answer = checks.ask("zones", subject(tree, folder))
        assert answer.verdict == verdict
        assert ("until somebody writes zones" in answer.remedy) == (verdict == "refused")


def test_a_host_managed_disk_is_one_by_its_type_too(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    disk = tree.disk("sda", "8:0", queue__zoned="none", device__type="20")
    assert zones.zoned(tree.node(disk)) == "host-managed"
