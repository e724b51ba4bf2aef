"""classic.bonnie: the phases of Bonnie++ in their order, its sizes, its refusals, what it finds."""

from dataclasses import replace

import numpy as np
import pytest

from teijo.errors import PlanError
from teijo.methods.classic.bonnie.found import BonnieFound
from teijo.methods.classic.bonnie.method import Bonnie, longer, usual_size, works_of
from teijo.methods.classic.bonnie.settings import FILE_PHASES, PHASES, BonnieSettings
from teijo.terms.geometry import MEMORY, NO_CAPACITY
from teijo.terms.histogram import histogram_of
from teijo.terms.record import StepRecord
from teijo.terms.result import Answer, Gap, OperationResult, StepResult
from teijo.terms.step import Perform, Step, step_from_json, step_to_json
from teijo.terms.work import FileIo, Files
from tests.methods.canned import record_of
from tests.methods.documents import text_of

BONNIE = Bonnie()
MIB = 1024 * 1024


def settings_of(**given: str) -> BonnieSettings:
    return BONNIE.settings("", given, NO_CAPACITY)


def steps_of(settings: BonnieSettings) -> list[Perform]:
    return [each.step for each in converse(settings) if isinstance(each.step, Perform)]


def answer_to(step: Perform, *, elapsed_ns: int = 2_000_000_000) -> StepResult:
    work = step.work
    assert isinstance(work, FileIo | Files)
    moved = work.file_bytes if isinstance(work, FileIo) and work.operation != "seek" else None
    count = work.count
    times = histogram_of(np.full(min(count, 50), 1_000_000))
    main = OperationResult(
        stream="files", operation=work.operation, count=count, bytes=moved, latency=times
    )
    flush = OperationResult(
        stream="files", operation="fsync", count=1, latency=histogram_of(np.array([700_000_000]))
    )
    return StepResult(
        started_ns=0, elapsed_ns=elapsed_ns, results=(main, flush),
        detail={"cpu_user_ns": "100000000", "cpu_system_ns": "900000000"},
    )  # fmt: skip


def converse(settings: BonnieSettings, gaps: frozenset[int] = frozenset()) -> list[StepRecord]:
    steps, told = BONNIE.steps(settings, NO_CAPACITY), []
    try:
        asked: Step = next(steps)
        while True:
            assert isinstance(asked, Perform)
            number = len(told) + 1
            answer: Answer = Gap() if number in gaps else answer_to(asked)
            told.append(StepRecord(seq=number, step=asked, seed=number, answer=answer))
            asked = steps.send(answer)
    except StopIteration:
        return told


def found_of(settings: BonnieSettings, steps: list[StepRecord]) -> BonnieFound:
    record = record_of(BONNIE, settings, tuple(steps), geometry=NO_CAPACITY)
    return BONNIE.find(settings, record)


def test_a_run_has_the_twelve_phases_in_the_order_of_the_original() -> None:
    assert [step.cell for step in steps_of(settings_of())] == list(PHASES)


def test_a_byte_at_a_time_is_written_over_3_mib_and_the_file_is_begun_anew_behind_it() -> None:
    steps = {step.cell: step.work for step in steps_of(settings_of(size="1GiB"))}
    putc, block = steps["putc"], steps["put_block"]
    assert isinstance(putc, FileIo)
    assert isinstance(block, FileIo)
    assert (putc.file_bytes, putc.chunk_bytes, putc.fresh) == (3 * MIB, 1, True)
    assert putc.timed_calls == 8192  # their latency is of a whole chunk of bytes
    assert (block.file_bytes, block.chunk_bytes, block.fresh) == (1024 * MIB, 8192, True)
    assert block.content == "cumulative"
    getc = steps["getc"]
    assert isinstance(getc, FileIo)
    assert (getc.operation, getc.file_bytes, getc.fresh) == ("read", 3 * MIB, False)


