"""classic.tiotest and classic.tiobench: phases, combinations, what they find."""

from pathlib import Path

import pytest

from teijo import api, units
from teijo.errors import PlanError
from teijo.methods.classic.tiotest.found import TioFound
from teijo.methods.classic.tiotest.method import Tiobench, Tiotest
from teijo.methods.classic.tiotest.settings import PHASES, TioSettings
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.record import StepRecord
from teijo.terms.result import Answer, Gap, OperationResult, StepResult
from teijo.terms.step import Perform, Step, step_from_json, step_to_json
from teijo.terms.work import FileIo
from tests.methods.canned import latencies, record_of
from tests.methods.documents import text_of

MIB = units.MIB
Both = Tiotest | Tiobench


def settings_of(method: Both, **given: str) -> TioSettings:
    return method.settings("", given, NO_CAPACITY)


def converse(
    method: Both, settings: TioSettings, gaps: frozenset[int] = frozenset()
) -> list[StepRecord]:
    steps, told = method.steps(settings, NO_CAPACITY), []
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


def answer_to(step: Perform) -> StepResult:
    work = step.work
    assert isinstance(work, FileIo)
    main = OperationResult(
        stream="files", operation=work.operation, count=work.count,
        bytes=work.count * work.chunk_bytes, latency=latencies(work.count, 10_000),
    )  # fmt: skip
    flush = OperationResult(
        stream="files", operation="fsync", count=work.workers, latency=latencies(1, 10**9)
    )
    return StepResult(started_ns=0, elapsed_ns=2_000_000_000, results=(main, flush))


def works(method: Both, settings: TioSettings) -> dict[str, FileIo]:
    found = {}
    for each in converse(method, settings):
        assert isinstance(each.step, Perform)
        assert isinstance(each.step.work, FileIo)
        found[each.step.cell or ""] = each.step.work
    return found


def found_of(method: Both, settings: TioSettings, steps: list[StepRecord]) -> TioFound:
    return method.find(settings, record_of(method, settings, tuple(steps), geometry=NO_CAPACITY))


def test_the_articles_run_has_four_phases_of_8_threads_with_a_file_each() -> None:
    given = {"threads": "8", "size": "128MiB", "block": "4KiB", "random": "32768"}
    asked = works(Tiotest(), settings_of(Tiotest(), **given))
    assert list(asked) == list(PHASES)
    assert [work.operation for work in asked.values()] == [
        "write", "random-write", "read", "random-read",
    ]  # fmt: skip
    assert {work.workers for work in asked.values()} == {8}
    assert {work.count * work.chunk_bytes for work in asked.values()} == {1024 * MIB}
    assert [work.fresh for work in asked.values()] == [True, False, False, False]
    assert {work.content for work in asked.values()} == {"zero"}
    assert all(work.sparse and work.positioned and work.fsync for work in asked.values())


def test_what_is_skipped_is_not_asked_and_the_first_makes_the_files() -> None:
    asked = works(Tiotest(), settings_of(Tiotest(), skip="write,read"))
    assert list(asked) == ["rwrite", "rread"]
    assert asked["rwrite"].fresh
    assert not asked["rread"].fresh


def test_strict_writes_what_is_read_and_flushes_in_the_latency() -> None:
    asked = works(Tiotest(), settings_of(Tiotest(), skip="write", strict="on"))
    assert list(asked) == ["fill", "rwrite", "read", "rread"]
    assert {work.content for work in asked.values()} == {"random"}
    assert all(work.timed_fsync and work.drop_caches for work in asked.values())
    assert [work.fresh for work in asked.values()] == [True, False, False, False]


def test_switches_are_of_the_work() -> None:
    given = dict.fromkeys(("mmap", "in_turn", "synchronous", "direct", "drop_caches"), "yes")
    asked = works(Tiotest(), settings_of(Tiotest(), **given, one_block="yes"))
    assert [work.in_turn for work in asked.values()] == [True, False, False, False]
    for work in asked.values():
        assert (work.style, work.content) == ("mmap", "one-block")
        assert work.synchronous
        assert work.direct
        assert work.drop_caches


