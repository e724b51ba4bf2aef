"""What an observer receives while a run goes on: frozen facts, for a terminal or a browser."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from teijo.device.hook_consent import Hook
from teijo.runner.extent import Preview
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Ending, RunInfo
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.terms.watch import Watch


@dataclass(frozen=True, kw_only=True)
class HookNamed:
    """The run has a hook, which has not run yet; its digest is what was consented to."""

    hook: Hook


@dataclass(frozen=True, kw_only=True)
class LayingOut:
    """A new file is written once over before the run, so that no read meets a hole."""

    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """The run file is open and the device is claimed. `path` is the growing file.

    `ahead` is what the run will take, or what is left of one that goes on, on the run's clock.
    Where that is `virtual`, a person waits another time, and the steps of a run that goes on are
    carried out once more: they took `recorded_ns`.
    """

    run: RunInfo
    geometry: Geometry
    identity: Identity
    path: Path
    resumed: bool
    ahead: Preview | None = None
    virtual: bool = False
    recorded_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class StepStarted:
    """A step begins. `replayed` ones are executed again to be compared with the record, where
    they took `recorded_ns`.
    """

    seq: int
    step: Step
    replayed: bool = False
    recorded_ns: int = 0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A look at the running step. `share` is 0 to 1 of its time or bytes.

    `iops_now` and `mb_s_now` are since the last look, the others since the step's start.
    `temperature_kelvin` is what a drive that is watched told last.
    """

    seq: int
    step: Step
    elapsed_ns: int
    share: float
    ios: int
    bytes: int
    errors: int
    iops_now: float
    mb_s_now: float
    iops: float
    mb_s: float
    temperature_kelvin: int | None = None


@dataclass(frozen=True, kw_only=True)
class Purging:
    """A purge is so far, 0 to 1, by the drive's own word."""

    seq: int
    step: Step
    share: float


@dataclass(frozen=True, kw_only=True)
class StepDone:
    """A step has its answer, and the answer is on the disk."""

    seq: int
    step: Step
    answer: Answer


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The progress of the method after a step."""

    watch: Watch


@dataclass(frozen=True, kw_only=True)
class Remarked:
    """A warning was recorded."""

    remark: Remark


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """A person or a signal asked to stop; the running step ends now."""

    signal: str


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The run is over. `path` is the sealed file, or the open one of an interrupted run."""

    ending: Ending
    path: Path
    error: str = ""


Event = (
    HookNamed
    | LayingOut
    | RunStarted
    | StepStarted
    | Progress
    | Purging
    | StepDone
    | Judged
    | Remarked
    | Stopping
    | Ended
)

Observer = Callable[[Event], None]
"""Called on the thread that runs; what it raises stops the run."""


def laying_out(observer: Observer) -> Callable[[int, int], None]:
    """Return what a target tells while it is laid out, as events for `observer`."""
    return lambda done, total: observer(LayingOut(done_bytes=done, total_bytes=total))


def unobserved(event: Event) -> None:
    """Ignore an event: the observer of a run nobody watches."""
    del event
