"""What runs of sql-bench show: each operation's time, and what the disk did during it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from teijo.analysis.quantities import Quantity
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.methods.classic.sql_bench.settings import SqlBenchSettings
from teijo.methods.databases import DiskCounts, disk_of, own_parts
from teijo.methods.found import Found
from teijo.sql.suite import Operation, operations
from teijo.terms.finding import Cell, Scalar
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.terms.watch import Watch
from teijo.terms.work import SqlBench
from teijo.units import NS_PER_MS, NS_PER_S

SECONDS = Figure(name="Time", unit="s", digits=3, more_is_faster=False)
_WRITING = ("insert", "update", "delete", "create", "drop", "alter")
_DIGITS_MOST = 18
_ASSUMED_PER_SECOND = 10_000
"""Statements, before the first operation has ended."""


def number_in(answer: StepResult, name: str) -> int:
    """Return a whole number of a step's detail, 0 where there is none."""
    text = answer.detail.get(name, "")[:_DIGITS_MOST]
    return int(text) if text.isascii() and text.isdecimal() else 0


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One operation of one test over the passes, the last attempt of each."""

    work: SqlBench
    operation: Operation
    answers: Sequence[StepResult]

    @property
    def name(self) -> str:
        """The operation with its test and place: some operations are in a test twice."""
        return f"{self.work.test} {self.work.place + 1}: {self.work.operation}"

    def share_done(self, answer: StepResult) -> float:
        """Return which share of the loops was carried out: less than all were extrapolated."""
        done, _, asked = answer.detail.get("loops", "")[:40].partition("/")
        if not (done.isdecimal() and asked.isdecimal()) or not 0 < int(done) < int(asked):
            return 1.0
        return int(done) / int(asked)

    @property
    def estimated(self) -> bool:
        """Whether a pass stopped at the time limit."""
        return any(self.share_done(answer) < 1 for answer in self.answers)

    def wall_s(self, answer: StepResult) -> float:
        """Return the time of all loops in a pass, extrapolated where they were not carried out."""
        ns = number_in(answer, "wall_ns") or answer.elapsed_ns
        return ns / NS_PER_S / self.share_done(answer)

    def cpu_s(self, answer: StepResult, kind: str) -> float:
        """Return the client's own processor time, "user" or "system"."""
        return number_in(answer, f"{kind}_ns") / NS_PER_S / self.share_done(answer)

    @property
    def seconds(self) -> float:
        """The mean time over the passes."""
        return math.fsum(map(self.wall_s, self.answers)) / len(self.answers)

    @property
    def statements(self) -> int:
        """How many statements a pass carried out."""
        return sum(part.count for part in own_parts(self.answers[-1]))

    @property
    def rate(self) -> float:
        """How many statements a second were carried out, in the last pass; nothing is guessed."""
        last = self.answers[-1]
        seconds = self.wall_s(last) * self.share_done(last)
        return self.statements / seconds if seconds else 0.0

    @cached_property
    def times(self) -> Histogram:
        """The times of single statements, of all passes."""
        return merged(part.timed for answer in self.answers for part in own_parts(answer))

    @cached_property
    def disk(self) -> DiskCounts | None:
        """What the disk did, in all passes."""
        return disk_of(self.answers)

    @property
    def writes(self) -> bool:
        """Whether its statements change something, each in a transaction of its own."""
        return self.work.operation.startswith(_WRITING) and not self.operation.fails


