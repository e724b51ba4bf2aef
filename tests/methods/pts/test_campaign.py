"""A campaign: the tests of a version one after the other, in one record that comes apart again."""

from dataclasses import replace

import pytest

from teijo.document.model import Note, Table, Verdict
from teijo.errors import PlanError
from teijo.methods.checks_page import contradiction_remarks
from teijo.methods.parts import document_of, findings_of, found_in, parts_of, watch_of
from teijo.methods.pts.campaign.cross_checks import checks_between
from teijo.methods.pts.campaign.method import Campaign
from teijo.methods.pts.campaign.parts import split
from teijo.methods.pts.campaign.plan import TESTS
from teijo.methods.pts.iops.method import Iops
from teijo.methods.registry import METHODS
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.step import Measure, Purge, Step
from tests.conformance.exemplary import kept
from tests.methods.canned import DRIVE, Canned, Played, play

TWO = {"tests": "iops,lat"}


def rate(step: Step) -> float:
    assert isinstance(step, Measure)
    stream = step.workload.streams[0]
    return min(1e6 * stream.outstanding_ios, 4e9 / stream.block_size_bytes)


def run(overrides: dict[str, str] | None = None, spec: str = "1.1", gaps=()) -> Played:
    device = Canned(rate, gaps=frozenset(gaps))
    return play(Campaign(), device, spec=spec, overrides=TWO if overrides is None else overrides)


def test_every_test_of_the_standard_is_a_method_of_its_own_too() -> None:
    assert set(TESTS.values()) <= set(METHODS)
    assert len(TESTS) == 8


@pytest.mark.parametrize(
    ("spec", "tests"),
    [
        ("1.0-enterprise", ["wsat", "iops", "tp", "lat"]),
        ("1.1-enterprise", ["iops", "tp", "lat", "wsat", "hir", "xsr", "cbw", "dirth"]),
        ("2.0.2-client", ["iops", "tp", "lat", "wsat", "hir", "xsr", "cbw", "dirth"]),
    ],
)
def test_a_version_has_its_tests_in_its_order(spec: str, tests: list[str]) -> None:
    settings = Campaign().settings(spec, {}, DRIVE)
    assert [part.name for part in settings.parts] == tests


def test_the_first_clients_run_each_test_in_four_ranges() -> None:
    settings = Campaign().settings("1.0-client", {}, DRIVE)
    assert [part.test for part in settings.parts] == ["iops"] * 4 + ["tp"] * 4 + ["lat"] * 4
    assert [part.name for part in settings.parts[:4]] == [
        "iops AR 75 % 8 GiB", "iops AR 75 % 16 GiB", "iops AR 100 % 8 GiB", "iops AR 100 % 16 GiB",
    ]  # fmt: skip
    ranges = {
        (part.settings["active_range_percent"], part.settings["amount_bytes"])
        for part in settings.parts
    }
    assert ranges == {(ar, gib << 30) for ar in (75, 100) for gib in (8, 16)}


def test_the_conversation_is_that_of_each_test_behind_its_own_purge() -> None:
    played = run()
    alone = play(Iops(), Canned(rate), spec="1.1")
    stripped = [replace(step, part="") for step in played.asked]
    assert stripped[: len(alone.asked)] == alone.asked
    assert [step.part for step in played.asked if isinstance(step, Purge)] == ["iops", "lat"]
    assert played.ending == "steady"


def test_a_record_comes_apart_into_records_as_if_run_alone() -> None:
    played = run()
    iops, lat = split(Campaign().settings_from(played.record.run.settings), played.record)
    alone = play(Iops(), Canned(rate), spec="1.1").record
    assert iops.findings == findings_of(alone)
    assert iops.record.run.settings == alone.run.settings
    assert (iops.record.run.ending, lat.record.run.ending) == ("steady", "steady")
    assert lat.record.steps[0].seq == len(iops.record.steps) + 1
    findings = findings_of(played.record)
    assert [part.name for part in findings.parts] == ["iops", "lat"]
    assert findings.parts[0].findings == iops.findings
    assert findings.converged


def test_settings_go_to_every_test_that_has_them_or_to_one_by_name() -> None:
    settings = Campaign().settings("1.1", {**TWO, "minute": "1s", "lat.rounds": "7"}, DRIVE)
    iops, lat = (part.settings for part in settings.parts)
    assert iops["minute_ns"] == lat["minute_ns"] == 1_000_000_000
    assert (iops["rounds_most"], lat["rounds_most"]) == (25, 7)
    mixes = Campaign().settings("1.1", {**TWO, "mixes": "0/100"}, DRIVE)
    assert mixes.parts[0].settings["mixes_read_percent"] == [0]


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"tests": "iops,nothing"}, "'nothing' is none of"),
        ({"tests": "iops,iops"}, "twice"),
        ({"tests": "iops", "lat.rounds": "7"}, "Unknown test of this campaign 'lat'"),
        ({"tests": "iops", "nonsense": "7"}, "Unknown setting 'nonsense'"),
        ({"tests": "iops", "iops.nonsense": "7"}, "Unknown setting 'nonsense'"),
    ],
)
def test_a_mistake_in_the_settings_is_named(overrides: dict[str, str], complaint: str) -> None:
    with pytest.raises(PlanError, match=complaint):
        Campaign().settings("1.1", overrides, DRIVE)


