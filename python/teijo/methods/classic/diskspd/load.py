"""The load that DiskSpd's settings ask for: a stream for each thread, so that each has a row."""

from dataclasses import dataclass
from typing import Final

from teijo.methods.classic.diskspd.settings import DATA, DiskspdSettings
from teijo.methods.classic.pools import Pool, written_once
from teijo.methods.classic.timed import TimedLoad
from teijo.terms.geometry import Geometry
from teijo.terms.step import Precondition
from teijo.terms.workload import Access, ActiveRange, Content, Stream, Workload

STREAMS_MOST: Final = 64
"""Beyond so many threads they are told together, one stream for each target."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A thread on a target, both counted from 0: what DiskSpd's tables have a row of.

    `threads` are as many as its stream has: more than one where they cannot be told apart.
    """

    thread: int
    target: int
    threads: int
    name: str


def rows_of(settings: DiskspdSettings) -> tuple[Row, ...]:
    """Return the rows in DiskSpd's order: by thread, and within a thread by target."""
    pools = settings.targets
    several = len(pools) > 1
    if _is_shared(settings):
        return tuple(
            Row(
                thread=sum(pool.threads for pool in pools[:place]),
                target=place,
                threads=pool.threads,
                name=f"target {place + 1}" if several else "main",
            )
            for place, pool in enumerate(pools)
        )
    if settings.all_targets == "yes":
        pairs = [
            (thread, place) for thread in range(pools[0].threads) for place in range(len(pools))
        ]
    else:
        places = [place for place, pool in enumerate(pools) for _ in range(pool.threads)]
        pairs = list(enumerate(places))
    return tuple(
        Row(
            thread=thread,
            target=place,
            threads=1,
            name=f"thread {thread} target {place + 1}" if several else f"thread {thread}",
        )
        for thread, place in pairs
    )


def _is_shared(settings: DiskspdSettings) -> bool:
    """Whether threads cannot be told apart: they share an offset, or are too many."""
    sequential = settings.access == "sequential"
    one_offset = settings.interlocked == "yes" or settings.strict == "on"
    rows = sum(pool.threads for pool in settings.targets)
    return rows > STREAMS_MOST or (sequential and one_offset and rows > len(settings.targets))


def streams_of(settings: DiskspdSettings) -> tuple[Stream, ...]:
    """Return a stream for each row."""
    seen: dict[int, int] = {}
    streams = []
    for row in rows_of(settings):
        # Counted within its target: the offset of -T is that of the target's own threads.
        own = seen.get(row.target, 0)
        seen[row.target] = own + 1
        streams.append(_stream(settings, row, settings.targets[row.target], own))
    return tuple(streams)


def _stream(settings: DiskspdSettings, row: Row, pool: Pool, own: int) -> Stream:
    strict = settings.strict == "on"
    sequential = settings.access == "sequential"
    apart = (settings.stride_bytes or 0) if sequential and not strict else 0
    shared = row.threads > 1 and sequential
    return Stream(
        name=row.name,
        read_percent=100 - settings.write_percent,
        block_size_bytes=settings.block_size_bytes,
        access=Access.SEQUENTIAL if sequential else Access.RANDOM,
        threads=row.threads,
        queue_depth=settings.outstanding,
        active_range=piece_of(settings, pool, own * apart if row.threads == 1 else 0),
        alignment_bytes=settings.alignment_bytes or 0,
        content=Content.RANDOM if strict else DATA[settings.data],
        repeats="" if strict else f"seed {settings.seed}",
        thread_stride_bytes=apart
        if shared and not strict and settings.interlocked == "no"
        else None,
        write_through="w" in settings.buffering and settings.write_percent > 0,
        census=True,
    )


def piece_of(settings: DiskspdSettings, pool: Pool, further_bytes: int = 0) -> ActiveRange:
    """Return the range within a target, from a thread's own offset on."""
    most = settings.length_bytes
    return pool.piece(
        settings.base_bytes + further_bytes, None if most is None else most - further_bytes
    )


def load_of(settings: DiskspdSettings, geometry: Geometry) -> TimedLoad:
    """Return the load on a device, with what is written before it."""
    return TimedLoad(
        name=settings.name,
        workload=Workload(streams=streams_of(settings)),
        duration_ns=settings.duration_ns,
        warm_up_ns=settings.warm_up_ns,
        cool_down_ns=settings.cool_down_ns,
        interval_ns=settings.interval_ns,
        passes=settings.passes,
        prepare=prepared(settings, geometry),
    )


def prepared(settings: DiskspdSettings, geometry: Geometry) -> tuple[Precondition, ...]:
    """Return the writing of each target: all of it, as -c does, or strictly what will be read."""
    made = settings.prepare != "none"
    strict = settings.strict == "on" and settings.write_percent < 100
    if not made and not strict:
        return ()
    content = Content.ZERO if settings.prepare == "zero" and not strict else Content.RANDOM
    return tuple(
        written_once(
            pool.piece() if made else piece_of(settings, pool),
            geometry,
            content,
            block_size_bytes=settings.block_size_bytes,
        )
        for pool in settings.targets
    )
