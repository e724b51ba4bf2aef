"""Clients that ask slowly, without end, for nothing or not at all: others are answered."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from teijo.web import connection, server
from teijo.web.connection import Connection, Connections, Limits, client_of, in_parts
from teijo.web.serving import Serving
from tests.house.tree import PACKAGE
from tests.web.serving import Served, served

BRISK = Limits(head_s=0.3, body_s=0.3, unread_s=0.5)
"""Limits that no test waits long for."""
FEW = Limits(places=20, of_address=5)
HEAD = "GET /api/v1/runs HTTP/1.1\r\nHost: {host}\r\n"
CROWD = 1_000
MOST_ON_THE_WAY = 32 << 20
"""Bytes that the buffers of a connection within this machine may hold, ours among them."""


@contextmanager
def folder_served(simulated: Path, folder: Path, limits: Limits | None = None) -> Iterator[Served]:
    """Serve a run; after the block a request is answered and nothing was written but the index."""
    shutil.copy(simulated, folder / "one.teijo")
    with served(folder, limits=limits) as site:
        yield site
        assert site.runs().keys() == {"one.teijo"}
        names = {path.name for path in folder.iterdir()}
        assert names <= {"one.teijo", ".teijo-index.sqlite"}


def connected(site: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", site.port), timeout=60)


def head(site: Served, *more: str) -> bytes:
    return (HEAD.format(host=site.host) + "".join(f"{line}\r\n" for line in more)).encode()


def until(is_so: Callable[[], object]) -> None:
    while not is_so():
        threading.Event().wait(0.02)


def rest(client: socket.socket) -> bytes:
    """Return all that comes until the server closes."""
    found = b""
    while True:
        try:
            more = client.recv(1 << 16)
        except ConnectionResetError:
            return found
        if not more:
            return found
        found += more


@contextmanager
def instead(site: Served, app: ASGIApp) -> Iterator[None]:
    """Let another application answer the connections that are made in the block."""
    config = site.answering.config
    before, config.loaded_app = config.loaded_app, app
    yield
    config.loaded_app = before


def open_ones(site: Served) -> Connections:
    kind = site.answering.config.http
    assert isinstance(kind, type)
    assert issubclass(kind, Connection)
    return kind.open_ones


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(
    simulated: Path, tmp_path: Path, sent: bytes
) -> None:
    with folder_served(simulated, tmp_path, BRISK) as site, connected(site) as client:
        client.sendall(sent)
        assert rest(client) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(simulated: Path, tmp_path: Path) -> None:
    with folder_served(simulated, tmp_path, BRISK) as site, connected(site) as client:
        client.sendall(head(site))
        with pytest.raises(OSError, match=r"."):  # noqa: PT012 — it ends by the server alone
            while True:
                client.sendall(b"X: y\r\n")
                threading.Event().wait(0.02)


def test_a_connection_is_used_again_and_its_next_head_has_its_time(
    simulated: Path, tmp_path: Path
) -> None:
    with folder_served(simulated, tmp_path) as site, connected(site) as client:
        for _ in range(3):
            client.sendall(head(site) + b"\r\n")
            answer = client.makefile("rb")
            assert answer.readline().startswith(b"HTTP/1.1 200")
            length = 0
            while line := answer.readline().strip():
                name, _, value = line.partition(b": ")
                length = int(value) if name == b"content-length" else length
            answer.read(length)


def test_a_body_that_trickles_is_not_waited_for(simulated: Path, tmp_path: Path) -> None:
    asked = threading.Event()

    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": True}
        while message.get("more_body"):
            asked.set()
            message = await receive()

    with (
        folder_served(simulated, tmp_path, BRISK) as site,
        instead(site, reading),
        connected(site) as client,
    ):
        client.sendall(head(site, "Content-Length: 1000000") + b"\r\n")
        asked.wait()
        with pytest.raises(OSError, match=r"."):  # noqa: PT012 — it ends by the server alone
            while True:
                client.sendall(b"x")
                threading.Event().wait(0.02)


def test_a_body_that_comes_is_waited_for_however_long(simulated: Path, tmp_path: Path) -> None:
    came = bytearray()

    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            came.extend(message.get("body", b""))

    limits = Limits(body_s=0.2, body_bytes_per_s=1)
    with (
        folder_served(simulated, tmp_path, limits) as site,
        instead(site, reading),
        connected(site) as client,
    ):
        client.sendall(head(site, "Content-Length: 30") + b"\r\n")
        for _ in range(30):
            client.sendall(b"x")
            threading.Event().wait(0.02)
        assert b"500" in rest(client)  # it answers nothing, but it read all
    assert came == b"x" * 30


def test_a_client_that_hangs_up_half_is_left(simulated: Path, tmp_path: Path) -> None:
    with folder_served(simulated, tmp_path) as site, connected(site) as client:
        client.sendall(head(site)[:-2])
        client.shutdown(socket.SHUT_WR)
        assert rest(client) == b""
        until(lambda: len(open_ones(site)) == 0)


def test_what_comes_behind_a_request_and_is_none_is_refused(
    simulated: Path, tmp_path: Path
) -> None:
    with folder_served(simulated, tmp_path) as site, connected(site) as client:
        client.sendall(head(site) + b"\r\n" + b"\0\xff garbage\r\n\r\n" * 1000)
        answers = rest(client)
        assert answers.startswith(b"HTTP/1.1 200")
        assert b"HTTP/1.1 400" in answers


def test_a_header_of_a_megabyte_is_not_kept(simulated: Path, tmp_path: Path) -> None:
    with folder_served(simulated, tmp_path) as site, connected(site) as client:
        with suppress(OSError):  # it is refused before all of it is sent
            client.sendall(head(site) + b"X: " + b"y" * (1 << 20))
        assert rest(client)[:12] in (b"HTTP/1.1 400", b"")


def test_who_does_not_read_a_long_answer_is_left_and_it_is_not_kept_for_him(
    simulated: Path, tmp_path: Path
) -> None:
    with folder_served(simulated, tmp_path, BRISK) as site, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect(("127.0.0.1", site.port))
        # More than all buffers on the way hold: many answers, asked for at once.
        asked = f"GET /static/vega.js HTTP/1.1\r\nHost: {site.host}\r\n\r\n".encode()
        client.sendall(asked * 20)
        until(lambda: any(each.flow.write_paused for each in connections_of(site)))
        held = [each.transport.get_write_buffer_size() for each in connections_of(site)]
        assert max(held, default=0) <= 3 * connection.PART_BYTES
        until(lambda: len(open_ones(site)) == 0)
        assert not site.answering.server_state.tasks


def test_a_stream_that_nobody_reads_waits_and_ends(simulated: Path, tmp_path: Path) -> None:
    made, ended = [0], threading.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        async def stream() -> AsyncIterator[bytes]:
            try:
                while True:
                    made[0] += connection.PART_BYTES
                    yield b"x" * connection.PART_BYTES
                    await asyncio.sleep(0)
            finally:
                ended.set()

        await StreamingResponse(stream())(scope, receive, send)

    with folder_served(simulated, tmp_path, BRISK) as site:
        with instead(site, endless), connected(site) as client:
            client.sendall(head(site) + b"\r\n")
            assert client.recv(100)
            ended.wait()
        assert made[0] < MOST_ON_THE_WAY
        until(lambda: not site.answering.server_state.tasks)


def connections_of(site: Served) -> list[Connection]:
    found = list(site.answering.server_state.connections)
    return [each for each in found if isinstance(each, Connection)]


def test_a_crowd_of_a_thousand_keeps_nobody_out(simulated: Path, tmp_path: Path) -> None:
    with folder_served(simulated, tmp_path) as site, ExitStack() as crowd:
        for _ in range(CROWD):
            crowd.enter_context(connected(site))
        assert site.ask("/api/v1/runs").status == 200, "while they are there"
        until(lambda: len(open_ones(site)) <= Limits.places)


def test_where_all_are_answered_one_more_is_told(simulated: Path, tmp_path: Path) -> None:
    with folder_served(simulated, tmp_path, FEW) as site, ExitStack() as crowd:
        answering = threading.Semaphore(0)

        async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            answering.release()
            await receive()

        with instead(site, waiting):
            for _ in range(FEW.places):
                client = crowd.enter_context(connected(site))
                client.sendall(head(site) + b"\r\n")
                answering.acquire()
        assert site.ask("/api/v1/runs").status == 503
        crowd.close()
        until(lambda: not site.answering.server_state.tasks)
        assert site.ask("/api/v1/runs").status == 200


def pair(clients: list[str], limits: Limits = FEW) -> tuple[Connections, list[connection.Accepted]]:
    """Return connections that were taken one after the other, from these clients."""
    found = Connections(limits)
    made = []
    for client in clients:
        ours, theirs = socket.socketpair()
        theirs.close()
        new = connection.Accepted(found, ours, client)
        if found.take(new):
            made.append(new)
        else:
            new.close()
    return found, made


def test_one_address_has_so_many_and_its_oldest_idle_one_makes_room() -> None:
    found, made = pair(["192.0.2.1"] * 5 + ["192.0.2.2"] + ["192.0.2.1"])
    assert [each.is_dropped for each in made] == [True] + [False] * 6
    for each in made:
        each.close()
    assert len(found) == 0


def test_whoever_has_most_makes_room_for_others() -> None:
    limits = Limits(places=6, of_address=100)
    found, made = pair(["192.0.2.9", *["192.0.2.1"] * 5, "192.0.2.2"], limits)
    assert [each.client for each in made if each.is_dropped] == ["192.0.2.1"]
    assert len(found) == 7
    for each in made:
        each.close()


def test_without_an_idle_one_nobody_finds_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.Accepted, "is_idle", False)
    found, made = pair(["192.0.2.1"] * 9)
    assert len(made) == FEW.of_address
    _, many = pair([f"192.0.2.{number}" for number in range(99)])
    assert len(many) == 2 * FEW.places, "and no more than this, whatever comes"
    for each in (*made, *many):
        each.close()
    assert len(found) == 0


def test_this_machine_is_no_one_client() -> None:
    _, made = pair(["127.0.0.1"] * 15)
    assert not [each for each in made if each.is_dropped]
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_is_one_client(address: str, client: str) -> None:
    assert client_of(address) == client


def test_few_descriptors_are_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    for descriptors, places in ((1024, 400), (20_000, 400), (256, 64), (64, 8), (-1, 400)):
        monkeypatch.setattr("resource.getrlimit", lambda _, soft=descriptors: (soft, soft))
        assert connection.limits_here().places == places


WITHOUT_DESCRIPTORS = """
import os, resource, socket, sys
from teijo.web.connection import Listener
taken = socket.create_server(("127.0.0.1", 0))
listener = Listener(taken)
clients = [socket.create_connection(listener.getsockname()) for _ in range(3)]
first, _ = listener.accept()
# From here on no descriptor is free but the one that is kept.
resource.setrlimit(resource.RLIMIT_NOFILE, (first.fileno() + 1, 20_000))
try:
    listener.accept()
