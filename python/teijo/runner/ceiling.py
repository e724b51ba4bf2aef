"""What this host does with no device at all, as a limit of a step and as facts of the run."""

import os

from teijo.engine.session import Ceilings
from teijo.terms.platform import Platform
from teijo.terms.step import Measure, Precondition
from teijo.units import NS_PER_S, megabytes_per_second


def ceiling_of(
    step: Measure | Precondition, ceilings: Ceilings | None, platform: Platform | None = None
) -> float | None:
    """Return the IOPS the host could do with a step's streams; None where that is not known.

    It is the highest repeat of the step's own cell where that was measured: what disturbs a host
    makes it no faster. Else it is reckoned from one thread and 4 KiB; threads beyond the CPUs that
    may be used add nothing.
    """
    measured = None if platform is None else platform.ceiling_of(step)
    if measured is not None and measured.high is not None:
        return measured.high
    if ceilings is None:
        return None
    streams = step.workload.streams
    threads = sum(stream.threads for stream in streams)
    cpus = min(threads, len(os.sched_getaffinity(0)))
    total = sum(s.threads * ceilings.ios_per_second(s.queue_depth) for s in streams)
    return total * cpus / threads or None  # 0 where the engine could measure none


def described(ceilings: Ceilings | None) -> dict[str, str]:
    """Return the ceilings as facts of the environment, none where they do not matter."""
    if ceilings is None:
        return {}
    copied = megabytes_per_second(round(ceilings.copy_bytes_per_second), NS_PER_S)
    return {
        "ceiling ring": _pair(ceilings.nop_ns, ceilings.nop_ns_deep),
        "ceiling engine": _pair(ceilings.loop_ns, ceilings.loop_ns_deep),
        "ceiling memory": f"{copied:,.0f} MB/s copied",
    }


def _pair(single_ns: float, deep_ns: float) -> str:
    if not single_ns or not deep_ns:
        return "not to be had"
    return f"{single_ns:.0f} ns per I/O at QD 1, {deep_ns:.0f} ns at QD 32, one thread"
