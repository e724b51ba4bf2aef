"""A worker ends with its conductor: nobody writes on for a run that is gone."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo.engine.hosts import wire
from teijo.engine.hosts.worker import LEFT, refusal
from teijo.errors import (
    DeviceError,
    HostError,
    IdentityError,
    PlanError,
    StuckDevice,
    TargetError,
    TeijoError,
    UnsafeError,
)
from teijo.units import NS_PER_S
from tests.engine.hosts import SIZE_BYTES, lines_of, log_of
from tests.engine.plans import for_time, stream

WAIT_S = 120
PLAN = for_time(NS_PER_S, stream(SIZE_BYTES))

Worker = subprocess.Popen[bytes]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    """Give a worker whose laps last until they are stopped."""
    words = [sys.executable, "-m", "tests.engine.known_worker", str(log_of(tmp_path, "one"))]
    with subprocess.Popen([*words, "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        yield one
        one.kill()


def say(worker: Worker, *messages: wire.Message) -> None:
    assert worker.stdin is not None
    for message in messages:
        worker.stdin.write(message.line)
    worker.stdin.flush()


def heard(worker: Worker, kind: type[wire.Message]) -> wire.Tell:
    """Return the next thing of a kind that a worker tells."""
    assert worker.stdout is not None
    for line in worker.stdout:
        tell = wire.tell_of(line)
        if isinstance(tell, kind):
            return tell
    raise AssertionError(f"it ended before it told {kind.__name__}")


def opened(silence_ns: int) -> wire.Open:
    return wire.Open(
        number=1, target="/target", write=True, destroy="", capacity_bytes=SIZE_BYTES,
        logical_block_bytes=512, probes=(), silence_ns=silence_ns,
    )  # fmt: skip


def begin(worker: Worker, silence_ns: int) -> None:
    """Have a lap under way."""
    heard(worker, wire.Hello)
    say(worker, opened(silence_ns), wire.Run(number=2, plan=PLAN, at_ns=0))
    heard(worker, wire.Look)


def test_it_ends_in_the_middle_of_a_lap_when_its_channel_ends(worker: Worker) -> None:
    begin(worker, 600 * NS_PER_S)
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.stdout is not None
    worker.stdout.read()
    assert worker.wait(WAIT_S) in (0, LEFT)


def test_it_ends_in_the_middle_of_a_lap_when_nothing_is_heard_of_its_conductor(
    worker: Worker,
) -> None:
    begin(worker, NS_PER_S)
    # The channel stays open, and is read, as one that leads over a network which is cut.
    assert worker.stdout is not None
    reader = threading.Thread(target=worker.stdout.read)
    reader.start()
    assert worker.wait(WAIT_S) == LEFT
    reader.join()


def test_questions_of_time_and_life_are_answered_during_a_lap_and_a_stop_ends_it(
    worker: Worker, tmp_path: Path
) -> None:
    begin(worker, 600 * NS_PER_S)
    say(worker, wire.Ping(sent_ns=5), wire.AskTime(number=3))
    pong, told = heard(worker, wire.Pong), heard(worker, wire.Time)
    assert isinstance(pong, wire.Pong)
    assert isinstance(told, wire.Time)
    assert pong.sent_ns == 5
    assert told.clock_ns >= pong.clock_ns
    say(worker, wire.Stop(number=2))
    done = heard(worker, wire.Done)
    assert isinstance(done, wire.Done)
    assert done.number == 2
    assert len(lines_of(tmp_path, "one", "began")) == 1


def test_what_is_asked_out_of_turn_is_refused_and_the_worker_stays(worker: Worker) -> None:
    heard(worker, wire.Hello)
    say(worker, wire.Run(number=1, plan=PLAN, at_ns=0))
    early = heard(worker, wire.Refused)
    say(worker, opened(600 * NS_PER_S), opened(600 * NS_PER_S))
    heard(worker, wire.Opened)
    twice = heard(worker, wire.Refused)
    say(worker, wire.Run(number=3, plan=PLAN, at_ns=1 << 62))
    far = heard(worker, wire.Refused)
    messages = [each.message for each in (early, twice, far) if isinstance(each, wire.Refused)]
    assert messages == [
        "No target is open here.",
        "A target is open here already.",
        "The moment to begin at lies too far ahead.",
    ]


def test_what_nobody_can_ask_ends_it(worker: Worker) -> None:
    heard(worker, wire.Hello)
    assert worker.stdin is not None
    worker.stdin.write(b'{"do":"format","target":"/dev/sda"}\n')
    worker.stdin.flush()
    assert worker.wait(WAIT_S) in (0, LEFT)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TargetError, "target"),
        (PlanError, "plan"),
        (UnsafeError, "unsafe"),
        (StuckDevice, "stuck"),
        (DeviceError, "device"),
        (HostError, "host"),
        (IdentityError, "host"),
    ],
)
def test_an_error_is_told_with_its_class(error: type[TeijoError], kind: str) -> None:
    told = refusal(7, error("It went wrong" + "!" * 5000, remedy="Mend it."))
    assert (told.number, told.kind, told.remedy) == (7, kind, "Mend it.")
    assert len(told.message) <= wire.MESSAGE_MOST
