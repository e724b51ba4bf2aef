"""Runs that somebody looks at: each is read once a second, however many look at it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from teijo import api
from teijo.analysis.course import Course, Point, StepLevels
from teijo.errors import RunFileError, TeijoError
from teijo.runner.run_state import RunState
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.web.totals import Totals

LOOKS_EVERY_S: Final = 1.0
STALE_S: Final = 3 * LOOKS_EVERY_S
"""A sight that is older was of a run that nobody looked at since."""
REPORTS_EVERY_S: Final = 5.0
"""A report takes more to make than a look: it follows a run in so long steps."""
KEPT_S: Final = 150.0
"""A run nobody looks at any more is kept so long, for a page that is loaded anew, and for a program
that asks once a minute."""
SEEN_MOST: Final = 64
"""Runs that are followed at one time."""


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A run at one look, the `number`th, at `at_s` of a steady clock.

    `reported` is the record that its report is made of, which is seldom made anew; `report` is
    another number when that is another.

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

    @property
    def report(self) -> int:
        """The number of its report."""
        return _number_of(self.reported)


@dataclass
class Watcher:
    """One run that is followed: it looks while somebody waits for the next sight."""

    run: api.Watched
    sight: Sight | None = None
    trouble: TeijoError | None = None
    lookers: int = 0
    left_at_s: float = field(default_factory=time.monotonic)
    _course: Course = field(default_factory=Course)
    _epoch: int = 0
    _totals: Totals = field(default_factory=Totals)
    _reported_at_s: float = 0.0
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _task: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.sight is not None and self.sight.state.ending != "running"

    async def after(self, number: int) -> Sight:
        """Return the first sight after the look of this number.

        Raises:
            TeijoError: the file cannot be read any more.
        """
        if self.sight is not None and time.monotonic() - self.sight.at_s > STALE_S:
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
            await asyncio.sleep(max(0.1, LOOKS_EVERY_S - (time.monotonic() - began_s)))
            if not self.lookers:
                return

    def _look(self) -> Sight:
        look = self.run.look()
        if look.new.anew:
            self._course, self._epoch = Course(), self._epoch + 1
        for step in look.new.steps:
            if isinstance(step.answer, StepResult):
                self._course.end(step.seq, step.answer)
        if look.running is not None:
            self._course.go_on(look.running.seq, look.running.intervals)
        self._totals = self._totals.after(look)
        return Sight(
            number=1 if self.sight is None else self.sight.number + 1,
            at_s=time.monotonic(),
            state=look.state,
            reported=self._reported(look.record),
            joined=self._course.joined,
            points=self._course.points,
            levels=tuple(self._course.levels),
            epoch=self._epoch,
            totals=self._totals,
        )

    def _reported(self, record: Record) -> Record:
        """Return the record that the report is of: this one, or an older one for a while."""
        before = self.sight.reported if self.sight is not None else None
        now_s = time.monotonic()
        over = record.run.ending != "running"
        is_due = before is None or over or now_s - self._reported_at_s >= REPORTS_EVERY_S
        if before is not None and not (is_due and _number_of(before) != _number_of(record)):
            return before
        self._reported_at_s = now_s
        return record


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
        self._forget()
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

    def _forget(self) -> None:
        now_s = time.monotonic()
        idle = [key for key, one in self._by_id.items() if not one.lookers]
        for key in idle:
            if now_s - self._by_id[key].left_at_s > KEPT_S or len(self._by_id) > SEEN_MOST:
                del self._by_id[key]
