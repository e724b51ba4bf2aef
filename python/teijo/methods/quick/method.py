"""The method `quick`: the first question people bring, answered in a minute. Of no standard."""

from collections.abc import Generator, Mapping
from typing import Any

from teijo import units
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.methods.quick.found import QuickFound
from teijo.methods.quick.settings import STIMULI, QuickSettings, measure_of, preparation_of
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Idle, Measure, Precondition, Step

_PASS_LEAST_NS = 250 * units.NS_PER_MS
"""A device simulated at a scale has its passes divided by it, but not below this: a pass must hold
more I/Os of 1 MiB than are in flight at once."""


class Quick(Method[QuickSettings, QuickFound]):
    """The method `quick`."""

    id = "quick"
    settings_type = QuickSettings
    found_type = QuickFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for, at the device's scale where that is left open."""
        asked = super().asked(overrides, geometry)
        usual = QuickSettings()
        asked.setdefault("pass_ns", _scaled_ns(usual.pass_ns, geometry))
        asked.setdefault("rest_ns", _scaled_ns(usual.rest_ns, geometry))
        asked.setdefault("amount_bytes", _scaled_bytes(usual.amount_bytes, geometry))
        return asked

    def check(self, settings: QuickSettings, geometry: Geometry) -> None:
        """Make sure that the largest block fits."""
        check_blocks(tuple(stimulus.block_size_bytes for stimulus in STIMULI), geometry)
        largest = max(stimulus.block_size_bytes for stimulus in STIMULI)
        for what, room in (
            ("an amount", settings.amount_bytes),
            ("a target", geometry.capacity_bytes),
        ):
            if room < largest:
                raise PlanError(
                    f"A block of {units.format_block_size(largest)} does not fit in {what} of "
                    f"{units.format_size(room)}",
                    remedy="Ask for a larger amount, or name a larger target.",
                )

    def writes(self, settings: QuickSettings) -> bool:
        """Return whether anything is written."""
        return settings.writing == "yes"

    def deviations(self, settings: QuickSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what a quick look is not, and what nobody knows of its figures."""
        touched = units.format_size(min(settings.amount_bytes, geometry.capacity_bytes))
        remarks = [
            Remark(
                kind=RemarkKind.QUICK_LOOK,
                text="no purge, no preconditioning, no steady state: a quick look, not a "
                "steady-state test",
            ),
            Remark(
                kind=RemarkKind.CACHE_MAY_HOLD,
                text=say(
                    "whether the {size} that are touched fit in a cache of the drive, of a RAID "
                    "controller or of a host is not known",
                    size=touched,
                ),
            ),
        ]
        if settings.writing == "no":
            remarks.append(
                Remark(
                    kind=RemarkKind.UNWRITTEN,
                    text="nothing was written first, so whether what is read was ever written is "
                    "not known",
                )
            )
        return tuple(remarks)

    def steps(self, settings: QuickSettings, geometry: Geometry) -> Steps:
        """Write the amount once; then each test with all its passes: reads first, rests between.

        After a gap the amount is written again, then the missing pass is asked for again.
        """
        preparation = preparation_of(settings, geometry.capacity_bytes)
        if preparation is not None:
            yield from insist(preparation)
        for place, (stimulus, direction) in enumerate(settings.cells):
            if place or preparation is not None:
                yield from insist(Idle(duration_ns=settings.rest_ns))
            for number in range(1, settings.passes + 1):
                yield from _asked(measure_of(settings, stimulus, direction, number), preparation)
        return "done"


def _asked(step: Measure, preparation: Precondition | None) -> Generator[Step, Answer, StepResult]:
    while True:
        answer = yield step
        if isinstance(answer, StepResult):
            return answer
        if preparation is not None:
            yield from insist(preparation)


def _scaled_ns(full_ns: int, geometry: Geometry) -> int:
    if geometry.scale <= 1:
        return full_ns
    return max(_PASS_LEAST_NS, round(full_ns / geometry.scale))


def _scaled_bytes(full_bytes: int, geometry: Geometry) -> int:
    """Return the amount on this device: its share of one at a scale, at most all of it."""
    least = 8 * max(stimulus.block_size_bytes for stimulus in STIMULI)
    amount = max(least, round(full_bytes / max(1.0, geometry.scale)))
    return min(amount, geometry.capacity_bytes) // units.MIB * units.MIB
