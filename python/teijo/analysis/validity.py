"""Self-checks of a measurement: whether it was of this device alone, at the load that was set.

Each check sees one answer and says what it may have been instead. What cannot be checked is
None, never taken for good.
"""

from dataclasses import dataclass
from typing import Final

from teijo.document.phrase import say
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import READS, UNWRITTEN_READS, OperationResult, StepResult, Witness
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Stream
from teijo.units import NS_PER_MS, NS_PER_S, format_duration, per_second

DEPTH_SHARE_LEAST: Final = 0.95
BUSY_SHARE_MOST: Final = 0.85
DELAY_SHARE_MOST: Final = 0.05
CONTENT_SHARE_MOST: Final = 0.01
CEILING_SHARE_MOST: Final = 0.70
RATE_SHARE_LEAST: Final = 0.99
FOREIGN_SHARE_MOST: Final = 0.001
MISSING_SHARE_MOST: Final = 0.005
SPLIT_SHARE_MOST: Final = 0.01
DRIFT_PPM_MOST: Final = 50.0  # beyond it the engine itself leaves that counter
LOOK_GAP_NS_MOST: Final = 1_500_000_000
SLEEP_NS_MOST: Final = 10 * NS_PER_MS
UNWRITTEN_SHARE_MOST: Final = 0.001
LEAST_NS: Final = 100 * NS_PER_MS
"""A shorter step is all beginning and end: no share of it says anything."""

Load = Measure | Precondition


@dataclass(frozen=True, kw_only=True)
class DeviceShares:
    """What the kernel counted for the device, by what this program did itself.

    1.0 is all of it and nothing else. None: not counted, or nothing was moved. `foreign_bytes`
    may be negative: then something answered in the device's place.
    """

    bytes_share: float | None
    ios_share: float | None
    foreign_bytes: int | None


def remarks_on(step: Load, answer: StepResult) -> tuple[Remark, ...]:
    """Return what must be said of a step's numbers, nothing where all is as it should be."""
    witness = answer.witness
    found = [
        *schedule_remarks(step, answer),
        *device_remarks(step, answer),
        *unwritten_remarks(answer),
        *([] if witness is None else witness_remarks(step, witness)),
    ]
    share = ceiling_share(answer)
    if share is not None and share > CEILING_SHARE_MOST:
        text = "More than 70 % of the IOPS that this host does with no device at all."
        found.append(Remark(kind=RemarkKind.HOST_LIMITED, text=text))
    return tuple(found)


def unwritten_remarks(answer: StepResult) -> list[Remark]:
    """Return a remark where a simulated drive answered reads of what nobody had written.

    A model counts them, as no real drive does, and answers them as one would: from its map.
    """
    unwritten = sum(
        int(count)
        for name, count in answer.detail.items()
        if name.startswith("count.") and name.endswith(UNWRITTEN_READS)
    )
    counted = (answer.health_before.get(READS), answer.health_after.get(READS))
    if counted[0] is None or counted[1] is None:
        return []
    share = unwritten / max(1, counted[1] - counted[0])
    if share <= UNWRITTEN_SHARE_MOST:
        return []
    text = say(
        "{percent} % of what was read had never been written: the drive answers that from its "
        "map, without the flash.",
        percent=f"{100 * min(share, 1):.1f}",
    )
    return [Remark(kind=RemarkKind.UNWRITTEN, text=text)]


def schedule_remarks(step: Load, answer: StepResult) -> list[Remark]:
    """Return a remark for each open loop that fell behind its schedule and stayed there.

    All arrivals are either completed, failed, or in the backlog at the end; the schedule was
    kept if that backlog fits in one queue depth (or a thousandth), and 99 % were completed.
    """
    found = []
    for stream in step.workload.streams:
        parts = [part for part in answer.results if part.stream == stream.name]
        if stream.rate is None or not parts:
            continue
        # An open loop's discards are arrivals too, though they are none of its results.
        parts += [
            part
            for part in answer.commands
            if part.stream == stream.name and part.operation == "discard"
        ]
        text = _behind(stream, parts, answer.elapsed_ns)
        if text:
            found.append(Remark(kind=RemarkKind.SCHEDULE_NOT_KEPT, text=text))
    return found


