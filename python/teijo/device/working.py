"""A target without blocks: a directory or a database, and what carries out the work on it."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, Protocol

from teijo.device.device import Configured
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.retry import rest
from teijo.device.watched import SILENCE_NS
from teijo.device.watched import Progress as Heard
from teijo.engine.plan import Plan
from teijo.engine.session import Ceilings, Lap, Observer, Progress, Session, StuckIo
from teijo.errors import PlanError
from teijo.terms.geometry import NO_CAPACITY, Identity
from teijo.terms.purge import AUTO
from teijo.terms.remark import Remark
from teijo.terms.result import Performed
from teijo.terms.step import Configure
from teijo.terms.work import PerformedWork


class Look(Protocol):
    """Called while work goes on with how many operations were done; False stops the work.

    Who counts them in an engine of its own tells the rest too, and the finished intervals.
    """

    def __call__(self, done: int, now: Progress | None = None, /) -> bool:
        """Return whether the work may go on."""
        ...


class Worker(Protocol):
    """What carries out the work on one open target, and leaves it as it was."""

    identity: Identity
    backend: str

    def perform(self, work: PerformedWork, seed: int, look: Look) -> Performed:
        """Carry out a work; `seed` draws contents and order."""
        ...

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a work from now on when a call takes longer, where that can be."""
        ...

    def close(self) -> None:
        """Remove what was made; it may be called again, and nothing else after it."""
        ...


class WorkingDevice:
    """A target that does work on files or statements, and moves no blocks for this program."""

    geometry = NO_CAPACITY
    replayable = False

    def __init__(self, worker: Worker) -> None:
        """Take over an open worker."""
        self._worker = worker
        self.identity = worker.identity
        self.session: Session = _NoBlocks(worker)

    def perform(self, work: PerformedWork, seed: int, look: Look) -> Performed:
        """Carry out a work, and return a result for each kind of operation in it."""
        return self._worker.perform(work, seed, look)

    def remarks(self) -> tuple[Remark, ...]:
        """Return nothing."""
        return ()

    def free_counters(self) -> FreeCounters:
        """Return nothing: a directory has no counters of its own."""
        return FreeCounters()

    def asked_counters(self) -> AskedCounters:
        """Return nothing: there is nobody to ask."""
        return AskedCounters()

    def log_reader(self) -> None:
        """Return nothing: there is nobody to ask."""

    def unwritten_bytes(self) -> None:
        """Return nothing: it has no blocks for this program."""

    def counts(self) -> Mapping[str, int]:
        """Return nothing: it is real."""
        return {}

    def purge(
        self,
        method: str = AUTO,
        silence_ns: int = SILENCE_NS,
        *,
        progress: Heard | None = None,
    ) -> None:
        """Purge nothing, and say so."""
        del method, silence_ns, progress

    def idle(self, duration_ns: int, look: Callable[[], None]) -> None:
        """Wait; the program looks up from time to time."""
        rest(duration_ns, look)

    def configure(self, step: Configure) -> Configured:
        """Refuse: only devices are configured.

        Raises:
            teijo.errors.PlanError: always.
        """
        del step
        _refuse(self.identity.target)

    def check(self) -> None:
        """Find nothing: what is open stays what it is."""

    def close(self) -> None:
        """Remove what was made."""
        self._worker.close()


def _refuse(target: str) -> NoReturn:
    raise PlanError(
        f"{target} has no blocks: it is a directory or a database",
        remedy="Name a file or a block device for this work.",
    )


class _NoBlocks:
    """The session of a target without blocks: a clock, and nothing to drive."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.backend = worker.backend

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        del plan, observer
        _refuse("This target")

    def limit_io(self, io_timeout_ns: int) -> None:
        self._worker.limit_io(io_timeout_ns)

    def pin(self, cpus: Sequence[int]) -> None:
        del cpus

    def stuck(self) -> tuple[StuckIo, ...]:
        return ()

    def choices(self) -> Mapping[str, str]:
        return {}

    def ceilings(self) -> Ceilings | None:
        return None

    def finish(self) -> None:
        pass

    def close(self) -> None:
        pass
