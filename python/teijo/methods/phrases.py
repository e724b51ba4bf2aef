"""The phrases that methods are made of: each yields steps and knows what to do after a gap.

A gap means that the device was left alone for an unknown time, so a phrase asks again from the
last point the standard allows: a purge or a preconditioning from its start, a round from its
first cell.
"""

from collections.abc import Callable, Generator, Sequence

from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.methods.rounds import Exchange, Rounds, rounds_of
from teijo.terms.finding import SteadyState
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, Measure, Precondition, Purge, Step
from teijo.terms.workload import Access, ActiveRange, Content, Stream, Workload

Cells = Callable[[int], Sequence[Measure]]
"""The cells of the round with this number, in their mandated order."""

Judge = Callable[[Rounds], tuple[SteadyState, ...]]
"""The determination of every tracking variable over the rounds so far."""


def insist(step: Step) -> Generator[Step, Answer, StepResult]:
    """Ask for a step until it takes place."""
    while True:
        answer = yield step
        if isinstance(answer, StepResult):
            return answer


def purge(method: str) -> Generator[Step, Answer, StepResult]:
    """Put the device in the state "never written" this way, or learn that it cannot be."""
    return (yield from insist(Purge(method=method)))


def precondition(workload: Workload, total_bytes: int) -> Generator[Step, Answer, StepResult]:
    """Write this much, from the start again after a gap (PTS: WIPC)."""
    return (yield from insist(Precondition(workload=workload, total_bytes=total_bytes)))


def rounds_until_steady(
    cells: Cells, *, judge: Judge, limit_rounds: int
) -> Generator[Step, Answer, tuple[SteadyState, ...]]:
    """Measure rounds until all tracking variables are steady in one window, or to the limit.

    The limit counts rounds since the last gap, since the determination starts anew there.
    Returns the determination over the last unbroken rounds.
    """
    assert limit_rounds >= WINDOW_ROUNDS, "a window has five rounds"
    exchanges: list[Exchange] = []
    number = 1
    while True:
        sequence = cells(number)
        for step in sequence:
            answer = yield step
            # A gap is kept too: rounds_of ends the unbroken rounds there.
            exchanges.append((step, answer))
            if isinstance(answer, Gap):
                break
        rounds = rounds_of(exchanges, len(sequence))
        states = judge(rounds)
        if is_steady(states) or len(rounds.unbroken) >= limit_rounds:
            return states
        # After a gap this is the same number: the round is measured again.
        number = len(rounds.whole) + 1


def histogram_run(
    workload: Workload, duration_ns: int, *, cell: str
) -> Generator[Step, Answer, StepResult]:
    """Drive the stimulus long enough to see its rare slow I/Os; from the start after a gap."""
    return (
        yield from insist(
            Measure(workload=workload, duration_ns=duration_ns, phase=HISTOGRAM, cell=cell)
        )
    )


def is_steady(states: Sequence[SteadyState]) -> bool:
    """Return whether a window was found in which every tracking variable is steady."""
    return bool(states) and all(state.reached is not None for state in states)


def sequential_writes(
    block_size_bytes: int,
    *,
    active_range: ActiveRange,
    threads: int,
    queue_depth: int,
    content: Content,
) -> Workload:
    """Return the stimulus of workload independent preconditioning (PTS: SEQ 128 KiB)."""
    stream = Stream(
        read_percent=0,
        block_size_bytes=block_size_bytes,
        access=Access.SEQUENTIAL,
        threads=threads,
        queue_depth=queue_depth,
        active_range=active_range,
        content=content,
    )
    return Workload(streams=(stream,))
