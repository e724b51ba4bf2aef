"""The texts of sql-bench 2.15: lines of operations, totals, the header of run-all-tests.

Source: reference of its formats, sections 7 and 11.8. Blanks at the ends of lines are the suite's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from teijo.methods.classic.sql_bench.found import number_in
from teijo.sql.suite import Operation, operations
from teijo.terms.result import StepResult
from teijo.terms.work import SqlBench
from teijo.units import NS_PER_S

SUITE: Final = "2.15"
TRANSACTIONS: Final = "Test skipped because the database doesn't support transactions"
_NAMES: Final = {"mariadb": "MySQL", "postgresql": "PostgreSQL", "sqlite": "SQLite"}
_ONE_LINE_END: Final = {
    "ATIS": {
        "select_simple_join", "select_join", "select_key_prefix_join", "select_distinct",
        "select_group", "drop_table",
    },
    "create": {"create+drop", "create_key+drop"},
    "wisconsin": {"insert"},
}  # fmt: skip
"""Operations after whose line no empty one follows; of insert and select those below do."""
_EMPTY_LINE: Final = {
    "insert": {
        "insert", "insert_duplicates", "update_of_key_big", "select_in", "select_join_in",
        "delete_range", "insert_key", "update_of_primary_key_many_keys", "delete_big_many_keys",
        "delete_all_many_keys", "multiple_value_insert",
    },
    "select": {"insert", "select_cache", "select_cache2", "count_on_key"},
}  # fmt: skip
_COUNTED: Final = re.compile(
    r"(estimated |)time (?:to|for) ([^\s:]*)\s*\((\d*)(?::\d*)*\)[^:]*:\s*([\d.]+) .*secs "
    r"\(\s*([^\s]*) usr\s*\+*\s*([^\s]*) sys.*=\s+([\d.]*)\s+cpu",
    re.IGNORECASE,
)
"""By this the suite finds times in its own output: a line without its colon is in no total."""


@dataclass(frozen=True)
class Times:
    """A time as Perl's Benchmark has it: whole seconds, and the client's CPU time."""

    wall_s: int
    user_s: float
    system_s: float

    @property
    def text(self) -> str:
        """The time in its one format."""
        total = self.user_s + self.system_s
        return (
            f"{self.wall_s:2d} wallclock secs ({self.user_s:5.2f} usr {self.system_s:5.2f} sys +"
            f"  0.00 cusr  0.00 csys = {total:5.2f} CPU)"
        )


@dataclass(frozen=True)
class Heard:
    """One operation with its answer. `began` is the date of the run's beginning."""

    work: SqlBench
    answer: StepResult
    began: datetime

    @property
    def operation(self) -> Operation:
        """What it is in the suite."""
        return operations(self.work.test, small=self.work.small)[self.work.place]

    @property
    def loops(self) -> tuple[int, int]:
        """Loops that were carried out, and those that were asked for."""
        done, _, asked = self.answer.detail.get("loops", "").partition("/")
        both = int(done or 1), int(asked or 1)
        return both if 0 < both[0] <= both[1] else (1, 1)

    @property
    def estimated(self) -> bool:
        """Whether it stopped at the time limit."""
        return self.loops[0] < self.loops[1]

    @property
    def times(self) -> Times:
        """Its time by clocks that tick once a second, extrapolated where it stopped."""
        wall_ns = number_in(self.answer, "wall_ns") or self.answer.elapsed_ns
        share = self.loops[0] / self.loops[1]
        return Times(
            int(_ticks(self.began, self.answer.started_ns, wall_ns) / share),
            number_in(self.answer, "user_ns") / NS_PER_S / share,
            number_in(self.answer, "system_ns") / NS_PER_S / share,
        )


