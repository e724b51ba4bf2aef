"""The engine a person chose, opened on our own descriptor."""

from typing import Literal

from teijo import engine as door
from teijo.engine.session import Session
from teijo.terms.geometry import Geometry

Engine = Literal["native", "fio"]


def open_session(fd: int, geometry: Geometry, *, engine: Engine) -> Session:
    """Return a session of the chosen engine. The descriptor stays ours.

    Raises:
        teijo.errors.HostError: the engine is not installed.
        teijo.errors.DeviceError: it cannot drive this device.
    """
    opened = {"native": door.open_descriptor, "fio": door.open_fio}[engine]
    return opened(
        fd,
        capacity_bytes=geometry.capacity_bytes,
        logical_block_bytes=geometry.logical_block_bytes,
    )
