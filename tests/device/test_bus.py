"""What a disk hangs on, read from a tree of buses; what no kernel writes is not told."""

from pathlib import Path

import pytest

from teijo.device import bus

NUMBERS = {"vendor": "0x8086\n", "device": "0xa282\n"}
LINK = {
    "current_link_speed": "8.0 GT/s PCIe\n",
    "current_link_width": "4\n",
    "max_link_speed": "16.0 GT/s PCIe\n",
    "max_link_width": "4\n",
}


def tree(root: Path, below: str, files: dict[str, str], driver: str = "") -> Path:
    """Make a PCI device with these files and a disk below it; return the disk's folder."""
    device = root / "devices/pci0000:00/0000:00:17.0"
    disk = device / below
    disk.mkdir(parents=True)
    for name, text in files.items():
        (device / name).write_text(text)
    if driver:
        (root / "drivers" / driver).mkdir(parents=True)
        (device / "driver").symlink_to(root / "drivers" / driver)
    return disk


def test_a_disk_behind_an_adapter_names_driver_numbers_and_place(tmp_path: Path) -> None:
    disk = tree(tmp_path, "ata3/host2/target2:0:0/2:0:0:0/block/sda", NUMBERS, "ahci")
    assert bus.adapter(disk) == "ahci 8086:a282 at PCI 0000:00:17.0"


def test_an_nvme_drive_has_no_adapter_but_its_own_controller(tmp_path: Path) -> None:
    disk = tree(tmp_path, "nvme/nvme0/nvme0n1", NUMBERS | LINK, "nvme")
    assert bus.adapter(disk) == "none, NVMe on PCIe 0000:00:17.0 8086:a282"
    assert bus.link(disk) == "8.0 GT/s PCIe x4 (at most 16.0 GT/s PCIe x4)"


def test_a_disk_of_no_bus_has_neither(tmp_path: Path) -> None:
    disk = tmp_path / "devices/virtual/block/loop7"
    disk.mkdir(parents=True)
    assert (bus.adapter(disk), bus.link(disk)) == ("", "")


@pytest.mark.parametrize("hostile", ["\x1b[31m", "0x8086\n=cmd()", "x" * 5000, "<b>0x8086</b>", ""])
def test_what_has_not_the_form_of_the_kernel_is_left_out(hostile: str, tmp_path: Path) -> None:
    files = dict.fromkeys((*NUMBERS, *LINK), hostile)
    disk = tree(tmp_path, "ata3/host2/block/sda", files, "bad driver\x1b[2J")
    assert bus.adapter(disk) == "unknown driver at PCI 0000:00:17.0"
    assert bus.link(disk) == ""


def test_a_link_without_its_best_is_told_as_it_runs(tmp_path: Path) -> None:
    files = LINK | {"max_link_speed": "Unknown\n"}
    assert bus.link(tree(tmp_path, "nvme/nvme0/nvme0n1", files)) == "8.0 GT/s PCIe x4"
