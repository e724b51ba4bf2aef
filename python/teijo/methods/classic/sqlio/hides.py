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
    """Return what was looked for, with its size; nothing before there is a pass."""
    if not found.passes or found.settings.strict == "on":
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
            "{touched} of the {capacity} were touched, {percent:.3g} %.",
            touched=units.format_size(touched),
            capacity=units.format_size(capacity),
            percent=share * 100,
        ),
        because="Any cache holds so little, and a disk hardly moves its heads for it.",
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
            "Printed as {told} ms on average, it was {mean}: p50 {p50}, p99 {p99}.",
            told=found.printed.avg_ms,
            mean=units.format_latency(mean_ns),
            p50=units.format_latency(found.latency.quantile_ns(0.5)),
            p99=units.format_latency(found.latency.quantile_ns(0.99)),
        ),
        because="On flash most I/Os are done within the first millisecond.",
        strict="The report's percentiles are in nanoseconds, strict or not.",
        found=cut,
    )
