"""What `crates/binding` exports: `make lint` holds this to the module."""

from collections.abc import Sequence
from typing import final

from teijo.engine.plan import Layout, Plan, StreamPlan
from teijo.engine.session import (
    Ceilings,
    Lap,
    Observer,
    SimulatedFacts,
    SimulatedPreset,
    StuckIo,
)
from teijo.terms.result import Performed
from teijo.terms.work import FileIo, Files

__all__ = [
    "NativeFolder",
    "NativeSession",
    "SimulatedSession",
    "ceilings",
    "content_sample",
    "file_content_sample",
    "simulated_kinds",
    "simulated_parameters",
    "simulated_presets",
]

@final
class NativeFolder:
    """Work on files below an open folder, whose descriptor stays the caller's."""

    def __new__(cls, descriptor: int) -> NativeFolder: ...
    def limit_io(self, io_timeout_ns: int) -> None: ...
    def run_large(
        self, work: FileIo, seed: int, offset_seed: int, interval_ns: int, observer: Observer
    ) -> Performed: ...
    def run_small(
        self, work: Files, seed: int, interval_ns: int, observer: Observer
    ) -> Performed: ...
    def clear(self) -> None:
        """Remove what is left of what was made; what others made stays."""

    def close(self) -> None: ...

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
    def run_large(
        self,
        work: FileIo,
        seed: int,
        offset_seed: int,
        interval_ns: int,
        drop_caches: bool,
        observer: Observer,
    ) -> Performed: ...
    def run_small(
        self, work: Files, seed: int, interval_ns: int, observer: Observer
    ) -> Performed: ...
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
def content_sample(placed: StreamPlan, writes: int, most_bytes: int) -> tuple[bytes, ...]: ...
def file_content_sample(
    work: FileIo, seed: int, writes: int, most_bytes: int
) -> tuple[bytes, ...]: ...
