"""PTS HIR, host idle recovery: random writes to steady state, then in bursts with rests between
them. What does the drive make of its idle time? What it finds is in found, the report in pages.
"""

from collections.abc import Generator
from dataclasses import asdict
from typing import Any

from teijo.conformance.versions import HIR_BLOCK_BYTES, VERSIONS, Version
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady, purge
from teijo.methods.pts.hir.found import (
    HirFound,
    HirSettings,
    determination,
    precondition_minute,
    wait_state,
)
from teijo.methods.pts.method import PtsMethod
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Step


class Hir(PtsMethod[HirSettings, HirFound]):
    """The method `pts.hir`."""

    id = "pts.hir"
    settings_type = HirSettings
    found_type = HirFound
    specs = tuple(each.id for each in VERSIONS if each.idle_recovery is not None)
    # It came with the enterprise specification 1.1.
    default_spec = "2.0.2-enterprise"

    def ruled(self, version: Version, geometry: Geometry) -> dict[str, Any]:  # noqa: ARG002
        """Return the rule for this test, and its block size."""
        # Unverified: the limit of 25 rounds (another program writes for six hours instead).
        rule = version.idle_recovery
        assert rule is not None, version.id
        return {**asdict(rule), "block_size_bytes": HIR_BLOCK_BYTES}

    def block_sizes_of(self, settings: HirSettings) -> tuple[int, ...]:
        """Return the block size of the writes."""
        return (settings.block_size_bytes,)

    def steps(self, settings: HirSettings, geometry: Geometry) -> Steps:
        """Purge, write to steady state, then every wait state; from the purge after a gap."""
        del geometry
        while True:
            yield from purge(settings.purge)
            minutes = yield from _to_steady_state(settings)
            if minutes is not None and (yield from _through_wait_states(settings)):
                return "steady" if is_steady(determination(settings, minutes)) else "not steady"


def _to_steady_state(
    settings: HirSettings,
) -> Generator[Step, Answer, list[StepResult] | None]:
    """Write without a pause until five rounds are steady, or to the limit; None after a gap."""
    answers: list[StepResult] = []
    while True:
        answer = yield precondition_minute(settings, len(answers) + 1)
        if isinstance(answer, Gap):
            return None
        answers.append(answer)
        rounds, rest_of_round = divmod(len(answers), settings.round_minutes)
        # Never steady, it still goes on to the wait states: the report is whole and marked NO.
        if rest_of_round == 0 and (
            rounds >= settings.rounds_most or is_steady(determination(settings, answers))
        ):
            return answers


def _through_wait_states(settings: HirSettings) -> Generator[Step, Answer, bool]:
    """Write and rest in every wait state; return False as soon as a gap breaks one."""
    for idle_s in settings.idle_s:
        for step in wait_state(settings, idle_s):
            if isinstance((yield step), Gap):
                return False
    return True
