"""The state of a run, folded from its events: what every face shows, in no language."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

from teijo.runner import events
from teijo.runner.ahead import Ahead, Span
from teijo.terms.record import Ending
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Perform
from teijo.terms.watch import Watch
from teijo.units import megabytes_per_second

NowNs = Callable[[], int]


@dataclass(frozen=True, kw_only=True)
class CellSoFar:
    """The last answer of one cell: its round, None where there are none, and its rates."""

    cell: str
    round_number: int | None
    iops: float
    mb_s: float


@dataclass(frozen=True, kw_only=True)
class RunState:
    """A run at one moment. Times in ns as a person waits, shares from 0 to 1.

    `iops` and `mb_s` are of the last look, or of the last step where steps are shorter than that.
    `share` is how much of the run is done, by what is expected of it; `time_left` is None while
    nobody can say; `path` is the growing file, and in the end the sealed one.
    """

    started: events.RunStarted | None = None
    layout: events.LayingOut | None = None
    step: events.StepStarted | None = None
    progress: events.Progress | None = None
    purging: events.Purging | None = None
    watch: Watch | None = None
    iops: float | None = None
    mb_s: float | None = None
    cells: tuple[CellSoFar, ...] = ()
    remarks: tuple[Remark, ...] = ()
    stopping: str = ""
    ending: Ending = "running"
    error: str = ""
    path: Path | None = None
    elapsed_ns: int = 0
    share: float = 0.0
    time_left: Span | None = None

    @property
    def phase(self) -> str:
        """The phase of the running step by its name in the record; "" before the first."""
        return self.step.step.phase if self.step else ""

    @property
    def round_number(self) -> int | None:
        """The round of the running step; None where it is in none."""
        step = self.step.step if self.step else None
        return step.round_number if isinstance(step, Measure | Perform) else None

    @property
    def cell(self) -> str:
        """The cell of the matrix or the operation that is measured, or nothing."""
        step = self.step.step if self.step else None
        return step.cell or "" if isinstance(step, Measure | Perform) else ""

    @property
    def performs(self) -> bool:
        """Whether operations on files or statements are timed; `iops` is their rate then."""
        return self.step is not None and isinstance(self.step.step, Perform)

    @property
    def is_done(self) -> bool:
        """Whether the run came to the end of its steps."""
        return self.ending in ("done", "steady", "not steady")


class Follower:
    """Follows one run by its events. `now_ns` is a steady clock; a run has its own."""

    def __init__(self, now_ns: NowNs) -> None:
        """Begin to follow at the clock's present."""
        self.now_ns = now_ns
        self._began_ns = now_ns()
        self._fields: dict[str, object] = {}
        self._ending: Ending = "running"
        self._cells: dict[str, CellSoFar] = {}
        self._remarks: list[Remark] = []
        self._ahead = Ahead()

    @property
    def state(self) -> RunState:
        """The run as it is now."""
        now_ns, is_over = self.now_ns(), self._ending != "running"
        share = self._ahead.share(now_ns)
        found = RunState(
            **self._fields,  # type: ignore[arg-type]
            ending=self._ending,
            cells=tuple(self._cells.values()),
            remarks=tuple(self._remarks),
            elapsed_ns=now_ns - self._began_ns,
            share=share,
            time_left=None if is_over else self._ahead.left(now_ns),
        )
        return found if not found.is_done else replace(found, share=1.0)

    def branch(self, now_ns: NowNs) -> "Follower":
        """Return a follower that knows the same, by another clock, to be told more."""
        other = copy(self)
        other.now_ns = now_ns
        other._fields, other._cells = dict(self._fields), dict(self._cells)
        other._remarks, other._ahead = list(self._remarks), self._ahead.branch()
        return other

    def tell(self, event: events.Event) -> None:
        """Take note of one event."""
        self._ahead.tell(event, self.now_ns())
        match event:
            case events.HookNamed():
                pass
            case events.LayingOut():
                self._fields["layout"] = event
            case events.RunStarted(path=path):
                self._fields |= {"started": event, "path": path}
            case events.StepStarted():
                self._fields |= {"step": event, "progress": None, "purging": None}
            case events.Progress(iops_now=iops, mb_s_now=mb_s):
                self._fields |= {"progress": event, "iops": iops, "mb_s": mb_s}
            case events.Purging():
                self._fields["purging"] = event
            case events.StepDone(answer=StepResult() as answer):
                self._fields["progress"] = None
                if answer.ios:
                    mb_s = megabytes_per_second(answer.bytes, answer.elapsed_ns)
                    self._fields |= {"iops": answer.iops, "mb_s": mb_s}
                    self._note_cell(event, answer.iops, mb_s)
            case events.StepDone():
                self._fields["progress"] = None
            case events.Judged(watch=watch):
                self._fields["watch"] = watch
            case events.Remarked(remark=remark):
                self._remarks.append(remark)
            case events.Stopping(signal=reason):
                self._fields["stopping"] = reason
            case events.Ended(ending=ending, path=path, error=error):
                self._ending = ending
                self._fields |= {"path": path, "error": error}

    def _note_cell(self, event: events.StepDone, iops: float, mb_s: float) -> None:
        step = event.step
        if isinstance(step, Measure | Perform) and step.cell:
            name = f"{step.part}: {step.cell}" if step.part else step.cell
            self._cells[name] = CellSoFar(
                cell=name, round_number=step.round_number, iops=iops, mb_s=mb_s
            )
