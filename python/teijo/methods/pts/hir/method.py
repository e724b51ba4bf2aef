"""PTS HIR, host idle recovery: random writes to steady state, then in bursts with rests between
them. What does the drive make of its idle time? What it finds is in found, the report in pages.
"""

from collections.abc import Generator

from teijo.conformance.versions import HIR_BLOCK_BYTES, VERSIONS, Version
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady, purge
from teijo.methods.pts import settings as shared
from teijo.methods.pts.hir.found import (
    HirFound,
    HirSettings,
    baseline_minute,
    burst,
    determination,
    precondition_minute,
    rest,
)
from teijo.methods.pts.method import PtsMethod
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Step

Talking = Generator[Step, Answer, list[StepResult] | None]
"""A part of the conversation: its answers, or None when a gap broke it."""


class Hir(PtsMethod[HirSettings, HirFound]):
    """The method `pts.hir`."""

    id = "pts.hir"
    settings_type = HirSettings
    found_type = HirFound
    specs = tuple(each.id for each in VERSIONS if each.idle_recovery is not None)
    # It came with the enterprise specification 1.1.
    default_spec = "2.0.2-enterprise"

    def standard(self, version: Version, geometry: Geometry) -> HirSettings:
        """Return the settings as the version has them on this device, unchecked."""
        rule = version.idle_recovery
        assert rule is not None, version.id
        return HirSettings.model_validate(
            {
                **shared.shared_defaults(version, geometry),
                "block_size_bytes": HIR_BLOCK_BYTES,
                "round_minutes": rule.round_minutes,
                "rounds_most": rule.rounds_most,
                "burst_s": rule.burst_s,
                "idle_s": rule.idle_s,
                "bursts": rule.bursts,
                "baseline_minutes": rule.baseline_minutes,
            }
        )

    def block_sizes_of(self, settings: HirSettings) -> tuple[int, ...]:
        """Return the block size of the writes."""
        return (settings.block_size_bytes,)

    def steps(self, settings: HirSettings, geometry: Geometry) -> Steps:
        """Purge, write to steady state, then every wait state; from the purge after a gap."""
        del geometry
        while True:
            yield from purge()
            minutes = yield from _to_steady_state(settings)
            if minutes is None:
                continue
            for idle_s in settings.idle_s:
                whole = yield from _wait_state(settings, idle_s)
                if not whole:
                    break
            else:
                return "steady" if is_steady(determination(settings, minutes)) else "not steady"


def _to_steady_state(settings: HirSettings) -> Talking:
    """Write without a pause until five rounds are steady, or to the limit."""
    answers: list[StepResult] = []
    while True:
        answer = yield precondition_minute(settings, len(answers) + 1)
        if isinstance(answer, Gap):
            return None
        answers.append(answer)
        rounds, rest_of_round = divmod(len(answers), settings.round_minutes)
        if rest_of_round == 0 and (
            rounds >= settings.rounds_most or is_steady(determination(settings, answers))
        ):
            return answers


def _wait_state(settings: HirSettings, idle_s: int) -> Generator[Step, Answer, bool]:
    """Write in bursts, rest after each, then write without a rest; False when a gap broke it."""
    for number in range(1, settings.bursts + 1):
        for step in (burst(settings, idle_s, number), rest(settings, idle_s, number)):
            if isinstance((yield step), Gap):
                return False
    for minute in range(1, settings.baseline_minutes + 1):
        if isinstance((yield baseline_minute(settings, idle_s, minute)), Gap):
            return False
    return True
