"""A worker as the conductor has it: a program of this host, or the ssh that leads to another.

It is started by words, never by a shell; what it says comes in lines on a thread of its own, and
all channels of a run put what they hear in one place.
"""

import os
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Final

from teijo.engine.hosts.wire import LINE_MOST, Flaw, Message, Ping, Pong, Tell, tell_of
from teijo.errors import HostError
from teijo.outside.text import visible

_READ_BYTES: Final = 1 << 16
_SAID_BYTES_MOST: Final = 2000
_SEND_S: Final = 5.0
"""So long a channel may be full before what it leads to counts as gone."""
READINGS: Final = 8
_END_S: Final = 5.0
_KILL_S: Final = 2.0


@dataclass(frozen=True)
class Heard:
    """One message of a worker, and when it was here; without one, the channel has ended (`why`)."""

    place: int
    at_ns: int
    tell: Tell | None
    why: str = ""


Inbox = SimpleQueue[Heard]


class Channel:
    """One worker, in place `place` of the run's hosts."""

    def __init__(self, place: int, name: str, words: Sequence[str], inbox: Inbox) -> None:
        """Start the worker.

        Raises:
            HostError: it cannot be started.
        """
        self.place, self.name = place, name
        self.moves = 0
        """How often something was heard."""
        self.heard_at = time.time()
        """When that was last, on the wall clock."""
        self.readings: deque[tuple[int, int, int]] = deque(maxlen=READINGS)
        """Of its clock, by the last pings; see `clock.closest`."""
        self._inbox = inbox
        self._pinged_ns = 0
        self._sending = threading.Lock()
        self._is_broken = False
        self._said = b""
        try:
            # Of its own session: Ctrl-C is the conductor's to hear.
            self._process = subprocess.Popen(
                list(words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise HostError(
                f"The host {name} cannot be reached: {words[0]}: {error.strerror}",
                remedy="Check the command behind --host.",
            ) from error
        assert self._process.stdin is not None
        self._sink = self._process.stdin.fileno()
        os.set_blocking(self._sink, False)
        self._threads = [
            threading.Thread(target=self._listen, name=f"teijo-host-{name}", daemon=True),
            threading.Thread(target=self._overhear, name=f"teijo-said-{name}", daemon=True),
        ]
        # The first waits for the second in the end, which must have begun by then.
        for thread in reversed(self._threads):
            thread.start()

    @property
    def last_heard(self) -> str:
        """When something was heard last, in UTC."""
        return datetime.fromtimestamp(self.heard_at, UTC).isoformat(timespec="seconds")

    def send(self, message: Message) -> None:
        """Send a message. One that the channel does not take ends the channel, which tells so."""
        line = memoryview(message.line)
        with self._sending:
            if self._is_broken:
                return
            until_s = time.monotonic() + _SEND_S
            while line:
                try:
                    line = line[os.write(self._sink, line) :]
                except BlockingIOError:
                    left_s = until_s - time.monotonic()
                    if left_s <= 0 or not select.select([], [self._sink], [], left_s)[1]:
                        self._break_off("it takes no message any more")
                        return
                except OSError:
                    self._is_broken = True  # whoever listens hears of its end
                    return

    def ping(self) -> None:
        """Tell the worker that somebody is here, unless the channel is full."""
        with self._sending:
            if self._is_broken:
                return
            self._pinged_ns = time.monotonic_ns()
            with suppress(OSError):  # a full pipe, or one that has ended
                os.write(self._sink, Ping(sent_ns=self._pinged_ns).line)

    def close(self) -> None:
        """Let the worker end, and end it where it does not."""
        process = self._process
        with self._sending:
            self._is_broken = True
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        self.end()
        with suppress(subprocess.TimeoutExpired):  # what hangs in the kernel is left
            process.wait(_KILL_S)
        for thread in self._threads:
            thread.join(_KILL_S)
        if not any(thread.is_alive() for thread in self._threads):
            for pipe in (process.stdout, process.stderr):
                assert pipe is not None
                pipe.close()

    def end(self) -> None:
        """End the worker, or what leads to it, at once: it was given up."""
        self._is_broken = True
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _break_off(self, why: str) -> None:
        self._hear(None, why)
        self.end()

    def _hear(self, tell: Tell | None, why: str = "") -> None:
        self._inbox.put(Heard(self.place, time.monotonic_ns(), tell, why))

    def _listen(self) -> None:
        """Put every message of the worker in the inbox, and in the end why there is no more."""
        assert self._process.stdout is not None
        source, held = self._process.stdout.fileno(), bytearray()
        while chunk := os.read(source, _READ_BYTES):
            self.moves += 1
            self.heard_at = time.time()
            held += chunk
            while (end := held.find(b"\n")) >= 0:
                line = bytes(held[:end])
                del held[: end + 1]
                try:
                    tell = tell_of(line)
                except Flaw:
                    shown = visible(line[:80].decode("utf-8", "replace"))
                    self._break_off(f"it says what no worker says: {shown!r}")
                    return
                if not isinstance(tell, Pong):
                    self._hear(tell)
                elif tell.sent_ns == self._pinged_ns:
                    self.readings.append((tell.sent_ns, tell.clock_ns, time.monotonic_ns()))
            if len(held) > LINE_MOST:
                self._break_off(f"it says more than {LINE_MOST:,} bytes in one message")
                return
        self._threads[1].join(_KILL_S)  # its last words may be on the way
        self._hear(None, self._last_words())

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        source = self._process.stderr.fileno()
        while chunk := os.read(source, _READ_BYTES):
            self._said = (self._said + chunk)[-_SAID_BYTES_MOST:]

    def _last_words(self) -> str:
        lines = self._said.decode("utf-8", "replace").splitlines()
        said = [visible(line).strip() for line in lines if line.strip()]
        return f"its channel was closed ({said[-1]})" if said else "its channel was closed"
