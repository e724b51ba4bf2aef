"""A drive's counters: its own (SMART, where smartctl is installed) and the kernel's, told apart.

Names ending in `_bytes`, `_kelvin`, `_hours` carry their unit. What is not counted is absent.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from typing import Final

from teijo.device.kernel import HOST, Number, Roots, number_of
from teijo.device.stack import Node, node_of, whole_disk

SECTOR_BYTES: Final = 512
NVME_UNIT_BYTES: Final = 512_000
KELVIN: Final = 273
SMART_SECONDS: Final = 20
WITH_SMART: Final = ("nvme", "sd")

_STAT: Final = (
    "reads", "read_merges", "read_sectors", "read_ms",
    "writes", "write_merges", "write_sectors", "write_ms",
    "in_flight", "busy_ms", "queue_ms",
    "discards", "discard_merges", "discard_sectors", "discard_ms",
    "flushes", "flush_ms",
)  # fmt: skip
"""The columns of /sys/block/X/stat (kernel: Documentation/block/stat.rst)."""

_NVME: Final = {
    "data_units_read": ("host_reads_bytes", NVME_UNIT_BYTES),
    "data_units_written": ("host_writes_bytes", NVME_UNIT_BYTES),
    "percentage_used": ("percentage_used", 1),
    "media_errors": ("media_errors", 1),
    "critical_warning": ("critical_warning", 1),
    "warning_temp_time": ("warning_temperature_minutes", 1),
    "critical_comp_time": ("critical_temperature_minutes", 1),
    "unsafe_shutdowns": ("unsafe_shutdowns", 1),
    "power_on_hours": ("power_on_hours", 1),
}


def health(fd: int, roots: Roots = HOST) -> dict[str, int]:
    """Return every counter of an open block device now."""
    disk = whole_disk(node_of(number_of(fd), roots), roots)
    return kernel_counters(node_of(number_of(fd), roots)) | _smart(disk, roots)


def kernel_counters(node: Node) -> dict[str, int]:
    """Return what the kernel sent to a device since it appeared, by whomever it was asked."""
    try:
        values = [int(text) for text in (node.folder / "stat").read_text().split()]
    except (OSError, ValueError):
        return {}
    stat = dict(zip(_STAT, values, strict=False))
    counters = {
        "kernel_reads": stat["reads"],
        "kernel_read_bytes": stat["read_sectors"] * SECTOR_BYTES,
        "kernel_writes": stat["writes"],
        "kernel_write_bytes": stat["write_sectors"] * SECTOR_BYTES,
    }
    if "discard_sectors" in stat:
        counters["kernel_discard_bytes"] = stat["discard_sectors"] * SECTOR_BYTES
    if "flushes" in stat:
        counters["kernel_flushes"] = stat["flushes"]
    return counters


def smart_counters(answer: Mapping[str, object]) -> dict[str, int]:
    """Return the counters in what `smartctl --json --attributes` answered.

    NVMe counts in units of 1000 × 512 bytes (NVMe base specification, SMART log). ATA drives'
    attributes mean what each vendor likes, so only temperature and hours are taken of them.
    """
    counters: dict[str, int] = {}
    log = answer.get("nvme_smart_health_information_log")
    if isinstance(log, dict):
        for key, (name, unit) in _NVME.items():
            if isinstance(log.get(key), int):
                counters[name] = log[key] * unit
    for key, inner, name, offset in (
        ("temperature", "current", "temperature_kelvin", KELVIN),
        ("power_on_time", "hours", "power_on_hours", 0),
    ):
        group = answer.get(key)
        if isinstance(group, dict) and isinstance(group.get(inner), int):
            counters[name] = group[inner] + offset
    return counters


def _smart(disk: Node, roots: Roots) -> dict[str, int]:
    program = shutil.which("smartctl", path="/usr/sbin:/usr/bin:/sbin:/usr/local/sbin")
    path = roots.dev / disk.name
    if program is None or not disk.name.startswith(WITH_SMART):
        return {}
    try:
        if Number.of(path.stat().st_rdev) != disk.number:
            return {}  # the name leads to another drive by now
        done = subprocess.run(
            [program, "--json", "--attributes", str(path)],
            capture_output=True,
            timeout=SMART_SECONDS,
            check=False,
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    return smart_counters(answer) if isinstance(answer, dict) else {}
