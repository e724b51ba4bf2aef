"""What the host has between its processors and one device: link, interrupts, queues, node.

All of it is the kernel's word in sysfs and procfs; nothing is sent to the device, and nothing is
opened. What the kernel does not tell is "unknown".
"""

import os
import re
import stat
from pathlib import Path
from typing import Final

from teijo.device import bus, heads
from teijo.device.drive.place import Place, place_of
from teijo.device.drive.slot import slot_of
from teijo.device.kernel import HOST, Number, Roots, read_text
from teijo.device.stack import Node, node_of, whole_disk
from teijo.device.target import BlockTarget, FileTarget, Target
from teijo.document.phrase import say
from teijo.outside.text import visible
from teijo.terms.platform import HostLink
from teijo.terms.topology import ranges
from teijo.units import GIGA, MEGA, format_size

UNKNOWN: Final = "unknown"
LINK, INTERRUPTS, QUEUES = "link to the device", "interrupts", "hardware queues"
NODE, SCHEDULER, SETTINGS = "NUMA node of the device", "I/O scheduler", "queue settings"
SLOT: Final = "slot"
FACTS: Final = (LINK, INTERRUPTS, QUEUES, NODE, SCHEDULER, SETTINGS, SLOT)
"""What is told of each device, by name."""

PAYLOAD_BYTES: Final = 256
"""What one PCIe packet carries where the way allows it; 128 is possible, and carries less."""
PACKET_BYTES: Final = 24
"""What a PCIe packet has besides: header of four words, sequence, check, framing."""
SERIAL_SHARE: Final = 0.93
"""What frames, primitives and hand-shakes leave of a SATA or SAS link, about."""
_MOST_VECTORS: Final = 4096
_QUEUE: Final = ("nr_requests", "nomerges", "rq_affinity", "io_poll", "wbt_lat_usec")
_GIGABITS: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9])?) Gb/s")
_CPULIST: Final = re.compile(r"[0-9]{1,5}(?:[-,][0-9]{1,5}){0,400}")


def device_facts(target: Target, roots: Roots = HOST) -> tuple[dict[str, str], HostLink | None]:
    """Return what is between the host and a target's disk, by name, and the link as numbers.

    Of a file it is the disk that its file system lies on, where that is one.
    """
    disk = _disk(target, roots)
    if disk is None:
        return dict.fromkeys(FACTS, UNKNOWN), None
    at = heads.carrier(disk.folder)
    place = place_of(disk)
    found = _pcie(at) or _serial(place)
    facts = {
        LINK: UNKNOWN if found is None else _told(found),
        INTERRUPTS: _interrupts(at, roots),
        QUEUES: _queues(disk),
        NODE: numa_node(at) or UNKNOWN,
        SCHEDULER: _scheduler(disk),
        SETTINGS: _settings(disk),
        SLOT: slot_of(disk, at, roots) or UNKNOWN,
    }
    return facts, found


def _disk(target: Target, roots: Roots) -> Node | None:
    """Return the whole disk of a target, None where it is several, none, or not to be found."""
    if not isinstance(target, BlockTarget | FileTarget):
        return None
    try:
        status = target.path.stat()
    except OSError:
        try:
            status = target.path.absolute().parent.stat()
        except OSError:
            return None
    number = status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev
    if os.major(number) == 0:  # tmpfs, overlay, btrfs: no device of its own
        return None
    disk = whole_disk(node_of(Number.of(number), roots), roots)
    return disk if disk.folder.is_dir() else None


def pcie_bytes_per_second(transfers: float, width: int) -> tuple[int, int]:
    """Return what a PCIe link carries, in bytes a second: raw, and about what is usable of it.

    Raw is after the encoding of the line: 8b/10b up to 5 GT/s, 128b/130b up to 32, 242 of 256
    bytes from 64 on. Usable is what packets of 256 B leave of it.
    """
    coding = 8 / 10 if transfers <= 5 else 128 / 130 if transfers <= 32 else 242 / 256
    raw = transfers * GIGA * width * coding / 8
    return round(raw), round(raw * PAYLOAD_BYTES / (PAYLOAD_BYTES + PACKET_BYTES))


def serial_bytes_per_second(gigabits: float) -> tuple[int, int]:
    """Return what a SATA or SAS link carries: 8b/10b up to 12 Gb/s, 128b/150b beyond."""
    raw = gigabits * GIGA * (8 / 10 if gigabits <= 12 else 128 / 150) / 8
    return round(raw), round(raw * SERIAL_SHARE)


