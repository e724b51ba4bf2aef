"""The bursts and rests of PTS HIR: settings, stimulus, and what was measured, read off a record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import Gain, Mean, gain_of, mean_of
from teijo.analysis.steady_state import Tracked, determine
from teijo.conformance.versions import HIR_BLOCK_BYTES, IdleRecoveryRule, Version
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.pts import settings as shared
from teijo.methods.rounds import Exchange
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Idle, Measure, Purge
from teijo.terms.workload import Stream, Workload

PRECONDITION = "precondition"
BURST = "burst"
IDLE = "idle"
BASELINE = "baseline"


class HirSettings(shared.PtsSettings, frozen=True):
    """The numbers of one HIR run. Seconds and minutes are the standard's: `minute_ns` scales."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    block_size_bytes: Annotated[
        int,
        Knob(
            key="block_size",
            aliases=("bs",),
            meaning="block size of the random writes",
            example="4KiB",
            parse=knobs.block_size,
            show=knobs.show_size,
        ),
    ]
    round_minutes: Annotated[
        int,
        Knob(
            key="round_minutes",
            meaning="the standard's minutes of a round of preconditioning",
            example="30",
            parse=knobs.whole_number(1, 10_000),
        ),
    ]
    rounds_most: Annotated[
        int,
        Knob(
            key="max_rounds",
            meaning="rounds of preconditioning at most",
            example="25",
            parse=knobs.whole_number(5, 10_000),
            judges=True,
        ),
    ]
    burst_s: Annotated[
        int,
        Knob(
            key="burst",
            meaning="the standard's seconds of a burst of writes",
            example="5",
            parse=knobs.whole_number(1, 3_600),
        ),
    ]
    idle_s: Annotated[
        tuple[int, ...],
        Knob(
            key="idle",
            meaning="the standard's seconds of rest after each burst, one wait state each",
            example="5,50",
            parse=knobs.whole_numbers(1, 86_400, "idle time"),
            show=knobs.show_numbers,
        ),
    ]
    bursts: Annotated[
        int,
        Knob(
            key="bursts",
            meaning="bursts of each wait state",
            example="60",
            parse=knobs.whole_number(1, 10_000),
        ),
    ]
    baseline_minutes: Annotated[
        int,
        Knob(
            key="baseline_minutes",
            meaning="the standard's minutes without a rest that follow each wait state",
            example="30",
            parse=knobs.whole_number(1, 10_000),
        ),
    ]

    def scaled_ns(self, seconds: int) -> int:
        """Return the standard's seconds on the device at hand."""
        return self.minute_ns * seconds // 60


