"""What `crates/binding` exports: `make lint` holds this to the module."""

from collections.abc import Sequence
from typing import final

from teijo.engine.plan import Layout, Plan
from teijo.engine.session import (
    Ceilings,
    Lap,
    Observer,
    SimulatedFacts,
    SimulatedPreset,
    StuckIo,
)

__all__ = [
    "NativeSession",
    "SimulatedSession",
    "ceilings",
    "simulated_kinds",
    "simulated_parameters",
    "simulated_presets",
]

@final
class NativeSession:
    """The engine on open descriptors, which stay the caller's."""

    def __new__(cls, descriptors: Sequence[int], backend: str, layout: Layout) -> NativeSession: ...
    @property
    def backend(self) -> str: ...
    @property
    def refusal(self) -> str:
        """Why io_uring is not used although it was wished for, or nothing."""

    @staticmethod
    def contention() -> tuple[float | None, float]:
        """Percent of 10 s in which somebody waited for a CPU; from where on none is deferred."""

    def now_ns(self) -> int: ...
    def run(self, plan: Plan, observer: Observer | None = None) -> Lap: ...
    def finish(self) -> None: ...
    def limit_io(self, io_timeout_ns: int) -> None: ...
    def pin(self, cpus: Sequence[int]) -> None: ...
    def stuck(self) -> tuple[StuckIo, ...]: ...
    def close(self) -> None: ...

@final
class SimulatedSession:
    """A simulated device and its virtual clock."""

    def __new__(cls, preset: str, overrides: dict[str, str]) -> SimulatedSession: ...
    @property
    def facts(self) -> SimulatedFacts: ...
    def now_ns(self) -> int: ...
    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run a lap; its witness has nothing but the I/Os in flight."""

    def finish(self) -> None: ...
    def limit_io(self, io_timeout_ns: int) -> None: ...
    def stuck(self) -> tuple[StuckIo, ...]: ...
    def purge(self) -> int:
        """Purge the device; return how long that took in ns."""

    def idle(self, duration_ns: int) -> None: ...
    def health(self) -> dict[str, int]: ...
    def counts(self) -> list[tuple[str, int]]:
        """Return what the model knows and a real device would not tell."""

    def digest(self) -> int:
        """Return a number over the whole state of the device."""

    def close(self) -> None: ...

def ceilings(descriptor: int, each_ns: int) -> Ceilings: ...
def simulated_presets() -> list[SimulatedPreset]: ...
def simulated_kinds() -> list[tuple[str, str]]: ...
def simulated_parameters() -> list[tuple[str, str, str]]: ...
