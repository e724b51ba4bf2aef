"""A record gives its measurements in order, of one phase or of all, without the gaps."""

from teijo.terms.record import StepRecord
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure
from tests.methods.pts.test_iops import run


def test_measurements_are_those_that_took_place():
    played = run(gaps={30}, overrides={"mixes": "0/100", "block_sizes": "4KiB"})
    record = played.record
    expected = [
        (each.step, each.answer)
        for each in record.steps
        if isinstance(each.step, Measure) and isinstance(each.answer, StepResult)
    ]
    assert record.measured() == expected
    assert record.measured("round") == expected
    assert record.measured("minute") == []


def test_a_gap_is_no_measurement():
    played = run(gaps={3}, overrides={"mixes": "0/100", "block_sizes": "4KiB"})
    gaps = [each for each in played.steps if isinstance(each.answer, Gap)]
    assert len(gaps) == 1
    assert isinstance(gaps[0], StepRecord)
    assert len(played.record.measured()) == len(played.measured) - 1
