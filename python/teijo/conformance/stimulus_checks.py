"""What the record shows of the stimulus: cells and their order, minutes, seeds, content, rests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from teijo import units
from teijo.conformance.figures import digits_beside
from teijo.conformance.offsets import courses
from teijo.conformance.requirement import Case, Found, Measured, met_if, untold
from teijo.conformance.rounds import minutes_in, rounds_in, swept
from teijo.conformance.versions import (
    BLOCK_SIZES,
    DEMAND_LEVELS,
    LATENCY_BLOCK_SIZES,
    LATENCY_READ_PERCENTS,
    MINUTE_NS,
    READ_PERCENTS,
    THROUGHPUT_READ_PERCENTS,
)
from teijo.document.phrase import listed, say
from teijo.terms.result import DRAIN
from teijo.terms.workload import Content, Stream

MINUTE_SHARES = (0.99, 1.10)
"""A measured minute by 60 s: the last I/Os of a slow cell may end after it."""
SIZE_SHARE_OFF = 0.005
"""The last block before a range's end may be a shorter one."""
DEVIATIONS_OF_MIX = 5.0


def cells(case: Case) -> Found:
    """Judge the cells and their order, by what was asked and by what came back."""
    rounds = [swept(each) for each in rounds_in(case)]
    if not rounds:
        return untold("no whole round yet")
    wrong = [number for number, each in enumerate(rounds, start=1)
             if _cells_of(case, each) != _cells_asked(case, each)]  # fmt: skip
    measured = [each for cells in rounds for each in cells]
    ios = sum(answer.ios for _, _, answer in measured)
    sizes_off = max((_size_off(each) for each in measured), default=0.0)
    mixes = _mixes(measured)
    text = say(
        "{rounds} rounds of {cells} cells; bytes by I/Os at most {size:.2f} % off the cell's size, "
        "reads at most {mix:.2f} points off its mix, over {ios:,} I/Os",
        rounds=len(rounds),
        cells=len(rounds[0]),
        size=100 * sizes_off,
        mix=100 * max((mix.off for mix in mixes), default=0.0),
        ios=ios,
    )
    if wrong:
        text = say("{told}; not in the order of the standard: round {number}",
                   told=text, number=wrong[0])  # fmt: skip
    kept = all(mix.off <= mix.slack for mix in mixes)
    return met_if(not wrong and sizes_off <= SIZE_SHARE_OFF and kept, text)


def cells_asked(case: Case) -> str:
    """Return the nesting of a round in words."""
    match case.record.run.method:
        case "pts.tp":
            return "per block size: sequential reads, then writes"
        case "pts.lat":
            return "mixes 100/0, 65/35, 0/100 outside; 8, 4, 0.5 KiB inside"
        case "pts.dirth" | "pts.cbw":
            return "thread counts 32 to 1 outside, queue depths 32 to 1 inside"
        case _:
            return "7 mixes from 100/0 to 0/100 outside, 8 block sizes from 1024 to 0.5 KiB inside"


def minutes(case: Case) -> Found:
    """Judge whether every cell and every sample was a minute long."""
    lengths = [answer.elapsed_ns for _, _, answer in minutes_in(case)]
    if not lengths:
        return untold("not yet")
    text = say(
        "{count:,} measured, {low:.3f} to {high:.3f} s long",
        count=len(lengths),
        low=min(lengths) / units.NS_PER_S,
        high=max(lengths) / units.NS_PER_S,
    )
    low, high = MINUTE_SHARES
    holds = low * MINUTE_NS <= min(lengths) and max(lengths) <= high * MINUTE_NS
    return met_if(holds, text)


def seeds(case: Case) -> Found:
    """Judge whether each stimulus has a seed of its own, so that none repeats another."""
    own = [each.seed for each, step, _ in case.loaded() if not getattr(step, "continues", False)]
    if not own:
        return untold("not yet")
    text = say(
        "{stimuli:,} stimuli, {seeds:,} different seeds recorded",
        stimuli=len(own),
        seeds=len(set(own)),
    )
    return met_if(len(own) == len(set(own)), text)


def content(case: Case) -> Found:
    """Judge whether random content was written, as far as anybody looked."""
    kinds = {stream.content for _, stream in _writers(case)}
    steps = len({seq for seq, _ in _writers(case)})
    if not steps:
        return untold("not yet")
    other = sorted(str(kind) for kind in kinds if kind not in (Content.RANDOM, Content.REFILL))
    if other:
        text = say("{kinds} was written in {count:,} steps", kinds=listed(other), count=steps)
        return met_if(False, text)
    judged = sum(
        answer.verification.sectors
        for _, _, answer in case.loaded()
        if answer.verification is not None
    )
    if judged:
        return met_if(True, say("{sectors:,} sectors read back hold it", sectors=judged))
    return untold(
        say(
            "the record shows what {count:,} steps asked for, not what lies on the device; "
            "nothing was read back",
            count=steps,
        )
    )


