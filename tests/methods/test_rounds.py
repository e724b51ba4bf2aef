"""Rounds and minutes read off a conversation, against a slow model that replays it by hand."""

from hypothesis import given
from hypothesis import strategies as st

from teijo.methods.rounds import exchanges_of, histogram_run_of, minutes_of, rounds_of
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, MINUTE, ROUND, Measure, Precondition, Purge, Step
from teijo.terms.workload import Stream, Workload
from tests.methods.test_workload import run

WORKLOAD = Workload(streams=(Stream(read_percent=0, block_size_bytes=4096),))
RESULT = StepResult(started_ns=0, elapsed_ns=1)


def cell(number: int, name: str = "a", phase: str = ROUND) -> Measure:
    return Measure(workload=WORKLOAD, duration_ns=1, phase=phase, round_number=number, cell=name)


def test_a_round_counts_when_all_its_cells_were_measured():
    exchanges = [(cell(1, "a"), RESULT), (cell(1, "b"), RESULT), (cell(2, "a"), RESULT)]
    rounds = rounds_of(exchanges, 2)
    assert [each.number for each in rounds.whole] == [1]
    assert [step.cell for step, _ in rounds.under_way] == ["a"]
    assert rounds.whole[0].at("b") is RESULT


def test_other_phases_are_no_rounds():
    other = [
        (Purge(), RESULT),
        (Precondition(workload=WORKLOAD, total_bytes=1), RESULT),
        (cell(1, phase="measure"), RESULT),
        (cell(1, phase=MINUTE), RESULT),
    ]
    assert rounds_of(other, 1).whole == ()
    assert [step.phase for step, _ in minutes_of(other)] == [MINUTE]


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 5))
def test_gaps_anywhere_drop_the_round_under_way_and_end_the_unbroken_ones(answers, cells):
    # The model: keep every answer of the round under way in a list, clear it at a gap.
    exchanges: list[tuple[Step, Answer]] = []
    whole, since_gap, under_way = 0, 0, 0
    for measured in answers:
        exchanges.append((cell(whole + 1, str(under_way)), RESULT if measured else Gap()))
        if not measured:
            under_way, since_gap = 0, 0
        elif under_way + 1 == cells:
            whole, since_gap, under_way = whole + 1, since_gap + 1, 0
        else:
            under_way += 1
    rounds = rounds_of(exchanges, cells)
    assert len(rounds.whole) == whole
    assert len(rounds.unbroken) == since_gap
    assert len(rounds.under_way) == under_way
    assert [each.number for each in rounds.whole] == list(range(1, whole + 1))
    assert all(len(each.cells) == cells for each in rounds.whole)


@given(st.lists(st.sampled_from(["purge", "minute", "gap"]), max_size=40))
def test_minutes_are_those_since_the_last_purge_or_gap(kinds):
    exchanges: list[tuple[Step, Answer]] = []
    for place, kind in enumerate(kinds):
        match kind:
            case "purge":
                exchanges.append((Purge(), RESULT))
            case "minute":
                exchanges.append((cell(place, phase=MINUTE), RESULT))
            case _:
                exchanges.append((cell(place, phase=MINUTE), Gap()))
    breaks = [place for place, kind in enumerate(kinds) if kind != "minute"]
    since = breaks[-1] + 1 if breaks else 0
    assert [step.round_number for step, _ in minutes_of(exchanges)] == list(
        range(since, len(kinds))
    )


def test_the_histogram_run_is_the_last_one_that_took_place_since_the_purge():
    step, first = cell(1, phase=HISTOGRAM), RESULT
    last = StepResult(started_ns=1, elapsed_ns=1)
    assert histogram_run_of([(cell(1), first)]) is None
    assert histogram_run_of([(step, Gap())]) is None
    assert histogram_run_of([(step, Gap()), (step, last)]) is last
    assert histogram_run_of([(step, first), (Purge(), RESULT)]) is None


def test_a_records_conversation_is_its_steps_and_answers_in_order():
    record = run(gaps={1}).record
    exchanges = exchanges_of(record)
    assert [type(answer) for _, answer in exchanges] == [Gap, StepResult]
