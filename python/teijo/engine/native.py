"""The Rust engine and the simulated devices as sessions: dictionaries become laps here."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.engine import _native
from teijo.engine.plan import (
    COMMANDS,
    DIRECTIONS,
    Command,
    Direction,
    Layout,
    Plan,
    StreamPlan,
    Written,
    check_fits,
)
from teijo.engine.session import (
    Buckets,
    Ceilings,
    DirectionLap,
    IntervalColumns,
    Lap,
    Observer,
    Progress,
    StuckIo,
    Verification,
    Witness,
)
from teijo.errors import HostError, PlanError, StuckDevice

QUICK_NS: Final = 40_000_000

Backend = Literal["auto", "io_uring", "sync", "null"]
_Look = Callable[[dict[str, Any]], bool]


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
        """Which backend serves: "io_uring", "sync" or "null"."""
        return self._native.backend

    def now_ns(self) -> int:
        """Return CLOCK_MONOTONIC."""
        return self._native.now_ns()

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
        raw = self._native.run(plan, _look(plan, observer))
        return _lap(plan, raw, notes, Witness(**raw["witness"]))

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
            return _stuck(self._native.stuck())
        except RuntimeError:  # closed, as while a hook has the device: nothing is in flight
            return ()

    def finish(self) -> None:
        """End an open-ended stimulus: complete what is in flight."""
        self._native.finish()

    def close(self) -> None:
        """Release threads and buffers."""
        self._native.close()


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
    parameters: tuple[tuple[str, str, str], ...]


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
        self.facts = _facts(self._native.facts)

    def now_ns(self) -> int:
        """Return the virtual time."""
        return self._native.now_ns()

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run one lap in virtual time.

        Raises:
            teijo.errors.PlanError: the plan does not fit the device, or has no meaning.
        """
        check_fits(plan, self.facts.capacity_bytes, self.facts.logical_block_bytes)
        raw = self._native.run(plan, _look(plan, observer))
        lap = _lap(plan, raw, (), None)
        return replace(lap, in_flight_mean=raw["witness"]["in_flight_mean"])

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
        return _stuck(self._native.stuck())

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
    return tuple(
        SimulatedPreset(
            label=preset.pop("label")[0],
            label_text=label_text,
            parameters=tuple(preset.pop("parameters")),
            **preset,
        )
        for preset in _native.simulated_presets()
        for label_text in [preset["label"][1]]
    )


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
        return Ceilings(**_native.ceilings(descriptor, each_ns))
    finally:
        os.close(descriptor)


@cache
def _quick_ceilings() -> Ceilings:
    return ceilings(QUICK_NS)


def encode_histogram(values_ns: NDArray[np.int64], counts: NDArray[np.int64]) -> bytes:
    """Return the HdrHistogram V2 encoding (plain, 3 digits) of values and their counts."""
    columns = (np.asarray(column, np.int64).tobytes() for column in (values_ns, counts))
    return _native.encode_histogram(*columns)


def decode_histogram(blob: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (lowest values of the occupied buckets, counts) of a V2 encoding.

    Raises:
        teijo.errors.RunFileError: the bytes are no histogram of 3 digits.
    """
    values, counts = _native.decode_histogram(blob)
    return _column(values), _column(counts)


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
            borders = layout.member_bytes[:-1]
        case "striped":
            borders = (layout.chunk_bytes,)
    if odd := [border for border in borders if border % logical_block_bytes]:
        raise PlanError(
            f"A member or a chunk ends at {odd[0]} B, within a logical block of "
            f"{logical_block_bytes} B",
            remedy="Give members and chunks sizes of whole blocks.",
        )


def _stuck(raw: Sequence[tuple[Any, int, int, int]]) -> tuple[StuckIo, ...]:
    return tuple(
        StuckIo(direction=direction, offset_bytes=offset, length_bytes=length, age_ns=age_ns)
        for direction, offset, length, age_ns in raw
    )


def _facts(raw: Mapping[str, Any]) -> SimulatedFacts:
    label, label_text = raw["label"]
    rest = {key: value for key, value in raw.items() if key not in ("label", "parameters")}
    return SimulatedFacts(
        label=label, label_text=label_text, parameters=tuple(raw["parameters"]), **rest
    )


def _look(plan: Plan, observer: Observer | None) -> _Look | None:
    if observer is None:
        return None

    def look(raw: dict[str, Any]) -> bool:
        finished = tuple(
            (stream.name, direction, _columns(columns))
            for stream, both in zip(plan.streams, raw.pop("finished"), strict=True)
            for direction, columns in zip(DIRECTIONS, both, strict=True)
            if columns["index"] and stream.moves(direction)
        )
        return observer(Progress(finished=finished, **raw))

    return look


def _lap(
    plan: Plan, raw: Mapping[str, Any], notes: tuple[str, ...], witness: Witness | None
) -> Lap:
    streams = list(zip(plan.streams, raw["streams"], strict=True))
    return Lap(
        started_ns=raw["started_ns"],
        elapsed_ns=raw["elapsed_ns"],
        directions=tuple(
            _direction(stream, direction, lap)
            for stream, lap in streams
            for direction in DIRECTIONS
            if stream.moves(direction)
        ),
        cursors={stream.name: lap["cursor_bytes"] for stream, lap in streams},
        notes=notes,
        failure=raw["failure"],
        witness=witness,
        commands=tuple(
            _direction(stream, command, lap)
            for stream, lap in streams
            for command in COMMANDS
            if stream.sends(command)
        ),
        verification=_verification(plan, raw["findings"]),
        written=tuple(Written(**lap["written"]) for _, lap in streams if lap["written"]),
    )


def _verification(plan: Plan, raw: Mapping[str, Any]) -> Verification | None:
    """Return what was found, None where no read was held to anything."""
    if not any(stream.verify is not None and stream.moves("read") for stream in plan.streams):
        return None
    return Verification(
        sectors=raw["sectors"],
        sectors_unjudged=raw["sectors_unjudged"],
        faults=tuple((word, sectors, tuple(places)) for word, sectors, places in raw["faults"]),
    )


def _direction(
    stream: StreamPlan, direction: Direction | Command, lap: Mapping[str, Any]
) -> DirectionLap:
    raw = lap[direction]
    latency, response = _buckets(raw["latency"]), raw["response"]
    is_open = stream.ios_per_second is not None and direction in DIRECTIONS
    return DirectionLap(
        stream=stream.name,
        direction=direction,
        ios=raw["ios"],
        bytes=raw["bytes"],
        errors=raw["errors"],
        bucket_values_ns=latency.values_ns,
        bucket_counts=latency.counts,
        latency_ns_sum=latency.sum_ns,
        latency_ns_min=latency.min_ns,
        latency_ns_max=latency.max_ns,
        intervals=_columns(raw["intervals"]),
        response=None if response is None or not is_open else _buckets(response),
        backlog_max=lap["backlog_max"] if is_open else None,
        backlog_end=lap["backlog_end"] if is_open else None,
    )


def _buckets(raw: Mapping[str, Any]) -> Buckets:
    return Buckets(
        values_ns=_column(raw["values_ns"]),
        counts=_column(raw["counts"]),
        sum_ns=raw["sum_ns"],
        min_ns=raw["min_ns"],
        max_ns=raw["max_ns"],
    )


def _columns(raw: Mapping[str, bytes]) -> IntervalColumns:
    return IntervalColumns(**{name: _column(column) for name, column in raw.items()})


def _column(column: bytes) -> NDArray[np.int64]:
    return np.frombuffer(column, np.int64)
