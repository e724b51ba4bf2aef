"""A plan as a fio job file. Pure text: no process, no file.

What fio cannot do is refused here rather than done differently in silence. A stream becomes one
or two *legs*: a sequential stream that begins in the middle of its range runs to the end of it
in the first leg and goes round from the start in the second. A leg is one reporting group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from teijo.engine.plan import Plan, StreamPlan
from teijo.errors import PlanError
from teijo.terms.workload import Access, Content, Schedule, Stream
from teijo.units import NS_PER_MS

MANY_BYTES: Final = 1 << 60
"""An `io_size` no lap reaches: fio drains its queue and starts over wherever a size ends."""
BLOCKS_PER_VISIT: Final = 16
"""Random blocks in one segment before the walk goes on to the next."""
SLACK_MS: Final = 60_000
"""How much longer than the lap a leg may run that is stopped by a signal."""


@dataclass(frozen=True, kw_only=True)
class JobFile:
    """What fio is to run: the text, the streams' legs, and who ends it.

    `signal_after_ns` is set where only a signal can end the lap, because fio counts the run time
    of every leg for itself. `notes` say where fio's stimulus differs from the plan's.
    """

    text: str
    legs: tuple[tuple[str, str], ...]
    """(leg's name, stream's name), in the order of fio's reporting groups."""
    signal_after_ns: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One thread's share of a sequential stream, in bytes from the start of the device."""

    start_bytes: int
    size_bytes: int
    cursor_bytes: int
    total_bytes: int | None
    block_size_bytes: int
    chained: bool
    """The stream begins at a cursor: two legs, in every part."""


def job_file(
    plan: Plan, *, engine: str, path: str, device_bytes: int, cpus: Sequence[int] = ()
) -> JobFile:
    """Return the plan for fio's `engine` on `path`, `device_bytes` long.

    Threads are kept on `cpus`, one each, in their order and over again; on any of none.

    Raises:
        PlanError: fio cannot drive this plan; the message says what to change.
    """
    if plan.total_bytes is not None and len(plan.streams) > 1:
        raise PlanError(
            "fio cannot bound several streams together by bytes",
            remedy="Bound the step by time, or use the native engine.",
        )
    sections = [_global(plan, engine, path)]
    legs: list[tuple[str, str]] = []
    chained = False
    first_worker = 0
    for number, placed in enumerate(plan.streams):
        _check(placed, plan, engine, device_bytes)
        for leg_number, leg in enumerate(_legs(plan, placed)):
            name = f"s{number}l{leg_number}"
            legs.append((name, placed.stream.name))
            chained |= leg_number > 0
            for place, (thread, options) in enumerate(leg.items()):
                lines = _stimulus(placed, thread) | options | _logs(plan, name)
                if cpus:
                    # By thread: its second leg stays on the processor of its first.
                    worker = first_worker + thread
                    lines["cpus_allowed"] = str(cpus[worker % len(cpus)])
                if place == 0:
                    lines["new_group"] = "1"
                if leg_number > 0:
                    # fio starts all sections at once; a second leg goes on where the first ended.
                    lines["wait_for"] = f"s{number}l{leg_number - 1}t{thread}"
                sections.append(_section(f"{name}t{thread}", lines))
        first_worker += placed.stream.threads
    signal = plan.duration_ns if chained else None
    return JobFile(
        text="\n".join(sections),
        legs=tuple(legs),
        signal_after_ns=signal,
        notes=tuple(_notes(plan)),
    )


def randseed(seed: int) -> int:
    """Return fio's seed of a plan's seed: odd, for fio multiplies by it and 0 stays 0."""
    return (2 * seed + 1) % (1 << 62)


