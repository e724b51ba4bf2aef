"""Plans and open targets for the tests of the engine's room."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from teijo.engine import Lap, Plan, Session, StreamPlan, open_descriptor, open_fio
from teijo.terms.workload import Access, Content, Rate, Schedule, Stream

MIB = 1 << 20
SECOND_NS = 1_000_000_000
LONG_NS = 3600 * SECOND_NS
"""A bound that no test waits for."""


def stream(size_bytes: int, **changes: Any) -> StreamPlan:
    """Return a stream of random 4 KiB reads over `size_bytes`, changed where named.

    Changes are of the stream or of its place; `ios_per_second` and `schedule` make its rate.
    """
    rate = changes.pop("ios_per_second", None)
    schedule = Schedule(changes.pop("schedule", "fixed"))
    placed = {field.name for field in fields(StreamPlan)}
    place: dict[str, Any] = {
        "cursor_bytes": 0,
        "start_bytes": 0,
        "segments": 1,
        "segment_bytes": size_bytes,
        "stride_bytes": size_bytes,
        "seed": 7,
    }
    load: dict[str, Any] = {
        "queue_depth": 8,
        "read_percent": 100,
        "block_size_bytes": 4096,
        "rate": None if rate is None else Rate(ios_per_second=rate, schedule=schedule),
    }
    place |= {name: value for name, value in changes.items() if name in placed}
    load |= {name: value for name, value in changes.items() if name not in placed}
    load["access"] = Access(load.get("access", "random"))
    load["content"] = Content(load.get("content", "random"))
    return StreamPlan(stream=Stream(**load), **place)


def for_time(duration_ns: int, *streams: StreamPlan, **changes: Any) -> Plan:
    return Plan(streams=streams, duration_ns=duration_ns, **changes)


def for_bytes(total_bytes: int, *streams: StreamPlan, **changes: Any) -> Plan:
    return Plan(streams=streams, total_bytes=total_bytes, **changes)


@contextmanager
def opened(path: Path, engine: str = "native", **changes: Any) -> Iterator[Session]:
    """Open a target with direct I/O and an engine on it ("native", "sync", "null" or "fio")."""
    descriptor = os.open(path, os.O_RDWR | os.O_DIRECT)
    options: dict[str, Any] = {"capacity_bytes": os.lseek(descriptor, 0, os.SEEK_END)} | changes
    try:
        if engine == "fio":
            session = open_fio(descriptor, **options)
        else:
            options["backend"] = "auto" if engine == "native" else engine
            session = open_descriptor(descriptor, **options)
        try:
            yield session
        finally:
            session.close()
    finally:
        os.close(descriptor)


def written(path: Path, size_bytes: int, byte: int = 0x5A) -> Path:
    """Make a file of one byte all over, really written: a hole is read without the device."""
    with path.open("wb") as file:
        for _ in range(size_bytes // MIB):
            file.write(bytes([byte]) * MIB)
        file.write(bytes([byte]) * (size_bytes % MIB))
        file.flush()
        os.fsync(file.fileno())
    return path


def totals(lap: Lap) -> tuple[int, int]:
    """Return (I/Os, bytes) of a whole lap."""
    return sum(d.count for d in lap.result.results), sum(d.bytes for d in lap.result.results)
