"""What goes between hosts comes back as it was, and what is none of it is refused."""

import json

import numpy as np
import pytest

from teijo.engine import Lap
from teijo.engine.hosts import wire
from teijo.engine.hosts.wire import Flaw
from teijo.terms.census import Census
from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult, StepResult
from tests.engine.plans import MIB, for_bytes, for_time, stream

PLANS = [
    for_time(10**9, stream(MIB, read_percent=30), open_ended=True),
    for_bytes(MIB, stream(MIB, block_mix=((4096, 1), (8192, 2)), block_size_bytes=8192)),
    for_time(10**9, stream(MIB, access="zoned", zones=((50.0, 5.0), (50.0, 95.0)))),
    for_time(10**9, stream(MIB, ios_per_second=5.5, schedule="poisson", name="b"), stream(MIB)),
]


def lap() -> Lap:
    times = np.array([10_000, 12_345, 9_999_999], np.int64)
    ones = np.array([1, 2], np.int64)
    series = Intervals(
        length_ns=10**9, index=np.array([0, 7], np.int64), ios=ones, bytes=ones * 4096,
        errors=ones - 1, latency_ns_sum=ones * 5, latency_ns_min=ones, latency_ns_max=ones * 9,
    )  # fmt: skip
    parts = [
        OperationResult(
            stream="main", operation=operation, count=3, bytes=moved, errors={5: 1},
            latency=histogram_of(times), intervals=series, backlog_max=4, backlog_end=2,
            response=histogram_of(times + 1),
        )
        for operation, moved in (("read", 3 * 4096), ("flush", None))
    ]  # fmt: skip
    result = StepResult(
        started_ns=5, elapsed_ns=6, results=(parts[0],), commands=(parts[1],),
        cursors={"main": 8192},
        census=(Census(stream="main", operation="read", ios=3, hashes=(1, 2), counts=(1, 2)),),
    )  # fmt: skip
    return Lap(result=result, notes=("a note",), failure="it fails")


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_comes_back_as_it_was(plan: wire.Plan) -> None:
    line = wire.Run(number=3, plan=plan, at_ns=7).line
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    ask = wire.ask_of(line)
    assert isinstance(ask, wire.Run)
    assert ask.plan == plan


def test_a_lap_comes_back_as_it_was() -> None:
    tell = wire.tell_of(wire.Done(number=3, lap=wire.lap_out(lap())).line)
    assert isinstance(tell, wire.Done)
    assert wire.lap_in(tell.lap, for_time(10**9, stream(MIB))) == lap()


def changed(path: str, value: object) -> bytes:
    """Return the line of a lap in which one thing is another."""
    sent = json.loads(wire.Done(number=3, lap=wire.lap_out(lap())).line)
    *way, last = path.split(".")
    place = sent
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return json.dumps(sent).encode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("lap.results.0.count", 4),
        ("lap.results.0.count", -3),
        ("lap.results.0.stream", "another"),
        ("lap.results.0.operation", "format"),
        ("lap.results.0.operation", "flush"),
        ("lap.results.0.bytes", wire.AMOUNT_END),
        ("lap.results.0.errors", {"5": wire.AMOUNT_END - 1, "6": 1}),
        ("lap.results.0.latency.sum_ns", wire.AMOUNT_END),
        ("lap.elapsed_ns", wire.AMOUNT_END),
        ("lap.results.0.latency.v2", "AAAA"),
        ("lap.results.0.latency.v2", "no base64"),
        ("lap.results.0.intervals.index", [7, 7]),
        ("lap.results.0.intervals.ios", [1]),
        ("lap.results.0.intervals.length_ns", 5),
        ("lap.cursors", {"another": 1}),
        ("lap.census.0.stream", "another"),
        ("lap.census.0.operation", "create"),
        ("lap.census.0.counts", [5, 5]),
        ("lap.failure", "x" * 3000),
        ("lap.more", 1),
        ("told", "gone"),
        ("number", None),
    ],
)
def test_what_no_worker_can_have_measured_is_refused(path: str, value: object) -> None:
    def heard() -> Lap:
        tell = wire.tell_of(changed(path, value))
        assert isinstance(tell, wire.Done)
        return wire.lap_in(tell.lap, for_time(10**9, stream(MIB)))

    with pytest.raises(Flaw):
        heard()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"Welcome",
        b"{}",
        b'{"do":"format"}',
        b'{"do":"stop","number":-1}',
        b'{"do":"stop","number":1,"shell":"rm"}',
        b"[" * 100_000,
        b'{"do":"stop","number":1e400}',
        b"\xff\xfe",
    ],
)
def test_what_cannot_be_asked_for_is_refused(line: bytes) -> None:
    with pytest.raises(Flaw):
        wire.ask_of(line)


def test_a_plan_without_sense_is_no_question() -> None:
    sent = json.loads(wire.Run(number=1, plan=PLANS[0], at_ns=0).line)
    sent["plan"]["streams"][0]["stream"]["threads"] = 0
    with pytest.raises(Flaw):
        wire.ask_of(json.dumps(sent).encode())
