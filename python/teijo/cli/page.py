"""A run's own page in the browser: a server beside it, which never stands in the run's way."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from teijo.cli import console
from teijo.cli.options import ProgressMode
from teijo.speech import tongue
from teijo.web import HOST

_PACKAGES: Final = ("jinja2", "starlette", "uvicorn")
_WAITING: Final = 16
"""Connections that wait until the server answers."""


class Page:
    """The server beside one run. What goes wrong with it is a sentence on stderr."""

    def __init__(self, mode: ProgressMode | None) -> None:
        """Start it: it waits for a run file. `mode` is how stderr is written."""
        self._is_json = mode is ProgressMode.NDJSON
        self._child: subprocess.Popen[bytes] | None = None
        self._port = 0
        for name in _PACKAGES:
            if find_spec(name) is None:
                self._fail(tongue.tr("{name} is missing: pip install 'teijo[web]'", name=name))
                return
        try:
            # It listens from now on, so that a browser that is quicker than the server waits.
            with socket.create_server((HOST, 0), backlog=_WAITING) as listening:
                self._port = listening.getsockname()[1]
                self._child = _started(listening)
        except OSError as error:
            self._fail(str(error.strerror))

    def begin(self, path: Path) -> None:
        """Show the run whose file this is; say where."""
        if self._child is None:
            return
        from teijo.runfile.shelf import id_of

        told = {"path": str(path.absolute()), "lang": tongue.spoken()}
        assert self._child.stdin is not None
        with suppress(OSError):  # it has ended: that is told at the end
            self._child.stdin.write(json.dumps(told).encode() + b"\n")
        address = f"http://{HOST}:{self._port}/runs/{id_of(path.name)}"
        if self._is_json:
            console.say_json({"event": "page", "address": address})
        else:
            console.say(tongue.tr("The run in a browser: {address}", address=address))

    def end(self) -> None:
        """Let it end: nobody waits for it. One that ended before is told of."""
        child = self._child
        if child is None:
            return
        if child.poll() is not None:
            self._fail(tongue.tr("its server has ended"))
        assert child.stdin is not None
        with suppress(OSError):
            child.stdin.close()
        threading.Thread(target=child.wait, daemon=True).start()

    def _fail(self, why: str) -> None:
        if self._is_json:
            console.say_json({"event": "page", "error": why})
        else:
            console.say(tongue.tr("No page for this run, which goes on: {why}", why=why))


@contextmanager
def page_beside(mode: ProgressMode | None, *, wanted: bool) -> Iterator[Callable[[Path], None]]:
    """Give what shows a run file in a browser until the block ends; where none is wanted, nothing.

    `mode` is how stderr is written.
    """
    if not wanted:
        yield _nowhere
        return
    page = Page(mode)
    try:
        yield page.begin
    finally:
        page.end()


def _nowhere(path: Path) -> None:
    del path


def _started(listening: socket.socket) -> "subprocess.Popen[bytes]":
    """Start the server with a socket that listens.

    Raises:
        OSError: it cannot be started.
    """
    number = listening.fileno()
    return subprocess.Popen(
        # -P: what lies in the working folder is not taken for a module.
        [sys.executable, "-P", "-m", "teijo.web.beside", str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(number,),
        bufsize=0,
        start_new_session=True,  # a Ctrl-C is for the run: the page still shows how it ended
    )