def test_seeks_are_8192_by_five_processes_of_which_a_tenth_writes_back() -> None:
    (work,) = (step.work for step in steps_of(settings_of()) if step.cell == "seeks")
    assert isinstance(work, FileIo)
    assert (work.calls, work.workers, work.share, work.processes) == (8192, 5, True, True)
    assert work.rewrite_percent == 10


def test_1_03_goes_through_stdio_over_the_whole_file_with_three_seekers() -> None:
    steps = {step.cell: step.work for step in steps_of(settings_of(like="1.03", size="1GiB"))}
    putc, seeks, create = steps["putc"], steps["seeks"], steps["seq_create"]
    assert isinstance(putc, FileIo)
    assert isinstance(seeks, FileIo)
    assert isinstance(create, Files)
    assert (putc.file_bytes, putc.style, putc.fsync) == (1024 * MIB, "stdio", False)
    assert seeks.workers == 3
    assert not create.sync_at_end


def test_o_direct_is_of_the_phase_that_makes_the_file_alone() -> None:
    settings = settings_of(direct="yes", per_char="none")
    direct = {step.cell for step in steps_of(settings) if getattr(step.work, "direct", False)}
    assert direct == {"put_block"}


def test_files_are_named_number_first_then_last_and_created_in_order_both_times() -> None:
    steps = {step.cell: step.work for step in steps_of(settings_of(largest="1KiB"))}
    works = [work for work in map(steps.get, FILE_PHASES) if isinstance(work, Files)]
    assert [(work.operation, work.order, work.names) for work in works] == [
        ("create", "sequential", "number-first"), ("stat", "listed", "number-first"),
        ("delete", "listed", "number-first"), ("create", "sequential", "number-last"),
        ("stat", "random", "number-last"), ("delete", "random", "number-last"),
    ]  # fmt: skip
    assert [work.read for work in works] == [False, True, False, False, True, False]
    assert [work.sync_at_end for work in works] == [True, False, True, True, False, True]


@pytest.mark.parametrize(
    ("ram", "size"), [("512MiB", 1024), ("100MiB", 300), ("700MiB", 1400), ("24104MiB", 48208)]
)
def test_the_size_is_twice_the_memory_rounded_as_they_round(ram: str, size: int) -> None:
    assert settings_of(ram=ram).size_bytes == size * MIB


def test_a_memory_of_no_whole_number_of_mib_is_counted_in_whole_ones_as_they_count() -> None:
    odd = 24105 * MIB + 188_416
    assert settings_of(ram=str(odd)).size_bytes == 2 * 24105 * MIB
    with pytest.raises(PlanError, match="less than twice the memory"):
        settings_of(ram=str(odd), size=f"{2 * 24105 - 1}MiB")


def test_the_size_goes_up_to_the_next_gib_above_its_middle() -> None:
    assert usual_size(800 * MIB) == 2048 * MIB  # 1,600 MiB: 576 above a whole GiB


def test_the_memory_of_the_host_is_asked_for_where_nobody_names_one() -> None:
    facts = {MEMORY: str(512 * MIB)}
    assert BONNIE.asked_on({}, facts) == {"ram": str(512 * MIB)}
    assert BONNIE.asked_on({"ram": "none"}, facts) == {"ram": "none"}
    assert BONNIE.asked_on({}, {}) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"size": "512MiB", "ram": "512MiB"}, "less than twice the memory"),
        ({"size": "none", "files": "0"}, "Neither a large file"),
        ({"direct": "yes"}, "O_DIRECT"),
        ({"largest": "1KiB", "smallest": "2KiB"}, "is larger than the"),
        ({"size": "1000000"}, "no whole number of chunks"),
        ({"chunk": "3000"}, "power of two"),
    ],
)
def test_what_the_original_refuses_is_refused_with_a_way_out(
    given: dict[str, str], told: str
) -> None:
    with pytest.raises(PlanError, match=told) as caught:
        settings_of(**given)
    assert caught.value.remedy


