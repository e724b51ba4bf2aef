"""The engine's face: one open target, driven lap by lap. Native, simulated and fio look alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from teijo.engine.plan import Plan
from teijo.terms.result import Intervals, StepResult
from teijo.units import NS_PER_S

DEEP: Final = 8
"""Depth from which the cost of a system call is shared."""


@dataclass(frozen=True, kw_only=True)
class Lap:
    """What came of one plan. Its times are on the session's clock, virtual for a simulated one.

    Of the result, the engine leaves to others what it cannot know: the rest before it, the device's
    own counters, and how long nobody looked.
    """

    result: StepResult
    notes: tuple[str, ...] = ()
    """What the engine had to do differently (io_uring refused …), for remarks."""
    failure: str = ""
    """Why the lap ended early on a failing device; what was measured before is in the result."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A look at a running lap: totals so far, and the intervals finished since the last look."""

    elapsed_ns: int
    ios: int
    bytes: int
    errors: int
    finished: tuple[tuple[str, str, Intervals], ...] = ()
    """(stream, operation, series) of newly finished intervals."""


@dataclass(frozen=True, kw_only=True)
class StuckIo:
    """An I/O that the device does not answer, and for how long it has not."""

    operation: str
    offset_bytes: int
    length_bytes: int
    age_ns: int


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """What this host does at best, one thread, 4 KiB, with no device at all; 0: not to be had.

    `nop_ns` is a no-operation through a ring of the kernel, one at a time; `loop_ns` an I/O of
    the engine's whole loop with nothing behind it. `…_deep` is the same, 32 at a time.
    """

    nop_ns: float
    nop_ns_deep: float
    loop_ns: float
    loop_ns_deep: float
    copy_bytes_per_second: float

    def ios_per_second(self, queue_depth: int) -> float:
        """Return the IOPS of one thread at a queue depth that nothing on this host exceeds."""
        deep = queue_depth >= DEEP
        slowest_ns = max(
            self.nop_ns_deep if deep else self.nop_ns, self.loop_ns_deep if deep else self.loop_ns
        )
        return NS_PER_S / slowest_ns if slowest_ns else 0.0


@dataclass(frozen=True, kw_only=True)
class SimulatedFacts:
    """Who a simulated device says it is, and how far that may be believed."""

    model: str
    serial: str
    firmware: str
    nominal_capacity_bytes: int
    capacity_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int
    label: Literal["calibrated", "plausible"]
    label_text: str
    """What it is calibrated to, or why it is only plausible."""
    parameters: tuple[tuple[str, str, str], ...]
    """(name, value, unit) of each parameter."""


@dataclass(frozen=True, kw_only=True)
class SimulatedPreset:
    """A simulated device that has a name: `sim:NAME`. Each kind has parameters of its own."""

    name: str
    about: str
    label: Literal["calibrated", "plausible"]
    label_text: str
    nominal_capacity_bytes: int
    capacity_bytes: int
    by_second_scale: float | None
    """The largest scale at which a series by the second shows the drive, and not its single lumps
    of cleaning; `None` of what is not an SSD.
    """
    parameters: tuple[tuple[str, str, str], ...]


Observer = Callable[[Progress], bool]
"""Called a few times a second while a lap runs; returning False stops the lap early."""


class Session(Protocol):
    """One open target."""

    @property
    def backend(self) -> str:
        """Which engine and backend serve: "io_uring", "sync", "simulated", "fio 3.33 …"."""
        ...

    def now_ns(self) -> int:
        """Return the session's clock: CLOCK_MONOTONIC, or virtual time."""
        ...

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap to its bound (or until the observer stops it).

        Raises:
            teijo.errors.DeviceError: the device cannot be driven at all (direct I/O refused).
            teijo.errors.StuckDevice: an I/O is older than `limit_io` allows.
            KeyboardInterrupt: a signal's handler raised it; I/Os may still be in flight.
        """
        ...

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a lap from now on when an I/O is older than that."""
        ...

    def pin(self, cpus: Sequence[int]) -> None:
        """Keep each worker on one of these processors, in their order and over again; none: any.

        Raises:
            teijo.errors.StuckDevice: a stimulus that had to be ended for that does not end.
        """
        ...

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return what did not come back when a lap was left, the oldest first."""
        ...

    def choices(self) -> Mapping[str, str]:
        """Return what a run file says of the choices that this session made by itself."""
        ...

    def ceilings(self) -> Ceilings | None:
        """Return what the host does at best; None where the host does not set the pace."""
        ...

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight. Harmless otherwise."""
        ...

    def close(self) -> None:
        """Release threads and buffers. The descriptor stays the caller's."""
        ...
