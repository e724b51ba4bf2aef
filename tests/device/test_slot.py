"""The slot of a drive by made-up trees of sysfs: an enclosure's bay, a PCI slot, udev's path."""

from pathlib import Path

import pytest

from teijo.device import heads
from teijo.device.drive.slot import slot_of
from teijo.device.kernel import Number, Roots
from teijo.device.stack import Node
from tests.device.test_heads import fill
from tests.device.test_platform import SATA, nvme


def told(root: Path, disk: Path) -> str:
    node = Node(number=Number(8, 0), name=disk.name, folder=disk)
    return slot_of(node, heads.carrier(disk), Roots(sys=root, dev=root / "dev"))


def sata(root: Path, name: str = "sda") -> Path:
    """Return a disk at a SATA port, as sysfs has it."""
    device = root / SATA / "ata3/host2/target2:0:0/2:0:0:0"
    disk = fill(device / "block" / name, dev="8:0")
    (disk / "device").symlink_to(device)
    return disk


def in_bay(root: Path, disk: Path, component: str, **told: str) -> None:
    """Let an enclosure say that a disk is one of its components."""
    place = fill(root / "devices/enclosure/0:0:9:0" / component, **told)
    (disk.resolve().parent.parent / f"enclosure_device:{component}").symlink_to(place)


def named_by_path(root: Path, name: str, disk: str) -> None:
    folder = root / "dev/disk/by-path"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(f"../../{disk}")


def test_an_enclosure_tells_the_bay_by_its_number(tmp_path: Path) -> None:
    disk = sata(tmp_path)
    in_bay(tmp_path, disk, "Slot 07", slot="6")
    named_by_path(tmp_path, "pci-0000:00:17.0-ata-3", "sda")
    assert told(tmp_path, disk) == "bay 6"


def test_a_bay_without_a_number_goes_by_its_name(tmp_path: Path) -> None:
    disk = sata(tmp_path)
    in_bay(tmp_path, disk, "ArrayDevice03", slot="-1")
    assert told(tmp_path, disk) == "bay ArrayDevice03"


def test_an_nvme_drive_sits_in_the_slot_of_its_own_function(tmp_path: Path) -> None:
    disk = nvme(tmp_path).disk
    fill(tmp_path / "bus/pci/slots/4", address="0000:00:01")  # of the port above it
    fill(tmp_path / "bus/pci/slots/12", address="0000:01:00")
    assert told(tmp_path, disk) == "PCI slot 12"


def test_the_slot_of_an_adapter_is_not_that_of_the_drives_behind_it(tmp_path: Path) -> None:
    disk = sata(tmp_path)
    fill(tmp_path / "bus/pci/slots/3", address="0000:00:17")
    assert told(tmp_path, disk) == ""


def test_without_a_slot_the_path_of_udev_counts(tmp_path: Path) -> None:
    disk = sata(tmp_path)
    named_by_path(tmp_path, "pci-0000:00:17.0-ata-1", "sdb")
    assert told(tmp_path, disk) == ""
    named_by_path(tmp_path, "pci-0000:00:17.0-ata-3", "sda")
    named_by_path(tmp_path, "pci-0000:00:17.0-ata-3.0", "sda")
    assert told(tmp_path, disk) == "pci-0000:00:17.0-ata-3"


@pytest.mark.parametrize("hostile", ["\x1b[31m", "<b>", "x" * 300])
def test_a_name_that_has_not_the_form_of_one_is_left_out(hostile: str, tmp_path: Path) -> None:
    disk = sata(tmp_path)
    if len(hostile) < 200:
        in_bay(tmp_path, disk, hostile, slot=hostile)
        named_by_path(tmp_path, hostile, "sda")
    else:
        in_bay(tmp_path, disk, "y" * 100, slot=hostile)
    assert told(tmp_path, disk) == ""
