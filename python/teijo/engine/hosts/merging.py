"""The laps of several hosts as one: counts are added and histograms merged bucket by bucket.

Nothing is averaged. What cannot be told of all hosts together (how deep the queue was, how busy a
thread) is left unknown.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.engine.hosts.clock import Clock
from teijo.engine.plan import Plan
from teijo.engine.session import Lap
from teijo.terms.census import SAMPLE_MOST, Census
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.terms.shared import DETAIL, HostPart, Tail, parts_to_json
from teijo.terms.workload import Access

TAIL: Final = 0.999


@dataclass(frozen=True)
class HostLap:
    """What one host answered, and how its clock stands against the one here."""

    name: str
    lap: Lap
    clock: Clock

    @property
    def began_ns(self) -> int:
        """When it began, on the clock here."""
        return self.lap.result.started_ns - self.clock.ahead_ns

    @property
    def ended_ns(self) -> int:
        """When it ended, on the clock here."""
        return self.began_ns + self.lap.result.elapsed_ns


def together(laps: Sequence[HostLap], plan: Plan, *, after_ns: int, now_ns: int) -> Lap:
    """Return one lap of all hosts; `after_ns` is when the lap before ended, on the clock here.

    It lasts from the first one's beginning to the last one's end. Interval i has what each host
    did in its own interval i. A sequential stream goes on by all that was moved of it.
    """
    started_ns, elapsed_ns = _span(laps, after_ns, now_ns, continues=plan.continues)
    answers = [each.lap.result for each in laps]
    results = _by_operation([part for each in answers for part in each.results])
    commands = _by_operation([part for each in answers for part in each.commands])
    first_ns = min(each.began_ns for each in laps)
    result = StepResult(
        started_ns=started_ns,
        elapsed_ns=elapsed_ns,
        results=results,
        commands=commands,
        cursors=_cursors(plan, answers, (*results, *commands)),
        census=_censuses([part for each in answers for part in each.census]),
        detail={DETAIL: parts_to_json(tuple(_part(each, first_ns) for each in laps))},
    )
    notes = dict.fromkeys(f"{each.name}: {note}" for each in laps for note in each.lap.notes)
    failed = [f"{each.name}: {each.lap.failure}" for each in laps if each.lap.failure]
    return Lap(result=result, notes=tuple(notes), failure="; ".join(failed))


def _span(
    laps: Sequence[HostLap], after_ns: int, now_ns: int, *, continues: bool
) -> tuple[int, int]:
    """Return when a lap began and how long it took, on the clock here.

    The clocks are known within an error, so that a beginning may seem to lie before the end of the
    lap before, and an end after now: neither is so.
    """
    took_ns = [each.lap.result.elapsed_ns for each in laps]
    if continues:  # each host goes on where its own lap before ended
        return after_ns, max(min(max(took_ns), now_ns - after_ns), min(took_ns))
    ended_ns = min(max(each.ended_ns for each in laps), now_ns)
    began_ns = min(min(each.began_ns for each in laps), ended_ns - max(took_ns))
    began_ns = max(began_ns, after_ns)
    return began_ns, max(ended_ns - began_ns, max(took_ns))


def _cursors(
    plan: Plan, answers: Sequence[StepResult], parts: Sequence[OperationResult]
) -> dict[str, int]:
    cursors = dict(answers[0].cursors)
    if len(answers) == 1:
        return cursors
    for placed in plan.streams:
        name = placed.stream.name
        if placed.stream.access is Access.SEQUENTIAL and name in cursors:
            moved = [each for each in parts if each.stream == name and each.operation != "flush"]
            ahead_bytes = placed.cursor_bytes + sum(each.moved_bytes for each in moved)
            cursors[name] = ahead_bytes % (placed.segments * placed.segment_bytes)
    return cursors


def _part(one: HostLap, first_ns: int) -> HostPart:
    result = one.lap.result
    parts = (*result.results, *result.commands)
    return HostPart(
        name=one.name,
        began_ns=one.began_ns - first_ns,
        error_ns=one.clock.error_ns,
        elapsed_ns=result.elapsed_ns,
        ios=result.ios,
        bytes=result.bytes,
        errors=sum(sum(part.errors.values()) for part in parts),
        tails=tuple(
            Tail(
                stream=part.stream,
                operation=part.operation,
                count=part.count,
                p999_ns=part.timed.quantile_ns(TAIL),
            )
            for part in parts
        ),
    )


def _by_operation(parts: Iterable[OperationResult]) -> tuple[OperationResult, ...]:
    groups: dict[tuple[str, str], list[OperationResult]] = {}
    for part in parts:
        groups.setdefault((part.stream, part.operation), []).append(part)
    return tuple(map(_one, groups.values()))


def _one(parts: list[OperationResult]) -> OperationResult:
    errors: Counter[int] = Counter()
    for part in parts:
        errors.update(part.errors)
    moved = [part.bytes for part in parts if part.bytes is not None]
    series = [part.intervals for part in parts if part.intervals is not None]
    waiting = [part.backlog_end for part in parts if part.backlog_end is not None]
    return OperationResult(
        stream=parts[0].stream,
        operation=parts[0].operation,
        count=sum(part.count for part in parts),
        bytes=sum(moved) if moved else None,
        errors=dict(errors),
        latency=merged(part.timed for part in parts),
        intervals=series_together(series) if series else None,
        response=_responses([part.response for part in parts]),
        # The most that waited at one time: each host had its own at another.
        backlog_max=None,
        backlog_end=sum(waiting) if waiting else None,
    )


def _responses(found: Sequence[Histogram | None]) -> Histogram | None:
    known = [each for each in found if each is not None]
    return merged(known) if len(known) == len(found) else None


def series_together(parts: Sequence[Intervals]) -> Intervals:
    """Return several series as one, interval by interval."""
    index, place = np.unique(np.concatenate([part.index for part in parts]), return_inverse=True)

    def added(name: str) -> NDArray[np.int64]:
        total = np.zeros(len(index), np.int64)
        np.add.at(total, place, np.concatenate([getattr(part, name) for part in parts]))
        return total

    ios = np.concatenate([part.ios for part in parts])
    # Where an interval had no I/O its latencies are 0, which is no latency.
    least = np.full(len(index), np.iinfo(np.int64).max)
    shortest = np.concatenate([part.latency_ns_min for part in parts])
    np.minimum.at(least, place[ios > 0], shortest[ios > 0])
    most = np.zeros(len(index), np.int64)
    np.maximum.at(most, place, np.concatenate([part.latency_ns_max for part in parts]))
    done = added("ios")
    return Intervals(
        length_ns=parts[0].length_ns,
        index=index,
        ios=done,
        bytes=added("bytes"),
        errors=added("errors"),
        latency_ns_sum=added("latency_ns_sum"),
        latency_ns_min=np.where(done > 0, least, 0),
        latency_ns_max=most,
    )


def _censuses(parts: Iterable[Census]) -> tuple[Census, ...]:
    """Return the samples of all hosts as one: the smallest hashes of all, as each kept its own."""
    groups: dict[tuple[str, str], list[Census]] = {}
    for part in parts:
        groups.setdefault((part.stream, part.operation), []).append(part)
    found = []
    for (stream, operation), same in groups.items():
        counts: Counter[int] = Counter()
        for each in same:
            counts.update(dict(zip(each.hashes, each.counts, strict=True)))
        # A host that has another block among its smallest has every smaller one of its own too.
        hashes = tuple(sorted(counts)[:SAMPLE_MOST])
        found.append(
            Census(
                stream=stream,
                operation=operation,
                ios=sum(each.ios for each in same),
                hashes=hashes,
                counts=tuple(counts[each] for each in hashes),
            )
        )
    return tuple(found)
