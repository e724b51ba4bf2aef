"""An old run under another version: the same measurements, another judge."""

from dataclasses import replace

import pytest

from teijo.conformance.rescoring import heard, rescored
from teijo.document.model import Verdict
from teijo.errors import PlanError
from teijo.methods.parts import document_of, findings_of, parts_of
from teijo.methods.pts.campaign.method import Campaign
from teijo.methods.pts.iops.method import Iops
from teijo.methods.pts.lat.method import Lat
from teijo.methods.pts.wsat.method import Wsat
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.step import Measure, Step
from tests.methods.canned import Canned, play


def wild_reads(step: Step) -> float:
    """A drive whose 1024 KiB reads settle from the sixth round on; all else is flat."""
    assert isinstance(step, Measure)
    stream = step.workload.streams[0]
    flat = 1e8 / stream.block_size_bytes + stream.read_percent
    wild = step.cell == "100/0 1024 KiB" and step.round_number in (1, 3, 5)
    return flat * 2 if wild else flat


def texts(record: Record, kind: RemarkKind) -> list[str]:
    return [remark.text for remark in record.remarks if remark.kind is kind]


def test_a_run_of_three_variables_stops_earlier_under_a_version_of_one() -> None:
    record = play(Iops(), Canned(wild_reads), spec="2.0.2-enterprise").record
    assert findings_of(record).window_rounds == (6, 10)
    older = Iops().rescored(record, "1.1-enterprise")
    assert findings_of(older).window_rounds == (1, 5)
    assert older.run.ending == "steady"
    assert older.steps == record.steps[: 2 + 5 * 56]
    assert "280 more are left out" in " ".join(texts(older, RemarkKind.RESCORED))
    assert not texts(older, RemarkKind.STEPS_MISSING)


def test_rounds_that_the_other_version_would_ask_for_are_named_as_missing() -> None:
    record = play(Iops(), Canned(wild_reads), spec="1.1-enterprise").record
    assert findings_of(record).rounds == 5
    newer = rescored(record, Iops(), "2.0.2-enterprise")
    assert newer == Iops().rescored(record, "2.0.2-enterprise")
    findings = findings_of(newer)
    assert (findings.converged, findings.rounds) == (False, 5)
    assert newer.run.ending == "interrupted"
    assert texts(newer, RemarkKind.STEPS_MISSING) == [
        "2.0.2-enterprise goes on with round 6, 100/0 1024 KiB, and the run has no more steps"
    ]


def test_a_conversation_is_held_again_for_as_long_as_it_asks_for_the_recorded_steps() -> None:
    played = play(Iops(), Canned(wild_reads), spec="1.1-enterprise")
    again = heard(Iops(), played.settings, played.record)
    assert (again.used, again.ending, again.asks) == (len(played.steps), "steady", None)
    cut = heard(Iops(), played.settings, replace(played.record, steps=played.steps[:7]))
    assert (cut.used, cut.ending, cut.asks) == (7, None, played.asked[7])


def test_what_was_asked_of_the_device_stays_and_is_a_deviation_where_it_differs() -> None:
    record = play(Iops(), Canned(wild_reads), spec="2.0.2-client").record
    other = Iops().rescored(record, "1.1-enterprise")
    settings = Iops().settings_from(other.run.settings)
    assert (settings.active_range_percent, settings.queue_depth) == (75, 16)
    assert any("active_range 75" in text for text in texts(other, RemarkKind.DEVIATION))


def test_the_old_versions_deviations_are_not_the_new_ones() -> None:
    record = play(
        Iops(), Canned(wild_reads), spec="1.1-enterprise", overrides={"active_range": "75"}
    ).record
    assert texts(record, RemarkKind.DEVIATION)
    as_client = Iops().rescored(record, "2.0.2-client")
    assert not any("active range" in text for text in texts(as_client, RemarkKind.DEVIATION))


def test_there_and_back_again_is_the_record_itself() -> None:
    record = play(Iops(), Canned(wild_reads), spec="1.1-enterprise").record
    back = Iops().rescored(Iops().rescored(record, "2.0.2-enterprise"), "1.1-enterprise")
    assert back.steps == record.steps
    assert back.run == record.run
    assert findings_of(back) == findings_of(record)
    assert Iops().rescored(record, "1.1") is record


def test_minutes_that_the_other_version_would_not_have_measured_are_left_out() -> None:
    record = play(Wsat(), Canned(lambda _: 1000.0), spec="1.0-enterprise").record
    newer = Wsat().rescored(record, "2.0.2-enterprise")
    assert len(record.steps) == 1 + 24 * 60
    assert len(newer.steps) == 1 + 5 * 31
    assert findings_of(newer).converged