def _check(placed: StreamPlan, plan: Plan, engine: str, device_bytes: int) -> None:
    stream = placed.stream
    end_bytes = placed.start_bytes + placed.segments * placed.stride_bytes
    if engine == "psync" and stream.queue_depth > 1:
        raise PlanError(
            f"fio has only psync here, and queue depth is {stream.queue_depth}",
            remedy="Use queue depth 1 with more threads, or a fio with io_uring or libaio.",
        )
    if placed.verify is not None or stream.access == "shuffled" or stream.discard_percent:
        raise PlanError(
            "fio cannot verify, shuffle or discard as this plan asks",
            remedy="Use the native engine.",
        )
    own_cursors = stream.thread_stride_bytes is not None and stream.threads > 1
    if own_cursors and stream.access == "sequential":
        raise PlanError(
            "fio cannot let each thread go over the whole range with a cursor of its own",
            remedy="Use one thread, or the native engine.",
        )
    if stream.access == "zipf" and stream.skew == 1:
        raise PlanError(
            "fio cannot draw by Zipf's law with exponent 1",
            remedy="Use 0.99 or 1.01, or the native engine.",
        )
    if stream.block_mix and stream.access == "sequential":
        raise PlanError(
            "fio cannot share a sequential stream of several block sizes among its threads",
            remedy="Use one block size, or the native engine.",
        )
    if placed.segments > 1 and (stream.block_mix or stream.access not in ("random", "sequential")):
        raise PlanError(
            "fio walks segments with uniform places of one block size only",
            remedy="Use the native engine.",
        )
    if placed.segment_bytes < stream.block_size_bytes:
        raise PlanError(
            f"The range of {placed.segment_bytes} B is smaller than a block",
            remedy=f"Give a range of at least {stream.block_size_bytes} B.",
        )
    if placed.segments > 1 and stream.access == "sequential":
        raise PlanError(
            f"fio cannot carry a sequential stream over {placed.segments} segments",
            remedy="Use the native engine.",
        )
    if placed.segments > 1 and end_bytes < device_bytes:
        raise PlanError(
            "fio walks segments to the end of the device, "
            f"and the active range ends at byte {end_bytes} of {device_bytes}",
            remedy="Use an active range of 100 %, or the native engine.",
        )
    rate = None if stream.rate is None else stream.rate.ios_per_second
    # fio wants a rate of their own for reads and for writes, and each is a whole number.
    least = 1 if stream.read_percent in (0, 100) else 2
    if rate is not None and round(rate) // stream.threads < least:
        raise PlanError(
            f"fio cannot hold {rate:g} I/Os per second over {stream.threads} threads",
            remedy="Use fewer threads: each needs a whole number of I/Os per second.",
        )
    if plan.total_bytes is not None and placed.segments > 1:
        raise PlanError(
            "fio cannot bound a stream over segments by bytes",
            remedy="Bound the step by time, or use the native engine.",
        )


def _global(plan: Plan, engine: str, path: str) -> str:
    lines = {
        # fio takes a colon for the end of one file's name and the begin of another's.
        "filename": path.replace(":", r"\:"),
        "ioengine": engine,
        "direct": "1",
        "thread": "1",
        "group_reporting": "1",
        # No lap replays the offsets of another: only its own randseed decides them.
        "norandommap": "1",
        "randrepeat": "0",
        "random_generator": "tausworthe64",
        "invalidate": "0",
        # The file or device is there in its full size: never make, extend or remove one.
        "allow_file_create": "0",
        "overwrite": "1",
        "fallocate": "none",
        # Percentiles of the total latency. fio's default, clat, begins after the submitting
        # system call returned and misses what the kernel did inside it.
        "lat_percentiles": "1",
        "clat_percentiles": "0",
        # A failed I/O is counted, as the native engine does; fio would end at the first. The lines
        # that error_dump adds are where its direction and errno are read from.
        "continue_on_error": "io",
        "error_dump": "1",
        "log_avg_msec": str(interval_ms(plan)),
        "per_job_logs": "0",
    }
    if engine == "io_uring":
        lines |= {"registerfiles": "1", "nonvectored": "1"}
    return _section("global", lines)


def interval_ms(plan: Plan) -> int:
    """Return the length of the plan's interval in whole ms, fio's unit; at least 1."""
    return max(1, round(plan.interval_ns / NS_PER_MS))


def _logs(plan: Plan, leg: str) -> dict[str, str]:
    if plan.duration_ns is not None and plan.duration_ns < plan.interval_ns:
        return {}
    return {"write_iops_log": leg, "write_lat_log": leg}


_Leg = dict[int, dict[str, str]]
"""What each thread of a leg does, by the thread's number."""


def _legs(plan: Plan, placed: StreamPlan) -> list[_Leg]:
    threads = range(placed.stream.threads)
    if placed.stream.access != "sequential":
        return [{thread: _random(plan, placed, thread) for thread in threads}]
    parts = dict(enumerate(sequential_parts(placed, plan.total_bytes)))
    legs = [
        {thread: _sequential(plan, part, wrapped=wrapped) for thread, part in parts.items()}
        for wrapped in (False, True)
        if wrapped or placed.cursor_bytes
    ]
    # To fio, an io_size of 0 is the whole size: a thread with nothing to do must not be there.
    idle = {"io_size": "0"}
    legs = [{t: job for t, job in leg.items() if not idle.items() <= job.items()} for leg in legs]
    return [leg for leg in legs if leg]


