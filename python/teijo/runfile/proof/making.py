"""What a step says of how it was made: its depth, the witness, and the remarks that follow."""

from collections import Counter
from collections.abc import Iterable
from math import isfinite
from typing import Final

from teijo.analysis import validity
from teijo.document.phrase import say
from teijo.runfile.proof.chain import NOT_PURGED
from teijo.runfile.proof.flaw import Check, Flaw, Flaws, answered, engine_is_fio, is_simulated
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap, StepResult, Witness
from teijo.terms.shared import hosts_at
from teijo.terms.step import Measure, Precondition, Purge

_AREA_SHARE: Final = 0.03
"""Latencies against the I/Os in flight: two accounts of the same time by one clock."""
_WALL_SHARE: Final = 0.02
_SLACK_NS: Final = 10_000_000
_FIO_SHARE: Final = 0.02
_FIO_NS: Final = 100_000_000
"""fio's run time leaves out how it starts and ends."""

_DERIVED: Final = frozenset(
    {RemarkKind.SCHEDULE_NOT_KEPT, RemarkKind.FOREIGN_IO, RemarkKind.IO_SPLIT}
    | {RemarkKind.HOST_LIMITED, RemarkKind.DEPTH_LIMITED, RemarkKind.IO_PUNTED}
    | {RemarkKind.SAMPLER_GAP}
)
"""What is said of a step for no other reason than its own numbers."""


def depth_flaws(record: Record) -> Flaws:
    """Give each step with more latency than time and queue have room for, or less than in flight.

    A stimulus that goes on from step to step is one piece: what a step began another may end.
    """
    rounded = _FIO_SHARE if engine_is_fio(record) else 0.0
    held = _Held()
    for each, answer in answered(record):
        step = each.step
        if not isinstance(step, Measure | Precondition):
            continue
        depth = hosts_at(answer.detail) * sum(
            stream.outstanding_ios for stream in step.workload.streams
        )
        latency_ns = _latency_ns(answer)
        joined = isinstance(step, Measure) and step.continues
        longest_ns = _longest_ns(answer) if joined else 0
        room_ns = depth * (answer.elapsed_ns + longest_ns) * (1 + rounded)
        if latency_ns > room_ns + (depth * _FIO_NS if rounded else 0):
            text = say(
                "{latency:,} ns of latency do not fit in {time:,} ns and a depth of {depth}",
                latency=latency_ns,
                time=answer.elapsed_ns,
                depth=depth,
            )
            yield Flaw(check=Check.DEPTH, text=text, step=each.seq)
        if answer.witness is not None:
            yield from _witness_flaws(each.seq, answer, answer.witness, depth)
        held = held if joined else _Held()
        held.add(step, answer, depth)
        open_ended = isinstance(step, Measure) and step.open_ended
        if not open_ended:
            yield from held.flaws(each.seq)


def _latency_ns(answer: StepResult) -> int:
    return sum(part.timed.sum_ns for part in (*answer.results, *answer.commands))


def _longest_ns(answer: StepResult) -> int:
    parts = (*answer.results, *answer.commands)
    return max((part.timed.max_ns for part in parts), default=0)


class _Held:
    """The I/Os in flight over a whole stimulus, by the engine's account and by their latencies."""

    def __init__(self) -> None:
        self._area_ns = 0.0
        self._latency_ns = 0
        self._host_ns = 0
        self._is_comparable = True

    def add(self, step: Measure | Precondition, answer: StepResult, depth: int) -> None:
        """Take in a step; failed I/Os were in flight and have no latency, so they end it."""
        witness = answer.witness
        failed = any(part.errors for part in (*answer.results, *answer.commands))
        if witness is None or failed or "failure" in answer.detail:
            self._is_comparable = False
            return
        self._area_ns += witness.in_flight_mean * witness.wall_ns
        self._latency_ns += _latency_ns(answer)
        # In flight by one account, and not by the other: while the host made and judged, and
        # while a worker waited for a processor, which a busy host lets all of them do.
        late_ns = (witness.turn_gap_ns_max or 0) + (witness.worker_delay_ns or 0)
        self._host_ns += depth * ((witness.made_ns or 0) + (witness.judged_ns or 0) + late_ns)
        # The mean is of the time in which I/Os were issued, not of that until the last was back.
        self._host_ns += depth * _drained_ns(step, answer, witness)

    def flaws(self, seq: int) -> Flaws:
        """Give the flaw of a stimulus that has ended, if there is one."""
        off = abs(self._latency_ns - self._area_ns)
        most = _AREA_SHARE * self._area_ns + self._host_ns + _SLACK_NS
        if self._is_comparable and not (isfinite(most) and off <= most):
            text = say(
                "latencies add up to {latency:,} ns, and {held:,.0f} ns were in flight",
                latency=self._latency_ns,
                held=self._area_ns,
            )
            yield Flaw(check=Check.DEPTH, text=text, step=seq)


