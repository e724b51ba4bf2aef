"""Multipath heads of NVMe: interface, address and link as for the single controller (B11)."""

from pathlib import Path

import pytest

from teijo.device import heads
from teijo.device.drive.place import place_of
from teijo.device.identify import _facts, _interface
from teijo.device.kernel import Number
from teijo.device.stack import Node

RATES = {
    "current_link_speed": "8.0 GT/s PCIe\n",
    "current_link_width": "4\n",
    "max_link_speed": "8.0 GT/s PCIe\n",
    "max_link_width": "4\n",
}


def fill(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def controller(root: Path, number: int, *, state: str = "live", ana: str = "optimized") -> Path:
    """Make a port, a PCI device, a controller and its hidden path to namespace 1."""
    port = fill(root / f"devices/pci0000:00/0000:00:0{number}.0", **RATES)
    pci = fill(port / f"0000:0{number}:00.0", **RATES, vendor="0x144d", device="0xa808")
    one = fill(
        pci / f"nvme/nvme{number}",
        transport="pcie",
        address=f"0000:0{number}:00.0",
        state=state,
        cntlid=str(number),
    )
    fill(one / f"nvme0c{number}n1", ana_state=ana)
    return one


def head(root: Path, *controllers: Path) -> Node:
    subsystem = fill(root / "devices/virtual/nvme-subsystem/nvme-subsys0", subsysnqn="nqn.x")
    for each in controllers:
        (subsystem / each.name).symlink_to(each)
    folder = fill(subsystem / "nvme0n1", dev="259:0", nsid="1")
    return Node(number=Number(259, 0), name="nvme0n1", folder=folder)


def shown(disk: Node) -> dict[str, str]:
    told = _facts(disk, own=True)
    return {name: told.get(name, "") for name in ("address", "link", "link possible", "HBA")} | {
        "interface": _interface(disk)
    }


def test_a_head_shows_what_its_single_controller_would(tmp_path: Path) -> None:
    one = controller(tmp_path, 1)
    single = fill(one / "nvme1n1", dev="259:1")
    plain = Node(number=Number(259, 1), name="nvme1n1", folder=single)
    assert shown(head(tmp_path, one)) == shown(plain)
    assert shown(plain) == {
        "interface": "NVMe pcie",
        "address": "0000:01:00.0",
        "link": "8.0 GT/s PCIe x4 (at most 8.0 GT/s PCIe x4)",
        "link possible": "8.0 GT/s PCIe x4",
        "HBA": "none, NVMe on PCIe 0000:01:00.0 144d:a808",
    }


def test_of_several_paths_the_one_that_i_o_takes_comes_first(tmp_path: Path) -> None:
    paths = (
        controller(tmp_path, 1, state="connecting"),
        controller(tmp_path, 2, ana="non-optimized"),
        controller(tmp_path, 3),
    )
    disk = head(tmp_path, *paths)
    found = heads.controllers(disk.folder)
    assert [one.name for one in found] == ["nvme3", "nvme2", "nvme1"]
    assert found[0].controller_id == 3
    assert _facts(disk, own=True)["address"] == "0000:03:00.0"
    assert _facts(disk, own=True)["paths"] == (
        "nvme3 pcie 0000:03:00.0 live optimized; nvme2 pcie 0000:02:00.0 live non-optimized; "
        "nvme1 pcie 0000:01:00.0 connecting optimized"
    )
    assert [link.address for link in place_of(disk).links] == ["0000:03:00.0"]


def test_a_controller_without_a_path_to_the_namespace_comes_last(tmp_path: Path) -> None:
    first, second = controller(tmp_path, 1), controller(tmp_path, 2, ana="non-optimized")
    (first / "nvme0c1n1" / "ana_state").unlink()
    (first / "nvme0c1n1").rmdir()
    found = heads.controllers(head(tmp_path, first, second).folder)
    assert [(one.name, one.carries) for one in found] == [("nvme2", True), ("nvme1", False)]


@pytest.mark.parametrize("way", ["devices/virtual/block/loop0", "devices/pci0/host0/block/sda"])
def test_another_disk_has_no_controllers_and_hangs_where_it_is(way: str, tmp_path: Path) -> None:
    folder = tmp_path / way
    assert heads.controllers(folder) == ()
    assert heads.carrier(folder) == folder


def test_a_head_whose_paths_are_gone_still_has_a_place(tmp_path: Path) -> None:
    disk = head(tmp_path)
    assert heads.carrier(disk.folder) == disk.folder
    assert _interface(disk) == "NVMe"
    assert place_of(disk).links == ()