except ConnectionAbortedError:
    print("refused", clients[1].recv(1) == b"")
resource.setrlimit(resource.RLIMIT_NOFILE, (first.fileno() + 9, 20_000))
second, peer = listener.accept()
print("taken", peer == clients[2].getsockname())
"""


def test_without_a_descriptor_the_next_one_is_closed_and_does_not_wait_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS],
        stdout=subprocess.PIPE, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
    )  # fmt: skip
    assert done.stdout.split() == ["refused", "True", "taken", "True"]


def test_a_long_answer_is_handed_on_in_parts() -> None:
    sent: list[Message] = []
    whole = os.urandom(2 * connection.PART_BYTES + 1)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": whole})

    async def take(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        return {}

    async def asked() -> None:
        await in_parts(answer)({}, nothing, take)

    asyncio.run(asked())
    assert [each.get("more_body") for each in sent] == [None, True, True, False]
    assert b"".join(each.get("body", b"") for each in sent) == whole


def test_a_server_that_ends_leaves_nobody_connected_that_uvicorn_leaves(
    simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def leaves_them(self: uvicorn.Server, sockets: object = None) -> None:
        # One that comes just then is not among those that it closes.
        for one in self.servers:
            one.close()
        await self.lifespan.shutdown()

    places: list[server.Bound] = []
    bound = server.bound

    def kept(serving: Serving, limits: Limits | None = None) -> server.Bound:
        places.append(bound(serving, limits))
        return places[0]

    monkeypatch.setattr(server, "bound", kept)
    monkeypatch.setattr(uvicorn.Server, "shutdown", leaves_them)
    with ExitStack() as clients:
        with folder_served(simulated, tmp_path) as site:
            silent, slow = (clients.enter_context(connected(site)) for _ in range(2))
            slow.sendall(head(site))
            until(lambda: len(places[0].socket.open_ones) == 2)
        assert len(places[0].socket.open_ones) == 0
        assert rest(silent) == rest(slow) == b""
