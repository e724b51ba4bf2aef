"""Runs that were started from the page: each a process of its own, which outlives the server.

One run at a time is on one target; what is asked for beyond that waits. The queue is in memory
alone: a file that says what to start would be believed by the next server, whoever wrote it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from teijo.api.naming import run_file_for
from teijo.api.own_process import OwnProcess
from teijo.errors import UsageError
from teijo.runfile.mark import mark_of
from teijo.runfile.names import Names
from teijo.runfile.shelf import id_of
from teijo.web.starting import Order, command_line

TURN_EVERY_S: Final = 0.2
AT_ONCE_MOST: Final = 8
WAITING_MOST: Final = 50
ENDED_KEPT: Final = 20

State = Literal["waiting", "starting", "running", "ended", "not started", "taken back"]


@dataclass
class Job:
    """One run that was asked for: `path` is its run file, `key` the id of its page.

    It is *starting* until its run file shows that it goes on, and *not started* if it ended before.
    """

    number: int
    order: Order
    path: Path
    key: str
    resumes: bool = False
    state: State = "waiting"
    told: str = ""
    """What it said on stderr when it ended with an error."""
    _process: OwnProcess | None = None
    _mark: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words after `teijo`."""
        return self.order.words if self.resumes else self.order.to(self.path)

    @property
    def command(self) -> str:
        """What a person types to start the same."""
        return command_line(self.words)

    @property
    def is_active(self) -> bool:
        """Whether its process goes on."""
        return self.state in ("starting", "running")

    def begin(self) -> None:
        """Start its process, which is no part of this one's session."""
        self._mark = _mark_of(self.path)
        self._process = OwnProcess.begin(self.words)
        self.state = "starting"

    def look(self) -> None:
        """Take in how it goes."""
        assert self._process is not None, "it has begun"
        status = self._process.look()
        if self.state == "starting" and _mark_of(self.path) not in ("", self._mark):
            self.state = "running"
        if status is None:
            return
        self.told = self._process.told if status else ""
        self.state = "not started" if self.state == "starting" and status else "ended"

    def leave(self) -> None:
        """Let its process go on without anybody who looks after it."""
        if self._process is not None:
            self._process.leave()


@dataclass
class Jobs:
    """All that was asked for since the server began, the latest last."""

    folder: Path
    all: list[Job] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _lock: Lock = field(default_factory=Lock)

    def add(self, order: Order, *, resumes: Path | None = None) -> Job:
        """Take an order, which begins as soon as nothing else is on its target.

        Raises:
            UsageError: too many wait.
        """
        with self._lock:
            if sum(job.state == "waiting" for job in self.all) >= WAITING_MOST:
                raise UsageError(
                    f"{WAITING_MOST} runs wait already", remedy="Take one back, or wait."
                )
            path = resumes or self._free(order)
            key = id_of(str(path.relative_to(self.folder)))
            job = Job(next(self._numbers), order, path, key, resumes=resumes is not None)
            self.all.append(job)
            self._turn()
            return job

    def of(self, number: int) -> Job | None:
        """Return the job of a number, None where there is none (any more)."""
        return next((job for job in self.all if job.number == number), None)

    def last_on(self, key: str) -> Job | None:
        """Return what was asked for last of a run."""
        return next((job for job in reversed(self.all) if job.key == key), None)

    def take_back(self, number: int) -> None:
        """Take a job out of the queue; one that has begun is left."""
        with self._lock:
            job = self.of(number)
            if job is not None and job.state == "waiting":
                job.state = "taken back"

    def before(self, job: Job) -> int:
        """Return how many on the same target come before one that waits."""
        others = (one for one in self.all if one.number < job.number)
        return sum(
            one.order.place == job.order.place and (one.is_active or one.state == "waiting")
            for one in others
        )

    @property
    def shown(self) -> Sequence[Job]:
        """Those that a person may still want to know of: all but what has ended as it should."""
        return [job for job in self.all if job.state not in ("ended", "taken back")]

    @property
    def waiting(self) -> Sequence[Job]:
        """Those that have not begun."""
        return [job for job in self.all if job.state == "waiting"]

    async def go_on(self) -> None:
        """Look after them as long as the server goes on."""
        try:
            while True:
                await asyncio.sleep(TURN_EVERY_S)
                if any(job.is_active or job.state == "waiting" for job in self.all):
                    await asyncio.to_thread(self.turn)
        finally:
            for job in self.all:
                job.leave()

    def turn(self) -> None:
        """Take in how those go that have begun, and begin what can begin."""
        with self._lock:
            self._turn()

    def _turn(self) -> None:
        for job in self.all:
            if job.is_active:
                job.look()
        for job in self.waiting:
            active = [one for one in self.all if one.is_active]
            taken = {one.order.place for one in active}
            if len(active) < AT_ONCE_MOST and job.order.place not in taken:
                self._begin(job)
        over = [job for job in self.all if not job.is_active and job.state != "waiting"]
        for job in over[:-ENDED_KEPT]:
            self.all.remove(job)

    def _begin(self, job: Job) -> None:
        try:
            job.begin()
        except OSError as error:
            job.state, job.told = "not started", f"{error.strerror}."

    def _free(self, order: Order) -> Path:
        """Return a run file of which there is none, neither here nor promised."""
        path = run_file_for(order.method, order.target, self.folder, datetime.now())
        promised = {job.path for job in self.all}
        for number in count(2):
            names = Names.of(path)
            if path not in promised and not names.sealed.exists() and not names.open.exists():
                break
            stem = path.stem.rpartition("~")[0] or path.stem
            path = path.with_name(f"{stem}~{number}{path.suffix}")
        return path


def _mark_of(path: Path) -> str:
    """Return what changes when a run goes on: of its growing file and its log, "" for none."""
    names = Names.of(path)
    for place in (names.open, names.sealed):
        with suppress(OSError):
            return mark_of(place).text
    return ""
