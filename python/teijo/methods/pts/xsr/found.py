"""What PTS XSR measures and finds: three groups of minutes, and how the third came back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, TypeVar

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import THROUGHPUT, Quantity, of_series
from teijo.analysis.recovery import Recovery, recovery_of
from teijo.document.curve import Curve
from teijo.document.model import Axis
from teijo.document.phrase import say
from teijo.methods.forms import BLOCK_SIZE, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import MinutesFound
from teijo.methods.pts.loop import by_minute, scalars_of
from teijo.methods.pts.matrix import minute_of, stimulus
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell, Scalar
from teijo.terms.result import StepResult
from teijo.terms.step import MINUTE, Measure
from teijo.terms.watch import Watch
from teijo.terms.workload import Access, Workload

LEVEL_MINUTES = 120
"""The two hours on either side of a switch, which the standard has plotted by themselves."""

T = TypeVar("T")
MINUTE_COUNT = whole(1, 100_000)


class XsrSettings(shared.LoadSettings, frozen=True):
    """The numbers of one XSR run, on the device at hand."""

    sequential_block_bytes: Annotated[int, Knob(BLOCK_SIZE, "sequential=128KiB")] = meaning(
        "block size of the sequential writes, groups 1 and 3"
    )
    random_block_bytes: Annotated[int, Knob(BLOCK_SIZE, "random=4KiB")] = meaning(
        "block size of the random writes, group 2"
    )
    first_minutes: Annotated[int, Knob(MINUTE_COUNT, "first_minutes=480")] = meaning(
        "the standard's minutes of group 1, sequential"
    )
    random_minutes: Annotated[int, Knob(MINUTE_COUNT, "random_minutes=360")] = meaning(
        "the standard's minutes of group 2, random"
    )
    last_minutes: Annotated[int, Knob(MINUTE_COUNT, "last_minutes=900")] = meaning(
        "the standard's minutes of group 3, sequential again"
    )

    @property
    def minutes_most(self) -> int:
        """All minutes of the run."""
        return self.first_minutes + self.random_minutes + self.last_minutes


@dataclass(frozen=True, kw_only=True)
class Group:
    """One stimulus without an interruption: its place, and its minutes counted over the run."""

    number: int
    access: Access
    block_size_bytes: int
    first_minute: int
    minutes: int

    @property
    def name(self) -> str:
        """The stimulus as the record names it: "RND 0/100 8 KiB"."""
        return f"{self._order} 0/100 {units.format_block_size(self.block_size_bytes)}"

    @property
    def words(self) -> str:
        """The stimulus as the reports of all tests write it: "RND 8 KiB 0/100"."""
        return f"{self._order} {units.format_block_size(self.block_size_bytes)} 0/100"

    @property
    def _order(self) -> str:
        return "SEQ" if self.access is Access.SEQUENTIAL else "RND"

    @property
    def cell(self) -> str:
        """The name that the record has for its minutes."""
        return f"group {self.number}, {self.name}"

    def of(self, minutes: Sequence[T]) -> Sequence[T]:
        """Return this group's among the minutes since the purge."""
        begin = self.first_minute - 1
        return minutes[begin : begin + self.minutes]


def groups_of(settings: XsrSettings) -> tuple[Group, ...]:
    """Return sequential, random, and sequential again."""
    first, second = settings.first_minutes, settings.random_minutes
    sequential = partial(
        Group, access=Access.SEQUENTIAL, block_size_bytes=settings.sequential_block_bytes
    )
    random = partial(Group, access=Access.RANDOM, block_size_bytes=settings.random_block_bytes)
    return (
        sequential(number=1, first_minute=1, minutes=first),
        random(number=2, first_minute=1 + first, minutes=second),
        sequential(number=3, first_minute=1 + first + second, minutes=settings.last_minutes),
    )


def group_at(settings: XsrSettings, minute: int) -> Group:
    """Return the group that a minute of the run, counted from 1, belongs to."""
    return next(each for each in reversed(groups_of(settings)) if minute >= each.first_minute)