def test_minutes_that_are_missing_are_named() -> None:
    record = play(Wsat(), Canned(lambda _: 1000.0), spec="2.0.2-enterprise").record
    older = Wsat().rescored(record, "1.0-enterprise")
    (missing,) = texts(older, RemarkKind.STEPS_MISSING)
    assert missing.startswith("1.0-enterprise goes on with minute 156")


def test_a_method_without_a_standard_has_no_other_judge() -> None:
    record = play(FreeWorkload(), Canned(lambda _: 1000.0), overrides={"seconds": "1"}).record
    with pytest.raises(PlanError, match="follows no standard"):
        FreeWorkload().rescored(record, "2.0.2")


def test_a_campaigns_tests_are_each_judged_by_the_other_version_if_it_has_them() -> None:
    overrides = {"tests": "iops,hir"}
    record = play(
        Campaign(), Canned(wild_reads), spec="2.0.2-enterprise", overrides=overrides
    ).record
    older = Campaign().rescored(record, "1.0-enterprise")
    (iops,) = parts_of(older)
    alone = parts_of(record)[0].record
    assert iops.findings == findings_of(Iops().rescored(alone, "1.0-enterprise"))
    assert (iops.name, iops.findings.window_rounds) == ("iops", (1, 5))
    assert older.run.ending == "steady"
    assert findings_of(older).spec == "1.0-enterprise"
    assert Campaign().rescored(record, "2.0.2-enterprise") is record


def test_a_campaign_of_which_a_version_has_no_test_cannot_be_judged_by_it() -> None:
    record = play(Campaign(), Canned(wild_reads), spec="1.1", overrides={"tests": "hir"}).record
    with pytest.raises(PlanError, match="has none of this campaign's tests"):
        Campaign().rescored(record, "1.0-enterprise")


def test_a_campaign_that_is_asked_for_more_is_not_called_steady() -> None:
    record = play(Campaign(), Canned(wild_reads), spec="1.1", overrides={"tests": "iops,tp"}).record
    newer = Campaign().rescored(record, "2.0.2-enterprise")
    assert newer.run.ending == "interrupted"
    (missing,) = texts(newer, RemarkKind.STEPS_MISSING)
    assert missing.startswith("iops: 2.0.2-enterprise goes on with round 6")
    document = document_of(newer)
    (verdict,) = [b for b in document.sections[0].blocks if isinstance(b, Verdict)]
    assert verdict == Verdict(
        text="STEADY STATE: not told, 2.0.2-enterprise asks for more steps", good=None
    )


def test_a_growing_campaign_is_still_growing_under_another_version() -> None:
    device, overrides = Canned(wild_reads), {"tests": "iops,tp"}
    record = play(Campaign(), device, spec="2.0.2-enterprise", overrides=overrides).record
    growing = replace(record, run=replace(record.run, ending="running"), steps=record.steps[:100])
    older = Campaign().rescored(growing, "1.1-enterprise")
    assert older.run.ending == "running"
    document = document_of(older)
    (verdict,) = [b for b in document.sections[0].blocks if isinstance(b, Verdict)]
    assert verdict.text == "1 of 2 tests begun"


@pytest.mark.parametrize("method", [Lat(), Wsat()], ids=["lat", "wsat"])
def test_a_histogram_after_the_test_is_nothing_against_a_version_without_one(method) -> None:
    record = play(method, Canned(lambda _: 1000.0), spec="2.0.2-enterprise").record
    older = method.rescored(record, "1.1-enterprise")
    assert "histogram" not in " ".join(texts(older, RemarkKind.DEVIATION))
    assert not texts(older, RemarkKind.STEPS_MISSING)
    assert [each.step.phase for each in older.steps].count("histogram") == 0
    assert "left out" in " ".join(texts(older, RemarkKind.RESCORED))
    lines = {line.requirement: line for line in findings_of(older).ledger}
    assert "histogram" not in lines["settings.fixed"].evidence


def test_a_histogram_that_a_version_asks_for_is_missed() -> None:
    record = play(Lat(), Canned(lambda _: 1000.0), spec="1.1-enterprise").record
    newer = Lat().rescored(record, "2.0.2-enterprise")
    lines = {line.requirement: line for line in findings_of(newer).ledger}
    assert lines["course.histogram"].verdict == "deviated"
