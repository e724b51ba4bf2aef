"""A network of the tests: a namespace for each host, and a switch between them whose wires take
their time, lose a share of what they carry, and can be cut.

The switch is a thread of this process, and each wire ends in it as a TAP device: so it needs no
queueing discipline that a kernel may lack (netem), and a wire that is cut carries nothing either
way while both of its ends stay up, as of a switch that failed in between.
"""

import fcntl
import os
import random
import select
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from heapq import heappop, heappush
from pathlib import Path
from typing import Final, Self

import pytest

DELAY_S: Final = 0.005
LOST_SHARE: Final = 0.01
"""What a wire's frames take, each way, and how many of them are lost."""
TUN: Final = Path("/dev/net/tun")
_TUNSETIFF: Final = 0x400454CA
_TAP, _NO_HEADER = 0x0002, 0x1000
_FRAME_MOST: Final = 1 << 16


class Wires:
    """Hosts on one switch, each in a namespace of its own with the address 10.77.0.N."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        """Make the namespaces and their wires; skip the test where that cannot be had."""
        if os.geteuid() != 0 or not TUN.exists():
            pytest.skip(f"needs root and {TUN}")
        self.names = tuple(names)
        self.address = {name: f"10.77.0.{number}" for number, name in enumerate(names, 1)}
        self.lost = self.carried = 0
        self._cut: set[str] = set()
        self._chance = random.Random(seed)
        self._ends: dict[str, int] = {}
        self._stop = os.eventfd(0)
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> Self:
        """Plug all of them in."""
        try:
            for number, name in enumerate(self.names, 1):
                self._plug(number, name)
        except BaseException:
            self._remove()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """End the processes in the namespaces, and take all away."""
        os.eventfd_write(self._stop, 1)
        self._thread.join()
        self._remove()

    def within(self, name: str) -> tuple[str, ...]:
        """Return what is put before a command that is to run on a host."""
        return ("ip", "netns", "exec", self._space(name))

    def pids(self, name: str) -> list[int]:
        """Return the processes of a host."""
        found = subprocess.run(
            ["ip", "netns", "pids", self._space(name)], capture_output=True, text=True, check=False
        )
        return [int(line) for line in found.stdout.split()]

    def end_processes(self) -> None:
        """Kill the processes of all hosts."""
        for pid in (pid for name in self._ends for pid in self.pids(name)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def cut(self, name: str) -> None:
        """Let the wire of a host carry nothing."""
        self._cut.add(name)

    def mend(self, name: str) -> None:
        """Let it carry again."""
        self._cut.discard(name)

    @staticmethod
    def _space(name: str) -> str:
        return f"teijo-{os.getpid()}-{name}"

    def _plug(self, number: int, name: str) -> None:
        """Make a host: its namespace, and its wire with one end here."""
        space, wire = self._space(name), f"tj{os.getpid()}n{number}"
        made = subprocess.run(["ip", "netns", "add", space], capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"needs network namespaces: {made.stderr.strip()}")
        end = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._ends[name] = end
        fcntl.ioctl(end, _TUNSETIFF, struct.pack("16sH22x", wire.encode(), _TAP | _NO_HEADER))
        inside = ("ip", "-n", space)
        for command in (
            ("ip", "link", "set", wire, "netns", space),
            (*inside, "link", "set", wire, "address", self._card(number)),
            (*inside, "address", "add", f"{self.address[name]}/24", "dev", wire),
            (*inside, "link", "set", wire, "up"),
            (*inside, "link", "set", "lo", "up"),
        ):
            subprocess.run(command, check=True)

    @staticmethod
    def _card(number: int) -> str:
        return f"02:00:00:00:00:{number:02x}"

    def _remove(self) -> None:
        self.end_processes()
        for name, end in self._ends.items():
            subprocess.run(["ip", "netns", "delete", self._space(name)], check=False)
            os.close(end)
        os.close(self._stop)

    def _carry(self) -> None:
        """Carry frames from wire to wire until the switch is to stop."""
        cards = {
            bytes.fromhex(self._card(number).replace(":", "")): name
            for number, name in enumerate(self.names, 1)
        }
        sources = {end: name for name, end in self._ends.items()}
        under_way: list[tuple[float, int, str, bytes]] = []
        while True:
            wait_s = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
            ready, _, _ = select.select([*sources, self._stop], [], [], wait_s)
            if self._stop in ready:
                return
            for end in ready:
                with suppress(BlockingIOError):
                    frame = os.read(end, _FRAME_MOST)
                    to = cards.get(frame[:6])
                    for name in self.names if to is None else (to,):
                        if name != sources[end] and self._passes(sources[end], name):
                            due_s = time.monotonic() + DELAY_S
                            heappush(under_way, (due_s, self.carried, name, frame))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, name, frame = heappop(under_way)
                with suppress(OSError):  # an end that is not up yet takes nothing
                    os.write(self._ends[name], frame)

    def _passes(self, source: str, destination: str) -> bool:
        """Tell whether a frame goes on its way."""
        if self._cut & {source, destination}:
            return False
        if self._chance.random() < LOST_SHARE:
            self.lost += 1
            return False
        self.carried += 1
        return True
