"""The door to the engine: open a session, run plans on it, keep its histograms.

Three sessions look alike (`session.Session`): the native engine and fio on an open descriptor,
and a simulated device in virtual time.
"""

from teijo.engine.fio import FioSession
from teijo.engine.native import (
    Backend,
    NativeSession,
    SimulatedFacts,
    SimulatedPreset,
    SimulatedSession,
    ceilings,
    decode_histogram,
    encode_histogram,
    simulated_parameters,
    simulated_presets,
)
from teijo.engine.plan import Plan, StreamPlan
from teijo.engine.session import (
    Buckets,
    Ceilings,
    DirectionLap,
    IntervalColumns,
    Lap,
    Observer,
    Progress,
    Session,
    Witness,
)

__all__ = [
    "Buckets",
    "Ceilings",
    "DirectionLap",
    "IntervalColumns",
    "Lap",
    "Observer",
    "Plan",
    "Progress",
    "Session",
    "SimulatedFacts",
    "SimulatedPreset",
    "SimulatedSession",
    "StreamPlan",
    "Witness",
    "ceilings",
    "decode_histogram",
    "encode_histogram",
    "open_descriptor",
    "open_fio",
    "open_simulated",
    "simulated_parameters",
    "simulated_presets",
]


def open_descriptor(
    descriptor: int,
    *,
    capacity_bytes: int,
    logical_block_bytes: int = 512,
    backend: Backend = "auto",
) -> Session:
    """Open the native engine on a descriptor, which stays the caller's.

    Raises:
        teijo.errors.HostError: the descriptor is not open.
    """
    return NativeSession(
        descriptor,
        capacity_bytes=capacity_bytes,
        logical_block_bytes=logical_block_bytes,
        backend=backend,
    )


def open_fio(descriptor: int, *, capacity_bytes: int, logical_block_bytes: int = 512) -> Session:
    """Open fio on a descriptor, which stays the caller's.

    fio opens the target a second time; a claim (O_EXCL) on the descriptor is no obstacle.

    Raises:
        teijo.errors.HostError: fio is not installed, or too old.
        teijo.errors.DeviceError: the target cannot be read with direct I/O.
    """
    return FioSession(
        descriptor, capacity_bytes=capacity_bytes, logical_block_bytes=logical_block_bytes
    )


def open_simulated(preset: str, **overrides: str) -> SimulatedSession:
    """Make a simulated device and open a session on it.

    Raises:
        teijo.errors.TargetError: there is no such device.
        teijo.errors.PlanError: no such parameter, or an impossible value.
    """
    return SimulatedSession(preset, overrides)
