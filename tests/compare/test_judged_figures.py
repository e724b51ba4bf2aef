"""The figures of each test, and the batches their uncertainty is told from."""

import math
from dataclasses import replace

import pytest

from teijo.analysis.quantities import IOPS, LATENCY, LATENCY_MAX, THROUGHPUT, Quantity
from teijo.compare.judged import Verdict, pairing_of, repeated
from teijo.compare.sides import Match, matches_of
from teijo.document.grid import Figure
from teijo.methods.parts import parts_of
from teijo.methods.pts.campaign.parts import Part
from teijo.terms.record import Record
from tests.compare.drawn import record, side


def part(of: Record) -> Part:
    (only,) = parts_of(of)
    return only


def figures(of: Record) -> dict[tuple[str, str], Quantity]:
    return {(str(q.place), q.figure.name): q for q in part(of).found.quantities}


def test_a_cells_value_is_what_its_report_says_and_its_batches_are_the_windows_rounds() -> None:
    run = part(record(1))
    found = run.found.quantities
    assert len(found) == len(run.findings.cells) == 9
    for quantity, cell in zip(found, run.findings.cells, strict=True):
        assert quantity.value == pytest.approx(cell.iops)
        assert len(quantity.batches) == 5
        assert math.fsum(quantity.batches) / 5 == pytest.approx(cell.iops)
        assert quantity.place == f"RND {cell.labels[1][1]} {cell.labels[0][1]}"


def test_lat_has_the_mean_latency_and_the_mean_of_the_rounds_maxima_of_every_cell() -> None:
    run = part(record(1, test="lat"))
    found = figures(run.record)
    for cell in run.findings.cells:
        place = f"RND {cell.labels[1][1]} {cell.labels[0][1]}"
        assert found[place, LATENCY.name].value == pytest.approx(cell.latency_ns_mean / 1e6)
        maxima = found[place, LATENCY_MAX.name]
        assert maxima.value == pytest.approx(math.fsum(maxima.batches) / 5), "as it is compared"
        assert max(maxima.batches) == pytest.approx(cell.latency_ns_max / 1e6)
    assert len(found) == 2 * len(run.findings.cells)


def test_tp_has_the_throughput_of_every_block_size_and_direction() -> None:
    run = record(1, test="tp", spec="1.1-enterprise")
    assert [(q.place, q.figure) for q in part(run).found.quantities] == [
        (f"SEQ {size} {mix}", THROUGHPUT)
        for size in ("1024 KiB", "128 KiB")
        for mix in ("100/0", "0/100")
    ]


def test_wsat_has_the_plateau_and_the_last_fifth_in_five_batches_of_minutes() -> None:
    found = figures(record(1, test="wsat"))
    assert set(found) == {
        ("FOB plateau", "IOPS"),
        ("last fifth of the minutes", "IOPS"),
        ("last fifth of the minutes", "Mean latency"),
    }
    assert {len(each.batches) for each in found.values()} == {5}
    assert not any(each.by_round for each in found.values())


def test_xsr_and_hir_have_their_groups_and_wait_states() -> None:
    assert [q.place for q in part(record(1, test="xsr")).found.quantities] == [
        f"group {number}, its last two hours" for number in (1, 2, 3)
    ]
    assert [q.place for q in part(record(1, test="hir")).found.quantities] == [
        "idle 5 s, bursts",
        "idle 5 s, without a rest",
        "idle 50 s, bursts",
        "idle 50 s, without a rest",
    ]


def test_dirth_has_every_demand_and_the_operating_points() -> None:
    found = figures(record(1, test="dirth"))
    assert {place for place, _ in found} == {
        "TC 4 QD 4", "TC 4 QD 1", "TC 1 QD 4", "TC 1 QD 1", "MaxIOPS", "MidIOPS", "MinIOPS",
    }  # fmt: skip
    loads = {place: each.load for (place, _), each in found.items()}
    assert loads["MaxIOPS"].startswith("TC ")
    assert loads["TC 4 QD 4"] == ""


def test_a_free_workload_has_a_figure_of_each_measurement() -> None:
    run = record(1, test="workload", overrides={"rw": "randread", "bs": "4KiB"})
    assert {name for _, name in figures(run)} == {"IOPS", "Mean latency"}


def test_one_io_is_the_share_that_a_round_cannot_tell() -> None:
    run = part(record(1))
    first = run.found.quantities[0]
    assert first.resolution == pytest.approx(1 / (60 * min(first.batches)), rel=1e-6)


def one(value: float, figure: Figure = IOPS, place: str = "cell") -> Quantity:
    return Quantity(place=place, figure=figure, value=value, batches=(value, value))


def test_of_runs_that_repeat_each_other_each_value_is_a_batch() -> None:
    (found,) = repeated([[one(10.0)], [one(14.0)], [one(12.0)]])
    assert (found.value, found.batches) == (12.0, (10.0, 14.0, 12.0))
    (longest,) = repeated([[one(3.0, LATENCY_MAX)], [one(5.0, LATENCY_MAX)]])
    assert (longest.value, longest.batches, longest.runs) == (4.0, (3.0, 5.0), 2)


def test_what_one_of_the_runs_has_not_measured_is_left_out() -> None:
    assert repeated([[one(1.0), one(2.0, place="other")], [one(1.0)]])[0].place == "cell"
    assert len(repeated([[one(1.0), one(2.0, place="other")], [one(1.0)]])) == 1


def test_a_run_that_has_measured_no_round_has_no_figures() -> None:
    run = record(1)
    begun = replace(run, steps=run.steps[:2], run=replace(run.run, ending="running"))
    assert part(begun).found.quantities == ()


def test_the_parts_of_a_match_are_its_sides_in_their_order() -> None:
    match: Match = matches_of([side("a", record(1)), side("b", record(2), record(3))])[0]
    assert [entry.label for entry in match.of("b")] == ["b 1", "b 2"]


def test_a_series_tells_how_many_neighbours_are_in_a_batch_and_what_its_window_is() -> None:
    last = figures(record(1, test="wsat"))["last fifth of the minutes", "IOPS"]
    assert (last.batch_samples, last.steady) == (1, None), "no check minutes were asked for"
    bursts = figures(record(1, test="hir"))["idle 5 s, bursts", "IOPS"]
    assert (len(bursts.batches), bursts.batch_samples, bursts.steady) == (5, 4, True)
    assert figures(record(1, test="wsat"))["FOB plateau", "IOPS"].steady is None


def test_runs_that_are_alike_by_chance_are_not_known_better_than_their_rounds() -> None:
    def run(*rounds: float) -> Quantity:
        value = math.fsum(rounds) / 5
        return Quantity(place="c", figure=IOPS, value=value, batches=rounds, by_round=True)

    low = [run(80, 120, 100, 100, 100), run(120, 80, 100, 100, 100)]
    high = [run(100, 100, 90, 140, 120), run(120, 100, 140, 90, 100)]
    (one,), (other,) = repeated([[each] for each in low]), repeated([[each] for each in high])
    assert one.own_error == pytest.approx(0.2**2 / 2 / 5)
    found = pairing_of("a", "b", [one], [other])
    assert found.rows[0].verdict is Verdict.NOT_SHOWN
    careless = pairing_of("a", "b", [replace(one, own_error=0.0)], [replace(other, own_error=0.0)])
    assert careless.rows[0].verdict is Verdict.FASTER
