"""The page of the platform: its sentence, its table and its facts, and nothing without ceilings."""

from dataclasses import replace

from teijo.analysis.headroom import summary_of
from teijo.document.model import Facts, Paragraph, Table, Verdict, XYChart
from teijo.methods.parts import document_of
from teijo.methods.platform_page import (
    environment_rows,
    header_rows,
    platform_section,
)
from teijo.methods.workload.found import step_of
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.platform import FACT, CellCeiling, HostLink, Platform, cell_of, platform_to_json
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import StepResult
from tests.methods.canned import DRIVE, flow, record_of
from tests.runfile.samples import WITNESS

METHOD = FreeWorkload()
SETTINGS = METHOD.settings("", {"seconds": "2"}, DRIVE)
STEP = step_of(SETTINGS)
SEEN = replace(WITNESS, busiest_worker=0.25, wall_ns=2_000_000_000)
LINK = HostLink(kind="SATA", text="6.0 Gb/s", raw=600_000_000, usable=558_000_000)


def record(*rates: float, link: HostLink | None = None, answered: bool = True) -> Record:
    cell = cell_of(STEP)
    assert cell is not None
    answer = StepResult(
        started_ns=0, elapsed_ns=2_000_000_000, results=(flow("read", 2000, 4096),), witness=SEEN
    )
    steps = (StepRecord(seq=1, step=STEP, seed=1, answer=answer),) if answered else ()
    taken = Platform(
        cells=(CellCeiling(cell=cell, nop_iops=rates),),
        link=link,
        each_ns=1_000_000,
        cost_ns=1_500_000_000,
    )
    facts = {"cpu": "A", "python": "3", FACT: platform_to_json(taken)}
    return replace(record_of(METHOD, SETTINGS, steps, "done"), environment=facts)


def test_an_ample_host_is_no_limit_in_header_and_page() -> None:
    found = record(5000.0, 6000.0, 7000.0)
    assert header_rows(found) == (("Host", "not the limit, by ×4.0 in the narrowest cell"),)
    section = platform_section(found)
    assert section is not None
    verdict, chart, note, facts = section.blocks
    assert isinstance(verdict, Verdict)
    assert verdict.good is True
    assert "by ×4.0 in the narrowest cell (RND 4 KiB 100/0 TC 1 QD 1)" in verdict.text
    assert isinstance(chart, XYChart)
    assert [each.name for each in chart.series] == [
        "Ceiling, least", "Ceiling, most", "Drive gave, most",
    ]  # fmt: skip
    assert isinstance(chart.table, Table)
    (row,) = chart.table.rows
    assert row == (1, "RND 4 KiB 100/0 TC 1 QD 1", 5000.0, 7000.0, 1000.0, 25.0, 4.0,
                   "not the limit")  # fmt: skip
    assert isinstance(note, Paragraph)
    assert "in 1.5 s" in note.text
    assert isinstance(facts, Facts)
    assert facts.rows == (("cpu", "A"),)
    # Each fact stands on one page, and what the machine reads on none.
    assert environment_rows(found) == (("python", "3"),)


def test_a_slow_host_is_named() -> None:
    found = summary_of(record(1500.0, 1600.0, 1700.0))
    assert found is not None
    assert len(found.may_be) == 1
    section = platform_section(record(1500.0, 1600.0, 1700.0))
    assert section is not None
    verdict = section.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.good is False
    assert "(×1.5, engine and ring)" in verdict.text


def test_before_the_first_answer_the_table_stands_alone() -> None:
    section = platform_section(record(5e6, 5e6, 5e6, link=LINK, answered=False))
    assert section is not None
    table = section.blocks[1]
    assert isinstance(table, Table)
    assert "Link carries" in [each.name for each in table.columns]


def test_a_run_without_ceilings_has_no_such_page_and_keeps_its_environment() -> None:
    old = replace(record(1.0, 1.0, 1.0), environment={"cpu": "A"})
    assert (platform_section(old), header_rows(old), summary_of(old)) == (None, (), None)
    assert environment_rows(old) == (("cpu", "A"),)
    forged = replace(old, environment={"cpu": "A", FACT: "{"})
    assert platform_section(forged) is None
    assert environment_rows(forged) == (("cpu", "A"),)


def test_the_report_of_any_method_has_the_page() -> None:
    document = document_of(record(5000.0, 6000.0, 7000.0))
    titles = [each.title for each in document.sections]
    assert titles.index("The platform") < titles.index("Settings and environment")
    assert ("Host", "not the limit, by ×4.0 in the narrowest cell") in document.header.top
