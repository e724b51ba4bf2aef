"""A worker: carries out on its host what the conductor of a shared run asks for.

It ends when its conductor does, or is not heard any more: nobody writes to a target on the word of
a run that has given it up.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, Protocol

from teijo.engine.hosts import wire
from teijo.engine.hosts.wire import Ask, Flaw, Hello, Open, Refused, Run
from teijo.engine.session import Progress, Session
from teijo.errors import (
    DeviceError,
    HostError,
    PlanError,
    StuckDevice,
    TargetError,
    TeijoError,
    UnsafeError,
)
from teijo.units import NS_PER_S

LEFT: Final = 75
"""Exit code of a worker that was left: a temporary failure, as sysexits.h has it."""
FIRST_SILENCE_NS: Final = 60 * NS_PER_S
"""Until the conductor says how long it may be silent."""
BLIND_NS: Final = 2 * NS_PER_S
"""Who did not look for longer was not running; so much of it counts as silence."""
_LOOK_S: Final = 0.5
_GRACE_S: Final = 5.0
_WAIT_MOST_NS: Final = 60 * NS_PER_S
_NAP_S: Final = 0.01
_LAST_S: Final = 0.002
"""So long before the moment nothing is asked any more: the process sleeps to it."""
_READ_BYTES: Final = 1 << 16


class Joined(Protocol):
    """A target as a worker has it open."""

    session: Session
    digests: tuple[str, ...]

    def close(self) -> None:
        """Give it up."""
        ...


@dataclass
class _Left:
    """Whether the conductor is gone, and how long it was silent."""

    moves: int = 0
    silence_ns: int = FIRST_SILENCE_NS
    is_over: bool = False


class Worker:
    """One worker on two descriptors; `opening` opens the target that is named to it."""

    def __init__(
        self, source: int, sink: int, hello: Hello, opening: Callable[[Open], Joined]
    ) -> None:
        """Take over the channel."""
        self._source, self._sink = source, sink
        self._hello = hello
        self._opening = opening
        self._joined: Joined | None = None
        self._asks: SimpleQueue[Ask | None] = SimpleQueue()
        self._telling = threading.Lock()
        self._stopped = 0
        """The number of the last lap that is to end early."""
        self._left = _Left()
        self._is_stuck = False

    def serve(self) -> None:
        """Carry out what is asked for until the conductor ends it, and give the target up."""
        for work in (self._listen, self._guard):
            threading.Thread(target=work, daemon=True).start()
        self._tell(self._hello)
        try:
            while (ask := self._asks.get()) is not None:
                self._carry_out(ask)
        finally:
            if self._is_stuck:
                os._exit(LEFT)  # to give up what does not answer would wait as well
            if self._joined is not None:
                self._joined.close()

    def _carry_out(self, ask: Ask) -> None:
        number = getattr(ask, "number", 0)
        try:
            match ask:
                case wire.Open():
                    self._open(ask)
                case wire.Run():
                    self._run(ask)
                case wire.Limit(io_timeout_ns=limit_ns):
                    self._session.limit_io(limit_ns)
                case wire.Finish():
                    self._session.finish()
                    self._tell(wire.Finished(number=number))
                case wire.AskTime() | wire.Stop() | wire.Ping():
                    raise AssertionError("answered where it is heard")
        except TeijoError as error:
            self._is_stuck = self._is_stuck or isinstance(error, StuckDevice)
            self._tell(refusal(number, error))

    @property
    def _session(self) -> Session:
        if self._joined is None:
            raise HostError("No target is open here", remedy="Begin the run anew.")
        return self._joined.session

    def _open(self, ask: Open) -> None:
        if self._joined is not None:
            raise HostError("A target is open here already", remedy="Begin the run anew.")
        self._left.silence_ns = ask.silence_ns
        self._joined = self._opening(ask)
        backend, digests = self._joined.session.backend, self._joined.digests
        self._tell(wire.Opened(number=ask.number, backend=backend, digests=digests))

    def _run(self, ask: Run) -> None:
        session = self._session
        if ask.at_ns:
            self._wait(ask)

        def look(now: Progress) -> bool:
            self._tell(wire.look_of(ask.number, now))
            return self._stopped < ask.number and not self._left.is_over

        lap = session.run(ask.plan, look)
        self._tell(wire.Done(number=ask.number, lap=wire.lap_out(lap)))

    def _wait(self, ask: Run) -> None:
        """Wait for the moment that all hosts begin at."""
        if ask.at_ns - time.monotonic_ns() > _WAIT_MOST_NS:
            raise HostError(
                "The moment to begin at lies too far ahead", remedy="Begin the run anew."
            )
        while (left_s := (ask.at_ns - time.monotonic_ns()) / NS_PER_S) > 0.0:
            if self._stopped >= ask.number or self._left.is_over:
                return
            time.sleep(left_s if left_s < _LAST_S else min(_NAP_S, left_s / 2))

    def _tell(self, message: wire.Message) -> None:
        line = memoryview(message.line)
        with self._telling, suppress(OSError):  # nobody listens: whoever hears ends this process
            while line:
                line = line[os.write(self._sink, line) :]

    def _listen(self) -> None:
        """Hear the conductor: questions of time and life are answered here, also during a lap."""
        held = bytearray()
        try:
            while chunk := os.read(self._source, _READ_BYTES):
                self._left.moves += 1
                held += chunk
                while (end := held.find(b"\n")) >= 0:
                    line = bytes(held[:end])
                    del held[: end + 1]
                    self._hear(wire.ask_of(line))
                if len(held) > wire.LINE_MOST:
                    break
        except (Flaw, OSError):
            pass
        self._left.is_over = True
        self._asks.put(None)

    def _hear(self, ask: Ask) -> None:
        match ask:
            case wire.Ping(sent_ns=sent_ns):
                self._tell(wire.Pong(sent_ns=sent_ns, clock_ns=time.monotonic_ns()))
            case wire.AskTime(number=number):
                now_ns, wall_ns = time.monotonic_ns(), time.time_ns()
                self._tell(wire.Time(number=number, clock_ns=now_ns, wall_ns=wall_ns))
            case wire.Stop(number=number):
                self._stopped = number
            case _:
                self._asks.put(ask)

    def _guard(self) -> None:
        """End this process where the conductor is gone, also in the middle of a lap."""
        left = self._left
        moves, silent_ns, looked_ns = 0, 0, time.monotonic_ns()
        while not left.is_over:
            time.sleep(_LOOK_S)
            before_ns, looked_ns = looked_ns, time.monotonic_ns()
            silent_ns += min(looked_ns - before_ns, BLIND_NS)
            if left.moves != moves:
                moves, silent_ns = left.moves, 0
            if silent_ns >= left.silence_ns:
                os._exit(LEFT)
        time.sleep(_GRACE_S)
        os._exit(LEFT)


def refusal(number: int, error: TeijoError) -> Refused:
    """Return an error as it is sent."""
    kind: wire.Kind
    match error:
        case TargetError():
            kind = "target"
        case PlanError():
            kind = "plan"
        case UnsafeError():
            kind = "unsafe"
        case StuckDevice():
            kind = "stuck"
        case DeviceError():
            kind = "device"
        case _:
            kind = "host"
    message, remedy = error.message[: wire.MESSAGE_MOST], error.remedy[: wire.MESSAGE_MOST]
    return Refused(number=number, kind=kind, message=message, remedy=remedy)