def _ticks(began: datetime, started_ns: int, length_ns: int) -> int:
    """Return by how much a clock of whole seconds goes on in a time."""
    first = began + timedelta(microseconds=started_ns // 1000)
    last = began + timedelta(microseconds=(started_ns + length_ns) // 1000)
    return int(last.timestamp()) - int(first.timestamp())


def server_of(heard: Heard) -> str:
    """Return how a server calls itself, as far as it told: "MySQL 10.11"."""
    name = _NAMES.get(heard.answer.detail.get("dialect", ""), "SQL")
    for key in ("setting version", "setting server_version"):
        if key in heard.answer.detail:
            return f"{name} {heard.answer.detail[key]}"
    return name


def date_of(at: datetime) -> str:
    """Return a date as the suite has it: an hour below ten has a blank before it."""
    return f"{at:%Y-%m-%d} {at.hour:2d}:{at:%M:%S}"


def testing(heard: Heard) -> str:
    """Return the head of a test's text."""
    return f"Testing server '{server_of(heard)}' at {date_of(heard.began)}\n\n"


def operation_text(heard: Heard) -> str:
    """Return what the suite prints of an operation, with the lines that stand before it."""
    operation, work = heard.operation, heard.work
    notes = "".join(f"{line}\n" for line in operation.notes)
    rows = number_in(heard.answer, "rows")
    done, asked = heard.loops
    count = operation.count if operation.counted != "loops" else operation.loops
    shown = str(operation.printed if operation.printed is not None else count)
    if operation.counted == "rows":
        shown = f"{operation.loops}:{rows}"
    elif operation.counted == "statements and rows":
        shown = f"{operation.count}:{rows}"
    line = operation.says.format(name=operation.name, count=shown)
    if heard.estimated:
        limit = work.time_limit_ns // NS_PER_S
        wall = number_in(heard.answer, "wall_ns") // NS_PER_S
        queries = done * max(1, operation.each)
        notes += (
            f"Note: Query took longer then time-limit: {limit}\nEstimating end time based on:\n"
            f"{queries} queries in {done} loops of {asked} loops took {wall} seconds\n"
        )
        line = f"Estimated time{line.removeprefix('Time')}"
    return f"{notes}{line}{heard.times.text}\n{'' if _ends_there(heard) else chr(10)}"


def _ends_there(heard: Heard) -> bool:
    test, name = heard.work.test, heard.operation.name
    if test in _EMPTY_LINE:
        return name not in _EMPTY_LINE[test]
    return name in _ONE_LINE_END.get(test, set())


def total_line(heard: Sequence[Heard]) -> str:
    """Return the last line of a test: its whole time, what was between its operations too."""
    first, last = heard[0].answer, heard[-1].answer
    length_ns = last.started_ns + last.elapsed_ns - first.started_ns
    more = [
        each.times.wall_s - number_in(each.answer, "wall_ns") // NS_PER_S
        for each in heard
        if each.estimated
    ]
    times = Times(
        _ticks(heard[0].began, first.started_ns, length_ns) + sum(more),
        sum(each.times.user_s for each in heard),
        sum(each.times.system_s for each in heard),
    )
    return f"{'Estimated total time' if more else 'Total time'}: {times.text}"


def test_text(heard: Sequence[Heard]) -> str:
    """Return the whole text of a test."""
    lines = "".join(map(operation_text, heard))
    return f"{testing(heard[0])}{lines}{total_line(heard)}\n"


@dataclass(frozen=True, kw_only=True)
class Header:
    """What stands above the results of run-all-tests."""

    date: str
    machine: str
    arguments: str = ""
    comments: str = ""
    limits: str = ""
    server: str = ""
    optimization: str = "None"
    hardware: str = ""

    @property
    def text(self) -> str:
        """All nine lines and the empty one."""
        return (
            f"Benchmark DBD suite: {SUITE}\n"
            f"Date of test:        {self.date}\n"
            f"Running tests on:    {self.machine}\n"
            f"Arguments:           {self.arguments}\n"
            f"Comments:            {self.comments}\n"
            f"Limits from:         {self.limits}\n"
            f"Server version:      {self.server}\n"
            f"Optimization:        {self.optimization}\n"
            f"Hardware:            {self.hardware}\n\n"
        )


@dataclass
class _Total:
    count: int = 0
    wall_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    cpu_s: float = 0.0
    marks: str = ""

    def add(self, other: "_Total") -> None:
        self.count += other.count
        self.wall_s += other.wall_s
        self.user_s += other.user_s
        self.system_s += other.system_s
        self.cpu_s += other.cpu_s
        self.marks += other.marks

    def line(self, name: str) -> str:
        return (
            f"{name[:35]:<35} {self.wall_s:7.2f} {self.user_s:7.2f} {self.system_s:7.2f}"
            f" {self.cpu_s:7.2f} {self.count:7d} {self.marks}\n"
        )


def totals_text(texts: Sequence[str], *, tests: int, errors: int) -> str:
    """Return what follows the tests' lines: how many ran, and the totals per operation.

    They are read out of the tests' own texts, by the suite's own pattern.
    """
    found: dict[str, _Total] = {}
    for text in texts:
        for line in text.splitlines():
            if match := _COUNTED.match(line):
                wall_s, user_s, system_s, cpu_s = map(float, match.groups()[3:7])
                one = _Total(
                    count=int(match[3] or 0),
                    wall_s=wall_s,
                    user_s=user_s,
                    system_s=system_s,
                    cpu_s=cpu_s,
                    marks="+" if match[1] else "",
                )
                found.setdefault(match[2], _Total()).add(one)
    said = (
        f"Of {tests} tests, {errors} tests didn't work\n"
        if errors
        else f"All {tests} test executed successfully\n"
    )
    if any(each.marks for each in found.values()):
        said += "Tests with estimated time have a + at end of line\n"
    if not found:
        return f"\n{said}"
    whole = _Total()
    for each in found.values():
        whole.add(each)
    lines = "".join(found[name].line(name) for name in sorted(found))
    return (
        f"\n{said}\nTotals per operation:\n"
        "Operation             seconds     usr     sys     cpu   tests\n"
        f"{lines}{whole.line('TOTALS')}"
    )
