"""The Rust engine and the simulated devices as sessions."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Literal

from teijo.engine import _native
from teijo.engine.plan import Layout, Plan, check_fits
from teijo.engine.session import Ceilings, Lap, Observer, SimulatedPreset, StuckIo
from teijo.errors import HostError, PlanError, StuckDevice
from teijo.terms.result import IN_FLIGHT, Performed
from teijo.terms.work import FileIo, Files
from teijo.units import NS_PER_S

QUICK_NS: Final = 40_000_000

Backend = Literal["auto", "io_uring", "sync", "null", "nop", "nop-call"]


class NativeSession:
    """A `Session` on open descriptors, which stay the caller's."""

    def __init__(
        self,
        descriptors: int | Sequence[int],
        *,
        capacity_bytes: int,
        logical_block_bytes: int,
        backend: Backend = "auto",
        layout: Layout | None = None,
    ) -> None:
        """Open a session; "auto" is io_uring, or plain system calls where that is refused.

        `layout` lies over the descriptors, in their order; None is for a single one.

        Raises:
            teijo.errors.PlanError: the layout is not one of these descriptors, or its borders
                lie within a logical block.
            teijo.errors.HostError: a descriptor is not open.
        """
        files = [descriptors] if isinstance(descriptors, int) else list(descriptors)
        layout = layout or Layout(kind="single", member_bytes=(capacity_bytes,))
        _check_layout(layout, len(files), capacity_bytes, logical_block_bytes)
        self._capacity_bytes = capacity_bytes
        self._logical_block_bytes = logical_block_bytes
        try:
            self._native = _native.NativeSession(files, backend, layout)
        except OSError as error:
            raise HostError(
                f"Descriptors {files} cannot be used: {error.strerror or error}",
                remedy="Raise the limit of open files (ulimit -n).",
            ) from error

    @property
    def backend(self) -> str:
        """Which backend serves: "io_uring" or "sync", or one without a device ("null", "nop" …)."""
        return self._native.backend

    def now_ns(self) -> int:
        """Return CLOCK_MONOTONIC; also while a lap runs, when the native session is not free."""
        return time.monotonic_ns()

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap to its bound, or until the observer stops it.

        Raises:
            teijo.errors.PlanError: the plan does not fit the target, or has no meaning.
            teijo.errors.DeviceError: direct I/O is refused.
            teijo.errors.HostError: no memory, no thread, no ring.
        """
        check_fits(plan, self._capacity_bytes, self._logical_block_bytes)
        refusal = self._native.refusal
        notes = (f"plain system calls instead of io_uring: {refusal}",) if refusal else ()
        return replace(self._native.run(plan, observer), notes=notes)

    def choices(self) -> dict[str, str]:
        """Return when a ring's completions are posted, and by what that was chosen."""
        if self.backend != "io_uring":
            return {}
        return {"ring completions": ring_fact(*_native.NativeSession.contention())}

    def ceilings(self) -> Ceilings:
        """Return what the host does at best, measured once in this process, in 0.3 s."""
        return _quick_ceilings()

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a lap from now on when an I/O is older than that."""
        self._native.limit_io(io_timeout_ns)

    def pin(self, cpus: Sequence[int]) -> None:
        """Keep each worker on one of these processors, in their order; on any of none."""
        self._native.pin(list(cpus))

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return what did not come back when a lap was left, the oldest first."""
        try:
            return self._native.stuck()
        except RuntimeError:  # closed, as while a hook has the device: nothing is in flight
            return ()

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight."""
        self._native.finish()

    def close(self) -> None:
        """Release threads and buffers."""
        self._native.close()


class SimulatedSession:
    """A `Session` on a simulated device in virtual time, with what only such a device can do."""

    backend = "simulated"

    def __init__(self, preset: str, overrides: Mapping[str, str] | None = None) -> None:
        """Make the device `preset` with some of its parameters overridden.

        `preset` is a name, or devices put together: `raid5(4×hdd-7200)?chunk=64KiB`.

        Raises:
            teijo.errors.TargetError: there is no such device, or the text is none.
            teijo.errors.PlanError: no such parameter, or an impossible value.
        """
        self._native = _native.SimulatedSession(preset, dict(overrides or {}))
        self.facts = self._native.facts

    def now_ns(self) -> int:
        """Return the virtual time."""
        return self._native.now_ns()

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap in virtual time.

        Raises:
            teijo.errors.PlanError: the plan does not fit the device, or has no meaning.
        """
        check_fits(plan, self.facts.capacity_bytes, self.facts.logical_block_bytes)
        lap = self._native.run(plan, observer)
        assert lap.result.witness is not None
        detail = {IN_FLIGHT: f"{lap.result.witness.in_flight_mean:.6f}"}
        return replace(lap, result=replace(lap.result, witness=None, detail=detail))

    def choices(self) -> dict[str, str]:
        """Return nothing: in virtual time there is no ring."""
        return {}

    def ceilings(self) -> None:
        """Return nothing: in virtual time the host sets no pace."""

    def limit_io(self, io_timeout_ns: int) -> None:
        """Leave a lap from now on when the device is silent for longer, in virtual time."""
        self._native.limit_io(io_timeout_ns)

    def pin(self, cpus: Sequence[int]) -> None:
        """Do nothing: in virtual time no processor is nearer than another."""
        del cpus

    def stuck(self) -> tuple[StuckIo, ...]:
        """Return what did not come back when a lap was left, the oldest first."""
        return self._native.stuck()

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight.

        Raises:
            teijo.errors.StuckDevice: it does not come back.
        """
        self._native.finish()
        if stuck := self.stuck():
            raise StuckDevice(
                f"The device does not answer: {len(stuck)} I/Os are in flight",
                remedy="Give it longer: --io-timeout.",
            )

    def perform(self, work: Files | FileIo, seed: int, observer: Observer) -> Performed:
        """Carry out work on files in virtual time, on an operating system before the device.

        A device without one (`os(…)`) gets one with all its defaults.

        Raises:
            teijo.errors.PlanError: it has no meaning, or no files to work on.
            teijo.errors.HostError: the file system is full.
            teijo.errors.DeviceError: the device fails, or falls silent.
        """
        match work:
            case FileIo(drop_caches=drop_caches):
                return self._native.run_large(work, seed, seed, NS_PER_S, drop_caches, observer)
            case Files():
                return self._native.run_small(work, seed, NS_PER_S, observer)

    def purge(self) -> int:
        """Purge the device; return how many ns of virtual time that took."""
        return self._native.purge()

    def idle(self, duration_ns: int) -> None:
        """Let virtual time pass without I/O."""
        self._native.idle(duration_ns)

    def health(self) -> dict[str, int]:
        """Return the device's own counters (`host_writes_bytes`, `nand_writes_bytes` …)."""
        return self._native.health()

    def counts(self) -> dict[str, int]:
        """Return what the model knows and a real device would not tell: hits, injected faults.

        A part's names begin with its place: `0.errors`.
        """
        return dict(self._native.counts())

    def digest(self) -> int:
        """Return a number over the device's whole state: equal states, equal digests."""
        return self._native.digest()

    def close(self) -> None:
        """Release the device's memory."""
        self._native.close()


