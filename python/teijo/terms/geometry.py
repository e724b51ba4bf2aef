"""What a device is: its size and its name, as a method and a report need them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

DeviceKind = Literal["simulated", "file", "block", "directory", "database", "none"]
"""What a target is; "none" of imported results, which name no target of this program."""
MEMORY: Final = "memory bytes"
"""The fact of a directory: the memory of the host that may cache what is in it, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Sizes in bytes. A device simulated at a scale has a nominal capacity larger than its own.

    A directory and a database have no capacity: all is 0, as in `NO_CAPACITY`.
    """

    capacity_bytes: int
    nominal_capacity_bytes: int
    logical_block_bytes: int = 512
    physical_block_bytes: int = 4096

    @property
    def scale(self) -> float:
        """How many times smaller than nominal: divide the standard's volumes and times by it."""
        return self.nominal_capacity_bytes / self.capacity_bytes if self.capacity_bytes else 1.0

    @property
    def has_capacity(self) -> bool:
        """Whether there are blocks to count at all."""
        return self.capacity_bytes > 0


NO_CAPACITY = Geometry(
    capacity_bytes=0, nominal_capacity_bytes=0, logical_block_bytes=0, physical_block_bytes=0
)
"""Of a target without blocks of its own: a directory, a database, none."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who a device is. What is not known is an empty string, never a guess.

    `facts` are further rows for the report's header (simulated parameters, link, host cache).
    """

    kind: DeviceKind
    target: str
    model: str = ""
    serial: str = ""
    firmware: str = ""
    interface: str = ""
    wwid: str = ""
    write_cache: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
