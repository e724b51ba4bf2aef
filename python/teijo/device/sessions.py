"""The engine a person chose, opened on our own descriptors."""

from collections.abc import Sequence
from typing import Literal

from teijo import engine as door
from teijo.engine.plan import Layout
from teijo.engine.session import Session
from teijo.terms.geometry import Geometry

Engine = Literal["native", "fio"]


def open_session(
    descriptors: Sequence[int], geometry: Geometry, *, layout: Layout, engine: Engine
) -> Session:
    """Return a session of the chosen engine. The descriptors stay ours.

    Raises:
        teijo.errors.HostError: the engine is not installed.
        teijo.errors.DeviceError: it cannot drive this device.
        teijo.errors.PlanError: it cannot drive several at once.
    """
    opened = {"native": door.open_descriptor, "fio": door.open_fio}[engine]
    return opened(
        descriptors,
        capacity_bytes=geometry.capacity_bytes,
        logical_block_bytes=geometry.logical_block_bytes,
        layout=layout,
    )
