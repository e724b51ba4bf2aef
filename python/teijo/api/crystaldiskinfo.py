"""What CrystalDiskInfo is given of a target, and its own verdict on it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teijo.device.health.report import HealthReport
    from teijo.personas.crystaldiskinfo import Disk

Original = Mapping[str, object]
"""Its verdict: the `word`, `life_percent` (None where it tells none), and the `rule` of it."""


def original_disk(target: str, report: "HealthReport") -> "Disk":
    """Return the bytes that CrystalDiskInfo asks a drive for; it is not claimed for that.

    Raises:
        teijo.errors.TeijoError: the drive went away, or does not answer any more.
    """
    from teijo.device.health import report as reports
    from teijo.personas.crystaldiskinfo import Disk, disk_of

    # A drive that does not answer is not asked again.
    if report.seen is not None and report.seen.stuck is None:
        with reports.drive_of(target) as subject:
            return disk_of(subject)
    identity = report.identity
    return Disk(
        kind="other",
        model=identity.model or identity.target,
        firmware=identity.firmware,
        serial=identity.serial,
        size_bytes=report.geometry.nominal_capacity_bytes,
        address="0/X/X",
    )


def original_verdict(disk: "Disk") -> Original:
    """Return CrystalDiskInfo's own verdict on the drive's own bytes, and what of them decided."""
    from teijo.personas.crystaldiskinfo import verdict_of

    verdict = verdict_of(disk)
    return {"word": verdict.word, "life_percent": verdict.life_percent, "rule": verdict.rule}
