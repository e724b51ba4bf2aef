"""What every open target can do, real or simulated; the rooms above know no other kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from teijo.device.health.drive_log import LogReader
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.watched import SILENCE_NS, Progress
from teijo.engine.session import Session
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, PurgeResult
from teijo.terms.remark import Remark
from teijo.terms.step import Configure


@dataclass(frozen=True, kw_only=True)
class Configured:
    """A device in another configuration: what it says of itself now, and how long that took.

    `detail` is as `terms.configured` has it, with what a hook said; time in ns of the device's
    kind, real or virtual.
    """

    detail: Mapping[str, str]
    elapsed_ns: int


class Device(Protocol):
    """One open target, claimed until `close`."""

    identity: Identity
    geometry: Geometry
    session: Session
    replayable: bool
    """Whether running the same steps again from the beginning gives the same answers."""

    def remarks(self) -> tuple[Remark, ...]:
        """Return what must be said of every run on this device (simulated, buffered …)."""
        ...

    def free_counters(self) -> FreeCounters:
        """Return the counters that cost the device nothing to read; see `tiers.py`."""
        ...

    def asked_counters(self) -> AskedCounters:
        """Ask a real drive for its own counters (SMART), which takes it up to seconds."""
        ...

    def log_reader(self) -> LogReader | None:
        """Return what reads a real drive's log while it is driven; None where nobody can.

        It may be called on another thread, up to `configure` or `close`.
        """
        ...

    def counts(self) -> Mapping[str, int]:
        """Return what a simulated device's model counts; empty for a device that is real."""
        ...

    def unwritten_bytes(self) -> int | None:
        """Return how much of a file was never written; None where nobody can tell, as of a drive.

        Reading it asks no drive.
        """
        ...

    def purge(
        self,
        method: str = AUTO,
        silence_ns: int = SILENCE_NS,
        *,
        progress: Progress | None = None,
    ) -> PurgeResult | None:
        """Return how the device was purged by this method, or None where it cannot be.

        `progress` hears (done, in all) as a real drive tells it; in all is 0 where it does not.

        Raises:
            teijo.errors.UnsafeError: it was not opened for destruction, or is in use by now.
            teijo.errors.DeviceError: the purge failed; the message says in what state.
        """
        ...

    def idle(self, duration_ns: int, look: Callable[[], None]) -> None:
        """Let the device rest, in real or virtual time; `look` may end that by an exception.

        It is called several times a second, in virtual time not at all.
        """
        ...

    def configure(self, step: Configure) -> Configured:
        """Become what a step asks for: identity, geometry and session are others afterwards.

        Raises:
            teijo.errors.PlanError: this kind of device cannot be configured so.
            teijo.errors.UnsafeError: the hook is none that was consented to; it was not run.
            teijo.errors.HostError: the hook changed or failed, or the target cannot be opened
                after it.
            teijo.errors.IdentityError: it is another device after the hook.
        """
        ...

    def check(self) -> None:
        """Make sure it is still the device that was opened.

        Raises:
            teijo.errors.IdentityError: it is another one, or of another size.
            teijo.errors.DeviceError: it is gone.
        """
        ...

    def close(self) -> None:
        """Give up the claim."""
        ...