def _drained_ns(step: Measure | Precondition, answer: StepResult, witness: Witness) -> int:
    """Return how long at most the last I/Os were waited for with none issued any more."""
    match step:
        case Measure(duration_ns=asked_ns):
            return max(0, witness.wall_ns - asked_ns)
        case Precondition():
            return min(_longest_ns(answer), witness.wall_ns)


def _witness_flaws(seq: int, answer: StepResult, witness: Witness, depth: int) -> Flaws:
    off_ns = abs(witness.wall_ns - answer.elapsed_ns)
    if witness.in_flight_asked != depth or off_ns > _WALL_SHARE * answer.elapsed_ns + _SLACK_NS:
        text = "the engine's account of it is of another depth or length"
        yield Flaw(check=Check.DEPTH, text=text, step=seq)


def self_check_flaws(record: Record) -> Flaws:
    """Give each step whose numbers lead to other remarks than it has.

    The limits are those of this program: of a file of another one, what differs proves nothing.
    """
    for each, answer in answered(record):
        if not isinstance(each.step, Measure | Precondition):
            continue
        recorded = Counter(remark.kind for remark in answer.remarks)
        due = Counter(remark.kind for remark in validity.remarks_on(each.step, answer))
        missing = [kind for kind in due if kind not in recorded]
        added = [kind for kind in recorded if kind in _DERIVED and kind not in due]
        if missing:
            text = say(
                "its numbers call for a remark that is missing: {kinds}", kinds=_named(missing)
            )
            yield Flaw(check=Check.SELF_CHECKS, text=text, step=each.seq)
        if added:
            text = say("its numbers do not lead to a remark it has: {kinds}", kinds=_named(added))
            yield Flaw(check=Check.SELF_CHECKS, text=text, step=each.seq)


def _named(kinds: Iterable[RemarkKind]) -> str:
    return ", ".join(kind.value for kind in kinds)


def ending_flaws(record: Record) -> Flaws:
    """Give what purges, failures, resumptions and the ending do not say, or say without reason."""
    for each, answer in answered(record):
        kinds = {remark.kind for remark in answer.remarks}
        failed = any(
            count for part in (*answer.results, *answer.commands) for count in part.errors.values()
        )
        faults = answer.verification is not None and bool(answer.verification.faults)
        purged = answer.detail.get("method") != NOT_PURGED
        for holds, kind in (
            (failed, RemarkKind.IO_ERRORS),
            (faults, RemarkKind.WRONG_DATA),
            (isinstance(each.step, Purge) and not purged, RemarkKind.NOT_PURGED),
        ):
            if holds != (kind in kinds):
                yield _unsaid(holds, kind, each.seq)
    yield from _run_flaws(record)


def _run_flaws(record: Record) -> Flaws:
    kinds = Counter(remark.kind for remark in record.remarks)
    simulated = is_simulated(record)
    for holds, kind in (
        (record.run.ending == "not steady", RemarkKind.NOT_STEADY),
        (simulated, RemarkKind.SIMULATED),
    ):
        if holds != (kind in kinds):
            yield _unsaid(holds, kind, None)
    gaps = sum(isinstance(each.answer, Gap) for each in record.steps)
    # A step that a host broke off is a gap before the run is gone on with.
    if gaps > kinds[RemarkKind.RESUMED] + kinds[RemarkKind.INTERRUPTED]:
        text = say(
            "{gaps} steps did not take place, and {times} resumptions are told",
            gaps=gaps,
            times=kinds[RemarkKind.RESUMED],
        )
        yield Flaw(check=Check.ENDING, text=text)
    if simulated != ("simulated" in record.run.engine):
        yield Flaw(check=Check.ENDING, text="engine and device do not agree on a simulation")


def _unsaid(holds: bool, kind: RemarkKind, seq: int | None) -> Flaw:
    if holds:
        text = say("the remark {kind} is missing", kind=kind.value)
    else:
        text = say("the remark {kind} stands there without a reason", kind=kind.value)
    return Flaw(check=Check.ENDING, text=text, step=seq)