def _stimulus(placed: StreamPlan, thread: int) -> dict[str, str]:
    stream = placed.stream
    depth = stream.queue_depth
    lines = {
        "rw": _rw(stream),
        "bs": str(stream.block_size_bytes),
        "iodepth": str(depth),
        "randseed": str(randseed(placed.seed)),
        # Fill the queue with one system call; take back whatever is done.
        "iodepth_batch_submit": str(min(depth, 32)),
        "iodepth_batch_complete_min": "1",
        "iodepth_batch_complete_max": str(depth),
    }
    if stream.block_mix:
        del lines["bs"]
        total = sum(weight for _, weight in stream.block_mix)
        shares = [f"{size}/{round(100 * weight / total)}" for size, weight in stream.block_mix]
        lines |= {"bssplit": ":".join(shares), "blockalign": str(min(stream.sizes_bytes))}
    if stream.alignment_bytes:
        lines["blockalign"] = str(stream.alignment_bytes)
    if 0 < stream.read_percent < 100:
        lines["rwmixread"] = str(stream.read_percent)
    if stream.read_percent < 100:
        lines |= _content(stream)
        if stream.flush_every_writes:
            lines["fdatasync"] = str(stream.flush_every_writes)
        if stream.write_through:
            lines["sync"] = "dsync"
    return lines | _distribution(stream) | _rate(stream, thread)


def _content(stream: Stream) -> dict[str, str]:
    match stream.content:
        case Content.RANDOM:
            # Random bytes with a stamp in every sector, as the native engine writes.
            # refill_buffers would make all of them anew: 1 µs of CPU per 4 KiB.
            return {"scramble_buffers": "1"}
        case Content.ZERO:
            return {"zero_buffers": "1"}
        case Content.REFILL:
            return {"refill_buffers": "1"}
        case Content.COMPRESSIBLE:
            share = {"buffer_compress_percentage": str(stream.content_percent)}
            return {"refill_buffers": "1", "buffer_compress_chunk": "512"} | share
        case Content.DEDUPABLE:
            return {"refill_buffers": "1", "dedupe_percentage": str(stream.content_percent)}
        case Content.ONE_BLOCK:
            return {"scramble_buffers": "0"}
        case Content.COUNTING:
            raise PlanError(
                "fio writes no counted bytes (0 to 255 over and over)",
                remedy="Leave --engine out: Teijo's own engine writes them.",
            )


def _distribution(stream: Stream) -> dict[str, str]:
    match stream.access:
        case Access.ZIPF | Access.PARETO:
            return {"random_distribution": f"{stream.access}:{stream.skew:g}"}
        case Access.ZONED:
            accesses = sum(share for share, _ in stream.zones)
            range_share = sum(share for _, share in stream.zones)
            zones = [
                f"{100 * share / accesses:g}/{100 * size / range_share:g}"
                for share, size in stream.zones
            ]
            return {"random_distribution": "zoned:" + ":".join(zones)}
        case Access.RANDOM | Access.SEQUENTIAL | Access.SHUFFLED:
            return {}


def _rw(stream: Stream) -> str:
    prefix = "" if stream.access == "sequential" else "rand"
    match stream.read_percent:
        case 100:
            return prefix + "read"
        case 0:
            return prefix + "write"
        case _:
            return prefix + "rw"


