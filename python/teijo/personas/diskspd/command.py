"""DiskSpd's command line as it is kept: every option with its default, and sizes with their units.

How the words are read is in `parsing`.
"""

from dataclasses import dataclass
from typing import Final

CACHED, NO_OS_CACHE = "cached", "no os cache"


@dataclass(frozen=True, kw_only=True)
class Command:
    """What a command line asks for; a field that an option left out is at the original's default.

    `alignment` is 0 where none was given. `buffer_bytes` is that of -Z<size>.
    """

    line: str = "diskspd"
    targets: tuple[str, ...] = ()
    block: int = 65536
    outstanding: int = 2
    threads_per_target: int = 1
    threads: int = 0
    requests: int = 0
    random: bool = False
    alignment: int = 0
    interlocked: bool = False
    stride: int = 0
    base: int = 0
    end: int = 0
    create: int | None = None
    write: int = 0
    duration: int = 10
    warm_up: int = 5
    cool_down: int = 0
    bucket_ms: int = 1000
    deviations: bool = False
    latency: bool = False
    seed: int = 0
    zero: bool = False
    random_data: bool = False
    buffer_bytes: int = 0
    cache: str = CACHED
    write_through: bool = False
    no_affinity: bool = False
    routines: bool = False
    verbose: bool = False
    xml: bool = False
    profile_only: bool = False

    @property
    def grid(self) -> int:
        """The grid of the offsets."""
        return self.alignment or self.block


UNITS: Final = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
"""Suffixes of a size; b is a block."""


def size_text(size: int) -> str:
    """Return a size as the original shows it: "4KiB", "1.95MiB", "512"."""
    for shift, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        unit = 1 << shift
        if size >= unit:
            return f"{size // unit}{name}" if size % unit == 0 else f"{size / unit:.2f}{name}"
    return str(size)
