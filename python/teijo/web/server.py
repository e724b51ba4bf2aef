"""The server itself: a socket that is bound first, so that its address is known when it is told."""

import asyncio
import ctypes
import logging
import os
import socket
import ssl
import time
from dataclasses import dataclass, replace
from typing import Final

import uvicorn

from teijo.web.app import application
from teijo.web.connection import IDLE_S, Limits, Listener, in_parts, protocol_of
from teijo.web.serving import Serving
from teijo.web.tls import context_of

HEADER_BYTES_MOST: Final = 16 << 10
_WAITING_MOST: Final = 1024
"""Connections that the kernel keeps until they are accepted."""
_AT_ONCE: Final = 128
"""And of these so many are accepted before those are looked after that are there."""
END_S: Final = 3
"""Streams that go on when the server ends are left after so long."""
_LEFT_S: Final = 1.0
"""And what was left is closed within so long, if it can be."""
_LOOKS_S: Final = 0.01

_M_ARENA_MAX: Final = -8
_M_MMAP_THRESHOLD: Final = -3
"""Names of glibc's malloc.h."""
_ARRAY_BYTES: Final = 128 << 10


@dataclass(frozen=True)
class Bound:
    """A server with its socket, and what it shakes hands with where it has a certificate."""

    serving: Serving
    socket: Listener
    tls: ssl.SSLContext | None = None

    @property
    def address(self) -> str:
        """Where it is, for a browser."""
        return self.serving.address


class _Server(uvicorn.Server):
    """uvicorn's server, which looks after its connections at each of its ticks."""

    def __init__(self, config: uvicorn.Config, listener: Listener) -> None:
        super().__init__(config)
        self._listener = listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._listener.listen(_WAITING_MOST)

    async def on_tick(self, counter: int) -> bool:
        """Do what is due every 0.1 s; return whether the server ends."""
        self._listener.open_ones.look(time.monotonic())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and leave no connection open, whoever still holds one."""
        await super().shutdown(sockets)
        left = self._listener.open_ones
        left.drop_all()
        until_s = time.monotonic() + _LEFT_S
        while len(left) and time.monotonic() < until_s:
            await asyncio.sleep(_LOOKS_S)


def bound(serving: Serving, limits: Limits | None = None) -> Bound:
    """Return the server with the address taken; without limits, with those of this process.

    Raises:
        UsageError: its certificate cannot be used.
        OSError: the address cannot be had.
    """
    tls = None
    if serving.certificate is not None:
        tls = context_of(serving.certificate, serving.key)
    ((family, kind, protocol, _, address), *_) = socket.getaddrinfo(
        serving.host, serving.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    taken = socket.socket(family, kind, protocol)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(_WAITING_MOST)
    except OSError:
        taken.close()
        raise
    return Bound(replace(serving, port=taken.getsockname()[1]), Listener(taken, limits), tls)


def server_of(place: Bound) -> uvicorn.Server:
    """Return the server that answers at a socket."""
    tls = place.tls
    return _Server(
        uvicorn.Config(
            in_parts(application(place.serving)),
            loop="asyncio",
            http=protocol_of(place.socket.open_ones),
            ws="none",
            lifespan="on",
            log_config=None,
            # A stream that is left at the end is no error that a person should read of.
            log_level="error" if os.environ.get("TEIJO_DEBUG") == "1" else "critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_AT_ONCE,
            ssl_context_factory=None if tls is None else lambda _config, _default: tls,
            h11_max_incomplete_event_size=HEADER_BYTES_MOST,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=END_S,
        ),
        place.socket,
    )


def run(place: Bound) -> None:
    """Answer until the process is interrupted."""
    if os.environ.get("TEIJO_DEBUG") != "1":
        # It tells of clients that break off, which is no error that a person should read of.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    _give_memory_back()
    try:
        server_of(place).run(sockets=[place.socket])
    except KeyboardInterrupt:
        pass
    finally:
        place.socket.close()


def _give_memory_back() -> None:
    """Let the C library return what a long run took: its threads share one heap, and arrays none.

    Each thread would keep a heap of its own of the largest report it ever made.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc's
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, _ARRAY_BYTES)
