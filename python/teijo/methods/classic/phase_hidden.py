"""What the numbers of phases of work on files hide, measured in the run itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from teijo import units
from teijo.analysis import little
from teijo.analysis.revisits import even_distinct
from teijo.document.phrase import say
from teijo.methods.classic import hidden_checks as checks
from teijo.methods.classic.hidden_entry import Found, Hidden, entry, shown_bytes
from teijo.methods.classic.overlap import Overlap
from teijo.methods.classic.phases import PhasesFound, Turn
from teijo.terms.census import Census
from teijo.terms.record import Record
from teijo.terms.result import PAGE_CACHE
from teijo.terms.work import RANDOM_CALLS, FileIo

MIN_TIME_NS: Final = 500 * units.NS_PER_MS
"""Bonnie++ prints no rate of a shorter phase."""
_CPU_PERCENT: Final = 50
_REPEATED_PERCENT: Final = 5
_FLUSH_SHARE: Final = 0.01
_READING: Final = ("read", "random-read", "seek", "rewrite")
_Row = tuple[str, Turn, FileIo]


def entries(found: PhasesFound[Any], *, short_is_hidden: bool) -> tuple[Hidden, ...]:
    """Return everything that was looked for; `short_is_hidden` where a short phase has no rate."""
    rows = [
        (name, turns[-1], turns[-1].step.work)
        for name, turns in found.turns.items()
        if isinstance(turns[-1].step.work, FileIo)
    ]
    large = [(name, turn, work) for name, turn, work in rows if isinstance(work, FileIo)]
    told = [*_flush(large), *_cache(found.record, large), *_content(found), *_processor(large)]
    touched = _touched(found)
    told += [*_revisits(found, touched), *_repeated_offsets(touched)]
    return (*told, *_short(found)) if short_is_hidden else tuple(told)


def _flush(rows: list[_Row]) -> Iterator[Hidden]:
    """Say how much of a phase's time its flushes took that are in no latency of a call."""
    texts = (
        "A write is done for the program when it is in memory; the device's part comes with the "
        "flush, which the rate has in it and no latency has.",
        "Each flush is timed by itself; by Little's law as many calls as are in flight end in one "
        "mean latency.",
        "The flush is part of the latency of the call before it.",
    )
    apart = {
        name: (flushed_ns, turn, work)
        for name, turn, work in rows
        if not work.timed_fsync and turn.alone.ios and (flushed_ns := turn.flushed_ns) is not None
    }
    if apart:
        name = max(apart, key=lambda name: _share(*apart[name][:2]))
        flushed_ns, turn, work = apart[name]
        share = _share(flushed_ns, turn)
        size = say(
            "In {phase}, flushes took {flushed}, {share:.1f} % of the time of its calls and "
            "flushes; it has {percent:.1f} % of the rate that the latency of its calls implies.",
            phase=name,
            flushed=units.format_latency(flushed_ns),
            share=100 * share,
            percent=100 * _by_implied_rate(turn, work),
        )
        found: Found = "hidden" if share > _FLUSH_SHARE else "clear"
        yield entry(found, "flush", "Flushes outside the latency", size, *texts)
    elif any(work.timed_fsync for _, _, work in rows):
        all_in = "Every flush is in the latency of the call before it."
        yield entry("clear", "flush", "Flushes outside the latency", all_in, *texts)


def _share(flushed_ns: int, turn: Turn) -> float:
    return flushed_ns / max(1, flushed_ns + turn.latency.sum_ns)


def _by_implied_rate(turn: Turn, work: FileIo) -> float:
    """Return the rate of a phase by the one that the mean latency of its calls implies."""
    in_flight = 1 if work.in_turn else work.workers
    return little.agreement(turn.alone.iops, in_flight, turn.latency.mean_ns) or 0.0