def test_tiobench_goes_over_sizes_blocks_and_threads_in_its_order() -> None:
    given = {"size": "8MiB,16MiB", "block": "4KiB,8KiB", "threads": "1,2", "random": "200"}
    settings = settings_of(Tiobench(), **given)
    combinations = [
        (each.size_bytes // MIB, each.block_bytes, each.threads, each.file_bytes // MIB)
        for each in settings.combinations
    ]
    assert combinations[:4] == [(8, 4096, 1, 8), (8, 4096, 2, 4), (8, 8192, 1, 8), (8, 8192, 2, 4)]
    assert [each.random_ops for each in settings.combinations[:2]] == [200, 100]
    told = converse(Tiobench(), settings)
    cells = [each.step.cell for each in told if isinstance(each.step, Perform)]
    assert len(set(cells)) == len(cells) == 8 * 4
    assert cells[0] == "8 MiB, 4 KiB, T1 write"


def test_a_thread_has_at_least_a_mib() -> None:
    settings = settings_of(Tiobench(), size="4MiB", threads="8")
    (only,) = settings.combinations
    assert only.file_bytes == MIB


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"size": "4KiB", "block": "8KiB"}, "does not fit"),
        ({"direct": "yes", "block": "100"}, "O_DIRECT"),
        ({"skip": "write,rwrite,read,rread"}, "leaves nothing"),
        ({"skip": "seek"}, "is none of write"),
    ],
)
def test_what_cannot_be_done_is_refused(given: dict[str, str], told: str) -> None:
    with pytest.raises(PlanError, match=told):
        settings_of(Tiotest(), **given)


@pytest.mark.parametrize("sizes", ["", "1MiB,1MiB", ",".join(f"{n}MiB" for n in range(1, 300))])
def test_a_list_of_sizes_is_bounded_and_has_none_twice(sizes: str) -> None:
    with pytest.raises(PlanError):
        settings_of(Tiobench(), size=sizes)


def test_a_pass_that_was_interrupted_begins_anew() -> None:
    settings = settings_of(Tiotest(), passes="2")
    told = converse(Tiotest(), settings, frozenset({6}))
    cells = [each.step.cell for each in told if isinstance(each.step, Perform)]
    assert cells == [*PHASES, "write", "rwrite", *PHASES]


def test_every_step_is_json_and_back() -> None:
    for each in converse(Tiobench(), settings_of(Tiobench(), strict="on", mmap="yes")):
        assert step_from_json(step_to_json(each.step)) == each.step


def test_the_findings_and_the_report_have_every_phase() -> None:
    settings = settings_of(Tiotest(), passes="2", random="50")
    found = found_of(Tiotest(), settings, converse(Tiotest(), settings))
    assert found.rounds == 2
    assert [cell.labels[0][1] for cell in found.cells] == list(PHASES)
    assert {each.place for each in found.quantities} == set(PHASES)
    assert "rwrite" in text_of(Tiotest().document(found))
    assert Tiotest().document(found_of(Tiotest(), settings, [])).sections


def test_the_watch_of_tiobench_names_the_combination_under_way() -> None:
    settings = settings_of(Tiobench(), threads="1,2", passes="2")
    steps = converse(Tiobench(), settings)
    watch = found_of(Tiobench(), settings, steps[:9]).watch_running
    assert (watch.round_number, watch.cell) == (1, "1 GiB, 4 KiB, T2 rwrite")
    assert found_of(Tiobench(), settings, []).watch_running.cell.endswith("4 KiB, T1 write")


@pytest.mark.parametrize(
    ("asked", "cached"),
    [
        ({"size": "1MiB"}, True),
        ({"size": "1MiB", "drop_caches": "yes"}, False),
        ({"size": "1MiB", "direct": "yes"}, False),
        ({"size": "16MiB"}, False),
        ({"size": "1MiB", "skip": "read,rread"}, False),
    ],
)
def test_the_verdict_says_where_the_fastest_phase_may_have_read_memory(
    tmp_path: Path, asked: dict[str, str], cached: bool
) -> None:
    settings = {"threads": "2", "random": "20", **asked}
    target = "sim:os(hdd-7200)?memory=16MiB"
    run = api.run("classic.tiotest", target, output=tmp_path / "run", settings=settings, seed=1)
    assert ("of files that memory may hold" in text_of(run.document())) == cached