@dataclass(frozen=True, kw_only=True)
class WaitState:
    """One wait state: its bursts, and the minutes without a rest that followed."""

    idle_s: int
    bursts: tuple[StepResult, ...]
    baseline: tuple[StepResult, ...]

    @property
    def rests_ns(self) -> tuple[int, ...]:
        """The time without I/O after each burst, as measured: rest and gaps together."""
        after = (*self.bursts[1:], *self.baseline[:1])
        return tuple(
            later.started_ns - (earlier.started_ns + earlier.elapsed_ns)
            for earlier, later in zip(self.bursts, after, strict=False)
        )

    @property
    def burst_iops(self) -> Mean | None:
        """Mean IOPS of the bursts."""
        return mean_of([answer.iops for answer in self.bursts])

    @property
    def baseline_iops(self) -> Mean | None:
        """Mean IOPS of the second half of the minutes without a rest, once all of them are there.

        The first half is the way back: the device uses up what it gained.
        """
        return mean_of([answer.iops for answer in self.baseline[len(self.baseline) // 2 :]])

    @property
    def gain(self) -> Gain | None:
        """The bursts against the baseline that followed them."""
        raised, baseline = self.burst_iops, self.baseline_iops
        return None if raised is None or baseline is None else gain_of(raised, baseline)


@dataclass(frozen=True, kw_only=True)
class Log:
    """What was measured since the last purge, unbroken by a gap."""

    minutes: tuple[StepResult, ...]
    states: tuple[WaitState, ...]


def standard(version: Version, geometry: Geometry) -> HirSettings:
    """Return the settings as the version has them on this device, unchecked."""
    rule = rule_of(version)
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


def rule_of(version: Version) -> IdleRecoveryRule:
    """Return what a version that has HIR says of it."""
    assert version.idle_recovery is not None, version.id
    return version.idle_recovery


def stimulus_name(settings: HirSettings) -> str:
    """Return the name that the record has for the cells of the stimulus."""
    return f"RND 0/100 {units.format_block_size(settings.block_size_bytes)}"


def stimulus_words(settings: HirSettings) -> str:
    """Return the stimulus as the reports of all tests write it: "RND 4 KiB 0/100"."""
    return f"RND {units.format_block_size(settings.block_size_bytes)} 0/100"


def state_name(idle_s: int) -> str:
    """Return a wait state's name, which is also its cell."""
    return f"idle {idle_s} s"


def precondition_minute(settings: HirSettings, minute: int) -> Measure:
    """Return one minute of the continuous preconditioning, counted from 1."""
    return _writes(
        settings,
        settings.minute_ns,
        phase=PRECONDITION,
        round_number=(minute - 1) // settings.round_minutes + 1,
        cell=stimulus_name(settings),
        continues=minute > 1,
        open_ended=True,
    )


def burst(settings: HirSettings, idle_s: int, number: int) -> Measure:
    """Return one burst of a wait state, counted from 1: a stimulus of its own."""
    return _writes(
        settings,
        settings.scaled_ns(settings.burst_s),
        phase=BURST,
        round_number=number,
        cell=state_name(idle_s),
        continues=False,
        open_ended=False,
    )


def rest(settings: HirSettings, idle_s: int, number: int) -> Idle:
    """Return the rest after a burst."""
    return Idle(duration_ns=settings.scaled_ns(idle_s), phase=IDLE, round_number=number)


def baseline_minute(settings: HirSettings, idle_s: int, minute: int) -> Measure:
    """Return one minute, counted from 1, of the writes without a rest after a wait state."""
    return _writes(
        settings,
        settings.minute_ns,
        phase=BASELINE,
        round_number=minute,
        cell=state_name(idle_s),
        continues=minute > 1,
        open_ended=True,
    )


def _writes(
    settings: HirSettings,
    duration_ns: int,
    *,
    phase: str,
    round_number: int,
    cell: str,
    continues: bool,
    open_ended: bool,
) -> Measure:
    stream = Stream(
        read_percent=0,
        block_size_bytes=settings.block_size_bytes,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Measure(
        workload=Workload(streams=(stream,)),
        duration_ns=duration_ns,
        phase=phase,
        round_number=round_number,
        cell=cell,
        continues=continues,
        open_ended=open_ended,
    )


def log_of(settings: HirSettings, exchanges: Iterable[Exchange]) -> Log:
    """Return what a conversation measured since its last purge, in one pass over it."""
    parts: dict[tuple[str, str], list[StepResult]] = {}
    for step, answer in exchanges:
        if isinstance(step, Purge) or isinstance(answer, Gap):
            parts.clear()
        elif isinstance(step, Measure):
            parts.setdefault((step.phase, step.cell or ""), []).append(answer)
    states = []
    for idle_s in settings.idle_s:
        name = state_name(idle_s)
        bursts, baseline = parts.get((BURST, name), []), parts.get((BASELINE, name), [])
        if bursts:
            states.append(WaitState(idle_s=idle_s, bursts=tuple(bursts), baseline=tuple(baseline)))
    minutes = parts.get((PRECONDITION, stimulus_name(settings)), [])
    return Log(minutes=tuple(minutes), states=tuple(states))


def check_answers(settings: HirSettings, minutes: Sequence[StepResult]) -> list[StepResult]:
    """Return the sample of each round that steady state is determined on: its last minute."""
    return list(minutes[settings.round_minutes - 1 :: settings.round_minutes])


def determination(settings: HirSettings, minutes: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination over the rounds of preconditioning so far."""
    checks = check_answers(settings, minutes)
    variable = f"last minute of the round, {stimulus_words(settings)}"
    values = tuple(measures.exact_iops(answer) for answer in checks)
    tracked = Tracked(variable=variable, unit="IOPS", values=values)
    return determine(range(1, len(checks) + 1), [tracked])