def _cache(record: Record, rows: list[_Row]) -> Iterator[Hidden]:
    """Hold what is read against the memory that may still have it."""
    reads = [
        (name, turn, work)
        for name, turn, work in rows
        if work.operation in _READING and not work.direct
    ]
    memory = _memory_bytes(record, rows)
    if not reads or not memory:
        return
    name, _, work = reads[-1]
    whole = _whole_bytes(work)
    kept = [one for one, _, each in reads if not each.drop_caches]
    size = say(
        "{phase} reads files of {size}, and {memory} of memory may hold them.",
        phase=name,
        size=units.format_size(whole),
        memory=units.format_size(memory),
    )
    yield entry(
        "hidden" if kept and whole < 2 * memory else "clear",
        "page cache",
        "Reads from the page cache",
        size,
        "What was written a phase before is still in memory, and is read from there.",
        "The size of the files is held against the memory, or the limit it was held to.",
        "The page cache is written back and emptied before each phase.",
    )


def may_be_in_memory(found: PhasesFound[Any], name: str) -> bool:
    """Return whether what a phase read last may have come from memory, by the size of its files."""
    turn = found.turns[name][-1]
    work = turn.step.work
    if not isinstance(work, FileIo) or work.operation not in _READING:
        return False
    memory = _memory_bytes(found.record, [(name, turn, work)])
    cached = not work.direct and not work.drop_caches
    return cached and _whole_bytes(work) < 2 * memory


def _whole_bytes(work: FileIo) -> int:
    return work.file_bytes * (1 if work.share else work.workers)


def _memory_bytes(record: Record, rows: list[_Row]) -> int:
    limits = [turn.step.memory_bytes for _, turn, _ in rows if turn.step.memory_bytes]
    if limits:
        return min(limits)
    host = record.environment.get("memory", "")
    told = (turn.answer.detail.get(PAGE_CACHE, host) for _, turn, _ in rows)
    return max(map(shown_bytes, told), default=0)


def _content(found: PhasesFound[Any]) -> list[Hidden]:
    """Look at samples of what phases wrote: whether it repeats, or compresses."""
    passes = [
        [(name, turn.answer) for turn in turns]
        for name, turns in found.turns.items()
        if isinstance(turns[-1].step.work, FileIo)
    ]
    samples = [
        (each.content, name)
        for turns in passes
        for name, answer in turns
        for each in answer.census
        if each.content is not None
    ]
    return checks.content_in(samples, passes)


def _processor(rows: list[_Row]) -> Iterator[Hidden]:
    """Say of the phase that moves single bytes how much of its time was the processor's."""
    for name, turn, work in rows:
        percent = turn.cpu_percent
        if work.chunk_bytes > 1 or percent is None:
            continue
        size = say(
            "{phase} had the processor busy for {percent:.0f} % of its time, {kernel:.0f} % of "
            "that in the kernel.",
            phase=name,
            percent=percent,
            kernel=100 * (turn.system_ns or 0) / max(1, turn.cpu_ns),
        )
        yield entry(
            "hidden" if percent >= _CPU_PERCENT else "clear",
            "processor",
            "A test of the processor",
            size,
            "A call that moves one byte costs the processor more than the storage.",
            "The processor time of the phase is held against its time.",
            "It stays so: read the phases that move chunks.",
        )
        return


