"""The rounds of a run as they end: a table for each part and phase, and no broken round in it."""

from dataclasses import replace

from teijo.analysis import round_table
from teijo.analysis.round_table import RoundTable
from teijo.terms.result import Gap
from tests.runfile.samples import measure, measured


def filled(*numbers: int) -> RoundTable:
    table = RoundTable()
    for number in numbers:
        table.end(measure(number), measured(number))
    return table


def test_each_cell_has_the_rates_of_its_answer() -> None:
    (one,) = filled(1).answers
    # Five I/Os in two seconds, of 4 × 8 KiB and one of 64 KiB, in 100 + 200 + 200 + 901 + 1500 ns.
    assert (one.round_number, one.cell, one.iops) == (1, "65/35 8 KiB", 2.5)
    assert one.mb_s == (4 * 8192 + 65536) / 2 / 1e6
    assert one.latency_ms == (100 + 200 + 200 + 901 + 1500) / 5 / 1e6


def test_it_only_grows_while_nothing_is_dropped() -> None:
    table = filled(1)
    begun, before = table.begun, list(table.answers)
    table.end(measure(2), measured(2))
    assert (table.begun, table.answers[:1], len(table.answers)) == (begun, before, 2)


def test_a_gap_drops_what_was_measured_of_its_round() -> None:
    table = filled(1, 2)
    begun = table.begun
    table.end(measure(2), Gap())
    assert [each.round_number for each in table.answers] == [1]
    assert table.begun > begun


def test_another_phase_or_part_begins_a_table() -> None:
    table = filled(1)
    for step in (replace(measure(1), phase="other"), replace(measure(1), part="iops")):
        begun = table.begun
        table.end(step, measured(1))
        assert len(table.answers) == 1
        assert table.begun > begun


def test_it_is_bounded_however_many_rounds_there_are() -> None:
    table = filled(*range(1, round_table.ANSWERS_MOST + 2))
    assert len(table.answers) <= round_table.ANSWERS_MOST
    assert table.answers[-1].round_number == round_table.ANSWERS_MOST + 1
