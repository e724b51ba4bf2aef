"""The door to the engine: open a session, run plans on it, keep its histograms.

Three sessions look alike (`session.Session`): the native engine on one or several open
descriptors, fio on one, and a simulated device in virtual time.
"""

from collections.abc import Sequence

from teijo.engine.native import (
    Backend,
    NativeSession,
    SimulatedSession,
    ceilings,
    simulated_kinds,
    simulated_parameters,
    simulated_presets,
)
from teijo.engine.plan import Layout, Plan, StreamPlan
from teijo.engine.session import (
    Ceilings,
    Lap,
    Observer,
    Progress,
    Session,
    SimulatedFacts,
    SimulatedPreset,
)
from teijo.errors import PlanError

__all__ = [
    "Ceilings",
    "Lap",
    "Layout",
    "Observer",
    "Plan",
    "Progress",
    "Session",
    "SimulatedFacts",
    "SimulatedPreset",
    "SimulatedSession",
    "StreamPlan",
    "ceilings",
    "open_descriptor",
    "open_fio",
    "open_simulated",
    "simulated_kinds",
    "simulated_parameters",
    "simulated_presets",
]


def open_descriptor(
    descriptors: int | Sequence[int],
    *,
    capacity_bytes: int,
    logical_block_bytes: int = 512,
    backend: Backend = "auto",
    layout: Layout | None = None,
) -> Session:
    """Open the native engine on descriptors, which stay the caller's.

    Raises:
        teijo.errors.PlanError: the layout is not one of these descriptors.
        teijo.errors.HostError: a descriptor is not open.
    """
    return NativeSession(
        descriptors,
        capacity_bytes=capacity_bytes,
        logical_block_bytes=logical_block_bytes,
        backend=backend,
        layout=layout,
    )


def open_fio(
    descriptors: int | Sequence[int],
    *,
    capacity_bytes: int,
    logical_block_bytes: int = 512,
    layout: Layout | None = None,
) -> Session:
    """Open fio on a descriptor, which stays the caller's.

    fio opens the target a second time; a claim (O_EXCL) on the descriptor is no obstacle.

    Raises:
        teijo.errors.PlanError: there are several descriptors.
        teijo.errors.HostError: fio is not installed, or too old.
        teijo.errors.DeviceError: the target cannot be read with direct I/O.
    """
    from teijo.engine.fio import FioSession

    files = [descriptors] if isinstance(descriptors, int) else list(descriptors)
    if len(files) != 1 or (layout is not None and layout.kind != "single"):
        raise PlanError(
            f"fio is not driven over several targets at once ({len(files)} were named)",
            remedy="Use --engine native, or one target.",
        )
    return FioSession(
        files[0], capacity_bytes=capacity_bytes, logical_block_bytes=logical_block_bytes
    )


def open_simulated(preset: str, **overrides: str) -> SimulatedSession:
    """Make a simulated device and open a session on it.

    Raises:
        teijo.errors.TargetError: there is no such device.
        teijo.errors.PlanError: no such parameter, or an impossible value.
    """
    return SimulatedSession(preset, overrides)
