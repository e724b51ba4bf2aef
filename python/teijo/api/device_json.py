"""What programs are told of devices, of a drive and of its health: the same from each face."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from teijo.api.crystaldiskinfo import Original
    from teijo.device.discover import FoundDevice
    from teijo.device.drive.seen import Seen
    from teijo.device.health.report import HealthReport
    from teijo.device.health.verdict import Verdict
    from teijo.engine import SimulatedPreset

VERSION: Final = 1
"""Of the JSON of a drive's health: higher when a field changes what it means or goes away."""


def devices_json(
    block: "Iterable[FoundDevice]",
    presets: "Iterable[SimulatedPreset]",
    kinds: Iterable[tuple[str, str]],
) -> dict[str, list[dict[str, object]]]:
    """Return the devices of a machine for JSON; capacities are in bytes."""
    return {
        "block": [asdict(one) for one in block],
        "simulated": [asdict(one) for one in presets],
        "simulated_kinds": [{"name": name, "about": about} for name, about in kinds],
    }


def unfinished_json(seen: "Seen") -> list[dict[str, object]]:
    """Return what must be ended first, for JSON."""
    return [asdict(one) for one in seen.unfinished]


def drive_json(seen: "Seen") -> dict[str, object]:
    """Return all that a drive says of itself, for JSON."""
    told, at = seen.portrait, seen.place
    paths = [
        {name: value for name, value in asdict(one).items() if name != "folder"}
        for one in at.controllers
    ]
    links = [asdict(link) | {"is_degraded": link.is_degraded} for link in at.links]
    return {
        "nvme": asdict(told.nvme) if told.nvme else None,
        "ata": asdict(told.ata) if told.ata else None,
        "scsi": asdict(told.scsi) if told.scsi else None,
        "zoned": seen.zoned,
        "place": asdict(at) | {"controllers": paths, "links": links},
        "not_told": dict(told.not_told),
    }


def verdict_json(verdict: "Verdict") -> dict[str, object]:
    """Return a verdict for JSON."""
    return {
        "word": verdict.word,
        "reasons": [asdict(one) for one in verdict.reasons],
        "blind": list(verdict.blind),
    }


def health_json(report: "HealthReport", original: "Original") -> dict[str, object]:
    """Return a report for JSON; docs/health.md says each field."""
    seen = report.seen
    logs = {} if seen is None else {
        log.name: {
            "source": log.source,
            "told": _plain(log.told),
            "not_told": log.not_told or None,
        }
        for log in seen.logs
    }  # fmt: skip
    return {
        "version": VERSION,
        "verdict": verdict_json(report.verdict),
        "crystaldiskinfo": dict(original),
        "simulated": report.is_simulated,
        "partition_of": report.whole or None,
        "kind": None if seen is None else seen.kind,
        "identity": asdict(report.identity) | {"facts": dict(report.identity.facts)},
        "capacity_bytes": report.geometry.capacity_bytes,
        "counters": dict(report.counts),
        "logs": logs,
    }


def _plain(value: Any) -> object:
    """Return what JSON has of a log's answer."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
