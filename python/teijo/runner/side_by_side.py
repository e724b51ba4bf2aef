"""Several drives of this host read at the same time, each by a session of its own, for a moment."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Thread
from typing import Final

from teijo.analysis.validity import remarks_on
from teijo.engine.plan import Plan
from teijo.engine.session import Lap, Session
from teijo.errors import TeijoError
from teijo.outside.text import visible
from teijo.runner.ceiling import ceiling_of
from teijo.runner.compile import compile_load
from teijo.terms.bottleneck import Driven, LoadName, SpellResult, stream_of
from teijo.terms.geometry import Geometry
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.seed import derive
from teijo.terms.step import Measure
from teijo.terms.workload import Workload
from teijo.units import NS_PER_MS, NS_PER_S

LEAD_SHARE: Final = 0.15
"""By so much a spell is longer: what was in a cache, and the beginning, are in no rate."""
INTERVAL_NS: Final = 10 * NS_PER_MS
IO_TIMEOUT_NS: Final = 30 * NS_PER_S
_WHY_MOST: Final = 200
_STAT: Final = Path("/proc/stat")
_COUNTED: Final = 8
"""user, nice, system, idle, iowait, irq, softirq, steal: what follows is in these (proc(5))."""
_IDLE: Final = (3, 4)


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One open drive."""

    session: Session
    geometry: Geometry


def read_together(
    seats: Sequence[Seat], load: LoadName, *, duration_ns: int, seed: int
) -> SpellResult:
    """Read drives at the same time, and return the rate of each while all of them were read.

    A drive that fails has its error in place of a rate, and leaves the others theirs.
    """
    lead_ns = round(LEAD_SHARE * duration_ns)
    step = Measure(
        workload=Workload(streams=(stream_of(load),)),
        duration_ns=lead_ns + duration_ns,
        interval_ns=INTERVAL_NS,
    )
    ticks = _ticks()
    laps = _laps(seats, step, seed)
    busy = busy_share(ticks, _ticks())
    results = [lap.result for lap in laps if isinstance(lap, Lap)]
    begins = max((each.started_ns for each in results), default=0) + lead_ns
    ends = min((each.started_ns + each.elapsed_ns for each in results), default=0)
    driven = [_driven(step, seat, lap, begins, ends) for seat, lap in zip(seats, laps, strict=True)]
    return SpellResult(driven=tuple(driven), busy=busy)


def _laps(seats: Sequence[Seat], step: Measure, seed: int) -> list[Lap | str]:
    """Return the lap of each drive, or why it has none; all begin behind one barrier."""
    barrier = Barrier(len(seats))
    laps: list[Lap | str] = ["it gave no answer"] * len(seats)

    def drive(place: int, seat: Seat) -> None:
        try:
            plan = _plan(step, seat, derive(seed, place))
        except TeijoError as error:
            barrier.abort()
            laps[place] = _why(error.message)
            return
        try:
            barrier.wait()
            laps[place] = seat.session.run(plan)
        except BrokenBarrierError:
            laps[place] = "another drive of the spell failed before it"
        except TeijoError as error:
            laps[place] = _why(error.message)

    threads = [Thread(target=drive, args=each, daemon=True) for each in enumerate(seats)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return laps


def _why(text: str) -> str:
    """Return a reason as it goes into a sentence, and no longer than a host may tell it."""
    return visible(text.rstrip("."), most=_WHY_MOST)


def _plan(step: Measure, seat: Seat, seed: int) -> Plan:
    """Return the plan of one drive: elsewhere each time, for what was read a moment ago may be in
    the drive's memory.
    """
    seat.session.limit_io(IO_TIMEOUT_NS)
    begin_bytes = seed % max(1, seat.geometry.capacity_bytes)
    cursors = {stream.name: begin_bytes for stream in step.workload.streams}
    return compile_load(step, seat.geometry, cursors, seed)


def _driven(step: Measure, seat: Seat, lap: Lap | str, begins_ns: int, ends_ns: int) -> Driven:
    if isinstance(lap, str):
        return Driven(error=lap)
    failed = sum(sum(part.errors.values()) for part in lap.result.results)
    if lap.failure or failed:
        return Driven(error=_why(lap.failure) or f"{failed} reads failed")
    rate = rate_between(lap.result, begins_ns, ends_ns)
    if rate is None:
        return Driven(error="it was not read long enough at the same time as the others")
    return Driven(iops=rate, limited=_is_limited(step, seat, lap.result))


def rate_between(result: StepResult, begins_ns: int, ends_ns: int) -> float | None:
    """Return the I/Os a second of the whole intervals between two moments of the session's clock;
    None where there is none.
    """
    done, counted = 0, 0
    for part in result.results:
        series = part.intervals
        if series is None:
            continue
        first = -((result.started_ns - begins_ns) // series.length_ns)
        end = (ends_ns - result.started_ns) // series.length_ns
        # Intervals in which nothing was completed are not in the series.
        inside = (series.index >= first) & (series.index < end)
        done += int(series.ios[inside].sum())
        counted = max(counted, (end - first) * series.length_ns)
    return done * NS_PER_S / counted if counted > 0 else None


def _is_limited(step: Measure, seat: Seat, result: StepResult) -> bool:
    """Tell whether a lap says of itself that the host was its limit."""
    if result.witness is None:
        return False
    ceiling = ceiling_of(step, seat.session.ceilings())
    witnessed = replace(result, witness=replace(result.witness, ceiling_iops=ceiling))
    return any(each.kind is RemarkKind.HOST_LIMITED for each in remarks_on(step, witnessed))


def _ticks() -> tuple[int, ...]:
    """Return what the kernel counted of all processors, as /proc/stat has it; () where it is not.

    Of a host whose processors this process may not all use, they say nothing about it.
    """
    try:
        first = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()
        counted = tuple(int(each) for each in first[1 : 1 + _COUNTED])
    except (OSError, ValueError):
        return ()
    mine, all_of_it = len(os.sched_getaffinity(0)), os.cpu_count() or 0
    return counted if len(counted) == _COUNTED and mine == all_of_it else ()


def busy_share(before: Sequence[int], after: Sequence[int]) -> float | None:
    """Return the share of their time that all processors worked between two looks."""
    if len(before) != _COUNTED or len(after) != _COUNTED:
        return None
    passed = [max(0, late - early) for early, late in zip(before, after, strict=True)]
    if not sum(passed):
        return None
    return 1 - sum(passed[at] for at in _IDLE) / sum(passed)
