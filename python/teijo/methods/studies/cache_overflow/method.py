"""The study `cache-overflow`: write without a pause until a cache is full, and see what is left.

What a burst is and when it ends is in bursts, what it shows in found, the report in pages.
"""

from collections.abc import Generator
from dataclasses import replace

from teijo import units
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import purge
from teijo.methods.studies.cache_overflow.bursts import REST, Burst, first_burst, rests_after
from teijo.methods.studies.cache_overflow.found import OverflowFound
from teijo.methods.studies.cache_overflow.settings import OverflowSettings
from teijo.terms.geometry import Geometry
from teijo.terms.purge import NONE
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Idle, Step


class CacheOverflow(Method[OverflowSettings, OverflowFound]):
    """The method `cache-overflow`."""

    id = "cache-overflow"
    settings_type = OverflowSettings
    found_type = OverflowFound

    def check(self, settings: OverflowSettings, geometry: Geometry) -> None:
        """Make sure that the device has room for a block, and a sample some time."""
        block, share = settings.block_size_bytes, settings.active_range_percent
        check_blocks((block,), geometry)
        if block > settings.workload.streams[0].active_range.span_on(geometry):
            raise PlanError(
                f"A block of {units.format_block_size(block)} does not fit in "
                f"{share} % of {units.format_size(geometry.capacity_bytes)}",
                remedy="Set a smaller bs, a larger active_range, or take a larger device.",
            )
        # The engine keeps no shorter intervals (crates/engine/src/check.rs).
        if settings.scaled_ns(settings.sample_ns, geometry) < units.NS_PER_MS:
            raise PlanError(
                f"sample={forms.DURATION.show(settings.sample_ns)}: at the device's scale of "
                f"1:{geometry.scale:.3g} that is less than a millisecond",
                remedy="Set a longer sample, or ?scale=1.",
            )

    def steps(self, settings: OverflowSettings, geometry: Geometry) -> Steps:
        """Purge, then burst after burst with the rests between; from the start after a gap."""
        while True:
            if settings.purge != NONE:
                yield from purge(settings.purge)
            if (yield from _bursts(settings, geometry)):
                return "done"


def _bursts(settings: OverflowSettings, geometry: Geometry) -> Generator[Step, Answer, bool]:
    """Write every burst with the rests between; False when a gap broke one."""
    begun = first_burst(settings, geometry)
    first = yield from _written(begun)
    if first is None:
        return False
    rests_ns, most = rests_after(settings, first.overflow)
    for number, rest_ns in enumerate(rests_ns, start=2):
        scaled = settings.scaled_ns(rest_ns, geometry)
        answer = yield Idle(duration_ns=scaled, phase=REST, round_number=number - 1)
        if isinstance(answer, Gap):
            return False
        if (yield from _written(replace(begun, number=number, samples_most=most))) is None:
            return False
    return True


def _written(burst: Burst) -> Generator[Step, Answer, Burst | None]:
    """Write until the burst ends; None when a gap broke it."""
    while burst.stop is None:
        answer = yield burst.next_piece()
        if isinstance(answer, Gap):
            return None
        burst = replace(burst, answers=(*burst.answers, answer))
    return burst
