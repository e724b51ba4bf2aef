"""A target looked at before anything is begun: read once, sized once, a simulated one made once.

Nothing is claimed or made for it. `opening.py` opens what was surveyed.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from teijo.device.composite import tell_apart
from teijo.device.composition import geometry_over
from teijo.device.health.asked import asked_counters
from teijo.device.health.tiers import AskedCounters
from teijo.device.identify import geometry_in_sysfs
from teijo.device.preflight import claim
from teijo.device.simulated import SimulatedDevice, make_simulated
from teijo.device.target import (
    BlockTarget,
    CompositeTarget,
    DatabaseTarget,
    DirectoryTarget,
    FileTarget,
    SimulatedTarget,
    Target,
    parse_target,
    split_settings,
)
from teijo.terms.geometry import MEMORY, NO_CAPACITY, Geometry

if TYPE_CHECKING:
    from teijo.device.purging.offer import Offer


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What is known of a target before it is opened: its text read, its size, what it is made of.

    `settings` are those given with it that are not the target's. `simulated` is the device
    itself where it is simulated: made, not driven yet, and open until `close` or until a run
    has closed it.
    """

    target: Target
    geometry: Geometry
    settings: Mapping[str, str]
    simulated: SimulatedDevice | None = None

    @property
    def facts(self) -> Mapping[str, str]:
        """What a simulated device is made of; of a directory, the memory that may cache it.

        Nothing of any other, which is not open yet.
        """
        if isinstance(self.target, DirectoryTarget):
            return {MEMORY: str(_memory_bytes())}
        return {} if self.simulated is None else self.simulated.identity.facts

    def asked_counters(self) -> AskedCounters:
        """Ask a block device for its own counters; there are none of any other target.

        Raises:
            teijo.errors.TargetError: it cannot be opened to look at.
        """
        match self.target:
            case BlockTarget() as target:
                subject = claim(target.path, write=False)
                try:
                    return asked_counters(subject.fd)
                finally:
                    os.close(subject.fd)
            case (
                FileTarget()
                | CompositeTarget()
                | SimulatedTarget()
                | DirectoryTarget()
                | DatabaseTarget()
            ):
                return AskedCounters()
            case other:
                assert_never(other)

    def purge_offers(self, method: str) -> "tuple[Offer, ...]":
        """Return what a purge by this method takes of each block device of the target; of `auto`,
        which takes no more than the device, none. Only asks.

        Raises:
            teijo.errors.TargetError: one cannot be opened to look at, or has no such method.
            teijo.errors.UnsafeError: it is refused here and now.
        """
        members = (
            self.target.members if isinstance(self.target, CompositeTarget) else (self.target,)
        )
        offers = (_purge_offer(one.path, method) for one in members if isinstance(one, BlockTarget))
        return tuple(offer for offer in offers if offer is not None)

    def close(self) -> None:
        """Release a simulated device; twice is once."""
        if self.simulated is not None:
            self.simulated.close()


def survey(where: str | Target, settings: Mapping[str, str] | None = None) -> Survey:
    """Return what is known of a target, with the settings that are the target's own in it.

    `where` is its text, or the target where that was read already. A file that does not exist is
    not made for it.

    Raises:
        teijo.errors.TargetError: it is not there, or no target.
        teijo.errors.PlanError: a simulated device has no such parameter, or cannot have the value.
    """
    named = parse_target(where) if isinstance(where, str) else where
    target, others = split_settings(named, settings or {})
    match target:
        case SimulatedTarget():
            device = make_simulated(target)
            return Survey(
                target=target, geometry=device.geometry, settings=others, simulated=device
            )
        case FileTarget() | BlockTarget() | CompositeTarget():
            return Survey(target=target, geometry=_geometry(target), settings=others)
        case DirectoryTarget() | DatabaseTarget():
            return Survey(target=target, geometry=NO_CAPACITY, settings=others)
        case other:
            assert_never(other)


def _purge_offer(path: Path, method: str) -> "Offer | None":
    from teijo.device.purging.ladder import wanted

    subject = claim(path, write=False)
    try:
        return wanted(subject, method)
    finally:
        os.close(subject.fd)


def _memory_bytes() -> int:
    """Return the memory of this host, 0 where it does not say."""
    try:
        return max(0, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError):
        return 0


def _geometry(target: FileTarget | BlockTarget | CompositeTarget) -> Geometry:
    match target:
        case FileTarget():
            return file_size(target)
        case BlockTarget(path=path):
            known = geometry_in_sysfs(path)
            if known is not None:
                return known
            subject = claim(path, write=False)
            os.close(subject.fd)
            return subject.found.geometry
        case CompositeTarget(members=members):
            tell_apart(target)
            return geometry_over(target, [_geometry(member) for member in members])
        case other:
            assert_never(other)


def file_size(target: FileTarget) -> Geometry:
    """Return the size of a file, or the one it will be made with; its blocks are assumed."""
    size = target.path.stat().st_size if target.size_bytes is None else target.size_bytes
    return Geometry(capacity_bytes=size, nominal_capacity_bytes=size)
