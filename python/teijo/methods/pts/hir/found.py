"""What PTS HIR measures and finds: its bursts and rests, and what the drive made of each rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Annotated

from teijo.analysis import measures
from teijo.analysis.quantities import IOPS, Quantity, of_series
from teijo.analysis.recovery import gain_of, mean_of
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.curve import Curve
from teijo.document.model import Axis
from teijo.document.phrase import Verbatim, say
from teijo.methods.forms import BLOCK_SIZE, whole, whole_list
from teijo.methods.knobs import Knob, meaning
from teijo.methods.pages import ms
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import ChecksFound
from teijo.methods.pts.loop import checked, scalars_of
from teijo.methods.pts.matrix import minute_of, stimulus
from teijo.methods.rounds import rounds_left, steady_words
from teijo.methods.scaled import full_size
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell, Scalar, SteadyState
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Idle, Measure, Purge
from teijo.terms.watch import Watch

PRECONDITION = "precondition"
BURST = "burst"
IDLE = "idle"
BASELINE = "baseline"


class HirSettings(shared.LoadSettings, frozen=True):
    """The numbers of one HIR run. Seconds and minutes are the standard's: `minute_ns` scales."""

    block_size_bytes: Annotated[int, Knob(BLOCK_SIZE, "block_size=4KiB", ("bs",))] = meaning(
        "block size of the random writes"
    )
    round_minutes: Annotated[int, Knob(whole(1, 10_000), "round_minutes=30")] = meaning(
        "the standard's minutes of a round of preconditioning"
    )
    rounds_most: Annotated[int, Knob(whole(5, 10_000), "max_rounds=25", judges=True)] = meaning(
        "rounds of preconditioning at most"
    )
    burst_s: Annotated[int, Knob(whole(1, 3_600), "burst=5")] = meaning(
        "the standard's seconds of a burst of writes"
    )
    idle_s: Annotated[tuple[int, ...], Knob(whole_list(1, 86_400, "idle time"), "idle=5,50")] = (
        meaning("the standard's seconds of rest after each burst, one wait state each")
    )
    bursts: Annotated[int, Knob(whole(1, 10_000), "bursts=60")] = meaning(
        "bursts of each wait state"
    )
    baseline_minutes: Annotated[int, Knob(whole(1, 10_000), "baseline_minutes=30")] = meaning(
        "the standard's minutes without a rest that follow each wait state"
    )

    @property
    def cell(self) -> MatrixCell:
        """What is driven: random writes."""
        return MatrixCell(read_percent=0, block_size_bytes=self.block_size_bytes)

    @property
    def cell_name(self) -> str:
        """The name that the record has for the minutes of preconditioning."""
        return f"RND {self.cell.mix} {self.cell.block}"

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
    def name(self) -> str:
        """Its name."""
        return state_name(self.idle_s)

    @property
    def rests_ns(self) -> tuple[int, ...]:
        """The time without I/O after each burst, as measured: rest and gaps together."""
        # Not what was asked for: reading a real drive's counters takes time too, and is rest.
        after = (*self.bursts[1:], *self.baseline[:1])
        return tuple(
            later.started_ns - (earlier.started_ns + earlier.elapsed_ns)
            # The last burst of a growing run has no successor yet.
            for earlier, later in zip(self.bursts, after, strict=False)
        )

    @property
    def second_half(self) -> Sequence[StepResult]:
        """The second half of the minutes without a rest: in the first the device uses up what it
        gained.
        """
        return self.baseline[len(self.baseline) // 2 :]

    @cached_property
    def burst_iops(self) -> float:
        """Mean IOPS of the bursts."""
        return fmean(answer.iops for answer in self.bursts)

    @property
    def baseline_iops(self) -> float | None:
        """Mean IOPS of the second half; None without a minute of it."""
        return fmean(answer.iops for answer in self.second_half) if self.baseline else None

    @cached_property
    def gain_percents(self) -> tuple[float | None, float | None, float | None]:
        """The bursts over the second half, less one, and both ends of its interval at 95 %."""
        raised = mean_of([answer.iops for answer in self.bursts])
        # Its own baseline, not the first: without WIPC the drive goes on wearing down meanwhile.
        baseline = mean_of([answer.iops for answer in self.second_half])
        gain = gain_of(raised, baseline) if raised and baseline else None
        if gain is None:
            return (None, None, None)
        if gain.low is None or gain.high is None:
            return (gain.share * 100, None, None)
        return (gain.share * 100, gain.low * 100, gain.high * 100)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The means, the gain, and the rests as measured."""
        gain, low, high = self.gain_percents
        rest_ms = ms(fmean(self.rests_ns)) if self.rests_ns else None
        figures = (
            ("mean of the bursts", self.burst_iops, "IOPS"),
            ("baseline after", self.baseline_iops, "IOPS"),
            ("gain", gain, "%"),
            ("gain, low end of 95 %", low, "%"),
            ("gain, high end of 95 %", high, "%"),
            ("rest as measured, mean", rest_ms, "ms"),
        )
        return scalars_of((f"{self.name}: {what}", value, unit) for what, value, unit in figures)


def state_name(idle_s: int) -> str:
    """Return a wait state's name, which is also its cell."""
    return f"idle {idle_s} s"


def precondition_minute(settings: HirSettings, minute: int) -> Measure:
    """Return one minute of the continuous preconditioning, counted from 1."""
    number = (minute - 1) // settings.round_minutes + 1
    return _minute(settings, minute, phase=PRECONDITION, number=number, cell=settings.cell_name)


def wait_state(settings: HirSettings, idle_s: int) -> Iterator[Measure | Idle]:
    """Return the steps of a wait state: bursts with a rest after each, then the minutes without.

    Each burst is a stimulus by itself, and the minutes are one.
    """
    cell = state_name(idle_s)
    for number in range(1, settings.bursts + 1):
        # Not open-ended: nothing may be in flight during the rest that follows.
        yield Measure(
            workload=stimulus(settings, settings.cell),
            duration_ns=settings.scaled_ns(settings.burst_s),
            phase=BURST,
            round_number=number,
            cell=cell,
        )
        yield Idle(duration_ns=settings.scaled_ns(idle_s), phase=IDLE, round_number=number)
    for minute in range(1, settings.baseline_minutes + 1):
        yield _minute(settings, minute, phase=BASELINE, number=minute, cell=cell)


def _minute(settings: HirSettings, minute: int, *, phase: str, number: int, cell: str) -> Measure:
    """Return a minute of continuous writes, counted from 1."""
    workload = stimulus(settings, settings.cell)
    return minute_of(settings, workload, minute, cell=cell, phase=phase, number=number)


def check_answers(settings: HirSettings, minutes: Sequence[StepResult]) -> list[StepResult]:
    """Return the sample of each round that steady state is determined on: its last minute."""
    # Unverified: which minute of a round the standard takes as its sample could not be read.
    return list(minutes[settings.round_minutes - 1 :: settings.round_minutes])


def determination(settings: HirSettings, minutes: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination over the rounds of preconditioning so far."""
    variable = f"last minute of the round, {settings.cell.stimulus}"
    return checked(variable, check_answers(settings, minutes))


class HirFound(ChecksFound[HirSettings]):
    """What a record of the test shows since its last purge, unbroken by a gap.

    Steady state is that of the preconditioning.
    """

    @cached_property
    def _answers(self) -> dict[tuple[str, str], list[StepResult]]:
        """The answers by phase and cell."""
        parts: dict[tuple[str, str], list[StepResult]] = {}
        for step, answer in self.exchanges:
            # A drive that rested for an unknown time is another drive: the test begins anew.
            if isinstance(step, Purge) or isinstance(answer, Gap):
                parts.clear()
            elif isinstance(step, Measure):
                parts.setdefault((step.phase, step.cell or ""), []).append(answer)
        return parts

    @property
    def minutes(self) -> Sequence[StepResult]:
        """The minutes of preconditioning."""
        return self._answers.get((PRECONDITION, self.settings.cell_name), [])

    @cached_property
    def waits(self) -> tuple[WaitState, ...]:
        """The wait states that have begun."""
        return tuple(
            WaitState(
                idle_s=idle_s,
                bursts=tuple(bursts),
                baseline=tuple(self._answers.get((BASELINE, state_name(idle_s)), ())),
            )
            for idle_s in self.settings.idle_s
            if (bursts := self._answers.get((BURST, state_name(idle_s))))
        )

    @cached_property
    def checks(self) -> Sequence[StepResult]:
        """The last minute of each round."""
        return check_answers(self.settings, self.minutes)

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination over the rounds."""
        return determination(self.settings, self.minutes)

    @property
    def converged(self) -> bool:
        """Whether the preconditioning reached steady state."""
        return is_steady(self.states)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The figures of each wait state."""
        return tuple(each for wait in self.waits for each in wait.scalars)

    @property
    def headlines(self) -> Sequence[Scalar]:
        """The gain of each wait state."""
        return [each for each in self.scalars if each.name.endswith(": gain")]

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The bursts of each wait state, and the minutes after them."""
        return tuple(
            measures.cell_over((("wait state", wait.name), ("part", part)), answers)
            for wait in self.waits
            for part, answers in ((BURST, wait.bursts), (BASELINE, wait.baseline))
            if answers
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of each wait state's bursts, and of the second half of the writes after them."""
        return tuple(
            each
            for wait in self.waits
            for place, answers in (
                (say("{state}, bursts", state=Verbatim(wait.name)), wait.bursts),
                (say("{state}, without a rest", state=Verbatim(wait.name)), wait.second_half),
            )
            for each in of_series(place, answers, (IOPS,), steady=self.converged)
        )

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """The gain of each wait state."""
        gains = ((wait.idle_s, wait.gain_percents[0]) for wait in self.waits)
        curve = Curve(
            title="What idling gained: bursts against writes without a rest",
            x=Axis(name="Idle time", unit=full_size("s", self.record.geometry)),
            y=Axis(name="Gain", unit="%"),
            points=tuple((idle_s, gain) for idle_s, gain in gains if gain is not None),
        )
        return (curve,)

    @property
    def _is_waiting(self) -> bool:
        """Whether the preconditioning is over."""
        return bool(self.waits or self.rounds >= self.settings.rounds_most or self.converged)

    @property
    def steady_words(self) -> str:
        """How many rounds there are, as long as they are too few for a window."""
        few = not self._is_waiting and self.rounds < WINDOW_ROUNDS
        return steady_words(self.states, self.rounds) if few else ""

    @property
    def watch_measuring(self) -> Watch:
        """How far the preconditioning or the wait states have come."""
        settings, rounds = self.settings, self.rounds
        if self._is_waiting:
            return _watch_of_waits(settings, self.waits)
        least = max(WINDOW_ROUNDS, rounds + 1)
        round_ns = settings.round_minutes * settings.minute_ns
        left_ns = _waits_ns(settings, settings.idle_s) - len(self.minutes) * settings.minute_ns
        return Watch(
            phase=PRECONDITION,
            round_number=rounds + 1,
            rounds_least=least,
            rounds_most=settings.rounds_most,
            cell=settings.cell_name,
            steady=self.steady_words,
            remaining_ns_least=left_ns + least * round_ns,
            remaining_ns_most=left_ns + settings.rounds_most * round_ns,
            rounds_left=rounds_left(self.states, limit_rounds=settings.rounds_most),
        )


def _watch_of_waits(settings: HirSettings, waits: Sequence[WaitState]) -> Watch:
    """Return how far the wait states have come."""
    whole = [each for each in waits if len(each.baseline) == settings.baseline_minutes]
    # After the last wait state the watch stays on it until the run is sealed.
    left = settings.idle_s[len(whole) :] or settings.idle_s[-1:]
    now = waits[-1] if len(waits) > len(whole) else None
    bursts = len(now.bursts) if now else 0
    minutes = len(now.baseline) if now else 0
    done_ns = bursts * settings.scaled_ns(settings.burst_s + left[0]) + minutes * settings.minute_ns
    resting = bursts < settings.bursts
    count = settings.bursts if resting else settings.baseline_minutes
    remaining_ns = max(0, _waits_ns(settings, left) - done_ns)
    return Watch(
        phase=BURST if resting else BASELINE,
        round_number=min(count, (bursts if resting else minutes) + 1),
        rounds_least=count,
        rounds_most=count,
        cell=state_name(left[0]),
        remaining_ns_least=remaining_ns,
        remaining_ns_most=remaining_ns,
    )


def _waits_ns(settings: HirSettings, idle_s: Sequence[int]) -> int:
    """Return how long these wait states take."""
    return sum(
        settings.bursts * settings.scaled_ns(settings.burst_s + each)
        + settings.baseline_minutes * settings.minute_ns
        for each in idle_s
    )
