"""The ledger's line on the host: known answers for each verdict, and that it changes no stamp."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.analysis.headroom import summary_of
from teijo.conformance.ledger import stamp_of_ledger
from teijo.conformance.page import VERDICT_COLUMN
from teijo.document.model import Table, Verdict
from teijo.methods.parts import document_of, findings_of
from teijo.methods.platform_page import header_rows
from teijo.methods.pts.lat.method import Lat
from teijo.terms.conformance import LedgerLine
from teijo.terms.platform import FACT, CellCeiling, HostCell, Platform, cell_of, platform_to_json
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition
from tests.conformance.exemplary import kept
from tests.runfile.samples import WITNESS

LAT = kept(Lat(), "2.0.2-enterprise").record
"""Every measured cell of it is one I/O at a time at 2,000 IOPS."""
AMPLE = 1e8
"""IOPS: 1000 times what the fastest of its steps gave."""
ROOM_ASKED = "recommended: a host with room of ×2 or more in every cell"


def witnessed(each: StepRecord, busiest: float = 0.125) -> StepRecord:
    """Let the threads of a step have been seen, with as many I/Os in flight as were asked for."""
    if not isinstance(each.answer, StepResult) or not isinstance(each.step, Measure | Precondition):
        return each
    depth = each.step.workload.streams[0].outstanding_ios
    seen = replace(
        WITNESS,
        busiest_worker=busiest,
        wall_ns=60_000_000_000,
        in_flight_mean=float(depth),
        in_flight_asked=depth,
        stream_in_flight_mean=(float(depth),),
        stream_in_flight_asked=(depth,),
    )
    return replace(each, answer=replace(each.answer, witness=seen))


WITNESSED = replace(LAT, steps=tuple(map(witnessed, LAT.steps)))


def cells(*, measured: bool) -> list[HostCell]:
    """Return the cells of the record: those of its rounds, or those of its preparation."""
    found = dict.fromkeys(
        cell
        for each in LAT.steps
        if isinstance(each.step, Measure) is measured and (cell := cell_of(each.step)) is not None
    )
    return [cell for cell in found if measured or cell not in cells(measured=True)]


def on_host(
    *rates: float, record: Record = WITNESSED, narrow: int | None = None, left_out: int = 0
) -> Record:
    """Return a record with these repeats in its first `narrow` measured cells (None: in all)."""
    measured = cells(measured=True)
    count = len(measured) if narrow is None else narrow
    taken = Platform(
        cells=(
            *(CellCeiling(cell=cell, nop_iops=rates) for cell in measured[left_out:count]),
            *(CellCeiling(cell=cell, nop_iops=(AMPLE,) * 3) for cell in measured[count:]),
            *(CellCeiling(cell=cell, nop_iops=(AMPLE,) * 3) for cell in cells(measured=False)),
        )
    )
    return replace(record, environment={**record.environment, FACT: platform_to_json(taken)})


def line_of(record: Record) -> LedgerLine:
    (line,) = (each for each in findings_of(record).ledger if each.requirement == "platform.host")
    return line


def stamp(record: Record) -> str:
    return stamp_of_ledger(findings_of(record).ledger)


def test_a_host_with_room_in_every_cell_is_met_by_its_number() -> None:
    record = on_host(5_000.0, 5_100.0, 5_200.0)
    line = line_of(record)
    assert (line.verdict, line.asked, line.advisory) == ("met", ROOM_ASKED, True)
    assert "not the limit, by ×2.5 in the narrowest cell (RND " in line.evidence
    facts = {"cpu governor": "performance", "link to the device": "8.0 GT/s PCIe x4"}
    told = line_of(replace(record, environment={**record.environment, **facts})).evidence
    assert told.endswith(
        "Recorded beside it: link to the device: 8.0 GT/s PCIe x4, cpu governor: performance."
    )


def test_a_host_that_may_be_the_limit_deviates_and_names_no_more_than_four_cells() -> None:
    one = line_of(on_host(3_800.0, 3_900.0, 4_000.0, narrow=1))
    total = len(cells(measured=True)) + len(cells(measured=False))
    assert one.verdict == "deviated"
    assert f"may be the limit in 1 of {total} cells: RND" in one.evidence
    assert "(×1.9, engine and ring)" in one.evidence
    many = line_of(on_host(2_100.0, 2_100.0, 2_100.0))
    assert many.verdict == "deviated"
    assert many.evidence.count("engine and ring") == 4
    assert f"and {len(cells(measured=True)) - 4} more" in many.evidence


def test_a_busy_thread_is_a_limit_whatever_the_ceiling_was() -> None:
    steps = tuple(witnessed(each, busiest=0.8) for each in LAT.steps)
    line = line_of(on_host(*[AMPLE] * 3, record=replace(WITNESSED, steps=steps)))
    assert line.verdict == "deviated"
    assert "(×1.2, processor time)" in line.evidence


def with_no_ceiling() -> Record:
    return WITNESSED


def with_fio() -> Record:
    return replace(WITNESSED, run=replace(WITNESSED.run, engine="fio (libaio)"))


def with_a_model() -> Record:
    remark = Remark(kind=RemarkKind.SIMULATED, text="a model")
    return replace(on_host(*[AMPLE] * 3), remarks=(*WITNESSED.remarks, remark))


def with_a_forged_fact() -> Record:
    return replace(WITNESSED, environment={FACT: "{"})


def with_a_platform_of_no_cell() -> Record:
    return replace(WITNESSED, environment={FACT: platform_to_json(Platform(each_ns=1))})


def with_no_thread_seen() -> Record:
    return on_host(*[AMPLE] * 3, record=LAT)


def with_a_cell_left_out() -> Record:
    return on_host(*[AMPLE] * 3, left_out=1)


def with_too_few_repeats() -> Record:
    return on_host(AMPLE, AMPLE, narrow=1)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (with_no_ceiling, "no ceiling of the host was recorded"),
        (with_fio, "none is taken where fio makes the I/O"),
        (with_a_model, "a model of a device has no host that could be its limit"),
        (with_a_forged_fact, "cannot be read"),
        (with_a_platform_of_no_cell, "cannot be known"),
        (with_no_thread_seen, "No thread of a measured step was seen"),
        (with_a_cell_left_out, "In 1 of 10 cells it cannot be known: no ceiling was measured"),
        (with_too_few_repeats, "too few repeats"),
    ],
)
def test_what_the_record_does_not_show_is_not_verifiable(
    record: Callable[[], Record], why: str
) -> None:
    line = line_of(record())
    assert (line.verdict, stamp(record())) == ("not verifiable", "")
    assert why in line.evidence


def test_a_limiting_host_is_marked_and_leaves_a_conforming_run_conforming() -> None:
    slow = on_host(2_100.0, 2_100.0, 2_100.0)
    assert line_of(slow).verdict == "deviated"
    assert stamp(slow) == stamp(WITNESSED) == ""
    document = document_of(slow)
    assert document.header.stamp == ""
    (section,) = [each for each in document.sections if each.title == "Conformance"]
    verdict, table, _ = section.blocks
    assert isinstance(verdict, Verdict)
    assert isinstance(table, Table)
    assert "1 deviated" in verdict.text
    assert verdict.good is True
    ((row, column),) = table.marked
    assert (table.rows[row][0], column) == ("Test platform", VERDICT_COLUMN)


def test_it_leaves_a_run_that_does_not_conform_as_it_was() -> None:
    partition = replace(WITNESSED.identity, facts={"partition": "1"})
    alone = replace(WITNESSED, identity=partition)
    assert stamp(on_host(*[2_100.0] * 3, record=alone)) == stamp(alone)


@pytest.mark.parametrize("times", [1.0, 1.5, 1.99, 2.0, 2.01, 3.0, 50.0])
def test_line_and_header_never_disagree(times: float) -> None:
    record = on_host(*[2_000 * times] * 3)
    found = summary_of(record)
    assert found is not None
    ((_, said),) = header_rows(record)
    assert said.startswith("may be the limit") is (line_of(record).verdict == "deviated")
    assert (line_of(record).verdict == "met") is (times >= 2)
