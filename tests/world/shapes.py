"""What a world may run: every method, with settings so small that a run takes milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["simulated", "block", "file"]

FLASH: Final = "mlc-a?nominal_capacity=64MiB&scale=1&dies=2"
DEMAND: Final = {
    "minute": "10ms", "threads": "2,1", "queue_depth": "2", "rounds": "6",
    "precondition_rounds": "5", "precondition_minutes": "2", "prewrite_minutes": "1",
    "point_prewrite_minutes": "1", "histogram_minutes": "1",
}  # fmt: skip
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "pts.iops": {
        "minute": "20ms", "block_sizes": "4KiB,64KiB", "mixes": "100/0,0/100", "rounds": "6",
        "precondition_times": "1",
    },
    "pts.tp": {
        "minute": "20ms", "block_sizes": "1024KiB", "rounds": "6", "precondition_times": "1",
    },
    "pts.lat": {
        "minute": "20ms", "block_sizes": "4KiB", "mixes": "100/0,0/100", "rounds": "6",
        "precondition_times": "1", "histogram": "2",
    },
    "pts.wsat": {
        "minute": "20ms", "max_minutes": "8", "capacity_times": "1000", "check_every": "3",
        "histogram": "2",
    },
    "pts.hir": {
        "minute": "20ms", "round_minutes": "2", "max_rounds": "5", "bursts": "2", "idle": "5,10",
        "baseline_minutes": "2",
    },
    "pts.xsr": {
        "minute": "20ms", "first_minutes": "3", "random_minutes": "3", "last_minutes": "3",
    },
    "pts.cbw": DEMAND,
    "pts.dirth": DEMAND,
    "pts.all": {
        "tests": "tp,wsat", "minute": "20ms", "tp.block_sizes": "1024KiB", "tp.rounds": "5",
        "tp.precondition_times": "1", "wsat.max_minutes": "5", "wsat.capacity_times": "1000",
        "wsat.check_every": "3", "wsat.histogram": "2",
    },
    "workload": {"rw": "randrw", "read": "50", "bs": "4KiB", "qd": "4", "seconds": "2s"},
    "cache-overflow": {
        "volume": "16MiB", "seconds": "1s", "flat": "50ms", "rest": "100ms", "sample": "10ms",
    },
    "block-size": {
        "sizes": "4KiB,16KiB", "loads": "1,4", "seconds": "20ms", "repeats": "2", "warm_up": "0",
        "probe": "off",
    },
    "tier": {
        "sets": "4MiB,8MiB", "block_sizes": "4KiB", "patterns": "randread,randwrite",
        "threads": "1", "slice": "10ms", "slices": "6", "refine": "0",
    },
    "configuration": {
        "factors": "chunk=16KiB,64KiB",
        "device": f"sim:raid0(2×{FLASH})?chunk={{chunk}}",
        "workloads": "4k-write; seq-read", "seconds": "20ms", "repeats": "2",
    },
}  # fmt: skip
VERIFIED: Final = {"rw": "write", "bs": "16KiB", "qd": "2", "bytes": "4MiB", "verify": "after"}
STREAMS: Final = {"stream": "a: rw=randread bs=4KiB; b: rw=write bs=64KiB qd=2", "seconds": "1s"}
RATED: Final = {"rw": "randwrite", "bs": "4KiB", "qd": "4", "rate": "500", "seconds": "2s"}

SIMULATED: Final = (
    f"sim:{FLASH}",
    "sim:s3700?nominal_capacity=256MiB&scale=1&dies=2",
    "sim:hdd-7200?nominal_capacity=64MiB&scale=1",
    f"sim:raid1(2×{FLASH})",
    f"sim:raid5(3×{FLASH})?chunk=64KiB",
    f"sim:cache({FLASH})?size=4MiB",
    f"sim:faulty({FLASH})?eio_percent=1",
    f"sim:faulty({FLASH})?slow_factor=10&slow_percent=5",
)
INNER: Final = (
    *SIMULATED[:3],
    f"sim:faulty({FLASH})?eio_percent=1&eio_of=read",
    f"sim:faulty({FLASH})?slow_factor=20&slow_percent=2",
    f"sim:faulty({FLASH})?hang_at_ms=60&hang_ms=500",
    f"sim:faulty({FLASH})?cut_at_ms=40",
    f"sim:faulty({FLASH})?hang_after_ios=4000",
)
"""What seems to be real: among others drives with bad places, slow ones, ones that fall silent."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One run: what is measured, how, on what. `target` of a real one is filled in later."""

    method: str
    spec: str
    settings: tuple[tuple[str, str], ...]
    kind: Kind
    target: str
    run_seed: int