@dataclass(frozen=True, kw_only=True)
class _Touched:
    """A phase of random calls, and which blocks they went to; a block is a chunk of a file."""

    name: str
    turn: Turn
    work: FileIo
    census: Census

    @property
    def files(self) -> int:
        return 1 if self.work.share else self.work.workers

    @property
    def blocks(self) -> int:
        """How many there are, in all files."""
        return max(1, self.work.file_bytes // self.work.chunk_bytes) * self.files

    @property
    def grid(self) -> tuple[int, int, int]:
        """What two phases must have in common for their blocks to be the same."""
        return self.work.file_bytes, self.work.chunk_bytes, self.files

    @property
    def expected(self) -> float:
        """How many different ones as many calls touch: of even draws, or of one walk over all."""
        if self.work.each_once:
            return min(self.census.ios, self.blocks)
        return self.files * even_distinct(self.blocks / self.files, self.census.ios / self.files)


def _random(found: PhasesFound[Any]) -> Iterator[tuple[str, Turn, FileIo]]:
    for name, turns in found.turns.items():
        for turn in turns:
            work = turn.step.work
            if isinstance(work, FileIo) and work.operation in RANDOM_CALLS:
                yield name, turn, work


def _touched(found: PhasesFound[Any]) -> list[_Touched]:
    return [
        _Touched(name=name, turn=turn, work=work, census=census)
        for name, turn, work in _random(found)
        for census in turn.answer.census
        if census.operation == work.operation and census.ios
    ]


def _revisits(found: PhasesFound[Any], touched: list[_Touched]) -> Iterator[Hidden]:
    """Say how many blocks random calls touched, and how many calls met one again."""
    name = "Blocks met again"
    texts = (
        "Offsets are drawn with replacement: what was met before may be in a cache.",
        "The engine kept a sample of the blocks it touched, each with its calls.",
        "No block is called for twice before all have been, and the page cache is empty before.",
    )
    if not touched:
        if any(_random(found)):
            size = "How many blocks random calls met again: this run kept no sample of them."
            yield entry("unknown", "revisits", name, size, *texts)
        return
    worst = max(touched, key=lambda each: each.census.revisit_share)
    census = worst.census
    size = say(
        "{phase}: {calls:,} calls on {blocks:,} blocks touched {distinct:,.0f} of them, where "
        "{expected:,.0f} would be expected; {again:.1f} % of the calls met a block again.",
        phase=worst.name,
        calls=census.ios,
        blocks=worst.blocks,
        distinct=census.distinct,
        expected=worst.expected,
        again=100 * census.revisit_share,
    )
    is_hidden = census.revisit_share * 100 > _REPEATED_PERCENT
    yield entry("hidden" if is_hidden else "clear", "revisits", name, size, *texts)


def _repeated_offsets(touched: list[_Touched]) -> Iterator[Hidden]:
    """Say which share of the blocks of a phase another pass, or the phase before, touched too."""
    pairs = []
    in_time = sorted(touched, key=lambda each: each.turn.answer.started_ns)
    neighbours = list(pairwise(in_time))
    for name in dict.fromkeys(each.name for each in touched):
        neighbours += pairwise(each for each in in_time if each.name == name)
    for before, after in neighbours:
        share = after.census.overlap(before.census)
        if share is not None and before.grid == after.grid:
            chance = min(1.0, before.census.distinct / before.blocks)
            pairs.append((Overlap.of(share, chance, after.census), before, after))
    if not pairs:
        return
    overlap, before, after = max(pairs, key=lambda each: each[0])
    size = say(
        "Of the blocks of {phase} (pass {own}), {share:.1f} % had been touched by {earlier} (pass "
        "{number}) too; without repeating it would be {chance:.1f} %.",
        phase=after.name,
        own=after.turn.step.round_number or 1,
        share=overlap.share * 100,
        earlier=before.name,
        number=before.turn.step.round_number or 1,
        chance=overlap.chance * 100,
    )
    yield overlap.entry(size)


def _short(found: PhasesFound[Any]) -> Iterator[Hidden]:
    """Name the phases whose rate Bonnie++ does not print, and what it would have been."""
    short = {
        name: turns[-1]
        for name, turns in found.turns.items()
        if 0 < turns[-1].answer.elapsed_ns < MIN_TIME_NS
    }
    if not found.turns:
        return
    size: str = "No phase took less than 0.5 s."
    if short:
        name = min(short, key=lambda each: short[each].answer.elapsed_ns)
        size = say(
            "Phases of less than 0.5 s: {count}; the shortest ({phase}) took {time:.3f} s.",
            count=len(short),
            phase=name,
            time=short[name].answer.elapsed_ns / units.NS_PER_S,
        )
    yield entry(
        "hidden" if bool(short) else "clear",
        "too short",
        "A rate that is not printed",
        size,
        "Below 0.5 s a row of + is printed: 3 MiB by the byte, or 16,384 seeks a second, are so.",
        "The time of each phase is known, and its rate is in this report all the same.",
        "Seeks and bytes are done again, eight times as many.",
    )
