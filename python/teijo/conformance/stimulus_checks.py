"""What the record shows of the stimulus: cells and their order, minutes, seeds, content, rests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from teijo import units
from teijo.conformance.offsets import Course
from teijo.conformance.requirement import Case, Found, Loaded, Measured
from teijo.conformance.rounds import is_prewrite, minutes_in, rounds_in
from teijo.conformance.verdicts import ends, in_shares, judging, met_if, pause, untold
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
DEVIATIONS_OF_MIX = 5.0  # one right cell in 1.7 million is farther off by chance


def _swept(case: Case) -> list[list[Measured]]:
    """Return the rounds without the pre-writes before them."""
    return [[each for each in cells if not is_prewrite(each)] for cells in rounds_in(case)]


@judging(_swept, "no whole round yet")
def cells(case: Case, rounds: Sequence[Sequence[Measured]]) -> Found:
    """Judge the cells and their order, by the steps and by their results."""
    wrong = [number for number, each in enumerate(rounds, start=1)
             if _cells_of(case, each) != _cells_asked(case, each)]  # fmt: skip
    measured = [each for cells in rounds for each in cells]
    sizes_off = max((_size_off(each) for each in measured), default=0.0)
    mixes = _mixes(measured)
    text = say(
        "{rounds} rounds of {cells} cells; bytes by I/Os at most {size:.2f} % off the cell's size, "
        "reads at most {mix:.2f} points off its mix, over {ios:,} I/Os",
        rounds=len(rounds),
        cells=len(rounds[0]),
        size=100 * sizes_off,
        mix=100 * max((mix.off for mix in mixes), default=0.0),
        ios=sum(answer.ios for _, _, answer in measured),
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


@judging(minutes_in)
def minutes(_: Case, measured: Sequence[Measured]) -> Found:
    """Judge whether every cell and every sample was a minute long."""
    lengths_s = [answer.elapsed_ns / units.NS_PER_S for _, _, answer in measured]
    text = say(
        "{count:,} measured, {low:.3f} to {high:.3f} s long",
        count=len(measured),
        **ends(lengths_s),
    )
    asked_s = [MINUTE_NS / units.NS_PER_S] * len(measured)
    return met_if(in_shares(lengths_s, asked=asked_s, shares=MINUTE_SHARES), text)


# A step that goes on has the seed of the one before, and repeats nothing.
@judging(lambda case: [each for each in case.loaded() if not getattr(each[1], "continues", False)])
def seeds(_: Case, loaded: Sequence[Loaded]) -> Found:
    """Judge whether each stimulus has its own seed, so that none repeats another."""
    own = [record.seed for record, _, _ in loaded]
    text = say(
        "{stimuli:,} stimuli, {seeds:,} different seeds recorded",
        stimuli=len(own),
        seeds=len(set(own)),
    )
    return met_if(len(own) == len(set(own)), text)


def _writers(case: Case) -> list[tuple[int, Stream]]:
    return [
        (each.seq, stream)
        for each, step, _ in case.loaded()
        for stream in step.workload.streams
        if stream.writes
    ]


@judging(_writers)
def content(case: Case, writers: Sequence[tuple[int, Stream]]) -> Found:
    """Judge whether random content was written, as far as anybody looked."""
    kinds = {stream.content for _, stream in writers}
    steps = len({seq for seq, _ in writers})
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


def _neighbours(case: Case) -> list[tuple[Measured, Measured]]:
    """Return each two measurements that follow each other."""
    return [pair for stretch in case.stretches for pair in pairwise(stretch.measured)]


@judging(_neighbours)
def rests(case: Case, pairs: Sequence[tuple[Measured, Measured]]) -> Found:
    """Judge whether the device never rested between two steps of the test."""
    later = [answer for _, (_, _, answer) in pairs]
    broken = sum(len(stretch.gaps) for stretch in case.stretches)
    text = say(
        "{ms:,.{digits}f} ms at most, {mean:,.{digits}f} ms on average before {count:,} steps "
        "(this program's limit: {limit:,.{digits}f} ms)",
        mean=sum(answer.rest_ns for answer in later) / len(later) / units.NS_PER_MS,
        count=len(later),
        **pause(case, max(answer.rest_ns for answer in later)),
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
    """Return whether a gap was rest for sure: its drain was recorded, or nothing was running."""
    return DRAIN in after[2].detail or not before[1].open_ended


@judging(
    lambda case: [each for each in case.courses if not each.is_precondition],
    "the record has no cursor of a sequential stream",
)
def carries_on(_: Case, found: Sequence[Course]) -> Found:
    """Judge whether sequential streams went on where they had ended."""
    good = sum(each.in_order for each in found)
    text = say(
        "{good:,} of {count:,} steps ended where their stream must, had it gone on from the step "
        "before",
        good=good,
        count=len(found),
    )
    return met_if(good == len(found), text)


@judging(lambda case: [each for each in case.measured if each[1].continues])
def uninterrupted(case: Case, measured: Sequence[Measured]) -> Found:
    """Judge whether the stimulus had no pause between its minutes."""
    longest_ns = max(answer.gap_ns for _, _, answer in measured)
    text = say(
        "{count:,} minutes went on from the one before with I/O in flight; {ms:,.{digits}f} ms "
        "between two of them at most (this program's limit: {limit:,.{digits}f} ms)",
        count=len(measured),
        **pause(case, longest_ns),
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
    """Return one cell's, of failed I/Os too: the ledger has another line for those.

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
