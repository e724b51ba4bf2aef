"""A server of a folder in a thread of this process, and questions no browser would ask it."""

import http.client
import json
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn

from teijo.web import server
from teijo.web.connection import Limits
from teijo.web.serving import Serving, serving_of


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    serving: Serving
    answering: uvicorn.Server

    @property
    def port(self) -> int:
        return self.serving.port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.serving.scheme}://{self.host}"

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
        body: bytes = b"",
    ) -> Answer:
        """Ask for a path as it is written, without making it any tidier."""
        connection = self._connection()
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.host if host is None else host)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        found = Answer(
            answer.status,
            {name.lower(): value for name, value in answer.getheaders()},
            answer.read().decode("utf-8", "replace"),
        )
        connection.close()
        return found

    def word(self) -> str:
        """Return what the forms of this server know."""
        found = re.search(r'name="word" value="([^"]+)"', self.ask("/start").text)
        assert found is not None
        return found[1]

    def send(
        self, path: str, *, word: str | None = None, headers: Mapping[str, str] | None = None,
        **fields: str,
    ) -> Answer:  # fmt: skip
        """Send a form as a page of the server does, or with what is said otherwise."""
        whole = fields | {"word": self.word() if word is None else word}
        body = urlencode(whole).encode()
        usual = {
            "Origin": self.address,
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": str(len(body)),
        }
        return self.ask(path, method="POST", headers=usual | dict(headers or {}), body=body)

    def _connection(self) -> http.client.HTTPConnection:
        certificate = self.serving.certificate
        if certificate is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        trusting = ssl.create_default_context(cafile=str(certificate))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trusting)

    def runs(self) -> dict[str, dict[str, Any]]:
        """Return the rows of the list by the name of their file, once all files are read."""
        while True:
            names = {row["file"]: row for row in self.ask("/api/v1/runs").json["runs"]}
            there = {path.name for path in self.serving.folder.iterdir()}
            if {name for name in there if name.endswith((".teijo", ".open"))} <= names.keys():
                return names
            threading.Event().wait(0.1)


@contextmanager
def served(
    folder: Path,
    token: str | None = None,
    port: int = 0,
    *,
    limits: Limits | None = None,
    **options: Any,
) -> Iterator[Served]:
    """Serve a folder, at a free port if none is named, as long as the block goes on."""
    bound = server.bound(serving_of(folder, port=port, token=token, **options), limits)
    answering = server.server_of(bound)
    thread = threading.Thread(target=answering.run, kwargs={"sockets": [bound.socket]})
    thread.start()
    try:
        while not answering.started:
            thread.join(0.01)
            assert thread.is_alive()
        yield Served(bound.serving, answering)
    finally:
        answering.should_exit = True
        thread.join()
        bound.socket.close()
