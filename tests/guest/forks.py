"""The agent's side of `forking.py`: it starts that Python once, and asks it for children.

It needs Python's own library only. A child is waited for and killed as one of `subprocess` is.
"""

import json
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

PACKET_BYTES = 1 << 12


@dataclass
class Forked:
    """A child under way: `code` is None until it has ended."""

    pid: int
    code: int | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def poll(self) -> int | None:
        """Return its exit code (negative: the signal), or None while it goes on."""
        return self.code

    def wait(self, timeout: float) -> int:
        """Return its exit code; raises TimeoutExpired, or ChildProcessError if nobody knows it."""
        if not self.over.wait(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        if self.code is None:
            raise ChildProcessError("the Python that forks has ended before its child")
        return self.code


class Forks:
    """The Python that forks; it is begun at the first request, and anew where it has ended."""

    def __init__(self, said: Path) -> None:
        """Have it say to a file what it has to say."""
        self.said = said
        self.turn = threading.Lock()
        self.begun: SimpleQueue[Forked | None] = SimpleQueue()
        self.process: subprocess.Popen[bytes] | None = None
        self.way: socket.socket

    def start(self, command: list[str], environment: dict[str, str], files: list[int]) -> Forked:
        """Have a child carry out a command, with three standard files; raises ChildProcessError."""
        packet = json.dumps({"command": command, "environment": environment}).encode()
        with self.turn:
            if self.process is None or self.process.poll() is not None:
                self.begin()
            socket.send_fds(self.way, [packet], files)
            child = self.begun.get()
        if child is None:
            raise ChildProcessError(f"nothing was forked: {self.said.read_text()[-3000:]}")
        return child

    def begin(self) -> None:
        """Start it, and listen to it."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its, self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.guest.forking", str(its.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=[its.fileno()],
                start_new_session=True,
            )
        self.way, self.begun = ours, SimpleQueue()
        threading.Thread(target=self.listen, args=(ours, self.begun), daemon=True).start()

    def listen(self, way: socket.socket, begun: SimpleQueue[Forked | None]) -> None:
        """Tell of each child that it has begun, and that it has ended, until nobody speaks."""
        under_way: dict[int, Forked] = {}
        while packet := way.recv(PACKET_BYTES):
            told = json.loads(packet)
            if (pid := told.get("started")) is not None:
                under_way[pid] = Forked(pid)
                begun.put(under_way[pid])
            elif (child := under_way.pop(told["ended"], None)) is None:
                begun.put(None)  # it has ended before it could begin
            else:
                child.code = told["code"]
                child.over.set()
        for child in under_way.values():
            child.over.set()
        begun.put(None)
