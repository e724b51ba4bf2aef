"""What the PTS methods of rounds share beside their pages: the window's rounds, the figures over
them, and where a growing record stands in its rounds.
"""

from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import WINDOW_ROUNDS, Tracked, determine
from teijo.document.phrase import say
from teijo.methods.pages import ms
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.rounds import Round, Rounds, rounds_left
from teijo.terms.finding import Scalar, SteadyState
from teijo.terms.histogram import EMPTY
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND, Measure
from teijo.terms.watch import Watch


def window_rounds_of(states: Sequence[SteadyState], rounds: Rounds) -> tuple[Round, ...]:
    """Return the rounds of the measurement window; without one yet, the last unbroken ones."""
    window = states[0].window if states else None
    if window is None:
        return rounds.unbroken[-WINDOW_ROUNDS:]
    return tuple(
        each for each in rounds.unbroken if window.first_round <= each.number <= window.last_round
    )


def checked(variable: str, checks: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination of the IOPS of check minutes, numbered from 1."""
    values = tuple(measures.exact_iops(answer) for answer in checks)
    tracked = Tracked(variable=variable, unit="IOPS", values=values)
    return determine(range(1, len(checks) + 1), [tracked])


def written_in(record: Record) -> Scalar:
    """Return what was written in the whole run."""
    answers = (each.answer for each in record.steps if isinstance(each.answer, StepResult))
    written = sum(measures.written_bytes(answer) for answer in answers)
    return Scalar(name="written in the run", value=written / units.GIGA, unit="GB")


def window_scalars(record: Record, window: Sequence[Round]) -> tuple[Scalar, ...]:
    """Return what was written in the run, and over the window its amplification and gaps."""
    in_window = [answer for each in window for _, answer in each.cells]
    return (
        written_in(record),
        Scalar(
            name="write amplification over the window",
            value=measures.write_amplification(in_window),
            unit="",
        ),
        Scalar(
            name="longest gap between the window's steps",
            value=ms(max((a.gap_ns for a in in_window), default=0)) if in_window else None,
            unit="ms",
        ),
    )


def histogram_scalars(run: StepResult | None) -> tuple[Scalar, ...]:
    """Return ART, 5 9s and MRT of the histogram's run, each None before it took place."""
    latency = EMPTY if run is None else measures.latency_of(run)
    levels = (
        ("ART of the histogram's run", ms(latency.mean_ns)),
        ("5 9s of the histogram's run", five_nines_ms(latency)),
        ("MRT of the histogram's run", ms(latency.max_ns)),
    )
    return tuple(
        Scalar(name=name, value=value if latency.count else None, unit="ms")
        for name, value in levels
    )


def rounds_watch(
    cells: Sequence[Measure], rounds: Rounds, states: Sequence[SteadyState], limit_rounds: int
) -> Watch:
    """Return where the rounds stand: `cells` are those of one round, each of one length."""
    whole, in_round = len(rounds.whole), len(rounds.under_way)
    least = max(rounds.broken_after + WINDOW_ROUNDS, whole + 1)
    most = max(rounds.broken_after + limit_rounds, least)
    minute_ns = cells[in_round].duration_ns
    return Watch(
        phase=ROUND,
        round_number=whole + 1,
        rounds_least=least,
        rounds_most=most,
        cell=cells[in_round].cell,
        steady=steady_words(states, len(rounds.unbroken)),
        remaining_ns_least=((least - whole) * len(cells) - in_round) * minute_ns,
        remaining_ns_most=((most - whole) * len(cells) - in_round) * minute_ns,
        rounds_left=rounds_left(states, limit_rounds=limit_rounds),
    )


def steady_words(states: Sequence[SteadyState], rounds: int) -> str:
    """Return how far steady state is, in a few words."""
    if rounds < WINDOW_ROUNDS:
        return say("{rounds} of the first {window} rounds", rounds=rounds, window=WINDOW_ROUNDS)
    steady = sum(state.windows[-1].steady for state in states)
    return say("{steady} of {all} tracking variables steady", steady=steady, all=len(states))
