"""The pages that all methods share: names, stamps, headline, remarks, counters, steps."""

from dataclasses import replace

import pytest

from teijo.document.model import (
    Bars3D,
    Facts,
    Headline,
    Note,
    Paragraph,
    Section,
    Table,
    Verdict,
    XYChart,
)
from teijo.methods import pages
from teijo.methods.method import AnyMethod
from teijo.methods.parts import document_of
from teijo.methods.registry import METHODS
from teijo.terms.geometry import NO_CAPACITY, Geometry, Identity
from teijo.terms.remark import REMEDIES, Remark, RemarkKind
from teijo.terms.result import StepResult
from tests.methods.canned import DRIVE, IDENTITY, Canned, play
from tests.methods.test_workload import run
from tests.report.samples import iops_document

RECORD = run(rw="randwrite").record
TESTS = [method for method in METHODS if method.id.startswith("pts.") and method.id != "pts.all"]
CHART = next(b for s in iops_document().sections for b in s.blocks if isinstance(b, XYChart))
ANSWER, WORDS = Verdict(text="YES", good=True), Paragraph(text="so")


def remarked(*kinds: RemarkKind):
    return replace(RECORD, remarks=tuple(Remark(kind=kind, text="so") for kind in kinds))


def test_a_report_is_named_after_method_device_and_day():
    assert pages.document_name(RECORD) == "workload-example-drive-20261120"
    nameless = replace(RECORD, identity=replace(IDENTITY, model="", target="/tmp/a b?size=1"))
    assert pages.document_name(nameless) == "workload-tmp-a-b-size-1-20261120"


@pytest.mark.parametrize(
    ("record", "stamp"),
    [
        (RECORD, ""),
        (remarked(RemarkKind.SIMULATED), "SIMULATED DEVICE"),
        (replace(RECORD, run=replace(RECORD.run, ending="failed")), "INCOMPLETE"),
        (replace(RECORD, run=replace(RECORD.run, ending="running")), "RUNNING"),
    ],
)
def test_every_page_is_stamped_with_what_must_not_be_missed(record, stamp):
    assert pages.stamp_of(record) == stamp


def test_what_a_ledger_says_stands_beside_the_other_stamps():
    simulated = remarked(RemarkKind.SIMULATED)
    assert pages.stamp_of(simulated, "OPTIONAL") == "SIMULATED DEVICE · OPTIONAL"


@pytest.mark.parametrize("kind", list(RemarkKind))
def test_every_kind_of_remark_prints_with_its_remedy(kind):
    section = pages.remarks_section([Remark(kind=kind, text="so", step=3)])
    assert section.blocks == (Note(kind=kind.value, text="So", remedy=REMEDIES[kind], step=3),)


@pytest.mark.parametrize(
    ("recorded", "printed"),
    [
        ("parts of it were never written", "Parts of it were never written"),
        ("minute 1s instead of 2s", "minute 1s instead of 2s"),
        ("direct=no: memory answers too", "direct=no: memory answers too"),
        ("sim:mlc-a is a simulation", "sim:mlc-a is a simulation"),
    ],
)
def test_a_remark_begins_with_a_capital_but_for_a_setting_or_a_name(recorded, printed):
    (note,) = pages.remarks_section([Remark(kind=RemarkKind.DEVIATION, text=recorded)]).blocks
    assert isinstance(note, Note)
    assert note.text == printed


def test_no_remarks_is_said():
    assert pages.remarks_section([]).blocks == (Paragraph(text="None."),)


def test_counters_are_shown_with_their_change_and_the_write_amplification():
    counters, amplification = pages.device_section(RECORD).blocks[1:]
    assert isinstance(counters, Table)
    written = 500_000 * 4096
    assert counters.rows == (
        ("host_writes_bytes", 0, written, written),
        ("nand_writes_bytes", 0, 2 * written, 2 * written),
    )
    assert amplification == Facts(rows=(("Write amplification over the whole run", "2.000"),))


def test_a_device_without_counters_says_so():
    (step,) = RECORD.steps
    assert isinstance(step.answer, StepResult)
    silent = replace(step, answer=replace(step.answer, health_before={}, health_after={}))
    blocks = pages.device_section(replace(RECORD, steps=(silent,))).blocks
    assert blocks[1] == Paragraph(text="The device shows no counters of its own.")


def test_of_a_directory_nothing_is_said_that_only_a_drive_has():
    (step,) = RECORD.steps
    assert isinstance(step.answer, StepResult)
    silent = replace(step, answer=replace(step.answer, health_before={}, health_after={}))
    identity = Identity(kind="directory", target="dir:/mnt/test", facts={"file system": "ext4"})
    record = replace(RECORD, steps=(silent,), identity=identity, geometry=NO_CAPACITY)
    (facts,) = pages.device_section(record).blocks
    assert isinstance(facts, Facts)
    assert facts.rows == (("Target", "dir:/mnt/test"), ("file system", "ext4"))


def test_a_scaled_device_is_shown_with_what_it_stands_for():
    geometry = Geometry(capacity_bytes=10**9, nominal_capacity_bytes=10**11)
    facts = pages.device_section(replace(RECORD, geometry=geometry)).blocks[0]
    assert isinstance(facts, Facts)
    assert dict(facts.rows)["User capacity"] == "1 GB (1,000,000,000 B), standing for 100 GB"
    assert pages.capacity_name(RECORD) == "274.9 GB"
    assert pages.capacity_name(replace(RECORD, geometry=geometry)) == (
        "1 GB, 100 GB at full size (1:100)"
    )
    assert DRIVE.scale == 1


def test_the_purge_is_told_by_its_answer_only():
    assert pages.purge_method(RECORD) == "not yet"
    assert pages.date_of("2026-11-20T09:14:33+00:00") == "2026-11-20 09:14"
    assert pages.date_of("") == ""


@pytest.mark.parametrize("method", TESTS, ids=lambda method: str(method.id))
def test_page_one_of_each_test_has_its_plot_right_behind_the_verdict(method: AnyMethod) -> None:
    record = play(method, Canned(rate=lambda step: 5_000.0), spec=method.specs[-1]).record
    first, *others = document_of(record).sections
    kinds = [type(block) for block in first.blocks]
    charts = [at for at, kind in enumerate(kinds) if kind in (Headline, XYChart, Bars3D)]
    assert charts, kinds
    if (shown := first.blocks[charts[0]]) and isinstance(shown, Headline):
        assert kinds[charts[0] - 1] is Verdict
        assert any(shown.chart in section.blocks for section in others), "repeated, not moved"


def test_a_first_page_with_a_chart_or_without_a_verdict_or_plots_stays_as_it_is() -> None:
    later = Section(title="Plot", blocks=(CHART,))
    own = Section(title="Summary", blocks=(ANSWER, CHART))
    silent = Section(title="Summary", blocks=(WORDS,))
    plain = Section(title="Summary", blocks=(ANSWER, WORDS))
    assert pages.with_headline((own, later)) == (own, later)
    assert pages.with_headline((silent, later)) == (silent, later)
    assert pages.with_headline((plain, silent)) == (plain, silent)
    shown = replace(plain, blocks=(ANSWER, Headline(chart=CHART), WORDS))
    assert pages.with_headline((plain, later)) == (shown, later)
