"""When a drive was slowed by its heat, or lost power: what its own counters say between readings.

A counter tells that something happened between two readings, not when. So it touches each step
that lies between them. A temperature or a status is of its moment, and touches that step alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from teijo.document.phrase import say
from teijo.terms.reading import Reading
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Precondition
from teijo.units import ZERO_CELSIUS_KELVIN

LIMIT = "warning_limit_kelvin"
"""Among the counters of a reading: the temperature from which on the drive warns (WCTEMP)."""
WARNING_BITS = "critical_warning"
MEDIA_ERRORS = "media_errors"
Grown = Mapping[str, tuple[int, int]]
"""Counters that rose, with what they were before and after."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """When a step began and ended, on the run's clock."""

    seq: int
    started_ns: int
    ended_ns: int


def sessions(record: Record) -> tuple[tuple[Reading, ...], ...]:
    """Return the readings of a record in pieces: between two of them nobody watched the drive."""
    gaps = [each.seq for each in record.steps if isinstance(each.answer, Gap)]
    found: list[list[Reading]] = []
    last: tuple[int, int] | None = None
    for reading in record.readings:
        piece = sum(seq < reading.step for seq in gaps)
        if last is None or piece != last[0] or reading.at_ns < last[1]:
            found.append([])
        found[-1].append(reading)
        last = (piece, reading.ended_ns)
    return tuple(map(tuple, found))


def spans(record: Record) -> tuple[Span, ...]:
    """Return the steps of a record that drove the device."""
    return tuple(
        Span(
            seq=each.seq,
            started_ns=each.answer.started_ns,
            ended_ns=each.answer.started_ns + each.answer.elapsed_ns,
        )
        for each in record.steps
        if isinstance(each.step, Measure | Precondition) and isinstance(each.answer, StepResult)
    )


def remarks_on(span: Span, readings: Sequence[Reading]) -> tuple[Remark, ...]:
    """Return what readings of one piece say against a step, each with its numbers.

    The last reading before the step and the first one after it bound what happened in it.
    """
    told = [reading for reading in readings if reading.counters]
    before = [reading for reading in told if reading.at_ns <= span.started_ns][-1:]
    within = [each for each in told if span.started_ns < each.at_ns <= span.ended_ns]
    after = [reading for reading in told if reading.at_ns > span.ended_ns][:1]
    if not within and not (before and after):
        return ()
    chain = [*before, *within, *after]
    rose = grown(chain[0], chain[-1])
    return tuple(
        Remark(kind=kind, text=text, step=span.seq)
        for kind, texts in (
            (RemarkKind.THROTTLED, (*_slowed(rose), *_moments(within))),
            (RemarkKind.POWER_CYCLED, _power(rose)),
        )
        for text in texts
    )


def warning_between(before: Reading, after: Reading) -> str:
    """Return what `warnings_between` has in one line, "" if nothing."""
    return "; ".join(warnings_between(before, after))


def warnings_between(before: Reading, after: Reading) -> tuple[str, ...]:
    """Return what a drive began to say against itself from one reading to the next.

    That is all that makes a step *throttled* or *power cycled*, a bit of the critical warning that
    was not set before, and more media errors.
    """
    rose = grown(before, after)
    new = after.counters.get(WARNING_BITS, 0) & ~before.counters.get(WARNING_BITS, 0)
    found = [*_slowed(rose), *_moments([after]), *_power(rose)]
    if new:
        found.append(say("critical warning: new bits {bits:#x}", bits=new))
    if MEDIA_ERRORS in rose:
        found.append(say("media errors: {before:,}, then {after:,}", **_pair(rose, MEDIA_ERRORS)))
    return tuple(found)


def grown(before: Reading, after: Reading) -> Grown:
    """Return the counters that rose from one reading to another."""
    then, now = before.counters, after.counters
    return {name: (then[name], now[name]) for name in now if then.get(name, now[name]) < now[name]}


def _pair(rose: Grown, name: str) -> dict[str, int]:
    return {"before": rose[name][0], "after": rose[name][1]}


def _by(rose: Grown, name: str) -> int:
    before, after = rose.get(name, (0, 0))
    return after - before


def _slowed(rose: Grown) -> Sequence[str]:
    found: list[str] = []
    for state in (1, 2):
        times = _by(rose, f"thermal_{state}_transitions")
        seconds = _by(rose, f"thermal_{state}_seconds")
        if times or seconds:
            found.append(
                say(
                    "thermal state {state}: entered {times:,} times, {seconds:,} s in it",
                    state=state,
                    times=times,
                    seconds=seconds,
                )
            )
    if minutes := _by(rose, "warning_temperature_minutes"):
        found.append(say("above the warning temperature: {minutes:,} min", minutes=minutes))
    if minutes := _by(rose, "critical_temperature_minutes"):
        found.append(say("above the critical temperature: {minutes:,} min", minutes=minutes))
    if "throttle_events" in rose:
        found.append(say("throttle events: {before:,}, then {after:,}",
                         **_pair(rose, "throttle_events")))  # fmt: skip
    return found


def _moments(readings: Sequence[Reading]) -> Sequence[str]:
    """Return what readings say of their own moment, the hottest of them for all."""
    found: list[str] = []
    hot = [each.counters for each in readings if _is_hot(each.counters)]
    if hot:
        kelvin = max(each["temperature_kelvin"] for each in hot)
        found.append(
            say(
                "temperature {celsius:,} °C; the drive warns from {limit:,} °C on",
                celsius=kelvin - ZERO_CELSIUS_KELVIN,
                limit=hot[0][LIMIT] - ZERO_CELSIUS_KELVIN,
            )
        )
    if status := max((each.counters.get("throttle_status", 0) for each in readings), default=0):
        found.append(say("throttle status: {status}", status=status))
    return found


def _is_hot(counters: Mapping[str, int]) -> bool:
    limit, kelvin = counters.get(LIMIT, 0), counters.get("temperature_kelvin", 0)
    return 0 < limit <= kelvin


def _power(rose: Grown) -> Sequence[str]:
    found: list[str] = []
    if "power_cycles" in rose:
        found.append(say("power cycles: {before:,}, then {after:,}", **_pair(rose, "power_cycles")))
    if "unsafe_shutdowns" in rose:
        found.append(
            say("unsafe shutdowns: {before:,}, then {after:,}", **_pair(rose, "unsafe_shutdowns"))
        )
    return found
