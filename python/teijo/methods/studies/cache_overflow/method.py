"""The study `cache-overflow`: write without a pause until a cache is full, and see what is left.

What a burst is and when it ends is in bursts, what it shows in found, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace

from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import purge
from teijo.methods.studies.cache_overflow.bursts import REST, Burst, first_burst, rests_after
from teijo.methods.studies.cache_overflow.found import OverflowFound
from teijo.methods.studies.cache_overflow.settings import OverflowSettings, settings_of
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Idle, Step


class CacheOverflow(Method[OverflowSettings, OverflowFound]):
    """The method `cache-overflow`."""

    id = "cache-overflow"
    settings_type = OverflowSettings
    found_type = OverflowFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> OverflowSettings:
        """Return the settings asked for; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        return settings_of(overrides, geometry)

    def steps(self, settings: OverflowSettings, geometry: Geometry) -> Steps:
        """Purge, then burst after burst with the rests between; from the start after a gap."""
        while True:
            if settings.purged == "yes":
                yield from purge()
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
