"""What a device is: its size and its name, as a method and a report need them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

DeviceKind = Literal["simulated", "file", "block"]


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Sizes in bytes. A device simulated at a scale has a nominal capacity larger than its own."""

    capacity_bytes: int
    nominal_capacity_bytes: int
    logical_block_bytes: int = 512
    physical_block_bytes: int = 4096

    @property
    def scale(self) -> float:
        """How many times smaller than nominal: divide the standard's volumes and times by it."""
        return self.nominal_capacity_bytes / self.capacity_bytes


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
