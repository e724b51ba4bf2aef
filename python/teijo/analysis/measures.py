"""From answers to numbers: latency of all I/Os, a cell's mean over rounds, write amplification.

A mixed cell's latency is that of its I/Os, reads and writes alike, each counted once.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, Literal

from teijo import units
from teijo.terms.finding import Cell
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import Health, StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.work import FileIo, Files, Sql, SqlBench, Transactions

WRITING: Final = frozenset({"write", "random-write", "rewrite", "create"})
"""Operations whose bytes are written: of blocks, and of files. A seek of Bonnie++ writes some."""
HOST_WRITES = "host_writes_bytes"
NAND_WRITES = "nand_writes_bytes"


def latency_of(answer: StepResult) -> Histogram:
    """Return the latencies of all the step's I/Os, reads and writes, exactly merged."""
    return merged(result.timed for result in answer.results)


def response_of(answer: StepResult) -> Histogram | None:
    """Return the response times of all open-loop I/Os of the step; None where there are none."""
    responses = [part.response for part in answer.results if part.response is not None]
    return merged(responses) if responses else None


def latency_ns_mean(answer: StepResult) -> float:
    """Return the mean latency of all I/Os: the sum of sums by the sum of counts, 0 for none."""
    count = sum(result.timed.count for result in answer.results)
    total = sum(result.timed.sum_ns for result in answer.results)
    return total / count if count else 0.0


def latency_ms_mean(answer: StepResult) -> float:
    """Return the mean latency of all I/Os in ms, 0 for none."""
    return latency_ns_mean(answer) / units.NS_PER_MS


def latency_ms_max(answer: StepResult) -> float:
    """Return the longest latency of any I/O in ms, 0 for none."""
    return latency_ns_max(answer) / units.NS_PER_MS


def latency_ns_of(answer: StepResult, direction: Literal["read", "write"]) -> float | None:
    """Return the mean latency of one direction of a step, None where it had no such I/O."""
    parts = answer.of(direction)
    count = sum(part.timed.count for part in parts)
    return sum(part.timed.sum_ns for part in parts) / count if count else None


def latency_ns_max(answer: StepResult) -> int:
    """Return the longest latency of any I/O, 0 for none."""
    return max((result.timed.max_ns for result in answer.results), default=0)


def throughput_mb_s(answer: StepResult) -> float:
    """Return reads plus writes in decimal MB/s."""
    return units.megabytes_per_second(answer.bytes, answer.elapsed_ns)


def exact_iops(answer: StepResult) -> Fraction:
    """Return I/Os per second as counted: whole I/Os over whole ns, rounded nowhere; 0 in no time.

    This and the two below are what steady state is judged on.
    """
    return _exact(answer.ios * units.NS_PER_S, answer.elapsed_ns)


def exact_mb_s(answer: StepResult) -> Fraction:
    """Return reads plus writes in decimal MB/s, rounded nowhere."""
    return _exact(answer.bytes * units.NS_PER_S, answer.elapsed_ns * units.MEGA)


def exact_latency_ms(answer: StepResult) -> Fraction:
    """Return the mean latency of all I/Os in ms, rounded nowhere."""
    count = sum(result.timed.count for result in answer.results)
    total = sum(result.timed.sum_ns for result in answer.results)
    return _exact(total, count * units.NS_PER_MS)


def _exact(amount: int, over: int) -> Fraction:
    return Fraction(amount, over) if over else Fraction(0)


def written_bytes(answer: StepResult) -> int:
    """Return the bytes that the step wrote."""
    return sum(result.moved_bytes for result in answer.of("write"))


def written_by(step: Step, answer: StepResult) -> int | None:
    """Return the bytes that a step of any work wrote; None of statements: the server knows."""
    work = step.work if isinstance(step, Perform) else None
    match work:
        case Sql() | SqlBench() | Transactions():
            return None
        case FileIo(operation="seek", rewrite_percent=percent):
            moved = sum(part.moved_bytes for part in answer.results if part.operation == "seek")
            return moved * percent // 100
        case Files() | FileIo() | None:
            parts = (part for part in answer.results if part.operation in WRITING)
            return sum(part.moved_bytes for part in parts)


def written_in(exchanges: Iterable[tuple[Step, StepResult]]) -> int | None:
    """Return the bytes that several steps wrote; None where one of them is not known."""
    parts = [written_by(step, answer) for step, answer in exchanges]
    known = [each for each in parts if each is not None]
    return sum(known) if len(known) == len(parts) else None


def errors_of(answer: StepResult) -> int:
    """Return how many I/Os failed, of any cause, flushes and discards among them."""
    parts = (*answer.results, *answer.commands)
    return sum(sum(result.errors.values()) for result in parts)


def cell_over(labels: tuple[tuple[str, str], ...], answers: Sequence[StepResult]) -> Cell:
    """Return one cell's numbers over the rounds of a window.

    IOPS, MB/s and mean latency are arithmetic means over the rounds (PTS); the maximum latency
    is the maximum of the maxima.
    """
    assert answers, "a cell was measured at least once"
    count = len(answers)
    return Cell(
        labels=labels,
        iops=math.fsum(answer.iops for answer in answers) / count,
        throughput_mb_s=math.fsum(throughput_mb_s(answer) for answer in answers) / count,
        latency_ns_mean=math.fsum(latency_ns_mean(answer) for answer in answers) / count,
        # Unverified: the standard's rule was not seen. A mean of maxima would hide the longest I/O.
        latency_ns_max=max(latency_ns_max(answer) for answer in answers),
    )


def counted(answers: Iterable[StepResult], counter: str) -> int | None:
    """Return how much a device counted during these steps; None where one step lacks it."""
    total = 0
    for answer in answers:
        before, after = answer.health_before.get(counter), answer.health_after.get(counter)
        if before is None or after is None:
            return None
        total += after - before
    return total


def write_amplification(answers: Sequence[StepResult]) -> float | None:
    """Return NAND bytes by host bytes written during these steps, by the device's own counters.

    None where the device counts only one of them, or where nothing was written.
    """
    host, nand = counted(answers, HOST_WRITES), counted(answers, NAND_WRITES)
    return nand / host if host and nand is not None else None


def counter_change(before: Health, after: Health) -> dict[str, tuple[int, int]]:
    """Return (before, after) of every counter that both know, in order of name."""
    return {name: (before[name], after[name]) for name in sorted(before.keys() & after.keys())}