def _random(plan: Plan, placed: StreamPlan, thread: int) -> dict[str, str]:
    lines = {"offset": str(placed.start_bytes), "size": str(placed.segment_bytes)}
    if placed.segments > 1:
        lines |= {
            "size": str(placed.segments * placed.stride_bytes),
            "zonemode": "strided",
            "zonerange": str(placed.segment_bytes),
            "zonesize": str(
                min(placed.segment_bytes, BLOCKS_PER_VISIT * placed.stream.block_size_bytes)
            ),
            "zoneskip": str(placed.stride_bytes - placed.segment_bytes),
        }
    if plan.total_bytes is None:
        return lines | _runtime(plan) | {"time_based": "1", "io_size": str(MANY_BYTES)}
    blocks = -(-plan.total_bytes // placed.stream.block_size_bytes)
    share = _shares(blocks, placed.stream.threads)[thread]
    return lines | {"io_size": str(share * placed.stream.block_size_bytes)}


def _rate(stream: Stream, thread: int) -> dict[str, str]:
    if stream.rate is None:
        return {}
    share = _shares(round(stream.rate.ios_per_second), stream.threads)[thread % stream.threads]
    iops = str(share)
    if 0 < stream.read_percent < 100:
        # Neither may get 0: to fio that is no limit at all.
        reads = min(max(1, round(share * stream.read_percent / 100)), share - 1)
        iops = f"{reads},{share - reads}"
    process = "poisson" if stream.rate.schedule is Schedule.POISSON else "linear"
    return {"rate_iops": iops, "rate_process": process}


def _runtime(plan: Plan, *, slack_ms: int = 0) -> dict[str, str]:
    assert plan.duration_ns is not None
    return {"runtime": f"{-(-plan.duration_ns // NS_PER_MS) + slack_ms}ms"}


def _sequential(plan: Plan, part: _Part, *, wrapped: bool) -> dict[str, str]:
    """Return one leg of a part: to its end from the cursor, or round and round from its start."""
    begin = 0 if wrapped else part.cursor_bytes
    lines = {
        "bs": str(part.block_size_bytes),
        "offset": str(part.start_bytes + begin),
        "size": str(part.size_bytes - begin),
    }
    to_the_end = part.size_bytes - part.cursor_bytes if part.chained else 0
    if part.total_bytes is not None:
        first = min(to_the_end, part.total_bytes)
        return lines | {"io_size": str(part.total_bytes - first if wrapped else first)}
    lines |= _runtime(plan, slack_ms=SLACK_MS if part.chained else 0)
    if wrapped:
        lines |= {"time_based": "1", "io_size": str(MANY_BYTES)}
    return lines


def sequential_parts(placed: StreamPlan, total_bytes: int | None) -> tuple[_Part, ...]:
    """Return each thread's share of a sequential stream: a contiguous part of the range.

    The parts cover every byte of the range once per pass; a range that is no whole number of
    blocks ends in a part of its own, one short block long.
    """
    block = placed.stream.block_size_bytes
    size = placed.segment_bytes
    tail = size % block
    chained = placed.cursor_bytes > 0
    threads = min(placed.stream.threads, size // block)
    passes, rest = divmod(total_bytes, size) if total_bytes is not None else (0, 0)
    rests = _shares(-(-rest // block), threads)
    parts = []
    start = placed.start_bytes
    for blocks, rest_blocks in zip(_shares(size // block, threads), rests, strict=True):
        length = blocks * block
        part = _Part(
            start_bytes=start,
            size_bytes=length,
            cursor_bytes=placed.cursor_bytes * blocks // size * block,
            total_bytes=None if total_bytes is None else passes * length + rest_blocks * block,
            block_size_bytes=block,
            chained=chained,
        )
        parts.append(part)
        start += length
    if tail and passes:
        part = _Part(
            start_bytes=start,
            size_bytes=tail,
            cursor_bytes=0,
            total_bytes=passes * tail,
            block_size_bytes=tail,
            chained=chained,
        )
        parts.append(part)
    return tuple(parts)


def _shares(total: int, threads: int) -> tuple[int, ...]:
    """Return `total` in `threads` whole parts that differ by at most one."""
    low, extra = divmod(total, threads)
    return tuple(low + (thread < extra) for thread in range(threads))


def _section(name: str, lines: dict[str, str]) -> str:
    return "\n".join([f"[{name}]", *(f"{key}={value}" for key, value in lines.items()), ""])


def _notes(plan: Plan) -> Iterator[str]:
    if plan.open_ended or plan.continues:
        yield "fio starts anew for every lap: its queue runs empty between two laps"
    for placed in plan.streams:
        if placed.segments > 1:
            yield f"fio takes the segments in turn, {BLOCKS_PER_VISIT} random blocks in each"
        if placed.stream.access == "sequential" and placed.stream.threads > 1:
            yield "fio gives each thread a part of the range; its threads do not share one stream"
        if placed.stream.access == "sequential" and 0 < placed.stream.read_percent < 100:
            yield "fio reads and writes as two sequential streams over the same range"
        if placed.stream.content is Content.ONE_BLOCK:
            yield "fio writes a random block of its own for each I/O in flight, not the same in all"
        rate = placed.stream.rate
        if rate is not None:
            yield "fio measures no response time, from when an I/O was due"
        if rate and rate.schedule is Schedule.POISSON and rate.ios_per_second > 100_000:
            yield "fio's Poisson arrivals are in whole µs: the rate is not kept"
