"""What the numbers of phases of work on files hide, measured in the run itself."""

import math
from collections.abc import Iterator
from typing import Any, Final

from teijo import units
from teijo.analysis import little
from teijo.document.phrase import say
from teijo.methods.classic.hidden_entry import Found, Hidden, entry, shown_bytes
from teijo.methods.classic.phases import PhasesFound, Turn
from teijo.terms.record import Record
from teijo.terms.result import PAGE_CACHE
from teijo.terms.work import FileIo

MIN_TIME_NS: Final = 500 * units.NS_PER_MS
"""Bonnie++ prints no rate of a shorter phase."""
_CPU_PERCENT: Final = 50
_REPEATED_PERCENT: Final = 5
_FLUSH_SHARE: Final = 0.01
_Row = tuple[str, Turn, FileIo]


def entries(found: PhasesFound[Any], *, short_is_hidden: bool) -> tuple[Hidden, ...]:
    """Return everything that was looked for; `short_is_hidden` where a short phase has no rate."""
    rows = [
        (name, turns[-1], turns[-1].step.work)
        for name, turns in found.turns.items()
        if isinstance(turns[-1].step.work, FileIo)
    ]
    large = [(name, turn, work) for name, turn, work in rows if isinstance(work, FileIo)]
    told = [*_flush(large), *_cache(found.record, large), *_content(large)]
    told += [*_processor(large), *_replacement(large)]
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
        if work.operation in ("read", "random-read", "seek", "rewrite") and not work.direct
    ]
    memory = _memory_bytes(record, rows)
    if not reads or not memory:
        return
    name, _, work = reads[-1]
    whole = work.file_bytes * (1 if work.share else work.workers)
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


def _memory_bytes(record: Record, rows: list[_Row]) -> int:
    limits = [turn.step.memory_bytes for _, turn, _ in rows if turn.step.memory_bytes]
    if limits:
        return min(limits)
    host = record.environment.get("memory", "")
    told = (turn.answer.detail.get(PAGE_CACHE, host) for _, turn, _ in rows)
    return max(map(shown_bytes, told), default=0)


def _content(rows: list[_Row]) -> Iterator[Hidden]:
    """Say how much of what was written any compression or deduplication would leave out."""
    writes = [
        (turn.alone.bytes, work.content)
        for _, turn, work in rows
        if work.operation in ("write", "random-write")
    ]
    whole = sum(size for size, _ in writes)
    if not whole:
        return
    alike = sum(size for size, content in writes if content != "random")
    size = say(
        "{percent:.0f} % of {size} written can be compressed or is the same again.",
        percent=100 * alike / whole,
        size=units.format_size(whole),
    )
    yield entry(
        "hidden" if alike > 0 else "clear",
        "compressible data",
        "Data that a drive may leave out",
        size,
        "Zeros, or one block over and over: a drive or file system that compresses writes less.",
        "What each phase wrote is known: zeros, one block, or random bytes.",
        "Every block has random bytes of its own.",
    )


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


def _replacement(rows: list[_Row]) -> Iterator[Hidden]:
    """Say how many of the blocks random calls with replacement can have touched."""
    for name, _, work in rows:
        if work.operation not in ("random-write", "random-read", "seek"):
            continue
        files = 1 if work.share else work.workers
        blocks = max(1, work.file_bytes // work.chunk_bytes) * files
        # Each of so many draws misses a block with 1 - 1/blocks.
        touched = -math.expm1(work.calls * math.log1p(-1 / blocks)) if blocks > 1 else 1.0
        again = 1 - touched * blocks / work.calls if work.calls else 0.0
        size = say(
            "{phase}: {calls:,} calls on {blocks:,} blocks touch {percent:.0f} % of them; "
            "{again:.0f} % of the calls meet a block again.",
            phase=name,
            calls=work.calls,
            blocks=blocks,
            percent=100 * touched,
            again=100 * again,
        )
        yield entry(
            "hidden" if again * 100 > _REPEATED_PERCENT else "clear",
            "revisits",
            "Blocks met again",
            size,
            "Offsets are drawn with replacement: what was met before may be in a cache.",
            "The expected share follows from the number of calls and of blocks.",
            "It stays so; the page cache is empty at the beginning.",
        )
        return


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
            "{count} phases took less than 0.5 s, the shortest ({phase}) {time:.3f} s.",
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