def rests(case: Case) -> Found:
    """Judge whether the device never rested between two steps of the test."""
    pairs = [pair for stretch in case.stretches for pair in pairwise(stretch.measured)]
    later = [answer for _, (_, _, answer) in pairs]
    broken = sum(len(stretch.gaps) for stretch in case.stretches)
    if not later:
        return untold("not yet")
    longest, limit = (
        time_ns / units.NS_PER_MS
        for time_ns in (max(answer.rest_ns for answer in later), case.rest_ns_most)
    )
    text = say(
        "{longest:,.{digits}f} ms at most, {mean:,.{digits}f} ms on average before {count:,} steps "
        "(this program's limit: {limit:,.{digits}f} ms)",
        longest=longest,
        mean=sum(answer.rest_ns for answer in later) / len(later) / units.NS_PER_MS,
        count=len(later),
        limit=limit,
        digits=digits_beside([(longest, limit)], least=3),
    )
    drain_ns = max(answer.gap_ns - answer.rest_ns for answer in later)
    if drain_ns:
        text = say(
            "{told}; besides, {ms:,.3f} ms at most in which the last I/Os of a stimulus ended",
            told=text,
            ms=drain_ns / units.NS_PER_MS,
        )
    if broken:
        text = say("{told}; interruptions of unknown length: {count}",
                   told=text, count=broken)  # fmt: skip
    long = [pair for pair in pairs if pair[1][2].rest_ns >= case.rest_ns_most]
    if long and not broken and not any(_rested(*pair) for pair in long):
        return untold(say("{told}; how much of it was rest was not recorded", told=text))
    return met_if(not broken and not long, text)


def _rested(before: Measured, after: Measured) -> bool:
    """Return whether a gap was rest for sure: its drain is told, or nothing was left running."""
    return DRAIN in after[2].detail or not before[1].open_ended


def carries_on(case: Case) -> Found:
    """Judge whether sequential streams went on where they had ended."""
    found = [each for each in courses(case.record.steps, case.record.geometry)
             if not each.is_precondition]  # fmt: skip
    if not found:
        return untold("the record has no cursor of a sequential stream")
    good = sum(each.in_order for each in found)
    text = say(
        "{good:,} of {count:,} steps ended where their stream must, had it gone on from the step "
        "before",
        good=good,
        count=len(found),
    )
    return met_if(good == len(found), text)


def uninterrupted(case: Case) -> Found:
    """Judge whether the stimulus had no pause between its minutes."""
    going_on = [answer for _, step, answer in case.measured if step.continues]
    if not going_on:
        return untold("not yet")
    longest_ns = max(answer.gap_ns for answer in going_on)
    longest, limit = longest_ns / units.NS_PER_MS, case.rest_ns_most / units.NS_PER_MS
    text = say(
        "{count:,} minutes went on from the one before with I/O in flight; {ms:,.{digits}f} ms "
        "between two of them at most (this program's limit: {limit:,.{digits}f} ms)",
        count=len(going_on),
        ms=longest,
        limit=limit,
        digits=digits_beside([(longest, limit)], least=3),
    )
    return met_if(longest_ns < case.rest_ns_most, text)


def _cells_of(case: Case, round_: Sequence[Measured]) -> list[tuple[int, ...]]:
    streams = [step.workload.streams[0] for _, step, _ in round_]
    if case.record.run.method in ("pts.dirth", "pts.cbw"):
        return [(each.threads, each.queue_depth) for each in streams]
    return [(each.read_percent, each.block_size_bytes) for each in streams]


def _cells_asked(case: Case, round_: Sequence[Measured]) -> list[tuple[int, ...]]:
    match case.record.run.method:
        case "pts.tp":
            block = round_[0][1].workload.streams[0].block_size_bytes
            return [(mix, block) for mix in THROUGHPUT_READ_PERCENTS]
        case "pts.lat":
            return [(mix, block) for mix in LATENCY_READ_PERCENTS for block in LATENCY_BLOCK_SIZES]
        case "pts.dirth" | "pts.cbw":
            return [(threads, deep) for threads in DEMAND_LEVELS for deep in DEMAND_LEVELS]
        case _:
            return [(mix, block) for mix in READ_PERCENTS for block in BLOCK_SIZES]


def _size_off(measured: Measured) -> float:
    _, step, answer = measured
    (stream,) = step.workload.streams
    if not answer.ios or stream.block_mix:
        return 0.0
    return abs(answer.bytes / answer.ios / stream.block_size_bytes - 1)


@dataclass(frozen=True, kw_only=True)
class _Mix:
    """The reads of one cell over all its rounds: how far off its mix, and how far by chance."""

    off: float
    slack: float


def _mixes(measured: Sequence[Measured]) -> list[_Mix]:
    pooled: dict[str, list[Measured]] = {}
    for each in measured:
        pooled.setdefault(each[1].cell or "", []).append(each)
    return [_mix(cells) for cells in pooled.values()]


def _mix(cells: Sequence[Measured]) -> _Mix:
    """Return one cell's, of failed I/Os too: they have a line of their own.

    Besides chance, what was in flight at the end of a step may be missing.
    """
    stream = cells[0][1].workload.streams[0]
    parts = [part for _, _, answer in cells for part in answer.results]
    tried = [(part.operation, part.count + sum(part.errors.values())) for part in parts]
    ios = sum(count for _, count in tried)
    reads = sum(count for direction, count in tried if direction == "read")
    if not ios:
        return _Mix(off=0.0, slack=0.0)
    share = stream.read_percent / 100
    by_chance = DEVIATIONS_OF_MIX * math.sqrt(share * (1 - share) / ios)
    in_flight = len(cells) * (stream.outstanding_ios + 1) / ios if 0 < share < 1 else 0.0
    return _Mix(off=abs(reads / ios - share), slack=by_chance + in_flight)


def _writers(case: Case) -> list[tuple[int, Stream]]:
    return [
        (each.seq, stream)
        for each, step, _ in case.loaded()
        for stream in step.workload.streams
        if stream.writes
    ]
