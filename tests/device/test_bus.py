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


def chain(root: Path, *rates: tuple[str, int, str, int]) -> Path:
    """Make PCI functions within each other, the highest first: speed and width, now and most."""
    folder = root / "devices/pci0000:00"
    for place, (speed, width, most, widest) in enumerate(rates):
        folder = folder / f"0000:0{place}:00.0"
        folder.mkdir(parents=True)
        (folder / "current_link_speed").write_text(f"{speed} GT/s PCIe\n")
        (folder / "current_link_width").write_text(f"{width}\n")
        (folder / "max_link_speed").write_text(f"{most} GT/s PCIe\n")
        (folder / "max_link_width").write_text(f"{widest}\n")
    return folder / "nvme/nvme0/nvme0n1"


@pytest.mark.parametrize(
    ("port", "drive", "possible", "degraded"),
    [
        (("8.0", 4, "8.0", 16), ("8.0", 4, "16.0", 4), "8.0 GT/s PCIe x4", False),
        (("8.0", 4, "16.0", 16), ("8.0", 4, "16.0", 4), "16.0 GT/s PCIe x4", True),
        (("16.0", 2, "16.0", 4), ("16.0", 2, "16.0", 4), "16.0 GT/s PCIe x4", True),
        (("16.0", 2, "16.0", 2), ("16.0", 2, "16.0", 4), "16.0 GT/s PCIe x2", False),
        (("2.5", 4, "32.0", 4), ("2.5", 4, "8.0", 4), "8.0 GT/s PCIe x4", True),
    ],
)
def test_a_link_is_degraded_below_what_both_its_ends_can(
    tmp_path: Path,
    port: tuple[str, int, str, int],
    drive: tuple[str, int, str, int],
    possible: str,
    degraded: bool,
) -> None:
    (link,) = bus.links(chain(tmp_path, port, drive))
    assert (str(link.possible), link.is_degraded) == (possible, degraded)


def test_every_link_on_the_way_is_held_against_its_own_ends(tmp_path: Path) -> None:
    good, bad = ("16.0", 4, "16.0", 4), ("16.0", 1, "16.0", 16)
    # A root port, the two ends of a switch, the drive: the switch's own link has lost lanes.
    links = bus.links(chain(tmp_path, bad, bad, good, good))
    assert [(link.address, link.is_degraded) for link in links] == [
        ("0000:03:00.0", False),
        ("0000:01:00.0", True),
    ]


def test_a_function_that_has_no_link_is_none(tmp_path: Path) -> None:
    folder = chain(tmp_path, ("2.5", 0, "2.5", 255), ("2.5", 255, "2.5", 255))
    assert bus.links(folder) == ()
    assert bus.link(folder) == ""


def test_errors_of_a_link_are_its_totals(tmp_path: Path) -> None:
    folder = chain(tmp_path, ("8.0", 4, "8.0", 4))
    pci = bus.function(folder)
    assert pci is not None
    (pci / "aer_dev_correctable").write_text("RxErr 4\nBadTLP 3\nTOTAL_ERR_COR 7\n")
    (pci / "aer_dev_fatal").write_text("TOTAL_ERR_FATAL \x1b[2J\n")
    (link,) = bus.links(folder)
    assert link.errors == {"correctable": 7}


def test_a_drive_behind_a_volume_management_device_has_a_longer_domain(tmp_path: Path) -> None:
    folder = tmp_path / "0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0/nvme/nvme0/nvme0n1"
    found = bus.function(folder)
    assert found is not None
    assert found.name == "10000:e1:00.0"
