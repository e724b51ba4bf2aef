"""Connections: how many there may be at one time, and how long one may keep its place unused.

uvicorn waits for a request without end, and its count of connections takes those that ask nothing
for busy ones. Here a listening socket knows every connection from its first packet on, also those
whose TLS handshake is not over, and once a tick of the server all of them are looked at.
"""

import errno
import resource
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, ClassVar, Final

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from teijo.units import KILO

PART_BYTES: Final = 64 << 10
"""An answer is handed on in parts of so much, and the next one when the client has taken one."""
IDLE_S: Final = 10
"""A connection that asks nothing more is closed."""
_KERNEL_BYTES: Final = 128 << 10
"""What the kernel may hold of an answer; without a bound it grows with what the client promises."""
_OTHER_FILES: Final = 64
"""Descriptors that are left to run files and the program itself."""
_PLACES_LEAST: Final = 8
_OVERLAP: Final = 2
"""A connection that makes room is closed a moment after another one came."""
_NETWORK_BITS: Final = 64
"""What of an address (IPv6) is one client's: it can take any within."""
_MS_PER_S: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a client may take of the server; all times in s.

    `head_s` is how long the head of a request may take, with the TLS handshake before it.
    A body must have come at `body_bytes_per_s` in the mean, once it has gone on for `body_s`.
    A client that takes nothing of its answer for `unread_s` is left.
    """

    places: int = 400
    of_address: int = 100
    head_s: float = 10.0
    body_s: float = 30.0
    body_bytes_per_s: int = KILO
    unread_s: float = 60.0


def limits_here() -> Limits:
    """Return the limits that the descriptors of this process allow."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return Limits()
    places = descriptors // _OVERLAP - _OTHER_FILES
    return Limits(places=max(_PLACES_LEAST, min(Limits.places, places)))


class Accepted(socket.socket):
    """One connection as the kernel gave it; it leaves its place when it is closed."""

    def __init__(self, open_ones: "Connections", taken: socket.socket, client: str) -> None:
        """Take over a socket. `client` is who counts as one."""
        family, kind, protocol = taken.family, taken.type, taken.proto
        super().__init__(family, kind, protocol, fileno=taken.detach())
        self.client = client
        self.began_s = time.monotonic()
        self.connection: Connection | None = None
        self.is_dropped = False
        self._open_ones = open_ones
        self._number = self.fileno()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.connection is None or not self.connection.is_answering

    def is_late(self, now_s: float) -> bool:
        """Tell whether it has kept its place for too long."""
        if self.connection is None:  # it has not even shaken hands
            return now_s - self.began_s >= self._open_ones.limits.head_s
        return self.connection.is_late(now_s)

    def drop(self) -> None:
        """Leave the client, whatever it still sends or has not taken."""
        self.is_dropped = True
        if self.connection is not None:
            self.connection.transport.abort()
            return
        with suppress(OSError):  # it has gone by itself
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it, and leave its place to another one."""
        super().close()
        self._open_ones.forget(self._number, self)


@dataclass
class Connections:
    """All connections that are open, the oldest first."""

    limits: Limits = field(default_factory=limits_here)
    _by_number: dict[int, Accepted] = field(default_factory=dict)
    _of_client: dict[str, dict[int, Accepted]] = field(default_factory=dict)
    """Without those that were dropped, and are closed in a moment."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_number)

    def take(self, new: Accepted) -> bool:
        """Give a connection a place, where need be an idle one's; False where there is none.

        Whoever has most has to make room, so that nobody keeps others out by asking nothing.
        """
        limits = self.limits
        its = self._of_client.get(new.client, {})
        is_one_too_many = len(its) >= limits.of_address and not _is_this_machine(new.client)
        if is_one_too_many and not self._drop_one([new.client]):
            return False
        if len(self) >= limits.places:
            self._drop_one(sorted(self._of_client, key=self._count, reverse=True))
            if len(self) >= _OVERLAP * limits.places:
                return False
        self._by_number[new.fileno()] = new
        self._of_client.setdefault(new.client, {})[new.fileno()] = new
        return True

    def at(self, number: int) -> Accepted:
        """Return the connection with a descriptor."""
        return self._by_number[number]

    def forget(self, number: int, gone: Accepted) -> None:
        """Take note that a connection is closed."""
        if self._by_number.get(number) is not gone:  # it never had a place
            return
        del self._by_number[number]
        self._leave(number, gone)

    def look(self, now_s: float) -> None:
        """Drop those that are late."""
        for each in list(self._by_number.values()):
            if not each.is_dropped and each.is_late(now_s):
                self._drop(each)

    def drop_all(self) -> None:
        """Leave everybody."""
        for each in list(self._by_number.values()):
            if not each.is_dropped:
                self._drop(each)

    def _drop_one(self, clients: Sequence[str]) -> bool:
        """Drop the oldest idle connection of the first of these clients that has one."""
        for client in clients:
            for each in self._of_client.get(client, {}).values():
                if each.is_idle:
                    self._drop(each)
                    return True
        return False

    def _drop(self, each: Accepted) -> None:
        self._leave(each.fileno(), each)
        each.drop()

    def _leave(self, number: int, gone: Accepted) -> None:
        its = self._of_client.get(gone.client, {})
        its.pop(number, None)
        if not its:
            self._of_client.pop(gone.client, None)

    def _count(self, client: str) -> int:
        return len(self._of_client[client])


