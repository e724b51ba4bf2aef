"""The server itself: a socket that is bound first, so that its address is known when it is told."""

import os
import socket
from dataclasses import dataclass, replace
from typing import Final

import uvicorn

from teijo.web.app import application
from teijo.web.serving import Serving

CONNECTIONS_MOST: Final = 400
HEADER_BYTES_MOST: Final = 16 << 10
IDLE_S: Final = 10
"""A connection that asks nothing more is closed."""
END_S: Final = 3
"""Streams that go on when the server ends are left after so long."""


@dataclass(frozen=True)
class Bound:
    """A server with its socket."""

    serving: Serving
    socket: socket.socket

    @property
    def address(self) -> str:
        """Where it is, for a browser."""
        return self.serving.address


def bound(serving: Serving) -> Bound:
    """Return the server with the address taken.

    Raises:
        OSError: it cannot be had.
    """
    ((family, kind, protocol, _, address), *_) = socket.getaddrinfo(
        serving.host, serving.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    taken = socket.socket(family, kind, protocol)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        taken.listen(128)
    except OSError:
        taken.close()
        raise
    return Bound(replace(serving, port=taken.getsockname()[1]), taken)


def server_of(place: Bound) -> uvicorn.Server:
    """Return the server that answers at a socket."""
    return uvicorn.Server(
        uvicorn.Config(
            application(place.serving),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            # A stream that is left at the end is no error that a person should read of.
            log_level="error" if os.environ.get("TEIJO_DEBUG") == "1" else "critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_MOST,
            h11_max_incomplete_event_size=HEADER_BYTES_MOST,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=END_S,
        )
    )


def run(place: Bound) -> None:
    """Answer until the process is interrupted."""
    try:
        server_of(place).run(sockets=[place.socket])
    except KeyboardInterrupt:
        pass
    finally:
        place.socket.close()
