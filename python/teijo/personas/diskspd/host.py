"""The host as DiskSpd tells of it: its name, its processors by core, socket and node."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from teijo.outside.file import Unreadable, read_text

CPUS: Final = Path("/sys/devices/system/cpu")
UNKNOWN_SCHEME: Final = "<unknown>"
_MOST_BYTES: Final = 4096


@dataclass(frozen=True, kw_only=True)
class Processor:
    """A processor and where it is, each counted from 0."""

    number: int
    core: int = 0
    socket: int = 0
    node: int = 0


@dataclass(frozen=True, kw_only=True)
class Host:
    """What is told of a host. `scheme` is the governor of its frequency, in place of a power plan.

    There is one processor group: Linux has none.
    """

    name: str
    started: str
    processors: tuple[Processor, ...]
    scheme: str = UNKNOWN_SCHEME

    @property
    def cores(self) -> tuple[int, ...]:
        """The cores."""
        return tuple(dict.fromkeys(each.core for each in self.processors))

    @property
    def sockets(self) -> tuple[int, ...]:
        """The sockets."""
        return tuple(dict.fromkeys(each.socket for each in self.processors))

    @property
    def nodes(self) -> tuple[int, ...]:
        """The NUMA nodes."""
        return tuple(dict.fromkeys(each.node for each in self.processors))

    @property
    def has_threads(self) -> bool:
        """Whether a core has more than one processor."""
        return len(self.cores) < len(self.processors)

    def mask(self, chosen: Callable[[Processor], bool]) -> int:
        """Return the bits of those processors that are chosen."""
        return sum(1 << each.number for each in self.processors if chosen(each))


def host_now(now: datetime, cpus: Path = CPUS) -> Host:
    """Return this host; what it does not tell is counted as one core, socket and node."""
    numbers = sorted(
        int(path.name[3:]) for path in cpus.glob("cpu[0-9]*") if path.name[3:].isdecimal()
    )
    raw = [(number, *_place(cpus / f"cpu{number}")) for number in numbers] or [(0, 0, 0, 0)]
    # A core's id is counted within its socket, and may have holes.
    cores = {key: place for place, key in enumerate(dict.fromkeys((s, c) for _, c, s, _ in raw))}
    stamp = now.astimezone(UTC)
    return Host(
        name=socket.gethostname(),
        started=f"{stamp.year}/{stamp:%m/%d %H:%M:%S} UTC",
        processors=tuple(
            Processor(number=number, core=cores[sock, core], socket=sock, node=node)
            for number, core, sock, node in raw
        ),
        scheme=_word(cpus / "cpu0" / "cpufreq" / "scaling_governor") or UNKNOWN_SCHEME,
    )


def _place(folder: Path) -> tuple[int, int, int]:
    """Return (core, socket, node) of a processor."""
    core = _word(folder / "topology" / "core_id")
    package = _word(folder / "topology" / "physical_package_id")
    nodes = sorted(path.name[4:] for path in folder.glob("node[0-9]*"))
    number = int(folder.name[3:])
    return (
        int(core) if core.isdecimal() else number,
        int(package) if package.isdecimal() else 0,
        int(nodes[0]) if nodes and nodes[0].isdecimal() else 0,
    )


def _word(path: Path) -> str:
    try:
        return read_text(path, most_bytes=_MOST_BYTES).strip()
    except Unreadable:
        return ""
