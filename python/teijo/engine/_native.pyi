"""What `crates/binding` exports. Columns are the bytes of int64 arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from teijo.engine.plan import Layout, Plan

__all__ = [
    "NativeSession",
    "SimulatedSession",
    "ceilings",
    "decode_histogram",
    "encode_histogram",
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

    def now_ns(self) -> int: ...
    def run(
        self, plan: Plan, observer: Callable[[dict[str, Any]], bool] | None = None
    ) -> dict[str, Any]: ...
    def finish(self) -> None: ...
    def close(self) -> None: ...

@final
class SimulatedSession:
    """A simulated device and its virtual clock."""

    def __new__(cls, preset: str, overrides: Mapping[str, str]) -> SimulatedSession: ...
    @property
    def facts(self) -> dict[str, Any]:
        """Model, serial, firmware, capacities, label and every parameter."""

    def now_ns(self) -> int: ...
    def run(
        self, plan: Plan, observer: Callable[[dict[str, Any]], bool] | None = None
    ) -> dict[str, Any]: ...
    def finish(self) -> None: ...
    def purge(self) -> int:
        """Purge the device; return how long that took in ns."""

    def idle(self, duration_ns: int) -> None: ...
    def health(self) -> dict[str, int]: ...
    def counts(self) -> list[tuple[str, int]]:
        """Return what the model knows and a real device would not tell."""

    def digest(self) -> int:
        """Return a number over the whole state of the device."""

    def close(self) -> None: ...

def ceilings(descriptor: int, each_ns: int) -> dict[str, float]: ...
def encode_histogram(values_ns: bytes, counts: bytes) -> bytes: ...
def decode_histogram(blob: bytes) -> tuple[bytes, bytes]: ...
def simulated_presets() -> list[dict[str, Any]]: ...
def simulated_kinds() -> list[tuple[str, str]]: ...
def simulated_parameters() -> list[tuple[str, str, str]]: ...