def _behind(stream: Stream, parts: list[OperationResult], elapsed_ns: int) -> str:
    assert stream.rate is not None
    asked = stream.rate.ios_per_second
    # A failed arrival was served: it waits no longer.
    done = sum(part.count + sum(part.errors.values()) for part in parts)
    waiting = next((part.backlog_end for part in parts if part.backlog_end is not None), None)
    # By the rate only where no backlog is known (fio): a Poisson lap may draw fewer arrivals.
    due = asked * elapsed_ns / NS_PER_S if waiting is None else done + waiting
    slack = max(stream.outstanding_ios, due / 1000)
    late = waiting is not None and waiting > slack
    few = done < RATE_SHARE_LEAST * due - slack
    if not (late or few):
        return ""
    rates = {"achieved": f"{per_second(done, elapsed_ns):,.1f}", "asked": f"{asked:,.1f}"}
    if waiting is None:
        return say(
            "Stream {name}: {achieved} of {asked} I/Os per second.", name=stream.name, **rates
        )
    return say(
        "Stream {name}: {achieved} of {asked} I/Os per second; {waiting} I/Os were due and not "
        "issued at its end.",
        name=stream.name,
        waiting=f"{waiting:,}",
        **rates,
    )


def witness_remarks(step: Load, witness: Witness) -> list[Remark]:
    """Return what the engine's own account says against the numbers."""
    found = []
    if witness.wall_ns >= LEAST_NS:
        found += depth_remarks(step, witness)
        if witness.busiest_worker > BUSY_SHARE_MOST:
            text = "A thread that makes the I/O was busy for more than 85 % of the time."
            found.append(Remark(kind=RemarkKind.HOST_LIMITED, text=text))
        if delay_share(witness) > DELAY_SHARE_MOST:
            text = "Threads that make the I/O waited for a CPU for more than 5 % of the time."
            found.append(Remark(kind=RemarkKind.HOST_LIMITED, text=text))
        share = content_share(witness)
        if share is not None and share > CONTENT_SHARE_MOST:
            text = "Making and judging data took more than 1 % of the time."
            found.append(Remark(kind=RemarkKind.HOST_LIMITED, text=text))
    if witness.io_wq_workers:
        text = "The target would not queue I/Os: threads of the kernel carried them out."
        found.append(Remark(kind=RemarkKind.IO_PUNTED, text=text))
    if witness.look_gap_ns_max > LOOK_GAP_NS_MOST:
        gap = format_duration(witness.look_gap_ns_max)
        text = say("The program stood still for {gap}: it was stopped, or had no CPU.", gap=gap)
        found.append(Remark(kind=RemarkKind.SAMPLER_GAP, text=text))
    if witness.drift_ppm is not None and abs(witness.drift_ppm) > DRIFT_PPM_MOST:
        drift = f"{witness.drift_ppm:+.1f}"
        text = say("The processor's counter was {drift} ppm off the kernel's clock.", drift=drift)
        found.append(Remark(kind=RemarkKind.CLOCK_STEPPED, text=text))
    if witness.slept_ns > SLEEP_NS_MOST:
        slept = format_duration(witness.slept_ns)
        text = say("The host slept for {time} during the step.", time=slept)
        found.append(Remark(kind=RemarkKind.CLOCK_STEPPED, text=text))
    return found


def depth_remarks(step: Load, witness: Witness) -> list[Remark]:
    """Return a remark for each closed loop that was not as deep as it was set to be."""
    streams = step.workload.streams
    # Older run files have one depth for all streams.
    if len(streams) == 1 or len(streams) != len(witness.stream_in_flight_asked):
        share = depth_share(step, witness)
        if share is None or share >= DEPTH_SHARE_LEAST:
            return []
        text = "Fewer than 95 % of the I/Os asked for were in flight, averaged over time."
        return [Remark(kind=RemarkKind.DEPTH_LIMITED, text=text)]
    found = []
    depths = zip(witness.stream_in_flight_mean, witness.stream_in_flight_asked, strict=True)
    for stream, (mean, asked) in zip(streams, depths, strict=True):
        if stream.rate is None and mean < DEPTH_SHARE_LEAST * asked:
            text = say(
                "Stream {name}: {mean} of {asked} I/Os were in flight on average.",
                name=stream.name,
                mean=f"{mean:.2f}",
                asked=asked,
            )
            found.append(Remark(kind=RemarkKind.DEPTH_LIMITED, text=text))
    return found


def device_remarks(step: Load, answer: StepResult) -> list[Remark]:
    """Return what the kernel's counters of the device say against the numbers."""
    shares = device_shares(answer)
    if shares.bytes_share is None or shares.foreign_bytes is None:
        return []
    # A lap shorter than the looks at the counters: much of it may be on their other side.
    if _goes_on(step) and answer.elapsed_ns < LEAST_NS:
        return []
    if shares.bytes_share == 0:
        text = "The kernel does not count this device's I/O (queue/iostats is 0)."
        return [Remark(kind=RemarkKind.CHECK_BLIND, text=text)]
    slack = _boundary_bytes(step, answer)
    share = f"{shares.bytes_share:.3f}"
    moved = say("The device moved {share} times the bytes of this run.", share=share)
    if shares.foreign_bytes > FOREIGN_SHARE_MOST * answer.bytes + slack:
        return [Remark(kind=RemarkKind.FOREIGN_IO, text=moved)]
    if -shares.foreign_bytes > MISSING_SHARE_MOST * answer.bytes + slack:
        return [Remark(kind=RemarkKind.BUFFERED, text=moved)]
    if shares.ios_share is not None:
        more_ios = (shares.ios_share - 1) * answer.ios
        flushes = sum(part.count for part in answer.commands if part.operation == "flush")
        slack_ios = _boundary_ios(step, answer) + flushes  # some drivers' flushes are writes
        if abs(more_ios) > SPLIT_SHARE_MOST * answer.ios + slack_ios:
            return [
                Remark(kind=RemarkKind.IO_SPLIT, text=_cut_or_joined(answer.ios, shares.ios_share))
            ]
    return []


