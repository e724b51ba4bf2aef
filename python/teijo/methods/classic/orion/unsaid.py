"""What ORION's own numbers leave out besides: where its loads end, and slow I/Os."""

from typing import Final

from teijo import units
from teijo.analysis import percentile
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic import hidden
from teijo.methods.classic.hidden import Hidden
from teijo.methods.classic.orion.found import OrionFound

_RISES: Final = 0.05
"""By how much the last load is above the one before where IOPS still rise."""
_TAIL: Final = 2.0
_TAIL_PERCENT: Final = 99.9


def entries(found: OrionFound) -> tuple[Hidden, ...]:
    """Return everything that was looked for in a run of ORION's test."""
    strict = found.settings.strict == "on"
    own = [*_depth(found), *([] if strict else _tail(found))]
    return (*hidden.entries(found.record, pick=found.pick), *own)


def _depth(found: OrionFound) -> list[Hidden]:
    """Look whether small I/Os alone became more up to the last load."""
    alone = [side for point, side in found.small.items() if not point.large]
    if len(alone) < 2:
        return []
    before, last = sorted(alone, key=lambda side: side.load)[-2:]
    if not before.iops[0]:
        return []
    rise = last.iops[0] / before.iops[0] - 1
    size = say(
        "IOPS change by {percent:+.1f} % from {before} to {last} small I/Os in flight, the most "
        "there are.",
        percent=rise * 100,
        before=before.load,
        last=last.load,
    )
    return [
        Hidden(
            kind="depth",
            name="Loads that end while IOPS still rise",
            what="The most IOPS of all points need not be the most of the device: a deeper load "
            "may have more.",
            size=size,
            because="The last two loads of the row of small I/Os are held against each other.",
            strict="Loads go on to 32 small I/Os a disk.",
            found="hidden" if rise > _RISES else "clear",
        )
    ]


def _tail(found: OrionFound) -> list[Hidden]:
    """Look how much longer than the mean the slowest of a thousand small I/Os took."""
    tails = []
    for side in found.small.values():
        slow = percentile.level_ns(side.latency, _TAIL_PERCENT)
        if slow is not None and side.latency.mean_ns:
            tails.append((slow / side.latency.mean_ns, slow, side))
    if not tails:
        return []
    times, slow, side = max(tails, key=lambda each: each[0])
    size = say(
        "In {cell}, one small I/O in a thousand took {slow} or longer, {times:.1f} times the mean.",
        cell=Verbatim(side.point.name),
        slow=units.format_latency(slow),
        times=times,
    )
    return [
        Hidden(
            kind="tail",
            name="Slow I/Os behind an average",
            what="A mean says nothing of the I/Os that users wait for.",
            size=size,
            because="The histogram of every small I/O of each point has its percentiles.",
            strict="The report has the percentiles of every point either way.",
            found="hidden" if times > _TAIL else "clear",
        )
    ]