def minute_step(settings: XsrSettings, minute: int) -> Measure:
    """Return one minute of the run, counted from 1; a group is one continuous stimulus.

    The sequential stream has its own name, so that group 3 goes on where group 1 ended.
    """
    group = group_at(settings, minute)
    cell = MatrixCell(read_percent=0, block_size_bytes=group.block_size_bytes)
    (random,) = stimulus(settings, cell).streams
    stream = replace(random, name=group.access.value, access=group.access)
    workload = Workload(streams=(stream,))
    return minute_of(settings, workload, minute, cell=group.cell, first=group.first_minute)


class XsrFound(MinutesFound[XsrSettings]):
    """What a record of the test shows: its minutes since the purge, group by group.

    There is no steady state in this test; its rounds are minutes.
    """

    @property
    def rounds(self) -> int:
        """How many minutes were measured."""
        return len(self.answers)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The three groups."""
        return groups_of(self.settings)

    @property
    def begun(self) -> tuple[Group, ...]:
        """The groups of which a minute was measured."""
        return tuple(group for group in self.groups if self.of(group))

    @property
    def is_whole(self) -> bool:
        """Whether every minute of every group is there."""
        return self.rounds == self.settings.minutes_most

    def of(self, group: Group) -> Sequence[StepResult]:
        """Return the minutes of a group."""
        return group.of(self.answers)

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """MB/s of each minute."""
        return tuple(measures.throughput_mb_s(answer) for answer in self.answers)

    def rates_of(self, group: Group) -> Sequence[float]:
        """Return MB/s of each minute of a group."""
        return group.of(self.rates)

    @cached_property
    def recovery(self) -> Recovery | None:
        """How group 3 came back to group 1; None as long as group 3 has not begun."""
        first, _, third = self.groups
        return recovery_of(self.rates_of(first), self.rates_of(third), LEVEL_MINUTES)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The recovery's figures, without values before group 3, and what was written."""
        recovery = ((name, _value(self.recovery, of), unit) for name, unit, of in RECOVERY)
        return scalars_of((*recovery, *self.written_rows))

    @property
    def headlines(self) -> Sequence[Scalar]:
        """When sequential writes recovered, and what they recovered to."""
        return self.scalars[:2]

    def over(self, group: Group) -> Cell:
        """Return a group's means."""
        labels = (("group", str(group.number)), ("stimulus", group.name))
        return measures.cell_over(labels, self.of(group))

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Each group's means."""
        return tuple(map(self.over, self.begun))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput of the last two hours of each group."""
        return tuple(
            each
            for group in self.groups
            for each in of_series(
                say("group {number}, its last two hours", number=group.number),
                self.of(group)[-LEVEL_MINUTES:],
                (THROUGHPUT,),
            )
        )

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """Throughput against time."""
        return (
            Curve(
                title="Throughput against time, all groups",
                x=by_minute(self.settings.minute_ns, ()).axis(),
                y=Axis(name="Throughput", unit="MB/s"),
                points=tuple(enumerate(self.rates, start=1)),
                style="line",
            ),
        )

    @property
    def watch_measuring(self) -> Watch:
        """How far the minutes have come."""
        count = self.settings.minutes_most
        minute = min(self.rounds + 1, count)
        left_ns = (count - self.rounds) * self.settings.minute_ns
        return Watch(
            phase=MINUTE,
            round_number=minute,
            rounds_least=count,
            rounds_most=count,
            cell=group_at(self.settings, minute).cell,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
        )


RECOVERY: tuple[tuple[str, str, Callable[[Recovery], float | None]], ...] = (
    ("recovery, first minute not below group 1", "min", lambda each: each.recovered_samples),
    ("mean of group 1", "MB/s", lambda each: each.reference),
    ("highest minute of group 3", "MB/s", lambda each: each.highest),
    # Not the standard's: group 1 begins on a purged drive, whose first hours may be out of reach.
    ("95 % of group 1's end regained for good", "min", lambda each: each.regained_samples),
    ("mean of the last two hours of group 1", "MB/s", lambda each: each.level),
    ("last two hours of group 3, by those of group 1", "%", lambda each: each.end_share * 100),
)


def _value(found: Recovery | None, of: Callable[[Recovery], float | None]) -> float | None:
    value = None if found is None else of(found)
    return None if value is None else float(value)
