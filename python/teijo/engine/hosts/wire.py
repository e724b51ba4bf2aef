"""What goes between the conductor of a shared run and a worker: JSON, one message a line.

Each end takes the other for a stranger: every message has its own form, a number has its bounds,
a line its length, and nothing in it names a program or is ever run.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

import numpy as np
from pydantic import (
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from teijo.engine.plan import Plan
from teijo.engine.session import Lap, Progress
from teijo.terms.census import Census
from teijo.terms.histogram import Histogram, open_together
from teijo.terms.result import COMMANDS, Intervals, OperationResult, StepResult
from teijo.terms.shared import Count, Told

VERSION: Final = 1
LINE_MOST: Final = 64 << 20
"""Bytes of a message; the lap of a day in intervals of a second has some 5 MiB."""
PROBES_MOST: Final = 64
MESSAGE_MOST: Final = 2000
"""Characters of what is said of an error; more are not sent."""
_SERIES: Final = ("ios", "bytes", "errors", "latency_ns_sum", "latency_ns_min", "latency_ns_max")
_OPERATIONS: Final = ("read", "write", *COMMANDS)

AMOUNT_END: Final = 1 << 57
"""What is added over hosts stays below: that of the most hosts there can be is below 2^63 then."""
Amount = Annotated[int, Field(ge=0, lt=AMOUNT_END)]
Said = Annotated[str, StringConstraints(max_length=MESSAGE_MOST)]
Operation = Literal["read", "write", "flush", "discard"]
Kind = Literal["target", "plan", "unsafe", "device", "stuck", "host"]
"""Which class of error."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Flaw(Exception):
    """What the other end sent is no message."""