class Listener(socket.socket):
    """A listening socket that keeps to the limits; one that finds no room is closed at once."""

    def __init__(self, taken: socket.socket, limits: Limits | None = None) -> None:
        """Take over a socket that listens."""
        family, kind, protocol = taken.family, taken.type, taken.proto
        super().__init__(family, kind, protocol, fileno=taken.detach())
        self.open_ones = Connections() if limits is None else Connections(limits)
        self._spare: socket.socket | None = socket.socket()

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection that finds room.

        Raises:
            ConnectionAbortedError: it finds none, and is closed.
            OSError: as of any socket.
        """
        try:
            taken, peer = super().accept()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or self._spare is None:
                raise
            self._refuse_one()
            raise ConnectionAbortedError from error
        new = Accepted(self.open_ones, taken, client_of(str(peer[0])))
        if not self.open_ones.take(new):
            new.close()
            raise ConnectionAbortedError
        _bound_kernel(new, self.open_ones.limits)
        return new, peer

    def close(self) -> None:
        """Listen no more."""
        if self._spare is not None:
            self._spare.close()
        super().close()

    def _refuse_one(self) -> None:
        """Close the next connection without a descriptor to spare but the one kept for this.

        One that waits to be accepted would wake the server again and again.
        """
        assert self._spare is not None
        self._spare.close()
        self._spare = None
        with suppress(OSError):
            super().accept()[0].close()
        with suppress(OSError):
            self._spare = socket.socket()


class Connection(H11Protocol):
    """uvicorn's connection, which tells what it waits for."""

    open_ones: ClassVar[Connections]

    def __init__(self, *given: Any, **named: Any) -> None:
        """Take what uvicorn gives."""
        super().__init__(*given, **named)
        self.received_bytes = 0
        self._since_s = 0.0
        self._received_then = 0
        self._state: tuple[str, object] = ("head", None)

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        """Take a connection, its TLS handshake behind it."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=PART_BYTES)
        accepted = self.open_ones.at(transport.get_extra_info("socket").fileno())
        self._since_s = accepted.began_s
        accepted.connection = self

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        self.received_bytes += len(data)
        super().data_received(data)

    def handle_events(self) -> None:
        """Answer 503 where too many requests are being answered; idle connections make room."""
        is_full = len(self.tasks) >= self.open_ones.limits.places
        self.limit_concurrency = 0 if is_full else None
        super().handle_events()

    def is_late(self, now_s: float) -> bool:
        """Tell whether the client has kept its place for too long without doing what is due."""
        waits_for = self._waits_for()
        state = (waits_for, self.cycle)
        if state != self._state:
            self._state, self._since_s = state, now_s
            self._received_then = self.received_bytes
        limits, past_s = self.open_ones.limits, now_s - self._since_s
        match waits_for:
            case "head":
                # uvicorn gives a connection that was used before a while to begin the next one.
                return past_s >= limits.head_s + (IDLE_S if self.cycle is not None else 0)
            case "body":
                came = self.received_bytes - self._received_then
                return past_s >= limits.body_s and came < limits.body_bytes_per_s * past_s
            case "reader":
                return past_s >= limits.unread_s
            case _:
                return False

    def _waits_for(self) -> str:
        if self.transport.is_closing() or self.flow.write_paused:
            return "reader"
        if not self.is_answering:
            return "head"
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            return "body"
        return ""


def protocol_of(open_ones: Connections) -> type[Connection]:
    """Return the class of the connections that a server makes."""

    class Placed(Connection):
        pass

    Placed.open_ones = open_ones
    return Placed


def in_parts(app: ASGIApp) -> ASGIApp:
    """Return an application whose long answers wait for their reader after each part."""

    async def parted(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_parts(message: Message) -> None:
            body = message.get("body", b"")
            if len(body) <= PART_BYTES:
                await send(message)
                return
            whole, more = memoryview(body), message.get("more_body", False)
            for at in range(0, len(body), PART_BYTES):
                part = bytes(whole[at : at + PART_BYTES])
                goes_on = more or at + PART_BYTES < len(body)
                await send({**message, "body": part, "more_body": goes_on})

        await app(scope, receive, send_parts)

    return parted


def client_of(address: str) -> str:
    """Return who counts as one client: an address, of IPv6 the network of one customer."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        if not found.is_loopback:
            return str(ip_network((int(found), _NETWORK_BITS), strict=False))
    return str(found)


def _is_this_machine(client: str) -> bool:
    """Tell whether all come from here, as by `ssh -L`: then one address says nothing of who."""
    return "/" not in client and ip_address(client).is_loopback


def _bound_kernel(taken: socket.socket, limits: Limits) -> None:
    """Let the kernel hold little of an answer, and give a client up that is not there any more."""
    options: tuple[Callable[[], None], ...] = (
        lambda: taken.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BYTES),
        lambda: taken.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(limits.unread_s * _MS_PER_S)
        ),
    )
    for each in options:
        with suppress(OSError, AttributeError):  # not of this system, or it has gone by itself
            each()