def test_a_test_that_the_version_does_not_know_is_refused() -> None:
    with pytest.raises(PlanError, match="has no test 'hir'"):
        Campaign().settings("1.0-enterprise", {"tests": "hir"}, DRIVE)


def test_a_gap_in_one_test_is_that_tests_alone() -> None:
    last = len(run().asked)
    played = run(gaps={last})
    iops, lat = split(Campaign().settings_from(played.record.run.settings), played.record)
    assert iops.findings == findings_of(run().record).parts[0].findings
    assert lat.findings.window_rounds == (5, 9)


def test_the_watch_names_the_test_under_way() -> None:
    played = run()
    seen = {}
    for count in (0, 1, 100, len(played.steps) - 3):
        growing = replace(
            played.record,
            run=replace(played.record.run, ending="running"),
            steps=played.record.steps[:count],
        )
        watch = watch_of(growing)
        seen[count] = (watch.part, watch.phase)
    assert list(seen.values())[:3] == [
        ("iops", "purge"),
        ("iops", "precondition"),
        ("iops", "round"),
    ]
    assert list(seen.values())[3][0] == "lat"


def test_the_report_has_a_summary_and_each_tests_pages_under_its_own_header() -> None:
    played = run()
    document = document_of(played.record)
    (verdict,) = [b for b in document.sections[0].blocks if isinstance(b, Verdict)]
    assert verdict.good
    (table,) = [b for b in document.sections[0].blocks if isinstance(b, Table)]
    assert [row[0] for row in table.rows] == ["iops", "lat"]
    titles = {section.header.title for section in document.sections if section.header is not None}
    assert len(titles) == 2
    tail = [section for section in document.sections if section.appendix]
    assert all(section.header is None for section in tail)
    assert len({section.title for section in tail}) == len(tail)


def test_the_summary_names_the_window_of_each_block_size_that_has_its_own() -> None:
    played = run({"tests": "tp,lat"})
    document = document_of(played.record)
    (table,) = [b for b in document.sections[0].blocks if isinstance(b, Table)]
    rounds = [column.name for column in table.columns].index("Rounds")
    assert [row[rounds] for row in table.rows] == [
        "1–5, 1–5",
        "1–5",
    ]


POINTS = [f"{point}: {what}" for point in ("Max", "Mid", "Min") for what in ("IOPS", "ART")]


@pytest.mark.parametrize(
    ("test", "names"),
    [
        ("iops", [f"RND {cell}" for cell in ("1024 KiB 100/0", "4 KiB 100/0", "64 KiB 65/35",
                                             "1024 KiB 0/100", "4 KiB 0/100")]),
        ("tp", [f"SEQ {size} KiB {mix}" for size in (1024, 128) for mix in ("0/100", "100/0")]),
        ("lat", [f"RND 4 KiB {mix}, {what}" for mix in ("100/0", "0/100")
                 for what in ("ART", "MRT")]),
        ("wsat", ["fresh out of the box (FOB), mean of the plateau",
                  "level at the end, mean of the last fifth"]),
        ("hir", [f"idle {idle} s: gain" for idle in (5, 10, 15, 25, 50)]),
        ("xsr", ["recovery, first minute not below group 1", "mean of group 1"]),
        ("cbw", POINTS),
        ("dirth", POINTS),
    ],
)  # fmt: skip
def test_each_test_says_its_own_headlines(test: str, names: list[str]) -> None:
    found = found_in(kept(TESTS[test], "2.0.2-enterprise").record)
    assert [str(each.name) for each in found.headlines] == names


def test_tests_that_are_still_to_come_are_said_to_be() -> None:
    played = run()
    growing = replace(played.record, run=replace(played.record.run, ending="running"),
                      steps=played.record.steps[:50])  # fmt: skip
    document = document_of(growing)
    (verdict,) = [b for b in document.sections[0].blocks if isinstance(b, Verdict)]
    assert verdict.text == "1 of 2 tests begun"
    (table,) = [b for b in document.sections[0].blocks if isinstance(b, Table)]
    assert table.rows[1][:3] == ("lat", "", "not begun")


