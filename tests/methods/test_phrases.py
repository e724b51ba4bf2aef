"""The phrases by themselves: what they insist on, and when rounds end."""

from teijo.analysis.steady_state import Tracked, determine
from teijo.methods.phrases import (
    histogram_run,
    insist,
    is_steady,
    precondition,
    purge,
    rounds_until_steady,
    sequential_writes,
)
from teijo.methods.rounds import Rounds
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, ROUND, Idle, Measure, Precondition, Purge
from teijo.terms.workload import WHOLE_RANGE, Access, Content, Stream, Workload

WORKLOAD = Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),))


def result(elapsed_ns: int = 1) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns)


def ask(phrase, answers: list[Answer]):
    """Answer a phrase from a list; return (steps asked, what it returned)."""
    asked = [next(phrase)]
    for answer in answers:
        try:
            asked.append(phrase.send(answer))
        except StopIteration as end:
            return asked, end.value
    raise AssertionError("the phrase asked for more")


def test_a_phrase_insists_until_its_step_took_place():
    answers: list[Answer] = [Gap(), Gap(), result(7)]
    for phrase, step in (
        (purge("nvme-format"), Purge(method="nvme-format")),
        (
            histogram_run(WORKLOAD, 9, cell="a"),
            Measure(workload=WORKLOAD, duration_ns=9, phase=HISTOGRAM, cell="a"),
        ),
        (precondition(WORKLOAD, 10), Precondition(workload=WORKLOAD, total_bytes=10)),
        (insist(Idle(duration_ns=1)), Idle(duration_ns=1)),
    ):
        asked, returned = ask(phrase, answers)
        assert asked == [step] * 3
        assert returned == result(7)


def test_rounds_end_with_the_determination_over_the_unbroken_ones():
    def cells(number: int) -> list[Measure]:
        return [
            Measure(workload=WORKLOAD, duration_ns=1, phase=ROUND, round_number=number, cell=name)
            for name in ("a", "b")
        ]

    def judge(rounds: Rounds):
        numbers = [each.number for each in rounds.unbroken]
        values = tuple(float(each.at("a").elapsed_ns) for each in rounds.unbroken)
        return determine(numbers, [Tracked(variable="a", unit="ns", values=values)])

    phrase = rounds_until_steady(cells, judge=judge, limit_rounds=25)
    asked, states = ask(phrase, [result()] * 3 + [Gap()] + [result()] * 10)
    assert is_steady(states)
    assert states[0].rounds == (2, 3, 4, 5, 6)
    assert [step.round_number for step in asked] == [1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_nothing_tracked_is_never_steady():
    assert not is_steady(())


def test_preconditioning_writes_in_sequence():
    (stream,) = sequential_writes(
        1 << 17, active_range=WHOLE_RANGE, threads=2, queue_depth=16, content=Content.ZERO
    ).streams
    assert (stream.read_percent, stream.access) == (0, Access.SEQUENTIAL)
    assert (stream.block_size_bytes, stream.outstanding_ios) == (1 << 17, 32)
    assert stream.content is Content.ZERO
