"""PTS HIR, host idle recovery: random writes to steady state, then in bursts with rests between
them. What does the drive make of its idle time? The bursts are in bursts, the report in pages.
"""

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from teijo.analysis import measures
from teijo.analysis.quantities import of_series
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import VERSIONS, version_of
from teijo.document.model import Document
from teijo.document.phrase import Verbatim, say
from teijo.methods import knobs
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import is_steady, purge
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import FlatPtsFound
from teijo.methods.pts.hir.bursts import (
    BASELINE,
    BURST,
    PRECONDITION,
    HirSettings,
    Log,
    WaitState,
    baseline_minute,
    burst,
    check_answers,
    determination,
    log_of,
    precondition_minute,
    rest,
    standard,
    state_name,
    stimulus_name,
)
from teijo.methods.rounds import before_rounds, exchanges_of, rounds_left
from teijo.outside.names import unknown
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.quantity import IOPS, Quantity
from teijo.terms.remark import Remark
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Step
from teijo.terms.watch import Watch

SPECS_WITH_HIR = tuple(each.id for each in VERSIONS if each.idle_recovery is not None)
Talking = Generator[Step, Answer, list[StepResult] | None]
"""A part of the conversation: its answers, or None when a gap broke it."""


class HirFound(FlatPtsFound[HirSettings]):
    """What a record of Hir shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return each wait state's bursts, its baseline, and the gain of one over the other.

        `rounds`, `converged` and the window are those of the preconditioning.
        """
        settings, record = self.settings, self.record
        log = log_of(settings, exchanges_of(record))
        states = determination(settings, log.minutes)
        window = states[0].window if states else None
        return Findings(
            method=record.run.method,
            spec=settings.spec,
            converged=is_steady(states),
            rounds=len(check_answers(settings, log.minutes)),
            window_rounds=(window.first_round, window.last_round) if window else None,
            steady_states=states,
            scalars=tuple(scalar for state in log.states for scalar in _scalars(state)),
            cells=tuple(cell for state in log.states for cell in _cells(state)),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        log = log_of(settings, exchanges_of(record))
        return before_rounds(record, _watch(settings, log), 0)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of each wait state's bursts, and of the second half of the writes after them."""
        quantities: list[Quantity] = []
        for state in log_of(self.settings, self.exchanges).states:
            name = Verbatim(state_name(state.idle_s))
            half = state.baseline[len(state.baseline) // 2 :]
            for place, answers in (
                (say("{state}, bursts", state=name), state.bursts),
                (say("{state}, without a rest", state=name), half),
            ):
                quantities += of_series(place, answers, (IOPS,), steady=self.converged)
        return tuple(quantities)


class Hir(Method[HirSettings, HirFound]):
    """The method `pts.hir`."""

    id = "pts.hir"
    title = "Host Idle Recovery"
    summary = "what a drive worn down by random writes makes of idle time (SNIA PTS)"
    settings_type = HirSettings
    found_type = HirFound
    specs = SPECS_WITH_HIR
    # It came with the enterprise specification 1.1.
    default_spec = "2.0.2-enterprise"

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> HirSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec or self.default_spec)
        if version.id not in self.specs:
            raise unknown("version of the standard with HIR", spec, self.specs)
        asked = knobs.parse_overrides(HirSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        shared.check_blocks((settings.block_size_bytes,), geometry)
        shared.check_range(settings, geometry, settings.block_size_bytes)
        return settings

    def deviations(self, settings: HirSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method."""
        version = version_of(settings.spec)
        ruled = standard(version, geometry)
        return tuple(shared.shared_deviations(settings, ruled, version, geometry))

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
                return _ending(settings, minutes)

    def document(self, found: HirFound) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.hir.pages import pages

        return pages(found)


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


def _ending(
    settings: HirSettings, minutes: Sequence[StepResult]
) -> Literal["steady", "not steady"]:
    return "steady" if is_steady(determination(settings, minutes)) else "not steady"


def _scalars(state: WaitState) -> tuple[Scalar, ...]:
    raised, baseline, gain = state.burst_iops, state.baseline_iops, state.gain
    rests = state.rests_ns
    rows = (
        ("mean of the bursts", None if raised is None else raised.value, "IOPS"),
        ("baseline after", None if baseline is None else baseline.value, "IOPS"),
        ("gain", None if gain is None else gain.share * 100, "%"),
        ("gain, low end of 95 %", _percent(None if gain is None else gain.low), "%"),
        ("gain, high end of 95 %", _percent(None if gain is None else gain.high), "%"),
        ("rest as measured, mean", sum(rests) / len(rests) / 1e6 if rests else None, "ms"),
    )
    name = state_name(state.idle_s)
    return tuple(
        Scalar(name=f"{name}: {what}", value=value, unit=unit) for what, value, unit in rows
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _cells(state: WaitState) -> tuple[Cell, ...]:
    name = ("wait state", state_name(state.idle_s))
    parts = ((BURST, state.bursts), (BASELINE, state.baseline))
    return tuple(
        measures.cell_over((name, ("part", part)), answers) for part, answers in parts if answers
    )


def _watch(settings: HirSettings, log: Log) -> Watch:
    if not log.states:
        rounds = len(log.minutes) // settings.round_minutes
        if rounds < settings.rounds_most and not is_steady(determination(settings, log.minutes)):
            return _watch_of_rounds(settings, log, rounds)
    return _watch_of_states(settings, log.states)


def _watch_of_rounds(settings: HirSettings, log: Log, rounds: int) -> Watch:
    least = max(WINDOW_ROUNDS, rounds + 1)
    round_ns = settings.round_minutes * settings.minute_ns
    left_ns = _states_ns(settings, settings.idle_s) - len(log.minutes) * settings.minute_ns
    return Watch(
        phase=PRECONDITION,
        round_number=rounds + 1,
        rounds_least=least,
        rounds_most=settings.rounds_most,
        cell=stimulus_name(settings),
        steady=f"{rounds} of the first {WINDOW_ROUNDS} rounds" if rounds < WINDOW_ROUNDS else "",
        remaining_ns_least=left_ns + least * round_ns,
        remaining_ns_most=left_ns + settings.rounds_most * round_ns,
        rounds_left=rounds_left(
            determination(settings, log.minutes), limit_rounds=settings.rounds_most
        ),
    )


def _watch_of_states(settings: HirSettings, states: Sequence[WaitState]) -> Watch:
    """Return where the wait states stand; the run's end is told by who asks."""
    whole = [each for each in states if len(each.baseline) == settings.baseline_minutes]
    left = settings.idle_s[len(whole) :] or settings.idle_s[-1:]
    now = states[-1] if len(states) > len(whole) else None
    bursts = len(now.bursts) if now else 0
    minutes = len(now.baseline) if now else 0
    done_ns = bursts * settings.scaled_ns(settings.burst_s + left[0]) + minutes * settings.minute_ns
    resting = bursts < settings.bursts
    count = settings.bursts if resting else settings.baseline_minutes
    remaining_ns = max(0, _states_ns(settings, left) - done_ns)
    return Watch(
        phase=BURST if resting else BASELINE,
        round_number=min(count, (bursts if resting else minutes) + 1),
        rounds_least=count,
        rounds_most=count,
        cell=state_name(left[0]),
        remaining_ns_least=remaining_ns,
        remaining_ns_most=remaining_ns,
    )


def _states_ns(settings: HirSettings, idle_s: Sequence[int]) -> int:
    """Return how long these wait states take."""
    return sum(
        settings.bursts * settings.scaled_ns(settings.burst_s + each)
        + settings.baseline_minutes * settings.minute_ns
        for each in idle_s
    )
