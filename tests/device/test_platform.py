"""What lies between a host and a drive, by made-up trees of sysfs; bandwidths by known answers."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo.device import platform
from teijo.device.kernel import Number, Roots
from teijo.device.platform import (
    FACTS,
    UNKNOWN,
    device_facts,
    pcie_bytes_per_second,
    serial_bytes_per_second,
)
from teijo.device.stack import Node
from teijo.device.target import BlockTarget, CompositeTarget, FileTarget, parse_target
from tests.device.test_heads import fill

NVME = "devices/pci0000:00/0000:00:01.0/0000:01:00.0"
SATA = "devices/pci0000:00/0000:00:17.0"


@dataclass
class Host:
    """A made-up host, with one disk that every target is on."""

    root: Path
    disk: Path

    def told(self, monkeypatch: pytest.MonkeyPatch) -> "tuple[dict[str, str], object]":
        roots = Roots(sys=self.root, proc=self.root / "proc", dev=self.root / "dev")
        node = Node(number=Number(8, 0), name=self.disk.name, folder=self.disk)
        monkeypatch.setattr(platform, "_disk", lambda target, roots: node)
        target = BlockTarget(text="/dev/x", path=Path("/dev/x"))
        return device_facts(target, roots)


def nvme(root: Path, *, speed: str = "16.0 GT/s PCIe", own: str = "16.0 GT/s PCIe") -> Host:
    both = {"current_link_width": "4", "max_link_width": "4", "current_link_speed": speed}
    fill(root / NVME.rpartition("/")[0], max_link_speed=speed, **both)
    pci = fill(
        root / NVME,
        vendor="0x144d",
        device="0xa80a",
        max_link_speed=own,
        numa_node="1",
        **both,
    )
    for vector, cpus in ((40, "0"), (41, "1-2")):
        fill(pci / "msi_irqs", **{str(vector): "msix"})
        fill(root / f"proc/irq/{vector}", effective_affinity_list=cpus)
    disk = fill(pci / "nvme/nvme0/nvme0n1", dev="259:0")
    fill(disk / "holders")
    fill(
        disk / "queue",
        scheduler="[none] mq-deadline",
        nr_requests="1023",
        nomerges="0",
        rq_affinity="1",
        io_poll="0",
        max_sectors_kb="128",
    )
    for queue, cpus in ((0, "0, 1"), (1, "2")):
        fill(disk / f"mq/{queue}", cpu_list=cpus)
    return Host(root=root, disk=disk)


def test_an_nvme_drive_has_its_link_its_interrupts_its_queues_and_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, link = nvme(tmp_path).told(monkeypatch)
    assert facts == {
        "link to the device": "PCIe 16.0 GT/s x4 (the drive: 16.0 GT/s x4), "
        "7,877 MB/s raw, about 7,202 MB/s usable",
        "interrupts": "vectors: 2, on processors 0-2",
        "hardware queues": "2, at most 2 processors to one",
        "NUMA node of the device": "1",
        "I/O scheduler": "none",
        "queue settings": "nr_requests=1023, nomerges=0, rq_affinity=1, io_poll=0, "
        "max_sectors=128 KiB",
        "slot": UNKNOWN,
    }
    assert isinstance(link, platform.HostLink)
    assert not link.is_held_back


def test_a_slot_that_is_slower_than_the_drive_holds_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, link = nvme(tmp_path, speed="8.0 GT/s PCIe", own="16.0 GT/s PCIe").told(monkeypatch)
    assert isinstance(link, platform.HostLink)
    assert link.is_held_back
    assert link.drive_raw == pytest.approx(2 * link.raw, abs=1)


def test_a_sata_drive_has_the_link_of_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(
        tmp_path / SATA / "ata3/link3/ata_link/link3",
        sata_spd="3.0 Gbps",
        hw_sata_spd_limit="6.0 Gbps",
    )
    disk = fill(tmp_path / SATA / "ata3/host2/target2:0:0/2:0:0:0/block/sda", dev="8:0")
    fill(disk / "holders")
    facts, link = Host(root=tmp_path, disk=disk).told(monkeypatch)
    assert isinstance(link, platform.HostLink)
    assert (link.kind, link.raw, link.usable) == ("SATA", 300_000_000, 279_000_000)
    assert facts["link to the device"].startswith("SATA 3.0 Gb/s (the port: 6.0 Gb/s), 300 MB/s")
    assert facts["interrupts"] == UNKNOWN


@pytest.mark.parametrize("hostile", ["\x1b[31m", "-1", "0-", "9" * 30, "<b>", ""])
def test_what_has_not_the_form_of_the_kernel_is_unknown(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = nvme(tmp_path, speed=hostile, own=hostile)
    pci = tmp_path / NVME
    for vector in (40, 41):
        fill(tmp_path / f"proc/irq/{vector}", effective_affinity_list=hostile)
    fill(pci, numa_node=hostile if hostile != "9" * 30 else "x")
    fill(host.disk / "queue", scheduler=hostile)
    facts, link = host.told(monkeypatch)
    assert link is None
    for name in ("link to the device", "interrupts", "NUMA node of the device", "I/O scheduler"):
        if not (name == "interrupts" and hostile == "9" * 30):
            assert facts[name] == UNKNOWN, name
    assert "\x1b" not in "".join(facts.values())


def test_several_targets_a_directory_and_what_is_not_there_have_no_disk(tmp_path: Path) -> None:
    parts = (FileTarget(text="a", path=tmp_path / "a"), FileTarget(text="b", path=tmp_path / "b"))
    several = CompositeTarget(text="concat:a,b", kind="concatenated", members=parts)
    gone = BlockTarget(text="/dev/none", path=tmp_path / "none" / "x")
    for target in (several, gone, parse_target(f"dir:{tmp_path}")):
        assert device_facts(target) == (dict.fromkeys(FACTS, UNKNOWN), None)


def test_a_file_is_on_the_disk_of_its_file_system(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"x")
    facts, _ = device_facts(FileTarget(text=str(place), path=place))
    on_a_disk = os.major(place.stat().st_dev) != 0
    assert facts.keys() == set(FACTS)
    assert (facts["queue settings"] != UNKNOWN) <= on_a_disk


@pytest.mark.parametrize(
    ("transfers", "width", "raw"),
    [
        (2.5, 1, 250_000_000),
        (5.0, 4, 2_000_000_000),
        (8.0, 4, 3_938_461_538),
        (16.0, 4, 7_876_923_077),
        (32.0, 4, 15_753_846_154),
        (64.0, 4, 30_250_000_000),
    ],
)
def test_a_pcie_link_carries_what_its_encoding_leaves(
    transfers: float, width: int, raw: int
) -> None:
    found, usable = pcie_bytes_per_second(transfers, width)
    assert found == raw
    assert usable == pytest.approx(raw * 256 / 280, abs=1)


@pytest.mark.parametrize(
    ("gigabits", "raw"),
    [(1.5, 150_000_000), (6.0, 600_000_000), (12.0, 1_200_000_000), (22.5, 2_400_000_000)],
)
def test_a_serial_link_carries_what_its_encoding_leaves(gigabits: float, raw: int) -> None:
    found, usable = serial_bytes_per_second(gigabits)
    assert found == raw
    assert usable < raw