class SqlBenchFound(Found[SqlBenchSettings]):
    """What a record shows of each operation, each test and all of them."""

    @cached_property
    def timed(self) -> tuple[Timed, ...]:
        """The operations in the order in which they were first carried out."""
        last: dict[tuple[str, int, int | None], tuple[SqlBench, StepResult]] = {}
        for step, answer in self.record.taken(Perform):
            if isinstance(step.work, SqlBench):
                last[step.work.test, step.work.place, step.round_number] = (step.work, answer)
        by_place: dict[tuple[str, int], list[tuple[SqlBench, StepResult]]] = {}
        for (test, place, _), pair in last.items():
            by_place.setdefault((test, place), []).append(pair)
        return tuple(
            Timed(
                work=pairs[0][0],
                operation=operations(test, small=pairs[0][0].small)[place],
                answers=[answer for _, answer in pairs],
            )
            for (test, place), pairs in by_place.items()
            if place < len(operations(test, small=pairs[0][0].small))
        )

    @property
    def answers(self) -> list[StepResult]:
        """All answers in the order of time."""
        found = [answer for each in self.timed for answer in each.answers]
        return sorted(found, key=lambda answer: answer.started_ns)

    @property
    def by_test(self) -> dict[str, list[Timed]]:
        """The operations of each test."""
        found: dict[str, list[Timed]] = {}
        for each in self.timed:
            found.setdefault(each.work.test, []).append(each)
        return found

    @property
    def by_operation(self) -> dict[str, list[Timed]]:
        """The operations of one name over all tests, sorted as the suite's own table has them."""
        found: dict[str, list[Timed]] = {}
        for each in sorted(self.timed, key=lambda each: each.work.operation):
            found.setdefault(each.work.operation, []).append(each)
        return found

    @property
    def rounds(self) -> int:
        """How many passes there are."""
        return max((len(each.answers) for each in self.timed), default=0)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The time of each test."""
        return tuple(
            Scalar(name=Verbatim(test), value=math.fsum(each.seconds for each in timed), unit="s")
            for test, timed in self.by_test.items()
        )

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """A cell for each operation: statements a second and their times, as carried out.

        One whose whole time is extrapolated says so.
        """
        return tuple(
            Cell(
                labels=(
                    ("operation", each.name),
                    *((("estimated", "+"),) if each.estimated else ()),
                ),
                iops=each.rate,
                throughput_mb_s=0.0,
                latency_ns_mean=each.times.mean_ns,
                latency_ns_max=each.times.max_ns,
            )
            for each in self.timed
        )

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The time of each operation; a pass is a batch."""
        return tuple(
            Quantity(
                place=Verbatim(each.name),
                figure=SECONDS,
                value=each.seconds,
                batches=tuple(map(each.wall_s, each.answers)),
                by_round=True,
            )
            for each in self.timed
        )

    @property
    def null_query_ms(self) -> float:
        """How long a statement takes that asks for nothing."""
        found = [number_in(answer, "null_query_ns") for answer in self.answers]
        return max(found, default=0) / NS_PER_MS

    def client_s(self, each: Timed) -> float:
        """Return how much of an operation's time statements that ask for nothing would take too.

        Several clients ask at the same time.
        """
        # As long as the time is extrapolated, so are the statements.
        asked = each.statements / each.share_done(each.answers[-1])
        alone = asked * self.null_query_ms * NS_PER_MS / NS_PER_S / max(1, each.work.clients)
        return min(alone, each.seconds)

    @property
    def remaining_ns(self) -> int:
        """How long what is left takes: as in an earlier pass, or at the mean pace of statements."""
        known = {(each.work.test, each.work.place): each.seconds for each in self.timed}
        done = sum(each.times.count for each in self.timed)
        spent_s = math.fsum(each.seconds * len(each.answers) for each in self.timed)
        pace_s = spent_s / done if done else 1 / _ASSUMED_PER_SECOND
        last = {
            (step.work.test, step.work.place, step.round_number)
            for step, _ in self.record.taken(Perform)
            if isinstance(step.work, SqlBench)
        }
        settings, left_s = self.settings, 0.0
        limit_s = math.inf if settings.strict == "on" else settings.time_limit_ns / NS_PER_S
        for number in range(1, settings.passes + 1):
            for test in settings.order(number):
                for place, each in enumerate(operations(test, small=settings.small == "on")):
                    if (test, place, number) not in last:
                        guess_s = each.count * settings.clients * pace_s
                        guess_s = min(guess_s, limit_s) if each.limited else guess_s
                        left_s += known.get((test, place), guess_s)
        return round(left_s * NS_PER_S)

    @property
    def watch_running(self) -> Watch:
        """The operation that ended last, and what is left by the pace so far."""
        last = self.exchanges[-1][0] if self.exchanges else None
        left_ns = self.remaining_ns
        return Watch(
            phase="measure",
            cell=last.cell if isinstance(last, Perform) else None,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
        )
