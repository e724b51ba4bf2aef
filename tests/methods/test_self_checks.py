"""The page on how a run was measured: values where they are known, "unknown" where they are not."""

from dataclasses import replace

from teijo.document.model import Facts, Table
from teijo.methods.parts import document_of
from teijo.methods.self_checks import UNKNOWN, self_checks_section
from teijo.methods.workload.found import step_of
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from tests.methods.canned import DRIVE, flow, record_of
from tests.runfile.samples import WITNESS

METHOD = FreeWorkload()
ANSWER = StepResult(
    started_ns=0, elapsed_ns=2_000_000_000, results=(flow("read", 1000, 4096),), witness=WITNESS
)


def record(answer: StepResult, **settings: str) -> Record:
    asked = METHOD.settings("", {"seconds": "2", **settings}, DRIVE)
    step = StepRecord(seq=1, step=step_of(asked), seed=1, answer=answer)
    return record_of(METHOD, asked, (step,), "done", remarks=answer.remarks)


def row(answer: StepResult, **settings: str) -> dict[str, object]:
    section = self_checks_section(record(answer, **settings))
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    return dict(zip((column.name for column in table.columns), table.rows[0], strict=True))


def test_every_check_shows_its_value():
    counted = {"kernel_reads": 0, "kernel_read_bytes": 0, "kernel_writes": 0,
               "kernel_write_bytes": 0}  # fmt: skip
    after = counted | {"kernel_reads": 4000, "kernel_read_bytes": 1000 * 4096}
    witness = replace(WITNESS, ceiling_iops=1000.0)
    limited = Remark(kind=RemarkKind.HOST_LIMITED, text="so", step=1)
    found = row(
        replace(
            ANSWER, health_before=counted, health_after=after, witness=witness, remarks=(limited,)
        )
    )
    assert (found["In flight asked"], found["In flight mean"]) == (33, 32.5)
    assert found["Busiest thread"] == 12.5
    assert found["Of the host's ceiling"] == 50.0
    assert found["CPU per I/O"] == 500_000
    assert (found["Device bytes / own"], found["Device I/Os / own"]) == (1.0, 4.0)
    assert found["Wakes for"] == 1
    assert found["Remarks"] == "host limited"


def test_a_check_that_could_not_look_says_unknown_and_never_ok():
    found = row(replace(ANSWER, witness=replace(WITNESS, drift_ppm=None)))
    blind = ("Of the host's ceiling", "Device bytes / own", "Device I/Os / own", "Clock drift")
    assert {found[name] for name in blind} == {UNKNOWN}


def test_an_open_loop_asks_for_no_depth():
    assert row(ANSWER, rate="100")["In flight asked"] == "open loop"


def test_the_clock_and_what_the_kernel_granted_are_named():
    section = self_checks_section(record(ANSWER))
    assert section is not None
    facts = section.blocks[-1]
    assert isinstance(facts, Facts)
    expected = {"Clock": "tsc", "Techniques": "single-issuer, tsc-clock"}
    assert dict(facts.rows) == {"Backend": "io_uring (steps: 1)", **expected}


def test_in_virtual_time_there_is_no_such_page():
    assert self_checks_section(record(replace(ANSWER, witness=None))) is None


def test_the_page_is_in_the_report():
    whole = record(ANSWER)
    document = document_of(whole)
    assert "How it was measured" in [section.title for section in document.sections]
