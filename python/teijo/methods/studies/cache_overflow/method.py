"""The study `cache-overflow`: write without a pause until a cache is full, and see what is left.

What a burst is and when it ends is in bursts, what it shows in found, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace

from teijo import units
from teijo.analysis.overflow import Series, overflow_of
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import purge
from teijo.methods.studies.cache_overflow.bursts import (
    REST,
    piece,
    proof_of,
    samples_next,
    series_of,
    why_stop,
)
from teijo.methods.studies.cache_overflow.found import OverflowFound
from teijo.methods.studies.cache_overflow.settings import OverflowSettings, settings_of
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap, StepResult
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
    """Write every burst with the rests between; False when a gap broke one.

    Where no rest is asked for and the first burst overflows, one more tells whether a cache did.
    """
    first = yield from _burst(settings, geometry, 1, settings.samples_most)
    if first is None:
        return False
    proof = proof_of(settings, overflow_of(first))
    rests, most = settings.rests_ns, settings.samples_most
    if proof is not None:
        rests, most = (round(proof.seconds * units.NS_PER_S),), proof.samples
    for number, rest_ns in enumerate(rests, start=2):
        scaled = settings.scaled_ns(rest_ns, geometry)
        answer = yield Idle(duration_ns=scaled, phase=REST, round_number=number - 1)
        if isinstance(answer, Gap):
            return False
        if (yield from _burst(settings, geometry, number, most)) is None:
            return False
    return True


def _burst(
    settings: OverflowSettings, geometry: Geometry, number: int, samples_most: int
) -> Generator[Step, Answer, Series | None]:
    """Write until the burst ends, and return its series; None when a gap broke it."""
    answers: list[StepResult] = []
    series = series_of(settings, geometry, answers)
    while why_stop(settings, geometry, series, samples_most=samples_most) is None:
        samples = samples_next(settings, geometry, series, samples_most=samples_most)
        step = piece(settings, geometry, number, samples)
        answer = yield replace(step, continues=bool(answers))
        if isinstance(answer, Gap):
            return None
        answers.append(answer)
        series = series_of(settings, geometry, answers)
    return series