def _pcie(at: Path) -> HostLink | None:
    """Return the narrowest PCIe link on the way of a drive that hangs on it itself.

    A drive behind an adapter has its own, slower link below it.
    """
    chain = bus.links(at)
    if not chain or not bus.adapter(at).startswith(bus.NO_ADAPTER):
        return None
    rates = [pcie_bytes_per_second(each.now.transfers, each.now.width) for each in chain]
    raw, usable = min(rates)
    narrowest = chain[rates.index((raw, usable))]
    _, own = bus.own_link(at)
    return HostLink(
        kind="PCIe",
        text=rate_words(narrowest.now) + (f" (the drive: {rate_words(own)})" if own else ""),
        raw=raw,
        usable=usable,
        drive_raw=pcie_bytes_per_second(own.transfers, own.width)[0] if own else 0,
    )


def rate_words(rate: bus.Rate) -> str:
    """Return how fast a PCIe link runs."""
    return f"{rate.transfers:.1f} GT/s x{rate.width}"


def _serial(place: Place) -> HostLink | None:
    """Return a drive's SATA or SAS link, by the host's end of it; a bridge has another."""
    port = place.port
    if port is None or place.bridge is not None:
        return None
    now, most = _GIGABITS.fullmatch(port.speed_now), _GIGABITS.fullmatch(port.speed_possible)
    if now is None:
        return None
    raw, usable = serial_bytes_per_second(float(now[1]))
    told = port.speed_now + (f" (the port: {port.speed_possible})" if most else "")
    return HostLink(kind=port.kind, text=told, raw=raw, usable=usable)


def _told(link: HostLink) -> str:
    return say(
        "{kind} {text}, {raw:,.0f} MB/s raw, about {usable:,.0f} MB/s usable",
        kind=link.kind,
        text=link.text,
        raw=link.raw / MEGA,
        usable=link.usable / MEGA,
    )


def interrupt_processors(at: Path, roots: Roots = HOST) -> tuple[int, frozenset[int]]:
    """Return how many vectors the PCI device of a disk has, and which processors serve them."""
    pci = bus.function(at)
    if pci is None:
        return 0, frozenset()
    try:
        vectors = sorted(int(each.name) for each in (pci / "msi_irqs").iterdir())[:_MOST_VECTORS]
    except (OSError, ValueError):
        return 0, frozenset()
    served: set[int] = set()
    for vector in vectors:
        folder = roots.proc / "irq" / str(vector)
        text = read_text(folder / "effective_affinity_list") or read_text(
            folder / "smp_affinity_list"
        )
        served.update(_cpus(text))
    return len(vectors), frozenset(served)


def _interrupts(at: Path, roots: Roots) -> str:
    """Return which processors serve the interrupts of the PCI device that a disk hangs on."""
    count, served = interrupt_processors(at, roots)
    if not served:
        return UNKNOWN
    return say("vectors: {count}, on processors {cpus}", count=count, cpus=ranges(served))


def _queues(disk: Node) -> str:
    """Return how many hardware queues there are, and how many processors have one of their own."""
    try:
        queues = [each for each in (disk.folder / "mq").iterdir() if each.name.isdigit()]
    except OSError:
        return UNKNOWN
    if not queues:
        return UNKNOWN
    lists = [read_text(each / "cpu_list") for each in queues]
    most = max(len([part for part in text.split(",") if part.strip()]) for text in lists)
    return say("{count}, at most {most} processors to one", count=len(queues), most=most)


def numa_node(at: Path) -> str:
    """Return the NUMA node of the PCI device that a disk hangs on; "" where it has none."""
    pci = bus.function(at)
    text = "" if pci is None else read_text(pci / "numa_node")
    return text if text.isdecimal() else ""


def _scheduler(disk: Node) -> str:
    chosen = re.search(r"\[([a-z0-9_-]{1,32})\]", read_text(disk.folder / "queue" / "scheduler"))
    return chosen[1] if chosen else UNKNOWN


def _settings(disk: Node) -> str:
    told = []
    for name in _QUEUE:
        text = read_text(disk.folder / "queue" / name)
        if text:
            told.append(f"{name}={visible(text[:32])}")
    largest = read_text(disk.folder / "queue" / "max_sectors_kb")
    if largest.isdigit() and len(largest) < 10:
        told.append(f"max_sectors={format_size(int(largest) * 1024)}")
    return ", ".join(told) or UNKNOWN


def _cpus(text: str) -> set[int]:
    """Return the numbers of "0-3,8"; none where it is no such list."""
    if not _CPULIST.fullmatch(text):
        return set()
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
