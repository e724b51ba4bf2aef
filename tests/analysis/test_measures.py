"""Numbers of answers: weighted latencies, means over rounds, write amplification."""

from dataclasses import replace

import pytest

from teijo.analysis import measures
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Perform
from teijo.terms.work import FileCalls, FileIo, Files, SqlBench
from tests.methods.canned import flow, latencies


def answer(*results, elapsed_ns: int = 1_000_000_000, **named) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=elapsed_ns, results=results, **named)


def test_iops_of_a_mixed_cell_is_reads_plus_writes():
    mixed = answer(flow("read", 650, 4096), flow("write", 350, 4096))
    assert mixed.iops == 1000
    assert measures.throughput_mb_s(mixed) == pytest.approx(4.096)


def test_mixed_latency_counts_every_io_once():
    mixed = answer(flow("read", 900, 4096, mean_ns=100), flow("write", 100, 4096, mean_ns=1_100))
    assert measures.latency_ns_mean(mixed) == 200  # not (100 + 1,100) / 2
    assert measures.latency_of(mixed).mean_ns == 200


def test_the_maximum_of_a_window_is_the_maximum_of_the_maxima():
    rounds = [
        answer(flow("write", 10, 4096, mean_ns=100, max_ns=longest))
        for longest in (500, 90_000, 700)
    ]
    cell = measures.cell_over((), rounds)
    assert cell.latency_ns_max == 90_000
    assert cell.iops == 10


def test_a_cell_is_the_arithmetic_mean_over_the_rounds():
    # Whitepaper, figure 13: 144.5 MB/s is the mean of the window's five rounds.
    rounds = [answer(flow("write", ios, 1_000_000)) for ios in (140, 150, 145)]
    cell = measures.cell_over((), rounds)
    assert cell.iops == pytest.approx(145)
    assert cell.throughput_mb_s == pytest.approx(145)


def test_write_amplification_needs_both_counters():
    both = answer(
        health_before={"host_writes_bytes": 100, "nand_writes_bytes": 1_000},
        health_after={"host_writes_bytes": 200, "nand_writes_bytes": 1_350},
    )
    host = answer(health_before={"host_writes_bytes": 0}, health_after={"host_writes_bytes": 9})
    assert measures.write_amplification([both, both]) == 3.5
    assert measures.write_amplification([both, host]) is None
    assert measures.write_amplification([]) is None
    assert measures.counter_change(both.health_before, both.health_after) == {
        "host_writes_bytes": (100, 200),
        "nand_writes_bytes": (1_000, 1_350),
    }


def test_nothing_measured_is_zero_and_not_a_number():
    nothing = answer()
    assert measures.latency_ns_mean(nothing) == 0
    assert measures.latency_ns_max(nothing) == 0
    assert measures.throughput_mb_s(answer(elapsed_ns=0)) == 0


def test_the_response_of_a_step_is_that_of_its_open_loops_alone():
    closed = flow("read", 3, 4096)
    late = replace(flow("write", 2, 4096), response=latencies(2, 70_000))
    answer = StepResult(started_ns=0, elapsed_ns=1, results=(closed, late))
    response = measures.response_of(answer)
    assert response is not None
    assert (response.count, response.mean_ns) == (2, 70_000)
    assert measures.response_of(replace(answer, results=(closed,))) is None


def moved(operation: str, size_bytes: int | None) -> StepResult:
    part = OperationResult(stream="files", operation=operation, count=1, bytes=size_bytes)
    disk = OperationResult(stream="disk", operation="disk-read", count=1, bytes=7)
    return StepResult(started_ns=0, elapsed_ns=1, results=(part, disk))


def test_what_files_have_written_is_what_was_written_and_not_what_was_read_or_looked_at() -> None:
    def of(operation: FileCalls, **more: int) -> Perform:
        work = FileIo(operation=operation, file_bytes=1000, chunk_bytes=10, calls=100, **more)
        return Perform(work=work)

    for operation in ("write", "rewrite", "random-write"):
        assert measures.written_by(of(operation), moved(operation, 1000)) == 1000
    for operation in ("read", "random-read"):
        assert measures.written_by(of(operation), moved(operation, 1000)) == 0
    assert measures.written_by(of("seek", rewrite_percent=10), moved("seek", 1000)) == 100
    small = Files(operation="create", count=1, size_bytes=5)
    assert measures.written_by(Perform(work=small), moved("create", 5)) == 5
    looked = Files(operation="stat", count=1, read=True)
    assert measures.written_by(Perform(work=looked), moved("stat", 5)) == 0


def test_what_statements_wrote_nobody_knows_and_a_sum_with_it_neither() -> None:
    sql = Perform(work=SqlBench(test="create", operation="x", place=0, count=1))
    answer = moved("insert", None)
    files = Perform(work=Files(operation="create", count=1, size_bytes=5))
    assert measures.written_by(sql, answer) is None
    assert measures.written_in([(files, moved("create", 5))] * 2) == 10
    assert measures.written_in([(files, moved("create", 5)), (sql, answer)]) is None
    assert measures.written_in([]) == 0
