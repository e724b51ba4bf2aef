"""The three groups of PTS XSR: their settings, the stimulus of each, and what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.recovery import Recovery, recovery_of
from teijo.conformance.versions import CrossStimulusRule, Version
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.pts import settings as shared
from teijo.methods.rounds import exchanges_of, minutes_of
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.step import MINUTE, Measure
from teijo.terms.workload import Access, Stream, Workload

LEVEL_MINUTES = 120
"""The two hours on either side of a switch, which the standard has plotted by themselves."""

MinuteCount = knobs.whole_number(1, 100_000)


class XsrSettings(shared.PtsSettings, frozen=True):
    """The numbers of one XSR run, on the device at hand."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    sequential_block_bytes: Annotated[
        int,
        Knob(
            key="sequential",
            meaning="block size of the sequential writes, groups 1 and 3",
            example="128KiB",
            parse=knobs.block_size,
            show=knobs.show_size,
        ),
    ]
    random_block_bytes: Annotated[
        int,
        Knob(
            key="random",
            meaning="block size of the random writes, group 2",
            example="4KiB",
            parse=knobs.block_size,
            show=knobs.show_size,
        ),
    ]
    first_minutes: Annotated[
        int,
        Knob(
            key="first_minutes",
            meaning="the standard's minutes of group 1, sequential",
            example="480",
            parse=MinuteCount,
        ),
    ]
    random_minutes: Annotated[
        int,
        Knob(
            key="random_minutes",
            meaning="the standard's minutes of group 2, random",
            example="360",
            parse=MinuteCount,
        ),
    ]
    last_minutes: Annotated[
        int,
        Knob(
            key="last_minutes",
            meaning="the standard's minutes of group 3, sequential again",
            example="900",
            parse=MinuteCount,
        ),
    ]

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

    def of(self, answers: Sequence[StepResult]) -> Sequence[StepResult]:
        """Return this group's among the minutes since the purge."""
        begin = self.first_minute - 1
        return answers[begin : begin + self.minutes]


def standard(version: Version, geometry: Geometry) -> XsrSettings:
    """Return the settings as the version has them on this device, unchecked."""
    rule = rule_of(version)
    return XsrSettings.model_validate(
        {
            **shared.shared_defaults(version, geometry, rule.load),
            "sequential_block_bytes": rule.sequential_block_bytes,
            "random_block_bytes": rule.random_block_bytes,
            "first_minutes": rule.first_minutes,
            "random_minutes": rule.random_minutes,
            "last_minutes": rule.last_minutes,
        }
    )


def rule_of(version: Version) -> CrossStimulusRule:
    """Return what a version that has XSR says of it."""
    assert version.cross_stimulus is not None, version.id
    return version.cross_stimulus


def groups_of(settings: XsrSettings) -> tuple[Group, Group, Group]:
    """Return sequential, random, and sequential again."""
    second = settings.first_minutes + 1
    return (
        Group(
            number=1,
            access=Access.SEQUENTIAL,
            block_size_bytes=settings.sequential_block_bytes,
            first_minute=1,
            minutes=settings.first_minutes,
        ),
        Group(
            number=2,
            access=Access.RANDOM,
            block_size_bytes=settings.random_block_bytes,
            first_minute=second,
            minutes=settings.random_minutes,
        ),
        Group(
            number=3,
            access=Access.SEQUENTIAL,
            block_size_bytes=settings.sequential_block_bytes,
            first_minute=second + settings.random_minutes,
            minutes=settings.last_minutes,
        ),
    )


def group_at(settings: XsrSettings, minute: int) -> Group:
    """Return the group that a minute of the run, counted from 1, belongs to."""
    first, second, third = groups_of(settings)
    if minute < second.first_minute:
        return first
    return second if minute < third.first_minute else third


def minute_step(settings: XsrSettings, minute: int) -> Measure:
    """Return one minute of the run, counted from 1; a group is one continuous stimulus.

    The sequential stream has a name of its own, so that group 3 goes on where group 1 ended.
    """
    group = group_at(settings, minute)
    stream = Stream(
        name=group.access.value,
        read_percent=0,
        block_size_bytes=group.block_size_bytes,
        access=group.access,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Measure(
        workload=Workload(streams=(stream,)),
        duration_ns=settings.minute_ns,
        phase=MINUTE,
        round_number=minute,
        cell=f"group {group.number}, {group.name}",
        continues=minute > group.first_minute,
        open_ended=True,
    )


def answers_of(record: Record) -> list[StepResult]:
    """Return the minutes since the last purge, unbroken by a gap."""
    return [answer for _, answer in minutes_of(exchanges_of(record))]


def throughputs(answers: Sequence[StepResult]) -> list[float]:
    """Return MB/s of each minute."""
    return [measures.throughput_mb_s(answer) for answer in answers]


def recovery(settings: XsrSettings, answers: Sequence[StepResult]) -> Recovery | None:
    """Return how group 3 came back to group 1; None as long as group 3 has not begun."""
    first, _, third = groups_of(settings)
    return recovery_of(
        throughputs(first.of(answers)), throughputs(third.of(answers)), LEVEL_MINUTES
    )
