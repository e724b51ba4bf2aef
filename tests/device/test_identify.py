"""Identity: the bus a disk hangs on, told by its way through sysfs."""

from pathlib import Path

import pytest

from teijo.device.identify import _interface
from teijo.device.kernel import Number
from teijo.device.stack import Node

PCI = "devices/pci0000:00/0000:00:05.0"


@pytest.mark.parametrize(
    ("way", "interface"),
    [
        (f"{PCI}/virtio2/host0/target0:0:1/0:0:1:0/block/sda", "SCSI (virtio)"),
        (f"{PCI}/virtio1/block/vda", "virtio"),
        (f"{PCI}/ata3/host2/target2:0:0/2:0:0:0/block/sda", "SATA"),
        (f"{PCI}/usb2/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sdb", "USB"),
        (f"{PCI}/host6/port-6:0/end_device-6:0/target6:0:0/6:0:0:0/block/sdc", "SCSI (SAS)"),
        (f"{PCI}/host1/rport-1:0-2/target1:0:0/1:0:0:0/block/sdd", "SCSI (Fibre Channel)"),
        ("devices/platform/host3/session1/target3:0:0/3:0:0:1/block/sde", "SCSI (iSCSI)"),
        ("devices/pseudo_0/adapter0/host2/target2:0:0/2:0:0:0/block/sdf", "SCSI"),
        (f"{PCI}/nvme/nvme0/nvme0n1", "NVMe"),
        ("devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "NVMe"),
        ("devices/virtual/block/loop7", "loop"),
        ("devices/virtual/block/dm-3", "device mapper"),
        ("devices/virtual/block/md127", "md"),
        ("devices/virtual/block/zram0", "zram"),
        ("devices/platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0", "MMC"),
        ("devices/virtual/block/unheard0", ""),
        (f"{PCI}/virtual-ata1-usb2/block/xyz", ""),
    ],
)
def test_a_disk_of_a_scsi_host_is_a_scsi_disk_whatever_carries_it(way: str, interface: str) -> None:
    node = Node(number=Number(8, 0), name=way.rpartition("/")[2], folder=Path("/sys", way))
    assert _interface(node) == interface
