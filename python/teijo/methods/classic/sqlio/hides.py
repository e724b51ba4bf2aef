"""What SQLIO's numbers hide besides what every tool's may: its strip, its whole milliseconds."""

from typing import Final

from teijo import units
from teijo.document.phrase import say
from teijo.methods.classic.hidden_entry import Found, Hidden
from teijo.methods.classic.sqlio.found import SqlioFound
from teijo.methods.classic.sqlio.settings import piece_of

_APART: Final = 0.1
"""A printed time that is off by more than this share tells nothing of the device."""
_TOUCHED: Final = 0.5
"""A file is touched as a whole where it is by more than this share."""


def entries(found: SqlioFound) -> tuple[Hidden, ...]:
    """Return what was looked for in passes that have ended, with its size."""
    if found.settings.strict == "on":
        return ()
    return (_strip(found), _milliseconds(found))


def _strip(found: SqlioFound) -> Hidden:
    capacity = found.record.geometry.capacity_bytes
    pieces = [piece_of(found.settings, pool) for pool in found.settings.files]
    touched = sum(min(each.length_bytes or capacity, capacity - each.first_byte) for each in pieces)
    share = touched / capacity
    strip: Found = "hidden" if found.settings.strip_bytes and share < _TOUCHED else "clear"
    return Hidden(
        kind="strip",
        name="The strip",
        what="Without -frandom or -fsequential all I/O stays in factor × IOs per run blocks.",
        size=say(
            "All I/O was within {touched} of the {capacity}, {percent:.3g} %.",
            touched=units.format_size(touched),
            capacity=units.format_size(capacity),
            percent=share * 100,
        ),
        because="The strip follows from the options of the run, and no I/O is outside of it. A "
        "cache that holds the strip answers for the device; how large those of the device are, it "
        "may not say.",
        strict="The whole target, every block once before any comes back.",
        found=strip,
    )


def _milliseconds(found: SqlioFound) -> Hidden:
    mean_ns, told_ns = found.latency.mean_ns, found.printed.avg_ms * units.NS_PER_MS
    cut: Found = "hidden" if abs(mean_ns - told_ns) > _APART * mean_ns else "clear"
    return Hidden(
        kind="whole milliseconds",
        name="Whole milliseconds",
        what="Times are printed in milliseconds, the rest cut off.",
        size=say(
            "Printed as {told} ms on average, it was {mean}: p50 {p50}, p99 {p99}; {percent} % of "
            "the I/Os took less than 1 ms.",
            told=found.printed.avg_ms,
            mean=units.format_latency(mean_ns),
            p50=units.format_latency(found.latency.quantile_ns(0.5)),
            p99=units.format_latency(found.latency.quantile_ns(0.99)),
            percent=found.printed.percents[0],
        ),
        because="Both are of the same I/Os; the engine's histogram is in nanoseconds.",
        strict="The report's percentiles are in nanoseconds, strict or not.",
        found=cut,
    )
