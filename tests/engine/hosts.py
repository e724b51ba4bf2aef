"""Parties of workers whose latencies are known, for the tests of runs from several hosts."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from teijo.engine.hosts import wire
from teijo.engine.hosts.party import Guest, Party, Sharing
from teijo.engine.hosts.session import HostsSession
from teijo.units import NS_PER_S
from tests.engine.known_worker import BUILD, TEIJO

SIZE_BYTES = 1 << 30
PATIENT_NS = 600 * NS_PER_S
"""A silence that no test waits for."""


def guest(name: str, log: Path, *how: str) -> Guest:
    return Guest(
        name=name, words=(sys.executable, "-m", "tests.engine.known_worker", str(log), *how)
    )


def log_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.log"


def sharing(folder: Path, hows: dict[str, Sequence[str]], silence_ns: int = PATIENT_NS) -> Sharing:
    """Return hosts by their names, each of which behaves as it is told."""
    guests = tuple(guest(name, log_of(folder, name), *how) for name, how in hows.items())
    return Sharing(guests=guests, teijo=TEIJO, build=BUILD, silence_ns=silence_ns)


@contextmanager
def shared(
    folder: Path, hows: dict[str, Sequence[str]], silence_ns: int = PATIENT_NS
) -> Iterator[HostsSession]:
    """Open a session on hosts that behave as they are told."""
    party = Party(sharing(folder, hows, silence_ns))
    try:
        number = party.numbered()
        ask = wire.Open(
            number=number, target="/target", write=True, destroy="", capacity_bytes=SIZE_BYTES,
            logical_block_bytes=512, probes=(0,), silence_ns=silence_ns,
        )  # fmt: skip
        told = party.answers([ask] * len(hows), number, wire.Opened)
        yield HostsSession(
            party,
            [opened.backend for _, opened in told],
            capacity_bytes=SIZE_BYTES,
            logical_block_bytes=512,
        )
    finally:
        party.close()


def lines_of(folder: Path, name: str, word: str) -> list[list[str]]:
    """Return the lines of a host's log that begin with a word, without it."""
    lines = log_of(folder, name).read_text().splitlines()
    return [line.split()[1:] for line in lines if line.split()[0] == word]


def latencies_of(folder: Path, name: str, operation: str) -> list[int]:
    """Return every latency that a host has claimed."""
    found = lines_of(folder, name, "io")
    return [int(time_ns) for _, of, time_ns in found if of == operation]
