"""The method `classic.crystaldiskmark`: passes in the original's order, or without its defects."""

from collections.abc import Mapping
from typing import Any, Final

from teijo import units
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.classic.crystaldiskmark.found import CrystalDiskMarkFound
from teijo.methods.classic.crystaldiskmark.settings import (
    FILL_BLOCK_BYTES,
    INTERVAL_NS,
    MEASURE_NS,
    SIZE_BYTES,
    SIZE_BYTES_3,
    CrystalDiskMarkSettings,
    Loads,
)
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle

_PASS_LEAST_NS: Final = 250 * units.NS_PER_MS
_FILE_LEAST_BYTES: Final = 16 * units.MIB
"""On a device simulated at a scale times and sizes are divided by it, but not below these: a pass
must hold more I/Os of 1 MiB than are in flight at once, and no file of the original is smaller."""


class CrystalDiskMark(Method[CrystalDiskMarkSettings, CrystalDiskMarkFound]):
    """The method `classic.crystaldiskmark`."""

    id = "classic.crystaldiskmark"
    settings_type = CrystalDiskMarkSettings
    found_type = CrystalDiskMarkFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for; the rest as the version has it, at the device's scale."""
        asked = super().asked(overrides, geometry)
        old, scale = asked.get("like") == "3", max(1.0, geometry.scale)
        size, interval = (SIZE_BYTES_3, 0) if old else (SIZE_BYTES, INTERVAL_NS)
        asked.setdefault("size_bytes", _scaled(size, scale, FILL_BLOCK_BYTES, _FILE_LEAST_BYTES))
        asked.setdefault("measure_ns", _scaled(MEASURE_NS, scale, 1, _PASS_LEAST_NS))
        asked.setdefault("interval_ns", _scaled(interval, scale, 1, 0))
        return asked

    def check(self, settings: CrystalDiskMarkSettings, geometry: Geometry) -> None:
        """Make sure that the version has what is asked for, and that the file fits."""
        _check_version(settings)
        blocks = (FILL_BLOCK_BYTES, *(row.block_size_bytes for row in settings.rows))
        check_blocks(blocks, geometry)
        if settings.size_bytes % FILL_BLOCK_BYTES:
            raise PlanError(
                f"A file of {settings.size_bytes:,} bytes is not filled by blocks of 1 MiB",
                remedy="Ask for a whole number of MiB: --set size=1GiB.",
            )
        room = geometry.capacity_bytes - Loads(settings, geometry.capacity_bytes).used_bytes
        if room < settings.size_bytes:
            raise PlanError(
                f"A file of {units.format_size(settings.size_bytes)} does not fit in the "
                f"{units.format_size(room)} that are free",
                remedy="Ask for a smaller file (--set size=64MiB), or name a larger target.",
            )

    def deviations(
        self, settings: CrystalDiskMarkSettings, geometry: Geometry
    ) -> tuple[Remark, ...]:
        """Return what such a score is not, and what nobody knows of it."""
        del geometry
        return (
            Remark(
                kind=RemarkKind.QUICK_LOOK,
                text="no purge, no preconditioning, no steady state: a few passes over one file",
            ),
            Remark(
                kind=RemarkKind.CACHE_MAY_HOLD,
                text=say(
                    "whether the file of {size} fits in a cache of the drive, of a RAID "
                    "controller or of a host is not known",
                    size=units.format_size(settings.size_bytes),
                ),
            ),
        )

    def steps(self, settings: CrystalDiskMarkSettings, geometry: Geometry) -> Steps:
        """Fill the file; then every row with all its passes, and a rest between two rows.

        After a gap all is written again, then the missing pass is asked for again.
        """
        loads = Loads(settings, geometry.capacity_bytes)
        for step in loads.preparations:
            yield from insist(step)
        for number, place in enumerate(settings.order):
            if number and settings.interval_ns:
                yield from insist(Idle(duration_ns=settings.interval_ns))
            for measure in loads.passes(place):
                while not isinstance((yield measure), StepResult):
                    for step in loads.preparations:
                        yield from insist(step)
        return "done"


def _check_version(settings: CrystalDiskMarkSettings) -> None:
    """Make sure that the settings go together.

    Raises:
        PlanError: they do not.
    """
    if settings.like != "8" and (settings.profile != "default" or settings.mix is not None):
        raise PlanError(
            f"Version {settings.like} has neither profiles nor mixes",
            remedy="Set like=8, or leave profile and mix out.",
        )
    if settings.profile == "demo" and settings.mix is not None:
        raise PlanError(
            "The profile demo has no mix",
            remedy="Choose profile=default, peak or real-world for one.",
        )
    usual = (32, 1)
    if settings.like != "5" and (settings.queues, settings.threads) != usual:
        raise PlanError(
            f"Queues and threads are version 5's to choose, and this is version {settings.like}",
            remedy="Set like=5, or leave queues and threads out.",
        )
    if (settings.queues, settings.threads) == (1, 1):
        raise PlanError(
            "With one queue and one thread two rows would be the same",
            remedy="Set queues or threads to more than 1.",
        )
    if settings.is_strict and settings.data == "0fill":
        raise PlanError(
            "0fill is one of the defects that strict leaves out",
            remedy="Set data=random, or strict=off.",
        )


def _scaled(full: int, scale: float, grain: int, least: int) -> int:
    """Return an amount at a scale, in whole grains and not below the least."""
    if scale <= 1:
        return full
    return max(min(full, least), round(full / scale) // grain * grain)