def test_a_pass_that_was_interrupted_begins_anew() -> None:
    settings = settings_of(files="0", per_char="none", passes="2")
    asked = [
        (each.step.round_number, each.step.cell)
        for each in converse(settings, frozenset({6}))
        if isinstance(each.step, Perform)
    ]
    phases = ["put_block", "rewrite", "get_block", "seeks"]
    assert asked == [
        *((1, name) for name in phases), (2, "put_block"), (2, "rewrite"),
        *((2, name) for name in phases),
    ]  # fmt: skip


def test_strict_has_unique_data_an_empty_cache_and_the_flush_in_the_latency() -> None:
    for step in steps_of(settings_of(strict="on")):
        if isinstance(step.work, FileIo):
            assert step.work.content == "random"
            assert step.work.timed_fsync
            assert step.work.drop_caches
        elif step.work.kind == "files":
            assert step.work.content == "random"


def test_strict_asks_again_for_seeks_that_were_too_few_to_print() -> None:
    settings = settings_of(strict="on", files="0", per_char="none")
    steps = BONNIE.steps(settings, NO_CAPACITY)
    asked = next(steps)
    while asked.cell != "seeks":  # type: ignore[union-attr]
        assert isinstance(asked, Perform)
        asked = steps.send(answer_to(asked))
    assert isinstance(asked, Perform)
    more = steps.send(answer_to(asked, elapsed_ns=100_000_000))
    assert isinstance(more, Perform)
    assert isinstance(more.work, FileIo)
    assert more.work.calls == settings.size_bytes // 8192 == 38_400, "and no chunk twice"
    with pytest.raises(StopIteration):
        steps.send(answer_to(more))
    large = works_of(settings_of(strict="on", size="1GiB"))
    (seeks,) = (work for name, work in large if name == "seeks")
    again = longer(settings, "seeks", seeks, answer_to(asked, elapsed_ns=100_000_000))
    assert isinstance(again, FileIo)
    assert again.calls == 8 * 8192


def test_every_step_is_json_and_back() -> None:
    for step in steps_of(settings_of(strict="on")) + steps_of(settings_of(flush="yes")):
        assert step_from_json(step_to_json(step)) == step


def test_the_findings_have_a_rate_and_a_time_of_every_phase() -> None:
    settings = settings_of(passes="2")
    found = found_of(settings, converse(settings))
    assert found.rounds == 2
    assert [cell.labels[0][1] for cell in found.cells] == list(PHASES)
    block = found.turns["put_block"][0]
    assert block.cpu_percent == 50.0
    assert block.flush is not None
    # The flush is no call: the rate is of the calls alone.
    assert block.alone.ios == settings.size_bytes // 8192
    names = {(each.place, each.figure.name) for each in found.quantities}
    assert ("seeks", "IOPS") in names
    assert ("rewrite", "Throughput") in names


def test_the_watch_names_the_phase_under_way() -> None:
    settings = settings_of(files="0", passes="2")
    steps = converse(settings)
    found = found_of(settings, steps[:7])
    assert (found.watch_running.round_number, found.watch_running.cell) == (2, "put_block")
    gone = [*steps[:6], replace(steps[6], answer=Gap())]
    assert found_of(settings, gone).watch_running.cell == "putc"


def test_the_report_begins_with_what_bonnie_prints() -> None:
    settings = settings_of()
    document = BONNIE.document(found_of(settings, converse(settings)))
    assert document.header.title == "Bonnie++ 2.00"
    assert document.sections[0].title == "Result"
    assert "put_block" in text_of(document)


def test_a_record_without_answers_has_a_report() -> None:
    settings = settings_of()
    assert BONNIE.document(found_of(settings, [])).sections


def test_a_forged_count_of_processor_time_is_none() -> None:
    settings = settings_of(files="0")
    steps = converse(settings)
    forged = steps[0].answer
    assert isinstance(forged, StepResult)
    for text in ("-5", "²", "9" * 400, "1e9"):
        told = replace(steps[0], answer=replace(forged, detail={"cpu_user_ns": text}))
        turn = found_of(settings, [told]).turns["putc"][0]
        assert turn.user_ns in (None, int("9" * 20))
