"""The hosts of a shared run as their conductor has them: met, asked, waited for, and lost."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from teijo.engine.hosts import wire
from teijo.engine.hosts.channel import Channel, Inbox
from teijo.engine.hosts.clock import Clock, closest
from teijo.engine.hosts.wire import Answer, Hello, Look, Message, Refused, Tell
from teijo.errors import (
    DeviceError,
    HostAway,
    HostError,
    PlanError,
    StuckDevice,
    TargetError,
    TeijoError,
    UnsafeError,
)
from teijo.outside.text import visible
from teijo.terms.shared import SharingHost
from teijo.units import NS_PER_MS, NS_PER_S, format_duration

SILENCE_NS: Final = 20 * NS_PER_S
"""A host of which nothing is heard for so long has gone away."""
MEET_NS: Final = 120 * NS_PER_S
"""So long an ssh may take to lead to a worker that says who it is."""
ASKED: Final = 20
ASKED_AGAIN: Final = 8
"""How often clocks are compared when the hosts meet, and before each step."""
_PING_S: Final = 1.0
_DRIFT_NS: Final = NS_PER_MS
"""By so much at most two clocks go apart (100 ppm) while as many pings are sent as are kept."""
_LOOK_S: Final = 0.1
_BLIND_NS: Final = NS_PER_S
"""Who did not look for longer was not running; so much of it counts as silence."""

_KINDS: Final[Mapping[wire.Kind, type[TeijoError]]] = {
    "target": TargetError,
    "plan": PlanError,
    "unsafe": UnsafeError,
    "device": DeviceError,
    "stuck": StuckDevice,
    "host": HostError,
}
Told = TypeVar("Told", bound=Answer)


@dataclass(frozen=True, kw_only=True)
class Guest:
    """A host as it is asked for: its name, and the words that start its worker.

    One that `is_here` is a process that the conductor starts itself, on its own host.
    """

    name: str
    words: tuple[str, ...]
    is_here: bool = False


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """The hosts of a run. All must run the same `teijo` of the same `build`.

    A host of which nothing is heard for `silence_ns` has gone away.
    """

    guests: tuple[Guest, ...]
    teijo: str
    build: str
    silence_ns: int = SILENCE_NS


class Party:
    """The workers of a run."""

    def __init__(self, sharing: Sharing) -> None:
        """Start a worker on every host, and make sure that all are of this very program.

        Raises:
            HostError: one cannot be started, says nothing, or is of another build.
        """
        self._inbox: Inbox = SimpleQueue()
        self._silence_ns = sharing.silence_ns
        self._number = 0
        self._over = threading.Event()
        self.channels: list[Channel] = []
        self.clocks: list[Clock] = []
        self._pinger = threading.Thread(target=self._ping, name="teijo-hosts", daemon=True)
        try:
            for place, guest in enumerate(sharing.guests):
                self.channels.append(Channel(place, guest.name, guest.words, self._inbox))
            self._pinger.start()  # who is quick waits for who is slow, and must not be left
            self.hellos = self._met(sharing)
            self.clocks = self.compared(ASKED, lambda told: told.wall_ns, time.time_ns)
        except BaseException as error:
            self.close()
            if isinstance(error, HostAway):  # it never was here
                raise HostError(
                    error.message, remedy="Check the command behind --host, and that host."
                ) from error
            raise

    def hosts(self, backends: Sequence[str]) -> tuple[SharingHost, ...]:
        """Return who they are, with what carries the I/O of each."""
        rows = zip(self.channels, self.hellos, self.clocks, backends, strict=True)
        return tuple(
            SharingHost(
                name=channel.name,
                host=visible(hello.host),
                kernel=visible(hello.kernel),
                cpus=hello.cpus,
                teijo=visible(hello.teijo),
                build=visible(hello.build),
                backend=visible(backend),
                ahead_ns=clock.ahead_ns,
                error_ns=clock.error_ns,
            )
            for channel, hello, clock, backend in rows
        )

    def numbered(self) -> int:
        """Return the number of the next question, above all before it."""
        self._number += 1
        return self._number

    def answers(
        self,
        asks: Sequence[Message],
        number: int,
        kind: type[Told],
        *,
        limit_ns: int | None = None,
        looked: Callable[[int, Look], None] | None = None,
        turn: Callable[[], None] | None = None,
    ) -> list[tuple[int, Told]]:
        """Ask every host, and return when each answer was here, and the answer.

        `looked` hears each look at a lap, with its host's place; `turn` is called several times a
        second. `limit_ns` bounds all of it.

        Raises:
            HostAway: a host is gone, or not heard any more.
            TeijoError: a host cannot do it; the class is as its own.
        """
        for channel, ask in zip(self.channels, asks, strict=True):
            channel.send(ask)
        found: dict[int, tuple[int, Told]] = {}
        silence = [_Silence(channel) for channel in self.channels]
        began_ns = looked_ns = time.monotonic_ns()
        while len(found) < len(self.channels):
            self._take(found, number, kind, looked)
            before_ns, looked_ns = looked_ns, time.monotonic_ns()
            for each in silence:
                each.add(min(looked_ns - before_ns, _BLIND_NS))
                if each.lasted_ns >= self._silence_ns:
                    lasted = format_duration(each.lasted_ns)
                    raise self._away(each.channel, f"nothing was heard of it for {lasted}")
            if limit_ns is not None and looked_ns - began_ns >= limit_ns:
                missing = [each for each in self.channels if each.place not in found]
                raise self._away(missing[0], f"no answer within {format_duration(limit_ns)}")
            if turn is not None:
                turn()
        return [found[channel.place] for channel in self.channels]

    def _take(
        self,
        found: dict[int, tuple[int, Told]],
        number: int,
        kind: type[Told],
        looked: Callable[[int, Look], None] | None,
    ) -> None:
        """Take what was heard, after a short wait for the first of it."""
        wait_s: float | None = _LOOK_S
        while len(found) < len(self.channels):
            try:
                heard = self._inbox.get(timeout=wait_s) if wait_s else self._inbox.get_nowait()
            except Empty:
                return
            wait_s = None
            channel = self.channels[heard.place]
            match heard.tell:
                case None:
                    raise self._away(channel, heard.why)
                case Refused(number=told) as refused if told in (number, 0):
                    raise self._refusal(channel, refused)
                case Look(number=told) as look if told == number and looked is not None:
                    looked(heard.place, look)
                case Look() | Refused():
                    continue  # of a lap that was given up
                case tell if isinstance(tell, kind) and _number(tell) == number:
                    found[heard.place] = heard.at_ns, tell
                case tell if _number(tell) < number:
                    continue
                case _:
                    raise self._away(channel, "it answers what nobody asked")

    def compared(
        self, times: int, reading: Callable[[wire.Time], int], now: Callable[[], int]
    ) -> list[Clock]:
        """Return how a clock of every host stands against the one here.

        Raises:
            HostAway: one does not answer.
        """
        readings: list[list[tuple[int, int, int]]] = [[] for _ in self.channels]
        for _ in range(times):
            number = self.numbered()
            sent_ns, here_ns = now(), time.monotonic_ns()
            told = self.answers(
                [wire.AskTime(number=number)] * len(self.channels), number, wire.Time
            )
            for place, (at_ns, answer) in enumerate(told):
                readings[place].append((sent_ns, reading(answer), sent_ns + at_ns - here_ns))
        clocks = []
        for channel, each in zip(self.channels, readings, strict=True):
            clock = closest(each)
            if clock is None:
                raise self._away(channel, "its clock cannot be compared")
            clocks.append(clock)
        return clocks

    def recent(self, before: Sequence[Clock]) -> list[Clock]:
        """Return how the clocks stand by the last pings, which cost no time; else as `before`."""
        found = []
        for channel, known in zip(self.channels, before, strict=True):
            clock = closest(tuple(channel.readings))
            found.append(known if clock is None else _with_drift(clock))
        return found

    def flaw(self, place: int) -> HostAway:
        """Return the error that a host answered what nobody can have measured."""
        return self._away(self.channels[place], "it answers what cannot be measured")

    def close(self) -> None:
        """End all workers."""
        self._over.set()
        threads = [threading.Thread(target=each.close) for each in self.channels]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._pinger.is_alive():
            self._pinger.join()

    def _ping(self) -> None:
        while not self._over.wait(_PING_S):
            for channel in self.channels:
                channel.ping()

    def _met(self, sharing: Sharing) -> list[Hello]:
        found: dict[int, Hello] = {}
        until_ns = time.monotonic_ns() + MEET_NS
        while len(found) < len(self.channels):
            left_s = (until_ns - time.monotonic_ns()) / NS_PER_S
            try:
                heard = self._inbox.get(timeout=max(0.0, left_s))
            except Empty:
                missing = next(each for each in self.channels if each.place not in found)
                raise self._away(missing, f"no worker in {format_duration(MEET_NS)}") from None
            match heard.tell:
                case Hello() as hello:
                    _check_same(self.channels[heard.place], hello, sharing)
                    found[heard.place] = hello
                case None:
                    raise self._away(self.channels[heard.place], heard.why)
                case _:
                    raise self._away(self.channels[heard.place], "it does not say who it is")
        return [found[channel.place] for channel in self.channels]

    @staticmethod
    def _refusal(channel: Channel, refused: Refused) -> TeijoError:
        message = f"On host {channel.name}: {visible(refused.message)}"
        return _KINDS[refused.kind](message, remedy=visible(refused.remedy))

    @staticmethod
    def _away(channel: Channel, why: str) -> HostAway:
        channel.end()
        return HostAway(
            f"Host {channel.name} went away, last heard of at {channel.last_heard}: {why}",
            remedy="See to that host and the network to it; then resume the run.",
        )


class _Silence:
    """How long nothing of a host was heard, in time in which somebody looked."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.lasted_ns = 0
        self._moves = channel.moves

    def add(self, passed_ns: int) -> None:
        """Count what passed since the last look."""
        self.lasted_ns += passed_ns
        if self.channel.moves != self._moves:
            self._moves, self.lasted_ns = self.channel.moves, 0


def _with_drift(clock: Clock) -> Clock:
    return Clock(ahead_ns=clock.ahead_ns, error_ns=clock.error_ns + _DRIFT_NS)


def _number(tell: Tell) -> int:
    return int(getattr(tell, "number", 0))


def _check_same(channel: Channel, hello: Hello, sharing: Sharing) -> None:
    """Make sure that a worker is of this very program.

    Raises:
        HostError: it is not.
    """
    same = (hello.version, hello.teijo, hello.build) == (
        wire.VERSION, sharing.teijo, sharing.build
    )  # fmt: skip
    if not same:
        raise HostError(
            f"Host {channel.name} has teijo {visible(hello.teijo)} (build {visible(hello.build)}), "
            f"and this one is {sharing.teijo} (build {sharing.build}); nothing was written",
            remedy="Install the same Teijo on every host.",
        )
