"""What the engine is told: a step compiled to absolute bytes and nanoseconds.

The same plan drives the native engine and fio. Field by field it is the Rust `plan.rs`.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """One stimulus. The range is `segments` pieces of `segment_bytes`, `stride_bytes` apart."""

    name: str
    threads: int
    queue_depth: int
    read_percent: int
    block_bytes: int
    access: Literal["random", "sequential"]
    cursor_bytes: int
    start_bytes: int
    segments: int
    segment_bytes: int
    stride_bytes: int
    content: Literal["random", "zero"]
    seed: int
    ios_per_second: float | None = None
    schedule: Literal["fixed", "poisson"] = "fixed"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One lap: exactly one of `duration_ns` and `total_bytes` bounds it."""

    streams: tuple[StreamPlan, ...]
    duration_ns: int | None = None
    total_bytes: int | None = None
    interval_ns: int = 1_000_000_000
    open_ended: bool = False
    continues: bool = False

    def __post_init__(self) -> None:
        assert (self.duration_ns is None) != (self.total_bytes is None), "one bound, not two"
