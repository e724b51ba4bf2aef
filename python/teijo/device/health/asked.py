"""How a block device is asked for each tier of its health (`tiers.py`): kernel, drive, smartctl.

Names ending in `_bytes`, `_kelvin`, `_hours` carry their unit. What is not counted is absent.
"""

from contextlib import suppress
from typing import Final

from teijo.device.asking import NoAnswer, ask
from teijo.device.commands import nvme
from teijo.device.health.smart import answer_of, smart_counters
from teijo.device.health.smartctl_answer import smartctl_for
from teijo.device.health.tiers import AskedCounters, FreeCounters, OpeningCondition
from teijo.device.kernel import HOST, SECTOR_BYTES, Roots, number_of
from teijo.device.stack import Node, node_of, whole_disk
from teijo.device.write_cache import KERNEL, write_cache
from teijo.terms.drive_warning import COUNTER, named_in_bits
from teijo.terms.result import WRITE_CACHE_ENABLED
from teijo.units import MIB

SMART_SECONDS: Final = 20
SMART_BYTES: Final = 4 * MIB
WITH_SMART: Final = ("nvme", "sd")

_STAT: Final = (
    "reads", "read_merges", "read_sectors", "read_ms",
    "writes", "write_merges", "write_sectors", "write_ms",
    "in_flight", "busy_ms", "queue_ms",
    "discards", "discard_merges", "discard_sectors", "discard_ms",
    "flushes", "flush_ms",
)  # fmt: skip
"""The columns of /sys/block/X/stat (kernel: Documentation/block/stat.rst)."""


def free_counters(fd: int) -> FreeCounters:
    """Return the kernel's counters of an open block device now; none of one that went away."""
    try:
        return FreeCounters(kernel_counters(node_of(number_of(fd))))
    except OSError:
        return FreeCounters()


def asked_counters(fd: int) -> AskedCounters:
    """Ask the drive under an open block device for its own counters; none of one that is gone."""
    try:
        return AskedCounters(_look(fd, HOST)[0] | _cache(fd, HOST))
    except OSError:
        return AskedCounters()


def opening_condition(fd: int, roots: Roots = HOST) -> OpeningCondition:
    """Return what the drive under an open block device says against itself.

    Raises:
        OSError: it went away.
    """
    return _look(fd, roots)[1]


def kernel_counters(node: Node) -> dict[str, int]:
    """Return what the kernel sent to a device since it appeared, by whomever it was asked."""
    try:
        values = [int(text) for text in (node.folder / "stat").read_text().split()]
    except (OSError, ValueError):
        return {}
    # Not strict: discards came with Linux 4.18, flushes with 5.5, and more may come.
    stat = dict(zip(_STAT, values, strict=False))
    counted = {
        "kernel_reads": stat["reads"],
        "kernel_read_bytes": stat["read_sectors"] * SECTOR_BYTES,
        "kernel_writes": stat["writes"],
        "kernel_write_bytes": stat["write_sectors"] * SECTOR_BYTES,
    }
    if "discard_sectors" in stat:
        counted["kernel_discard_bytes"] = stat["discard_sectors"] * SECTOR_BYTES
    if "flushes" in stat:
        counted["kernel_flushes"] = stat["flushes"]
    return counted


def _look(fd: int, roots: Roots) -> tuple[dict[str, int], OpeningCondition]:
    """Return the drive's own counters, and what it says against itself.

    An NVMe drive is asked on our own descriptor, whatever else is installed. smartctl is told a
    name, so that is looked at first: it must still be the drive that was opened.
    """
    disk = whole_disk(node_of(number_of(fd), roots), roots)
    if not disk.name.startswith(WITH_SMART):
        why = f"{disk.name} is no drive that tells its health"
        return {}, OpeningCondition(warnings=None, told_by=why)
    told: dict[str, int] = {}
    why = "smartctl tells no health of it"
    try:
        # NVMe too: smartctl reads all of the log, of which we read the warnings alone.
        told = _smartctl(disk, roots)
    except (NoAnswer, OSError) as error:
        why = str(error)
    if disk.name.startswith("nvme"):
        with suppress(OSError):
            bits = nvme.critical_warning(fd)
            own = OpeningCondition(warnings=named_in_bits(bits), told_by="NVMe SMART log")
            return told | {COUNTER: bits}, own
    if COUNTER not in told:
        return told, OpeningCondition(warnings=None, told_by=why)
    return told, OpeningCondition(warnings=named_in_bits(told[COUNTER]), told_by="smartctl")


def _cache(fd: int, roots: Roots) -> dict[str, int]:
    """Return whether the write cache is on by the drive's own word; nothing by the kernel's."""
    found = write_cache(fd, whole_disk(node_of(number_of(fd), roots), roots))
    if found.read_by in ("", KERNEL):
        return {}
    return {WRITE_CACHE_ENABLED: int(found.state == "enabled")}


def _smartctl(disk: Node, roots: Roots) -> dict[str, int]:
    program, path = smartctl_for(disk, roots)
    command = [program, "--json", "--attributes", "--health", str(path)]
    answer = answer_of(ask(command, seconds=SMART_SECONDS, limit_bytes=SMART_BYTES))
    if answer is None:
        raise NoAnswer("smartctl answered something unknown")
    return smart_counters(answer)
