"""Quantities at the edge: text to integers, and integers to text.

Inside the program bytes and nanoseconds are integers; floats and "µs" exist only here.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

KIB: Final = 1024
MIB: Final = 1024**2
GIB: Final = 1024**3
TIB: Final = 1024**4
KILO: Final = 1_000
MEGA: Final = 1_000_000
GIGA: Final = 1_000_000_000
TERA: Final = 1_000_000_000_000
"""Decimal prefixes, in which capacities and rates are stated."""
NVME_DATA_UNIT: Final = 512_000
"""NVMe counts what a host read and wrote in thousands of 512 bytes, rounded up."""
ZERO_CELSIUS_KELVIN: Final = 273
"""0 °C as drives count it: in whole kelvins."""
NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
NS_PER_S: Final = 1_000_000_000

SIZE_MOST: Final = 1024**6
"""1 EiB: no device is larger, and sums of such sizes still fit where they are recorded."""
DURATION_MOST_NS: Final = 3_650 * 86_400 * NS_PER_S
"""Ten years."""
LONGEST: Final = 64
"""Characters of a quantity."""

LARGEST: Final = 1e100
SMALLEST: Final = 1e-100
"""No number of a measurement is larger, or smaller than this and not nothing."""

_SIZES: Final = {
    "": 1, "b": 1,
    "k": KIB, "kib": KIB, "kb": 1000,
    "m": MIB, "mib": MIB, "mb": 1000**2,
    "g": GIB, "gib": GIB, "gb": 1000**3,
    "t": TIB, "tib": TIB, "tb": 1000**4,
}  # fmt: skip
_TIMES: Final = {
    "ns": 1, "us": NS_PER_US, "µs": NS_PER_US, "ms": NS_PER_MS, "": NS_PER_S, "s": NS_PER_S,
    "min": 60 * NS_PER_S, "m": 60 * NS_PER_S, "h": 3600 * NS_PER_S, "d": 86400 * NS_PER_S,
}  # fmt: skip
_QUANTITY: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zµ]*)\s*", re.IGNORECASE)


def kib(count: int) -> int:
    """Return `count` KiB in bytes."""
    return count * KIB


def parse_size(text: str) -> int:
    """Return the bytes of "4KiB", "4k", "1.5GB" or "512".

    A bare letter is binary (fio's habit), kB/MB/GB/TB are decimal, KiB … TiB binary.

    Raises:
        ValueError: the text is no size, no whole number of bytes, or more than `SIZE_MOST`.
    """
    return _parse(text, _SIZES, "size", "4KiB, 1.5GiB, 100GB or 512")


def parse_duration(text: str) -> int:
    """Return the nanoseconds of "1s", "250ms", "1.5h"; a bare number is seconds.

    Raises:
        ValueError: the text is no duration, or a longer one than `DURATION_MOST_NS`.
    """
    return _parse(text, _TIMES, "duration", "1s, 250ms, 30min or 24h")


def _parse(text: str, scale: dict[str, int], what: str, examples: str) -> int:
    match = _QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    unit = scale.get(match[2].lower()) if match else None
    if match is None or unit is None:
        shown = repr(text if len(text) <= LONGEST else text[:LONGEST] + "…")
        raise ValueError(f"{shown} is not a {what}; write it like {examples}")
    whole, _, fraction = match[1].partition(".")
    # Not by a float: 0.067 s would be 67000000.00000001 ns.
    divisor: int = 10 ** len(fraction)
    value, rest = divmod(int(whole + fraction) * unit, divisor)
    if rest:
        raise ValueError(f"{text!r} is not a whole number of {'bytes' if what == 'size' else 'ns'}")
    most, named = (SIZE_MOST, "1 EiB") if what == "size" else (DURATION_MOST_NS, "10 years")
    if value > most:
        raise ValueError(f"{text!r} is more than {named}")
    return value


def format_block_size(size_bytes: int) -> str:
    """Return a block size in the standard's way, in KiB: 512 → "0.5 KiB", 1 MiB → "1024 KiB"."""
    return f"{size_bytes / KIB:.12g} KiB"


def format_size(size_bytes: int) -> str:
    """Return a size in the largest binary unit that keeps it readable: "4.27 GiB"."""
    for name, unit in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(size_bytes) >= unit:
            return f"{size_bytes / unit:.4g} {name}"
    return f"{size_bytes} B"


def format_capacity(size_bytes: int) -> str:
    """Return a capacity in the vendors' decimal units: 256060514304 → "256 GB"."""
    for name, unit in (("TB", 1000**4), ("GB", 1000**3), ("MB", 1000**2), ("kB", 1000)):
        if abs(size_bytes) >= unit:
            return f"{size_bytes / unit:.4g} {name}"
    return f"{size_bytes} B"


def format_latency(latency_ns: float) -> str:
    """Return a latency with its fitting unit: "812 ns", "43.1 µs", "1.73 ms", "2.01 s"."""
    for name, unit in (("s", NS_PER_S), ("ms", NS_PER_MS), ("µs", NS_PER_US)):
        if latency_ns >= unit:
            return f"{latency_ns / unit:.3g} {name}"
    return f"{latency_ns:.0f} ns"


def format_duration(duration_ns: int) -> str:
    """Return a duration for people: "0.25 s", "42 s", "5 min 03 s", "23 h 20 min"."""
    seconds = duration_ns / NS_PER_S
    if seconds < 10:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def megabytes_per_second(size_bytes: int, elapsed_ns: int) -> float:
    """Return a throughput in decimal MB/s, the standard's unit; 0 for no time."""
    return size_bytes * 1000 / elapsed_ns if elapsed_ns else 0.0


def per_second(count: int, elapsed_ns: int) -> float:
    """Return a rate per second (IOPS of a count of I/Os); 0 for no time."""
    return count * NS_PER_S / elapsed_ns if elapsed_ns else 0.0


def measurable(value: float | Decimal | Fraction) -> bool:
    """Return whether a number can be of a measurement: finite, not beyond all sense, or zero.

    The bounds keep exact arithmetic within what a machine does at once.
    """
    if isinstance(value, Decimal) and not value.is_finite():
        return False
    return value == 0 or SMALLEST <= value <= LARGEST or -LARGEST <= value <= -SMALLEST
