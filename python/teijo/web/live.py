"""Runs that somebody looks at: each is read once a second, however many look at it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from teijo import api
from teijo.analysis.amplification import Amplification
from teijo.analysis.course import Course, Point, StepLevels
from teijo.analysis.drive_course import Counter, DriveCourse, HeatPoint, HostCourse
from teijo.analysis.round_table import CellAnswer, RoundTable
from teijo.api.watching import Look
from teijo.errors import RunFileError, TeijoError
from teijo.runfile.names import OPEN_SUFFIX
from teijo.runner.run_state import RunState
from teijo.terms.finding import SteadyState
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.web.totals import Totals

LOOKS_EVERY_S: Final = 1.0
IDLE_LOOKS_EVERY_S: Final = 5.0
"""A run that was interrupted or failed may go on: it is looked at so seldom until then."""
STALE_S: Final = 2 * LOOKS_EVERY_S
"""A sight that is so much older than the next look was of a run that nobody looked at since."""
REPORTS_EVERY_S: Final = 5.0
"""A report takes more to make than a look: it follows a run in so long steps."""
REPORTS_SHARE: Final = 0.04
"""Of a processor's time, for the reports of one run in one language: a long one comes seldom."""
KEPT_S: Final = 150.0
"""A run nobody looks at any more is kept so long, for a page that is loaded anew, and for a program
that asks once a minute."""
SEEN_MOST: Final = 64
"""Runs that are followed at one time."""