def ring_fact(waited_percent: float | None, limit_percent: float) -> str:
    """Return when a ring posts completions on a host on which so much was waited for a CPU."""
    if waited_percent is None:
        return "deferred; how busy the host was is not known"
    kind = "deferred" if waited_percent < limit_percent else "not deferred"
    return f"{kind}; in the 10 s before, somebody waited for a CPU for {waited_percent:.0f} %"


def simulated_presets() -> tuple[SimulatedPreset, ...]:
    """Return every simulated device that has a name: drives, disks, arrays."""
    return tuple(_native.simulated_presets())


def simulated_kinds() -> tuple[tuple[str, str], ...]:
    """Return (name, what it is) of every way to put devices together: `sim:NAME(…)`."""
    return tuple(_native.simulated_kinds())


def simulated_parameters() -> tuple[tuple[str, str, str], ...]:
    """Return (name, unit, meaning) of every parameter of a simulated SSD."""
    return tuple(_native.simulated_parameters())


def ceilings(each_ns: int) -> Ceilings:
    """Measure what the host does at best, each of five figures for about `each_ns`.

    Raises:
        teijo.errors.HostError: no memory, no thread.
    """
    descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _native.ceilings(descriptor, each_ns)
    finally:
        os.close(descriptor)


@cache
def _quick_ceilings() -> Ceilings:
    return ceilings(QUICK_NS)


def _check_layout(
    layout: Layout, files: int, capacity_bytes: int, logical_block_bytes: int
) -> None:
    if files != len(layout.member_bytes) or capacity_bytes > layout.capacity_bytes:
        raise PlanError(
            f"A {layout.kind} target of {len(layout.member_bytes)} members and "
            f"{layout.capacity_bytes} B is not one of {files} descriptors and {capacity_bytes} B",
            remedy="Name each member once, with its size.",
        )
    match layout.kind:
        case "single":
            borders: tuple[int, ...] = ()
        case "concatenated":
            # Where the last member ends, no I/O is cut in two.
            borders = layout.member_bytes[:-1]
        case "striped":
            borders = (layout.chunk_bytes,)
    if odd := [border for border in borders if border % logical_block_bytes]:
        raise PlanError(
            f"A member or a chunk ends at {odd[0]} B, within a logical block of "
            f"{logical_block_bytes} B",
            remedy="Give members and chunks sizes of whole blocks.",
        )
