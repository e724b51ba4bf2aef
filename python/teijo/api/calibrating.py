"""What this host does at best for a method on a target, held against what the drive gave."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns
from typing import Final

from teijo.analysis.headroom import Headroom, Summary, given_in, headrooms, sentence, summary
from teijo.api import reading
from teijo.device import survey
from teijo.device.platform import device_facts
from teijo.device.preflight import claim
from teijo.device.target import BlockTarget, SimulatedTarget, check_work
from teijo.errors import UsageError
from teijo.methods.method import AnyMethod, settings_on
from teijo.methods.registry import method_named
from teijo.methods.settings import Settings
from teijo.runner.calibration import Told, cells_of, expected_ns, measured, unheard
from teijo.runner.environment import describe_host
from teijo.runner.pinning import Cpus, kept_among, recorded, shown_with_nodes, split_cpus
from teijo.terms.geometry import Geometry
from teijo.terms.platform import HostCell, Platform
from teijo.terms.record import Record

USUAL: Final = "pts.iops"
"""The method whose cells are meant where none is named."""
_HOST: Final = (
    "host", "system", "kernel", "cpu", "cpu count", "cpu governor", "cpu frequency", "turbo",
    "idle states", "mitigations", "virtualisation", "NUMA nodes", "memory", "memory available",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A calibration before it is begun: the cells of a method on a target."""

    method: str
    target: str
    cells: tuple[HostCell, ...]
    geometry: Geometry
    cpus: Cpus
    facts: Mapping[str, str]
    platform: Platform
    against: Record | None

    def expected_ns(self, each_ns: int) -> int:
        """Return about how long it takes."""
        return expected_ns(len(self.cells), each_ns=each_ns)


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The host beside the drive: cell by cell, in one, and the facts that explain it."""

    method: str
    target: str
    against: str
    platform: Platform
    cells: tuple[Headroom, ...]
    summary: Summary
    sentence: str
    facts: Mapping[str, str]


def plan_calibration(
    target: str,
    method: str = "",
    *,
    spec: str = "",
    settings: Mapping[str, str] | None = None,
    against: Path | str | None = None,
) -> Calibration:
    """Return what a calibration for a target would measure; nothing is measured yet.

    `against` is a run file of the drive: its method and settings are meant then.

    Raises:
        UsageError: the target is simulated, the run is another drive's or another method's, or the
            method drives no blocks.
        TeijoError: as `preview`.
    """
    record = None if against is None else reading.open(against).record
    if record is not None:
        _check_run(record, method, spec, settings)
    chosen = method_named(method or (USUAL if record is None else record.run.method))
    seen = survey(target, settings)
    try:
        if isinstance(seen.target, SimulatedTarget):
            raise UsageError(
                f"{target} is simulated: in virtual time this host sets no pace",
                remedy="Name a real target, or leave --for away to see the host alone.",
            )
        check_work(seen.target, chosen.work)
        if isinstance(seen.target, BlockTarget) and record is not None:
            _check_drive(seen.target, record)
        given, cpus = split_cpus(seen.settings)
        numbers = _settings(chosen, spec, given, seen.geometry, seen.facts, record)
        cpus = cpus if record is None else recorded(record.environment)
        cells = cells_of(chosen, numbers, seen.geometry)
        facts, link = device_facts(seen.target)
    finally:
        seen.close()
    if not cells:
        raise UsageError(
            f"{chosen.id} drives no blocks, so no cell of it has a ceiling",
            remedy="Name another method: teijo methods.",
        )
    used = sorted(cpus or os.sched_getaffinity(0))
    host = {name: text for name, text in describe_host().items() if name in _HOST}
    return Calibration(
        method=chosen.id,
        target=target,
        cells=cells,
        geometry=seen.geometry,
        cpus=cpus,
        facts=host | {"processors used": shown_with_nodes(used)} | facts,
        platform=Platform(link=link),
        against=record,
    )


def calibrate_for(plan: Calibration, *, each_ns: int, told: Told = unheard) -> Calibrated:
    """Measure the ceiling of each cell, `each_ns` a repeat, and hold the drive against it.

    Raises:
        PlanError: a processor that it is to be kept on is not there.
    """
    began_ns = monotonic_ns()
    with kept_among(plan.cpus):
        found = measured(
            plan.cells, plan.geometry, each_ns=each_ns, cpus=plan.cpus, told=told
        )  # fmt: skip
    platform = Platform(
        cells=found, link=plan.platform.link, each_ns=each_ns, cost_ns=monotonic_ns() - began_ns
    )
    rooms = headrooms(platform, {} if plan.against is None else given_in(plan.against))
    in_one = summary(rooms)
    return Calibrated(
        method=plan.method,
        target=plan.target,
        against="" if plan.against is None else plan.against.run.id,
        platform=platform,
        cells=rooms,
        summary=in_one,
        sentence=sentence(in_one),
        facts=plan.facts,
    )


def _settings(
    method: AnyMethod,
    spec: str,
    given: Mapping[str, str],
    geometry: Geometry,
    facts: Mapping[str, str],
    record: Record | None,
) -> Settings:
    if record is not None:
        settings: Settings = method.settings_from(record.run.settings)
        return settings
    return settings_on(method, spec or method.default_spec, given, geometry, facts)


def _check_run(record: Record, method: str, spec: str, settings: Mapping[str, str] | None) -> None:
    if method and method_named(method).id != record.run.method:
        raise UsageError(
            f"The run is one of {record.run.method}, not of {method}",
            remedy="Leave the method away: it is the run's.",
        )
    if spec or settings:
        raise UsageError(
            "--against takes the settings of its run, and --set and --spec give others",
            remedy="Leave them away.",
        )


def _check_drive(target: BlockTarget, record: Record) -> None:
    """Make sure that a run is of the drive that is named, where both have a serial number."""
    subject = claim(target.path, write=False)
    try:
        own = subject.found.identity.serial
    finally:
        os.close(subject.fd)
    if own and record.identity.serial and own != record.identity.serial:
        raise UsageError(
            f"The run is of the drive {record.identity.serial}, and {target.text} is {own}",
            remedy="Name a run of this drive after --against.",
        )