@dataclass(frozen=True, kw_only=True)
class RoundsSoFar:
    """The rounds of the part and phase under way; see RoundTable."""

    begun: int
    answers: tuple[CellAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class DriveSoFar:
    """What drive and host counted; see DriveCourse and HostCourse."""

    joined: int
    points: tuple[HeatPoint, ...]
    limits_celsius: Mapping[str, int]
    counters: tuple[Counter, ...]
    amplification: Amplification | None
    host: tuple[Counter, ...]


@dataclass
class _Folds:
    """What is made of a run step by step, since it was read from its beginning."""

    course: Course = field(default_factory=Course)
    rounds: RoundTable = field(default_factory=RoundTable)
    drive: DriveCourse = field(default_factory=DriveCourse)
    host: HostCourse = field(default_factory=HostCourse)
    share: float = 0.0

    def take(self, look: Look) -> None:
        """Take what is new in a look."""
        for step in look.new.steps:
            self.rounds.end(step.step, step.answer)
            if isinstance(step.answer, StepResult):
                self.course.end(step.seq, step.answer)
                self.host.end(step.answer)
            else:
                self.drive.gap(step.seq)
        self.drive.add(look.new.readings)
        if look.running is not None:
            self.course.go_on(look.running.seq, look.running.intervals)

    @property
    def drive_so_far(self) -> DriveSoFar:
        return DriveSoFar(
            joined=self.drive.joined,
            points=self.drive.points,
            limits_celsius=self.drive.limits_celsius,
            counters=self.drive.counters,
            amplification=self.drive.amplification,
            host=self.host.counters,
        )


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A run at one look, the `number`th, at `at_s` of a steady clock.

    `reported` is the record that its report is made of, which is seldom made anew; `report` is
    another number when that is another.

    `rounds` and `drive` are what it measured by cells, and what drive and host counted; `states`
    are its determinations of steady state so far.

    The share of `state` is never less than that of an earlier look since the run began or went on:
    where more turns out to be left than was expected, it waits.

    `points` are all of its course. Where `epoch` and `joined` (how many intervals make a point)
    are those of an earlier look, all of that look's points but its last are the same still.
    """

    number: int
    at_s: float
    state: RunState
    reported: Record
    joined: int
    points: tuple[Point, ...]
    levels: tuple[StepLevels, ...]
    epoch: int
    totals: Totals
    rounds: RoundsSoFar
    states: tuple[SteadyState, ...]
    drive: DriveSoFar

    @property
    def report(self) -> int:
        """The number of its report."""
        return _number_of(self.reported)


@dataclass(eq=False)
class Watcher:
    """One run that is followed: it looks while somebody waits for the next sight.

    `reports_every_s` is how long a report is shown at least while the run goes on.
    """

    run: api.Watched
    sight: Sight | None = None
    trouble: TeijoError | None = None
    lookers: int = 0
    left_at_s: float = field(default_factory=time.monotonic)
    reports_every_s: float = REPORTS_EVERY_S
    _folds: _Folds = field(default_factory=_Folds)
    _epoch: int = 0
    _totals: Totals = field(default_factory=Totals)
    _reported_at_s: float = 0.0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _task: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.sight is not None and _next_look_s(self.sight.state) is None

    async def after(self, number: int) -> Sight:
        """Return the first sight after the look of this number.

        Raises:
            TeijoError: the file cannot be read any more.
        """
        if self.sight is not None and _is_stale(self.sight):
            number = max(number, self.sight.number)
        if self._task is None or self._task.done():
            self.trouble = None  # it may be over
            self._task = asyncio.create_task(self._follow())
        async with self._news:
            await self._news.wait_for(
                lambda: (
                    self.trouble is not None
                    or (self.sight is not None and self.sight.number > number)
                )
            )
        if self.trouble is not None:
            raise self.trouble
        assert self.sight is not None
        return self.sight

    async def _follow(self) -> None:
        """Look once a second for as long as somebody does; the last look is of the ended run."""
        while True:
            began_s = time.monotonic()
            sight: Sight | None = None
            try:
                sight = await asyncio.to_thread(self._look)
            except TeijoError as error:
                self.trouble = error
            except Exception as error:  # one file, whatever it holds, keeps nobody waiting
                self.trouble = RunFileError(
                    f"The run cannot be shown ({type(error).__name__}).",
                    remedy="Please report this; TEIJO_DEBUG=1 shows more.",
                )
                self.trouble.__cause__ = error
            async with self._news:
                if sight is not None:
                    self.sight = sight
                self._news.notify_all()
            if self.trouble is not None or self.is_over:
                return
            pace_s = _next_look_s(self.sight.state) if self.sight else None
            await asyncio.sleep(max(0.1, (pace_s or 0.0) - (time.monotonic() - began_s)))
            if not self.lookers:
                return

    def _look(self) -> Sight:
        look = self.run.look()
        if look.new.anew:
            self._folds, self._epoch = _Folds(), self._epoch + 1
        folds = self._folds
        folds.take(look)
        folds.share = max(folds.share, look.state.share)
        self._totals = self._totals.after(look)
        return Sight(
            number=1 if self.sight is None else self.sight.number + 1,
            at_s=time.monotonic(),
            state=replace(look.state, share=folds.share),
            reported=self._reported(look.record),
            joined=folds.course.joined,
            points=folds.course.points,
            levels=tuple(folds.course.levels),
            epoch=self._epoch,
            totals=self._totals,
            rounds=RoundsSoFar(begun=folds.rounds.begun, answers=tuple(folds.rounds.answers)),
            states=look.states,
            drive=folds.drive_so_far,
        )

    def _reported(self, record: Record) -> Record:
        """Return the record that the report is of: this one, or an older one for a while."""
        before = self.sight.reported if self.sight is not None else None
        now_s = time.monotonic()
        over = record.run.ending != "running"
        is_due = before is None or over or now_s - self._reported_at_s >= self.reports_every_s
        if before is not None and not (is_due and _number_of(before) != _number_of(record)):
            return before
        self._reported_at_s = now_s
        return record


def _next_look_s(state: RunState) -> float | None:
    """Return after how long a run is looked at again; None where nothing more will come."""
    if state.ending == "running":
        return LOOKS_EVERY_S
    is_open = state.path is not None and state.path.name.endswith(OPEN_SUFFIX)
    return IDLE_LOOKS_EVERY_S if is_open and state.ending in ("interrupted", "failed") else None


def _is_stale(sight: Sight) -> bool:
    pace_s = _next_look_s(sight.state) or LOOKS_EVERY_S
    return time.monotonic() - sight.at_s > pace_s + STALE_S


def _number_of(record: Record) -> int:
    """Return what tells one report of a run from another, also after a restart of the server."""
    over = record.run.ending != "running"
    return 4 * (len(record.steps) + (len(record.remarks) << 20)) + 2 * over


class Watchers:
    """The runs that are looked at, by their ids."""

    def __init__(self, open_run: Callable[[str], api.Watched]) -> None:
        """`open_run` finds a run by its id."""
        self._open = open_run
        self._by_id: dict[str, Watcher] = {}

    @asynccontextmanager
    async def looking(self, key: str) -> AsyncIterator[Watcher]:
        """Follow a run as long as the block goes on.

        Raises:
            TeijoError: there is no such run, or it cannot be read.
        """
        self.forget()
        watcher = self._by_id.get(key)
        if watcher is None:
            watcher = Watcher(await asyncio.to_thread(self._open, key))
            watcher = self._by_id.setdefault(key, watcher)
        watcher.lookers += 1
        try:
            yield watcher
        finally:
            watcher.lookers -= 1
            watcher.left_at_s = time.monotonic()

    def note_report(self, key: str, cost_s: float) -> None:
        """Take note of the processor's seconds that a report of a run took."""
        watcher = self._by_id.get(key)
        if watcher is not None:
            watcher.reports_every_s = max(REPORTS_EVERY_S, cost_s / REPORTS_SHARE)

    def forget(self) -> None:
        """Let go of the runs that nobody has looked at for a while."""
        now_s = time.monotonic()
        idle = [key for key, one in self._by_id.items() if not one.lookers]
        for key in idle:
            if now_s - self._by_id[key].left_at_s > KEPT_S or len(self._by_id) > SEEN_MOST:
                del self._by_id[key]
