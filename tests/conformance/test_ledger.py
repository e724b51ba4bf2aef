"""The ledger: what keeps to the standard passes, and each deviation is found where it is."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.conformance.ledger import ledger, stamp_of_ledger
from teijo.conformance.page import VERDICT_COLUMN
from teijo.conformance.requirements import REQUIREMENTS
from teijo.conformance.versions import VERSIONS
from teijo.document.model import Table, Verdict
from teijo.methods.parts import document_of, findings_of
from teijo.methods.pts.campaign.plan import TESTS
from teijo.methods.pts.iops.method import Iops
from teijo.methods.pts.lat.method import Lat
from teijo.methods.pts.tp.method import Tp
from teijo.methods.pts.wsat.method import Wsat
from teijo.terms.conformance import CONFORMANCES
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import DRAIN, Gap, StepResult
from teijo.terms.step import Measure, Precondition
from tests.conformance.exemplary import (
    Exemplary,
    drive_of,
    kept,
    lines_of,
    little,
    steady_rate,
)
from tests.house.tree import ROOT, text
from tests.methods.canned import play

ENTERPRISE = "2.0.2-enterprise"


def all_runs() -> list[object]:
    return [
        pytest.param(method, version.id, id=f"{name} {version.id}")
        for name, method in TESTS.items()
        for version in VERSIONS
        if version.id in method.specs
    ]


@pytest.mark.parametrize(("method", "spec"), all_runs())
def test_a_run_that_keeps_to_everything_deviates_in_nothing_and_has_no_stamp(method, spec):
    found = lines_of(method, kept(method, spec).record)
    assert [line for line in found.values() if line.verdict == "deviated"] == []
    assert stamp_of_ledger(list(found.values())) == ""
    assert found["device.purge"].verdict == "met"
    assert found["stimulus.seeds"].verdict == "met"
    assert found["stimulus.minutes"].verdict == "met"


def test_what_is_known_from_other_programs_alone_is_never_called_met():
    lines = lines_of(Wsat(), kept(Wsat(), ENTERPRISE).record)
    assert lines["course.end"].verdict == "not verifiable"
    assert "not checked against the text" in lines["course.end"].evidence
    first = lines_of(Wsat(), kept(Wsat(), "1.0-enterprise").record)
    assert first["course.end"].verdict == "met"


IOPS = kept(Iops(), ENTERPRISE).record
TP = kept(Tp(), ENTERPRISE).record
LAT = kept(Lat(), ENTERPRISE).record

Change = Callable[[Record], Record]


def with_identity(**changes: object) -> Change:
    return lambda record: replace(record, identity=replace(record.identity, **changes))


def at(place: int, change: Callable[[StepRecord], StepRecord]) -> Change:
    """Change one step of a record, counted from 0."""

    def apply(record: Record) -> Record:
        steps = list(record.steps)
        steps[place] = change(steps[place])
        return replace(record, steps=tuple(steps))

    return apply


def answered(**changes: object) -> Callable[[StepRecord], StepRecord]:
    def change(each: StepRecord) -> StepRecord:
        assert isinstance(each.answer, StepResult)
        return replace(each, answer=replace(each.answer, **changes))

    return change


def scaled(share: float) -> Callable[[StepRecord], StepRecord]:
    """Let a step have moved another share of its bytes, I/Os and cursor alike."""

    def change(each: StepRecord) -> StepRecord:
        assert isinstance(each.answer, StepResult)
        results = tuple(
            replace(part, bytes=round(part.bytes * share), count=round(part.count * share))
            for part in each.answer.results
        )
        return replace(each, answer=replace(each.answer, results=results))

    return change


def wider(each: StepRecord) -> StepRecord:
    assert isinstance(each.answer, StepResult)
    results = tuple(replace(part, bytes=part.bytes * 3 // 2) for part in each.answer.results)
    return replace(each, answer=replace(each.answer, results=results))


def shorter(each: StepRecord) -> StepRecord:
    assert isinstance(each.answer, StepResult)
    return replace(each, answer=replace(each.answer, elapsed_ns=each.answer.elapsed_ns // 2))


def zeros(each: StepRecord) -> StepRecord:
    assert isinstance(each.step, Measure)
    (stream,) = each.step.workload.streams
    workload = replace(each.step.workload, streams=(replace(stream, content="zero"),))
    return replace(each, step=replace(each.step, workload=workload))


def swapped(record: Record) -> Record:
    steps = list(record.steps)
    steps[2], steps[3] = steps[3], steps[2]
    return replace(record, steps=tuple(steps))


def same_seed(record: Record) -> Record:
    return at(5, lambda each: replace(each, seed=record.steps[4].seed))(record)


@pytest.mark.parametrize(
    ("requirement", "change", "evidence"),
    [
        ("device.whole", with_identity(kind="file"), "a file of 274,877,906,944 B"),
        ("device.whole", with_identity(kind="simulated"), "a model of a device"),
        ("device.whole", with_identity(serial="S1-part2"), "a partition"),
        ("device.whole", with_identity(facts={"layout": "striped"}), "several devices"),
        ("device.purge", at(0, answered(detail={"method": "none"})), "cannot be purged"),
        ("device.cache", with_identity(write_cache="enabled"), "read back: enabled"),
        (
            "device.cache",
            at(3, answered(health_after={"write_cache_enabled": 1})),
            "1 of 1 later looks found it otherwise",
        ),
        ("wipc.volume", at(1, scaled(0.5)), "274,877,906,944 B written: 1.0000 ×"),
        ("wipc.volume", at(1, scaled(4.0)), "8.0000 × the user capacity"),
        ("wipc.coverage", at(1, answered(cursors={"main": 128 * 1024})), "not in order"),
        ("wipc.delay", at(2, answered(gap_ns=1_500_000_000)), "1,500.000 ms without I/O"),
        ("wipc.delay", at(2, lambda each: replace(each, answer=Gap())), "interrupted between"),
        ("stimulus.cells", swapped, "not in the order of the standard: round 1"),
        ("stimulus.cells", at(2, wider), "at most 50.00 % off the cell's size"),
        ("stimulus.minutes", at(9, shorter), "30.000 to 60.000 s"),
        (
            "stimulus.depth",
            at(9, answered(elapsed_ns=120_000_000_000)),
            "0.5000 to 1.0000 of threads × queue depth",
        ),
        ("stimulus.rests", at(40, answered(gap_ns=2_000_000_000)), "2,000.000 ms at most"),
        ("stimulus.content", at(50, zeros), "zero was written"),
        ("stimulus.seeds", same_seed, "281 stimuli, 280 different seeds"),
    ],
)
def test_a_deviation_is_found_in_its_own_line(requirement, change, evidence):
    before, after = lines_of(Iops(), IOPS), lines_of(Iops(), change(IOPS))
    assert before[requirement].verdict in ("met", "not verifiable")
    assert after[requirement].verdict == "deviated"
    assert evidence in after[requirement].evidence


def test_one_thread_of_depth_one_is_told_by_what_was_in_flight():
    longer = at(4, answered(elapsed_ns=30_000_000_000))
    assert lines_of(Lat(), LAT)["stimulus.one"].verdict == "met"
    assert lines_of(Lat(), longer(LAT))["stimulus.one"].verdict == "deviated"


def test_a_stream_that_begins_at_lba_0_again_is_found():
    line = lines_of(Tp(), TP)["stimulus.carries_on"]
    assert line.verdict == "met"
    assert line.evidence.startswith("20 of 20 steps")
    place = next(n for n, each in enumerate(TP.steps) if isinstance(each.step, Measure)) + 3
    restarted = at(place, answered(cursors={"main": 1 << 20}))
    assert lines_of(Tp(), restarted(TP))["stimulus.carries_on"].verdict == "deviated"


def test_each_block_size_of_tp_is_a_test_with_its_own_purge_and_preconditioning():
    lines = lines_of(Tp(), TP)
    assert "purges: 2" in lines["device.purge"].evidence
    assert "2.0000 · 2.0000 × the user capacity" in lines["wipc.volume"].evidence
    second = [n for n, each in enumerate(TP.steps) if isinstance(each.step, Precondition)][1]
    without = replace(TP, steps=TP.steps[:second] + TP.steps[second + 1 :])
    line = lines_of(Tp(), without)["wipc.volume"]
    assert (line.verdict, line.evidence) == ("deviated", "nothing was written before the test")


def test_a_purge_by_discard_is_not_verifiable_and_no_run_conforms_with_it():
    claimed = at(0, answered(detail={"method": "block discard (equivalent claimed)"}))
    ledger = findings_of(claimed(IOPS)).ledger
    line = next(each for each in ledger if each.requirement == "device.purge")
    assert line.verdict == "not verifiable"
    assert document_of(claimed(IOPS)).header.stamp == ("NON-CONFORMING: purge only claimed")


@pytest.mark.parametrize(
    ("changes", "stamp"),
    [
        ({"kind": "file"}, "NON-CONFORMING: file target"),
        ({"serial": "S1-part2"}, "NON-CONFORMING: partition"),
        ({"kind": "simulated"}, "NON-CONFORMING"),
    ],
)
def test_neither_a_file_nor_a_partition_nor_a_model_is_ever_conforming(changes, stamp):
    record = with_identity(**changes)(IOPS)
    document = document_of(record)
    assert document.header.stamp == stamp


@pytest.mark.parametrize(
    ("overrides", "stamp"),
    [
        ({}, ""),
        ({"threads": "3"}, "OPTIONAL"),
        ({"active_range": "50"}, "OPTIONAL"),
        ({"content": "zero"}, "OPTIONAL"),
        ({"minute": "50s"}, "NON-CONFORMING"),
        ({"precondition_times": "1"}, "NON-CONFORMING"),
        ({"precondition_block": "64KiB"}, "NON-CONFORMING"),
        ({"block_sizes": "1024KiB,64KiB,4KiB"}, "NON-CONFORMING"),
        ({"threads": "3", "minute": "50s"}, "NON-CONFORMING"),
    ],
)
def test_a_choice_of_the_operator_is_optional_and_any_other_change_does_not_conform(
    overrides, stamp
):
    played = kept(Iops(), ENTERPRISE, overrides)
    document = document_of(played.record)
    assert document.header.stamp == stamp


def test_the_range_is_told_by_where_the_preconditioning_turned_back():
    half = lines_of(Iops(), kept(Iops(), ENTERPRISE, {"active_range": "50"}).record)
    assert (half["stimulus.range"].verdict, half["stimulus.range"].optional) == ("deviated", True)
    assert "137,438,953,472 B, 50.00 % of the user capacity" in half["stimulus.range"].evidence
    segments = lines_of(Iops(), kept(Iops(), "1.0-client").record)
    assert segments["stimulus.range"].verdict == "not verifiable"


def test_less_than_25_rounds_without_steady_state_deviate_and_25_do_not():
    def unsteady(rounds: int) -> Record:
        device = Exemplary(rate=lambda _: 0, latency_ns=little, purge="NVMe Format")
        device.rate = lambda step: 1_000.0 * 1.05 ** len(device.asked)
        return play(
            Tp(), device, spec=ENTERPRISE, identity=drive_of(ENTERPRISE),
            overrides={"rounds": str(rounds), "block_sizes": "128KiB"},
        ).record  # fmt: skip

    few, all_of_them = (lines_of(Tp(), unsteady(n))["course.steady"] for n in (7, 25))
    assert few.verdict == "deviated"
    assert "not reached in 7 rounds" in few.evidence
    assert all_of_them.verdict == "met"
    assert "marked NO" in all_of_them.evidence


def test_a_window_that_does_not_follow_from_its_values_is_not_believed():
    findings = findings_of(IOPS)
    (state, *others) = findings.steady_states
    assert state.window is not None
    wrong = replace(state.window, slope_excursion=state.window.slope_excursion + 1.0)
    forged = replace(findings, steady_states=(replace(state, windows=(wrong,)), *others))
    line = next(each for each in ledger(IOPS, forged) if each.requirement == "course.steady")
    assert line.verdict == "deviated"
    assert "not what its five values give" in line.evidence


def test_a_run_broken_off_and_begun_again_is_judged_by_what_counts():
    device = Exemplary(rate=steady_rate, latency_ns=little, purge="NVMe Format")
    device.gaps = frozenset({9})
    record = play(Wsat(), device, spec="1.1-enterprise", identity=drive_of("1.1-enterprise")).record
    assert sum(isinstance(each.answer, Gap) for each in record.steps) == 1
    found = lines_of(Wsat(), record)
    assert [line for line in found.values() if line.verdict == "deviated"] == []
    assert found["wipc.none"].evidence.startswith("0 B written")


def test_an_old_run_is_held_to_another_version_when_it_is_judged_by_it():
    again = Iops().rescored(IOPS, "2.0.2-client")
    lines = lines_of(Iops(), again)
    assert lines["device.cache"].asked == "enabled"
    assert lines["device.cache"].verdict == "deviated"
    assert "active_range" in lines["settings.choices"].evidence


def test_every_line_is_printed_and_every_deviation_is_marked():
    record = with_identity(kind="file")(IOPS)
    findings = findings_of(record)
    document = document_of(record)
    (section,) = [each for each in document.sections if each.title == "Conformance"]
    verdict, table, _ = section.blocks
    assert isinstance(verdict, Verdict)
    assert isinstance(table, Table)
    counts = [sum(line.verdict == one for line in findings.ledger) for one in CONFORMANCES]
    assert verdict.text == ("CONFORMANCE: {} met, {} deviated, {} not verifiable".format(*counts))
    assert verdict.good is False
    assert len(table.rows) == len(findings.ledger)
    assert table.marked == ((0, VERDICT_COLUMN),)


def test_no_requirement_is_asked_twice_of_one_test_and_each_is_asked_of_some():
    for method in TESTS.values():
        for version in VERSIONS:
            ids = [each.id for each in REQUIREMENTS if each.applies(method.id, version)]
            assert len(ids) == len(set(ids)), (method.id, version.id)
    for each in REQUIREMENTS:
        assert any(
            each.applies(method.id, version) for method in TESTS.values() for version in VERSIONS
        )


@pytest.mark.parametrize("requirement", sorted({each.id for each in REQUIREMENTS}))
def test_every_requirement_is_documented(requirement):
    assert f"| `{requirement}` |" in text(ROOT / "docs" / "methods" / "ledger.md")


def test_random_cells_are_judged_by_their_own_range_and_amount():
    """A preconditioning over the whole drive says nothing of cells within a part of it."""
    narrow = {"amount": "8GiB", "segments": "64"}
    line = lines_of(Iops(), kept(Iops(), ENTERPRISE, narrow).record)["stimulus.range"]
    assert line.verdict == "deviated"
    assert line.evidence.startswith(
        "280 random cells within 8,589,934,592 B, 3.12 % of the user capacity, in 64 pieces over "
        "274,877,906,944 B"
    )
    whole = lines_of(Iops(), IOPS)["stimulus.range"]
    assert whole.verdict == "not verifiable"
    assert "leaves no trace" in whole.evidence
    assert lines_of(Tp(), TP)["stimulus.range"].verdict == "met"


@pytest.mark.parametrize("amount", ["8GiB", "16GiB"])
@pytest.mark.parametrize("share", ["75", "100"])
def test_every_range_of_the_clients_matrix_is_allowed_and_no_other(amount, share):
    overrides = {"amount": amount, "active_range": share}
    for more, verdict in (({}, "not verifiable"), ({"segments": "1024"}, "deviated")):
        record = kept(Lat(), "1.0-client", overrides | more).record
        assert lines_of(Lat(), record)["stimulus.range"].verdict == verdict


def test_the_levels_of_a_sweep_are_no_choice_of_the_operator():
    record = kept(TESTS["dirth"], ENTERPRISE, {"threads": "32,1"}).record
    lines = lines_of(TESTS["dirth"], record)
    assert lines["settings.fixed"].verdict == "deviated"
    assert "threads 32,1 instead of" in lines["settings.fixed"].evidence
    assert lines["settings.choices"].verdict != "deviated"


def test_a_gap_is_rest_only_as_far_as_nothing_was_left_to_end():
    record = kept(Wsat(), "1.1-enterprise").record
    places = [n for n, each in enumerate(record.steps) if isinstance(each.step, Measure)]
    long = at(places[3], answered(gap_ns=3_000_000_000))(record)
    assert lines_of(Wsat(), long)["stimulus.rests"].verdict == "not verifiable"
    for drained_ns, verdict in ((2_900_000_000, "met"), (1_000_000_000, "deviated")):
        told = answered(gap_ns=3_000_000_000, detail={DRAIN: str(drained_ns)})
        line = lines_of(Wsat(), at(places[3], told)(record))["stimulus.rests"]
        assert line.verdict == verdict
        assert f"{drained_ns / 1e6:,.3f} ms at most in which the last I/Os" in line.evidence


def test_a_stamp_names_every_reason_that_decides():
    broken = with_identity(kind="file")(at(9, with_errors)(IOPS))
    document = document_of(broken)
    assert document.header.stamp == "NON-CONFORMING: file target, failed I/Os"


def with_errors(each: StepRecord) -> StepRecord:
    assert isinstance(each.answer, StepResult)
    results = tuple(replace(part, errors={5: 1}) for part in each.answer.results)
    return replace(each, answer=replace(each.answer, results=results))


def test_a_cache_that_stayed_as_it_was_says_how_often_it_was_looked_at() -> None:
    method = Iops()
    record = kept(method, "2.0.2-enterprise").record
    for place in range(3):
        record = at(place, answered(health_after={"write_cache_enabled": 0}))(record)
    line = lines_of(method, record)["device.cache"]
    assert line.verdict == "met"
    assert line.evidence.endswith("the same in later looks: 3")
