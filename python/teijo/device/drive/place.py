"""Where a drive hangs: adapter, USB bridge, SATA port or SAS phy, and whether RAID hides it.

All of it is the kernel's word in sysfs; nothing is sent. Names there are a device's own: what has
not the form it must have is left out.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from teijo.device import bus, heads
from teijo.device.kernel import read_count, read_text
from teijo.device.stack import Node, holders
from teijo.outside.text import visible

RAID_CLASS: Final = "0x0104"
"""The PCI class of a mass storage controller that makes volumes of drives."""
RAID_DRIVERS: Final = frozenset(
    {"megaraid_sas", "hpsa", "smartpqi", "aacraid", "arcmsr", "3w-9xxx", "3w-sas", "mvumi", "ips"}
)
NO_LEVEL: Final = frozenset({"", "n/a", "unknown"})
_DIGITS: Final = re.compile(r"[0-9a-f]{4}")
_GIGABITS: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9])?) Gb(?:ps|it)")
_MEGABITS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9])?")
_LONGEST_NAME: Final = 100

Hidden = Literal["no", "member", "volume", "drive", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Bridge:
    """A USB bridge by its numbers and its own names; `speed_mbit` is that of its port now."""

    vendor_id: str
    product_id: str
    maker: str
    product: str
    driver: str
    speed_mbit: str


@dataclass(frozen=True, kw_only=True)
class Port:
    """The host's end of a SATA or SAS link: its speed now, and the most it can."""

    kind: Literal["SATA", "SAS"]
    speed_now: str
    speed_possible: str


@dataclass(frozen=True, kw_only=True)
class Raid:
    """Whether the disk is a drive of its own, and by what that is told.

    "no": no RAID adapter and no array; "member": of an array of this host; "volume": of a RAID
    adapter, with drives behind it that cannot be seen; "drive": one that such an adapter hands
    through; "unknown": behind such an adapter, which does not say.
    """

    hidden: Hidden
    told_by: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a drive hangs."""

    adapter: str
    bridge: Bridge | None
    port: Port | None
    raid: Raid
    links: tuple[bus.Link, ...]
    controllers: tuple[heads.Controller, ...]


def place_of(disk: Node) -> Place:
    """Return where a whole disk hangs."""
    at = heads.carrier(disk.folder)
    return Place(
        adapter=bus.adapter(at),
        bridge=_bridge(at),
        port=_sata(at) or _sas(at),
        raid=_raid(disk, at),
        links=bus.links(at),
        controllers=heads.controllers(disk.folder),
    )


def _above(folder: Path) -> tuple[Path, ...]:
    return (folder, *folder.parents)


def _bridge(folder: Path) -> Bridge | None:
    for each in _above(folder):
        vendor, product = read_text(each / "idVendor"), read_text(each / "idProduct")
        if not (_DIGITS.fullmatch(vendor) and _DIGITS.fullmatch(product)):
            continue
        below = next((one for one in _above(folder) if one.parent == each), each)
        speed = read_text(each / "speed")
        return Bridge(
            vendor_id=vendor,
            product_id=product,
            maker=_name(each / "manufacturer"),
            product=_name(each / "product"),
            driver=_driver(below),
            speed_mbit=speed if _MEGABITS.fullmatch(speed) else "",
        )
    return None


def _name(path: Path) -> str:
    return visible(read_text(path)[:_LONGEST_NAME])


def _driver(folder: Path) -> str:
    link = folder / "driver"
    return visible(link.resolve().name[:_LONGEST_NAME]) if link.exists() else ""


def _sata(folder: Path) -> Port | None:
    """Return the host's end of a SATA link (`ata_link`): /sys/…/ata3/link3/ata_link/link3."""
    for each in _above(folder):
        if not re.fullmatch(r"ata\d+", each.name):
            continue
        for link in sorted(each.glob("link*/ata_link/link*")):
            now = _speed(link / "sata_spd")
            most = _speed(link / "hw_sata_spd_limit") or _speed(link / "sata_spd_limit")
            if now or most:
                return Port(kind="SATA", speed_now=now, speed_possible=most)
    return None


def _sas(folder: Path) -> Port | None:
    """Return the adapter's end of a SAS link: the phys of the port above the end device."""
    for each in _above(folder):
        if not re.fullmatch(r"port-[\d:]+", each.name):
            continue
        for phy in sorted(each.glob("phy-*")):
            inside = next(iter(sorted(phy.resolve().glob("sas_phy/phy-*"))), phy)
            now = _speed(inside / "negotiated_linkrate")
            most = _speed(inside / "maximum_linkrate")
            if now or most:
                return Port(kind="SAS", speed_now=now, speed_possible=most)
    return None


def _speed(path: Path) -> str:
    """Return a speed as "6.0 Gb/s"; the kernel writes Gbps of SATA and Gbit of SAS."""
    found = _GIGABITS.fullmatch(read_text(path))
    return f"{found[1]} Gb/s" if found else ""


def _raid(disk: Node, folder: Path) -> Raid:
    arrays = [one.name for one in holders(disk) if one.name.startswith(("md", "dm-"))]
    if arrays:
        return Raid(hidden="member", told_by=f"{', '.join(arrays)} is built on it")
    if disk.name.startswith(("md", "dm-")):
        return Raid(hidden="volume", told_by="the kernel itself puts it together")
    pci = bus.function(folder)
    if pci is None:
        return Raid(hidden="no", told_by="no adapter is on its way")
    driver, kind = _driver(pci), read_text(pci / "class")
    level = read_text(disk.folder / "device" / "raid_level")
    if level and level.lower() not in NO_LEVEL:
        return Raid(hidden="volume", told_by=f"{driver} says {visible(level[:_LONGEST_NAME])}")
    if level:
        return Raid(hidden="drive", told_by=f"{driver} says that it has no RAID level")
    others = read_count(pci / "remapped_nvme") or 0
    if others:
        return Raid(hidden="no", told_by=f"{others} NVMe drives are hidden behind {driver}")
    if driver in RAID_DRIVERS or kind.startswith(RAID_CLASS):
        return Raid(
            hidden="unknown",
            told_by=f"{driver or 'its adapter'} can make volumes, and does not say what this is",
        )
    return Raid(hidden="no", told_by=f"{driver or 'its adapter'} makes no volumes")