def _cut_or_joined(own_ios: int, share: float) -> str:
    """Say what the kernel did to I/Os: the device saw more of them, or fewer."""
    seen_ios = round(own_ios * share)
    counts = {"own": f"{own_ios:,}", "seen": f"{seen_ios:,}"}
    if share > 1:
        return say(
            "I/Os were split: {own} of this run became {seen} of the device's, {share} for each.",
            share=f"{share:.2f}",
            **counts,
        )
    return say(
        "I/Os were merged: {own} of this run became {seen} of the device's, "
        "{share} merged into one.",
        share=f"{own_ios / max(seen_ios, 1):.2f}",
        **counts,
    )


def device_shares(answer: StepResult) -> DeviceShares:
    """Return the kernel's counters of the device over the step by the step's own.

    A discard of the engine reaches a block device as a write of zeroes without data, and the
    kernel counts those among the writes; what it counts as discards is apart already.
    """
    moved = _counted(answer, "kernel_read_bytes", "kernel_write_bytes")
    ios = _counted(answer, "kernel_reads", "kernel_writes")
    if moved is None or ios is None or not answer.bytes or not answer.ios:
        return DeviceShares(bytes_share=None, ios_share=None, foreign_bytes=None)
    discards = [part for part in answer.commands if part.operation == "discard"]
    discarded_bytes = sum(part.moved_bytes for part in discards)
    apart_bytes = _counted(answer, "kernel_discard_bytes") or 0
    if discarded_bytes > apart_bytes:
        as_writes = 1 - apart_bytes / discarded_bytes
        moved -= discarded_bytes - apart_bytes
        ios -= round(as_writes * sum(part.count for part in discards))
    return DeviceShares(
        bytes_share=moved / answer.bytes,
        ios_share=ios / answer.ios,
        foreign_bytes=moved - answer.bytes,
    )


def depth_share(step: Load, witness: Witness) -> float | None:
    """Return I/Os in flight by those set; None for an open loop, which sets none."""
    if any(stream.rate is not None for stream in step.workload.streams):
        return None
    asked = witness.in_flight_asked
    return witness.in_flight_mean / asked if asked else None


def delay_share(witness: Witness) -> float:
    """Return the share of the time that threads were ready to run and had no CPU."""
    available_ns = witness.wall_ns * witness.workers
    return witness.worker_delay_ns / available_ns if available_ns else 0.0


def content_share(witness: Witness) -> float | None:
    """Return the share of the time that threads made or judged data; None where not known."""
    if witness.made_ns is None or witness.judged_ns is None:
        return None
    available_ns = witness.wall_ns * witness.workers
    return (witness.made_ns + witness.judged_ns) / available_ns if available_ns else 0.0


def ceiling_share(answer: StepResult) -> float | None:
    """Return the step's IOPS by what the host does with no device; None where not known."""
    ceiling_iops = None if answer.witness is None else answer.witness.ceiling_iops
    return answer.iops / ceiling_iops if ceiling_iops else None


def _boundary_bytes(step: Load, answer: StepResult) -> int:
    """Return what may have moved on the other side of a look at the counters: one queue full.

    Failed I/Os may have moved bytes too, in the device's eyes.
    """
    block_size_bytes = max(stream.block_size_bytes for stream in step.workload.streams)
    return block_size_bytes * _boundary_ios(step, answer)


def _boundary_ios(step: Load, answer: StepResult) -> int:
    """Return how many I/Os those may be."""
    failed = sum(sum(part.errors.values()) for part in answer.results)
    streams = step.workload.streams
    queued = sum(stream.outstanding_ios for stream in streams) if _goes_on(step) else 0
    return queued + failed


def _goes_on(step: Load) -> bool:
    return isinstance(step, Measure) and (step.continues or step.open_ended)


def _counted(answer: StepResult, *counters: str) -> int | None:
    before, after = answer.health_before, answer.health_after
    if not all(name in before and name in after for name in counters):
        return None
    return sum(after[name] - before[name] for name in counters)