class Message(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def line(self) -> bytes:
        """The message as it is sent."""
        return self.model_dump_json().encode() + b"\n"


class Open(Message):
    """Open the target: `probes` are places of blocks that tell whether it is the same one.

    `descriptor` is one of the conductor's, opened once more in place of the path: only a worker
    that it started itself has it. A worker that hears nothing for `silence_ns` ends at once, so
    that nobody writes on who was given up.
    """

    do: Literal["open"] = "open"
    number: Count
    target: Annotated[str, StringConstraints(max_length=20_000)]
    write: bool
    destroy: Told
    capacity_bytes: Count
    logical_block_bytes: Annotated[int, Field(gt=0, le=1 << 20)]
    probes: Annotated[tuple[Count, ...], Field(max_length=PROBES_MOST)]
    silence_ns: Annotated[int, Field(gt=0, lt=1 << 62)]
    descriptor: Annotated[int, Field(ge=3, lt=1 << 20)] | None = None


class AskTime(Message):
    """Tell both clocks, at once."""

    do: Literal["time"] = "time"
    number: Count


class Run(Message):
    """Run a plan, from `at_ns` of the worker's CLOCK_MONOTONIC on; 0: at once."""

    do: Literal["run"] = "run"
    number: Count
    plan: Plan
    at_ns: Count


class Stop(Message):
    """End the running lap early; its answer comes all the same."""

    do: Literal["stop"] = "stop"
    number: Count


class Limit(Message):
    """Leave a lap from now on when an I/O is older than that."""

    do: Literal["limit"] = "limit"
    io_timeout_ns: Count


class Finish(Message):
    """Complete what an open-ended stimulus has in flight."""

    do: Literal["finish"] = "finish"
    number: Count


class Ping(Message):
    """Somebody is here; `sent_ns` is that one's clock, and comes back with the answer."""

    do: Literal["ping"] = "ping"
    sent_ns: Count


Ask = Open | AskTime | Run | Stop | Limit | Finish | Ping


class Hello(Message):
    """Who the worker is, unasked; nothing was opened yet."""

    told: Literal["hello"] = "hello"
    version: Count = VERSION
    teijo: Told
    build: Told
    host: Told
    kernel: Told
    cpus: Count


class Opened(Message):
    """The target is open. `digests` are the SHA-256 of the blocks that were asked for."""

    told: Literal["opened"] = "opened"
    number: Count
    backend: Told
    digests: Annotated[tuple[Told, ...], Field(max_length=PROBES_MOST)]


class Time(Message):
    """CLOCK_MONOTONIC and the wall clock."""

    told: Literal["time"] = "time"
    number: Count
    clock_ns: Count
    wall_ns: Count


class WireSeries(BaseModel, frozen=True, extra="forbid"):
    """A time series: a list for each of its columns."""

    length_ns: Annotated[int, Field(gt=0, lt=1 << 62)]
    index: tuple[Count, ...]
    ios: tuple[Amount, ...]
    bytes: tuple[Amount, ...]
    errors: tuple[Amount, ...]
    latency_ns_sum: tuple[Amount, ...]
    latency_ns_min: tuple[Amount, ...]
    latency_ns_max: tuple[Amount, ...]


class WireHistogram(BaseModel, frozen=True, extra="forbid"):
    """A histogram: its V2 encoding, and the exact figures beside it."""

    v2: Base64Bytes
    sum_ns: Amount
    min_ns: Amount
    max_ns: Amount


class WireResult(BaseModel, frozen=True, extra="forbid"):
    """What came of one operation of one stream."""

    stream: Name
    operation: Operation
    count: Amount
    bytes: Amount | None
    errors: Mapping[Annotated[int, Field(ge=0, lt=4096)], Amount]
    latency: WireHistogram
    intervals: WireSeries | None
    response: WireHistogram | None
    backlog_max: Amount | None
    backlog_end: Amount | None


class WireLap(BaseModel, frozen=True, extra="forbid"):
    """A lap without what only its own host can judge (the witness)."""

    started_ns: Count
    elapsed_ns: Amount
    results: Annotated[tuple[WireResult, ...], Field(max_length=1000)]
    cursors: Mapping[Name, Count]
    census: Annotated[tuple[Census, ...], Field(max_length=1000)]
    notes: Annotated[tuple[Said, ...], Field(max_length=100)]
    failure: Said


class Look(Message):
    """How far the running lap is, and the intervals that were finished since the last look."""

    told: Literal["look"] = "look"
    number: Count
    elapsed_ns: Amount
    ios: Amount
    bytes: Amount
    errors: Amount
    finished: Annotated[tuple[tuple[Name, Operation, WireSeries], ...], Field(max_length=1000)]


class Done(Message):
    """The lap is over."""

    told: Literal["done"] = "done"
    number: Count
    lap: WireLap


class Finished(Message):
    """Nothing is in flight."""

    told: Literal["finished"] = "finished"
    number: Count


class Refused(Message):
    """What was asked for cannot be done: the class of the error, and its words."""

    told: Literal["refused"] = "refused"
    number: Count
    kind: Kind
    message: Said
    remedy: Said


class Pong(Message):
    """The worker is here, and its CLOCK_MONOTONIC."""

    told: Literal["pong"] = "pong"
    sent_ns: Count
    clock_ns: Count


Tell = Hello | Opened | Time | Look | Done | Finished | Refused | Pong
Answer = Opened | Time | Done | Finished

_ASKS: TypeAdapter[Ask] = TypeAdapter(Annotated[Ask, Field(discriminator="do")])
_TELLS: TypeAdapter[Tell] = TypeAdapter(Annotated[Tell, Field(discriminator="told")])
_Form = TypeVar("_Form")


def ask_of(line: bytes) -> Ask:
    """Return what the conductor asks for in a line.

    Raises:
        Flaw: it is nothing that can be asked for.
    """
    return _read(_ASKS, line)


def tell_of(line: bytes) -> Tell:
    """Return what a worker tells in a line.

    Raises:
        Flaw: it is nothing that a worker tells.
    """
    return _read(_TELLS, line)


def _read(form: TypeAdapter[_Form], line: bytes) -> _Form:
    try:
        return form.validate_json(line)
    # A stream that has no sense asserts that by itself.
    except (ValidationError, AssertionError, RecursionError) as error:
        raise Flaw from error


def look_of(number: int, now: Progress) -> Look:
    """Return a look at a lap as it is sent."""
    finished = tuple(
        (stream, operation, _series_out(series)) for stream, operation, series in now.finished
    )
    return Look(
        number=number, elapsed_ns=now.elapsed_ns, ios=now.ios, bytes=now.bytes,
        errors=now.errors, finished=finished,  # type: ignore[arg-type]
    )  # fmt: skip


def finished_in(look: Look) -> list[tuple[str, str, Intervals]]:
    """Return the finished intervals that a look has.

    Raises:
        Flaw: a series is none.
    """
    return [(stream, operation, _series_in(each)) for stream, operation, each in look.finished]


def lap_out(lap: Lap) -> WireLap:
    """Return a lap as it is sent."""
    result = lap.result
    return WireLap(
        started_ns=result.started_ns,
        elapsed_ns=result.elapsed_ns,
        results=tuple(map(_result_out, (*result.results, *result.commands))),
        cursors=dict(result.cursors),
        census=result.census,
        notes=tuple(note[:MESSAGE_MOST] for note in lap.notes),
        failure=lap.failure[:MESSAGE_MOST],
    )


def lap_in(sent: WireLap, plan: Plan) -> Lap:
    """Return the lap that was sent as the answer to a plan.

    Raises:
        Flaw: it has streams that the plan has not, a histogram of other I/Os than it counts, more
            than anybody can have moved, or a series that is none.
    """
    streams = {placed.stream.name for placed in plan.streams}
    named = [(each.stream, each.operation) for each in sent.results]
    told = {stream for stream, _ in named} | set(sent.cursors)
    told |= {each.stream for each in sent.census}
    operations = {each.operation for each in sent.census} - set(_OPERATIONS)
    if not told <= streams or operations or len(set(named)) < len(named):
        raise Flaw
    parts = [_result_in(each, plan) for each in sent.results]
    totals = (
        sum(part.count for part in parts),
        sum(part.bytes or 0 for part in parts),
        sum(sum(part.errors.values()) for part in parts),
    )
    if max(totals) >= AMOUNT_END:
        raise Flaw
    _check_histograms(parts)
    result = StepResult(
        started_ns=sent.started_ns,
        elapsed_ns=sent.elapsed_ns,
        results=tuple(each for each in parts if each.operation not in COMMANDS),
        commands=tuple(each for each in parts if each.operation in COMMANDS),
        cursors=dict(sent.cursors),
        census=sent.census,
    )
    return Lap(result=result, notes=sent.notes, failure=sent.failure)


def _check_histograms(parts: list[OperationResult]) -> None:
    pairs = [(one.count, held) for one in parts for held in (one.latency, one.response)]
    found = [(count, held) for count, held in pairs if held is not None]
    try:
        open_together(held for _, held in found)
    except ValueError as error:
        raise Flaw from error
    if any(held.count != count for count, held in found):
        raise Flaw


def _result_out(result: OperationResult) -> WireResult:
    response = None if result.response is None else _histogram_out(result.response)
    return WireResult(
        stream=result.stream,
        operation=result.operation,  # type: ignore[arg-type]
        count=result.count,
        bytes=result.bytes,
        errors=dict(result.errors),
        latency=_histogram_out(result.timed),
        intervals=None if result.intervals is None else _series_out(result.intervals),
        response=response,
        backlog_max=result.backlog_max,
        backlog_end=result.backlog_end,
    )


def _result_in(sent: WireResult, plan: Plan) -> OperationResult:
    series = None if sent.intervals is None else _series_in(sent.intervals)
    if series is not None and series.length_ns != plan.interval_ns:
        raise Flaw
    return OperationResult(
        stream=sent.stream,
        operation=sent.operation,
        count=sent.count,
        bytes=sent.bytes,
        errors=dict(sent.errors),
        latency=_histogram_in(sent.latency),
        intervals=series,
        response=None if sent.response is None else _histogram_in(sent.response),
        backlog_max=sent.backlog_max,
        backlog_end=sent.backlog_end,
    )


def _histogram_out(held: Histogram) -> WireHistogram:
    figures = {"sum_ns": held.sum_ns, "min_ns": held.min_ns, "max_ns": held.max_ns}
    return WireHistogram.model_validate({"v2": b64encode(held.v2), **figures})


def _histogram_in(sent: WireHistogram) -> Histogram:
    return Histogram(sent.v2, sent.sum_ns, sent.min_ns, sent.max_ns)


def _series_out(series: Intervals) -> WireSeries:
    columns: dict[str, Any] = {name: getattr(series, name).tolist() for name in ("index", *_SERIES)}
    return WireSeries(length_ns=series.length_ns, **columns)


def _series_in(sent: WireSeries) -> Intervals:
    columns = {name: np.array(getattr(sent, name), np.int64) for name in ("index", *_SERIES)}
    index = columns["index"]
    if len({len(column) for column in columns.values()}) > 1 or (np.diff(index) <= 0).any():
        raise Flaw
    return Intervals(length_ns=sent.length_ns, **columns)
