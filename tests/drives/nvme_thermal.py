"""How hot an emulated NVMe drive is, and what it counts of that: minutes, transitions, seconds."""

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.drives.nvme import NvmeDrive

THERMAL_MANAGEMENT = 0x10
LONGEST_STEP = 1.0
STEPS = 5_000
"""A long time without a question is gone through in this many steps at most."""


class Thermal:
    """The temperature by the drive's curve; `advance` books what happened since the last look."""

    def __init__(self, drive: "NvmeDrive") -> None:
        """Begin at the drive's power-on."""
        self._drive = drive
        self._began = self._at = drive.clock()
        self.level = 0
        """0, or which of the two management temperatures it is throttled by."""
        self.hottest = self.kelvin

    @property
    def kelvin(self) -> int:
        """The composite temperature now."""
        return round(self._by_curve(self._drive.clock()))

    @property
    def outside(self) -> bool:
        """Whether a threshold (feature 04h) of the composite or a sensor is crossed."""
        features, kelvin = self._drive.features, self.kelvin
        for sensor, now in ((0, kelvin), (1, kelvin), (2, kelvin + 5)):
            if now >= features.threshold(sensor) or now <= features.threshold(sensor, under=True):
                return True
        return False

    def advance(self) -> None:
        """Count the time since the last call."""
        now = self._drive.clock()
        step = max(LONGEST_STEP, (now - self._at) / STEPS)
        while self._at < now:
            passed = min(step, now - self._at)
            self._at += passed
            self._count(self._by_curve(self._at), passed)

    def _count(self, kelvin: float, passed: float) -> None:
        counters, knobs = self._drive.counters, self._drive.knobs
        self.hottest = max(self.hottest, round(kelvin))
        counters["seconds_on"] += passed
        if kelvin >= knobs.cctemp:
            counters["critical_seconds"] += passed
        elif kelvin >= knobs.wctemp:
            counters["warning_seconds"] += passed
        setting = self._drive.features.value(THERMAL_MANAGEMENT)
        light, heavy = setting >> 16, setting & 0xFFFF
        level = 2 if heavy and kelvin >= heavy else 1 if light and kelvin >= light else 0
        if level:
            counters[f"t{level}_seconds"] += passed
            counters[f"t{level}_count"] += level != self.level
        self.level = level

    def _by_curve(self, moment: float) -> float:
        curve = self._drive.knobs.temperature
        if not isinstance(curve, tuple):
            return float(curve)
        second = moment - self._began
        for (start, low), (end, high) in pairwise(curve):
            if start <= second < end:
                return low + (high - low) * (second - start) / (end - start)
        return curve[0][1] if second < curve[0][0] else curve[-1][1]