def test_reads_that_are_faster_at_random_than_in_order_contradict_each_other() -> None:
    def strange(step: Step) -> float:
        assert isinstance(step, Measure)
        large = step.workload.streams[0].block_size_bytes == 1 << 20
        return rate(step) * (1.3 if large and step.cell == "100/0 1024 KiB" else 1.0)

    played = play(
        Campaign(), Canned(strange), spec="1.1",
        overrides={"tests": "iops,tp", "block_sizes": "1024KiB,4KiB"},
    )  # fmt: skip
    parts = split(Campaign().settings_from(played.record.run.settings), played.record)
    (check,) = checks_between(parts)
    assert check.holds is False
    assert check.quotient == pytest.approx(1.3, abs=0.01)
    kinds = [remark.kind for remark in contradiction_remarks(played.record, (check,))]
    assert RemarkKind.CONTRADICTION in kinds


def test_a_latency_that_differs_from_round_to_round_contradicts_nothing() -> None:
    def restless(step: Step) -> float:
        assert isinstance(step, Measure)
        slow = step.cell == "100/0 8 KiB" and (step.round_number or 0) % 2
        return rate(step) * (0.05 if slow else 1.0)

    played = play(Campaign(), Canned(restless), spec="1.1", overrides={"tests": "lat"})
    parts = split(Campaign().settings_from(played.record.run.settings), played.record)
    checks = checks_between(parts)
    assert len(checks) == 9
    assert all(check.holds for check in checks)


@pytest.mark.parametrize(("segments", "reason"), [("16", ""), ("8", "the active ranges differ")])
def test_a_saturation_on_other_segments_is_not_held_against_iops(
    segments: str, reason: str
) -> None:
    played = play(
        Campaign(), Canned(rate), spec="2.0.2-enterprise",
        overrides={"tests": "iops,wsat", "iops.mixes": "0/100", "iops.block_sizes": "4KiB",
                   "amount": "16GiB", "iops.segments": "16", "wsat.segments": segments,
                   "capacity_times": "100000"},
    )  # fmt: skip
    settings = Campaign().settings_from(played.record.run.settings)
    checks = checks_between(split(settings, played.record))
    assert [check.reason for check in checks if "WSAT" in check.name] == [reason]


def test_a_steady_state_that_one_test_did_not_reach_is_remarked_of_that_test_alone() -> None:
    def unsteady(step: Step) -> float:
        assert isinstance(step, Measure)
        depth = step.workload.streams[0].outstanding_ios
        return rate(step) * (1 + (step.round_number or 0) % 2 if depth > 1 else 1)

    record = play(Campaign(), Canned(unsteady), spec="1.1", overrides=TWO).record
    missed = Remark(kind=RemarkKind.NOT_STEADY, text="Steady state was not reached.")
    record = replace(record, remarks=(*record.remarks, missed))
    iops, lat = split(Campaign().settings_from(record.run.settings), record)
    assert iops.findings.converged is False
    assert missed in iops.record.remarks
    assert lat.findings.converged is True
    assert missed not in lat.record.remarks


def test_any_run_is_made_of_parts_and_most_of_one() -> None:
    played = run()
    assert [part.name for part in parts_of(played.record)] == ["iops", "lat"]
    alone = play(Iops(), Canned(rate), spec="1.1").record
    (part,) = parts_of(alone)
    assert (part.name, part.record, part.findings) == ("iops", alone, findings_of(alone))


@pytest.mark.parametrize(
    ("spec", "tests", "good", "note"),
    [
        ("1.0-enterprise", "lat", None, "wsat, iops, tp, which PTS-E 1.0 requires."),
        ("1.0-enterprise", "tp,lat", None, "wsat, iops, which PTS-E 1.0 requires."),
        ("1.1", "tp,lat", True, "Which tests PTS-E 1.1 requires could not be checked."),
    ],
)
def test_a_campaign_of_some_tests_is_called_so_and_names_the_others(spec, tests, good, note):
    record = run({"tests": tests}, spec).record
    document = document_of(record)
    (verdict,) = [b for b in document.sections[0].blocks if isinstance(b, Verdict)]
    (said,) = [b for b in document.sections[0].blocks if isinstance(b, Note)]
    assert verdict.good is good
    assert f"in what was run (tests: {tests.count(',') + 1}); missing: " in verdict.text
    assert said.text.endswith(note)
    assert (document.header.subtitle, document.sections[0].title) == (
        "Some tests",
        "Summary of some tests",
    )


def test_a_campaign_of_all_that_is_required_lacks_nothing():
    record = run({}, "1.0-enterprise").record
    document = document_of(record)
    assert document.header.subtitle == "All tests"
    assert not [b for b in document.sections[0].blocks if isinstance(b, Note)]


@pytest.mark.parametrize(
    ("key", "value"),
    [("amount", "none"), ("active_range", "75"), ("ar", "75"), ("Active-Range", "75"),
     ("tp.amount", "none")],
)  # fmt: skip
def test_what_a_campaign_runs_through_by_itself_cannot_be_set(key: str, value: str) -> None:
    with pytest.raises(PlanError, match="every active range and amount of the version"):
        Campaign().settings("1.0-client", {key: value}, DRIVE)
    assert Campaign().settings("2.0.2-client", {key: value}, DRIVE).parts
