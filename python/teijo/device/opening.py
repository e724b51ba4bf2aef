"""A target text becomes an open device, or a clear refusal."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, assert_never

from teijo.device.block import open_block
from teijo.device.cache_hold import CacheWish
from teijo.device.checks import Subject
from teijo.device.composite import open_composite, tell_apart
from teijo.device.composition import geometry_over, identity_over
from teijo.device.device import Device
from teijo.device.directory import DirectoryWorker
from teijo.device.drive.seen import Seen, look_at
from teijo.device.file import open_file
from teijo.device.health.fitness import Fitness, look
from teijo.device.health.report import HealthReport, of_subject
from teijo.device.health.snapshot import DRIVES
from teijo.device.health.tiers import OpeningCondition
from teijo.device.hook_consent import Hook
from teijo.device.layout import Progress
from teijo.device.marker import NOBODY, Holder
from teijo.device.preflight import Preflight, claim, examine
from teijo.device.real import device_on
from teijo.device.sessions import Engine
from teijo.device.shared import Shared, check_can_be_shared, meet
from teijo.device.stack import whole_disk
from teijo.device.survey import Survey, file_size, survey
from teijo.device.target import (
    BlockTarget,
    CompositeTarget,
    DatabaseTarget,
    DirectoryTarget,
    FileTarget,
    Member,
    SimulatedTarget,
    Target,
    parse_target,
)
from teijo.device.watched import SILENCE_NS
from teijo.device.working import WorkingDevice
from teijo.engine.hosts.party import Sharing
from teijo.errors import PlanError, TargetError
from teijo.sql.worker import SqlWorker
from teijo.terms.drive_warning import DriveWarning
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import NONE


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """A device looked at without being changed. Files, and several as one, have no `preflight`.

    `destroy` is what to type after --destroy to give it up; empty while a check refuses.
    `condition` is what a drive says against itself, `drive` who it is, `health` how it is; None of
    a file, and `health` also of what is no drive, or does not answer.
    """

    identity: Identity
    geometry: Geometry
    preflight: Preflight
    destroy: str
    members: tuple["Inspection", ...] = ()
    condition: OpeningCondition | None = None
    drive: Seen | None = None
    health: HealthReport | None = None


def open_target(
    where: str | Survey,
    *,
    write: bool,
    destroy: str | None = None,
    overwrite: bool = False,
    engine: Engine = "native",
    results: Sequence[Path] = (),
    holder: Holder = NOBODY,
    make: bool = True,
    progress: Progress | None = None,
    accept: frozenset[DriveWarning] = frozenset(),
    hook: Hook | None = None,
    cache: CacheWish | None = None,
    purge_by: str = NONE,
    silence_ns: int = SILENCE_NS,
    shared: Shared | None = None,
) -> Device:
    """Return the device that a survey or a target text names, claimed until it is closed.

    `write` asks for a device that may be destroyed: a block device then needs `destroy`, its
    serial ("S1,S2" of several, and of all that a purge by `purge_by` takes), and a file that teijo
    did not make `overwrite`. `results` are folders that must not lie on it. A missing file is laid
    out only if `make` or where the hook took it away, and left when nothing comes back for
    `silence_ns`. A drive is measured in spite of the warnings in `accept`, and configured by no
    program but `hook`. Its write cache is held as `cache` has it. The hosts of `shared` drive it.

    Raises:
        teijo.errors.TargetError: it is not there, or no target.
        teijo.errors.UnsafeError: writing there could destroy something; nothing was written.
        teijo.errors.DeviceError: it refuses direct I/O, or went away.
        teijo.errors.HostError: there is no space for the file, or the engine is missing.
    """
    seen = survey(where) if isinstance(where, str) else where
    device = partial(device_on, engine=engine, hook=hook, shared=shared)
    _check_has_cache(seen.target, cache, write=write)
    match _fitting(seen.target, destroy=destroy, engine=engine):
        case SimulatedTarget():
            assert seen.simulated is not None, "a survey makes it"
            return seen.simulated
        case FileTarget() as target:
            file = partial(
                open_file,
                target,
                write=write,
                overwrite=overwrite,
                holder=holder,
                progress=progress,
                silence_ns=silence_ns,
            )
            # The second opens it after a hook, which may have taken the file away: it may be made.
            return device(partial(file, make=make), file, place=str(target.path.absolute()))
        case BlockTarget() as target:
            block = partial(
                open_block, target, write=write, destroy=destroy, results=tuple(results),
                accept=accept, cache=cache, purge_by=purge_by,
            )  # fmt: skip
            return device(block, block, place=str(target.path))
        case CompositeTarget() as target:
            several = partial(
                open_composite, target, write=write, destroy=destroy, overwrite=overwrite,
                results=tuple(results), holder=holder, accept=accept, cache=cache,
                purge_by=purge_by, progress=progress, silence_ns=silence_ns,
            )  # fmt: skip
            return device(partial(several, make=make), several, place=target.text)
        case DirectoryTarget() | DatabaseTarget() as target:
            return _working(target, _token(holder))
        case other:
            assert_never(other)


def open_on_hosts(
    sharing: Sharing,
    where: str | Survey,
    *,
    write: bool,
    destroy: str | None = None,
    engine: Engine = "native",
    hook: Hook | None = None,
    silence_ns: int = SILENCE_NS,
    **given: Any,
) -> Device:
    """Return the device that a target text names, open on several hosts; `given` as `open_target`.

    Raises:
        teijo.errors.HostError: a host cannot be reached, or has another Teijo.
        teijo.errors.TargetError: a host has another target there. Others: as `open_target`.
    """
    seen = survey(where) if isinstance(where, str) else where
    text = check_can_be_shared(seen.target, engine, hook)
    # Before anything is opened: another build is refused before anything is written.
    shared = meet(sharing, text=text, write=write, destroy=destroy or "", io_timeout_ns=silence_ns)
    try:
        return open_target(
            seen, write=write, destroy=destroy, engine=engine, hook=hook, silence_ns=silence_ns,
            shared=shared, **given,
        )  # fmt: skip
    except BaseException:
        shared.party.close()
        raise


def _check_has_cache(target: Target, cache: CacheWish | None, *, write: bool) -> None:
    """Make sure that a cache a person asked for is that of a drive which is given up.

    Raises:
        teijo.errors.PlanError: it is not.
    """
    if cache is None or not cache.must:
        return
    if not isinstance(target, BlockTarget | CompositeTarget):
        raise PlanError(
            f"{target.text} is no drive, and cache={cache.state} switches a drive's write cache",
            remedy="Leave it away: --set cache=leave.",
        )
    if not write:
        raise PlanError(
            f"cache={cache.state} changes {target.text}, and this test only reads it",
            remedy="Leave it away: --set cache=leave.",
        )


def _token(holder: Holder) -> str:
    """Return what marks the things that a run makes: as secret as its id, and safe as a name."""
    return sha256(f"teijo work {holder.run}".encode()).hexdigest() if holder.run else token_hex(32)


def _working(target: DirectoryTarget | DatabaseTarget, token: str) -> WorkingDevice:
    match target:
        case DirectoryTarget(text=text, path=path):
            return WorkingDevice(DirectoryWorker(text, path, token=token))
        case DatabaseTarget(text=text, path=path, journal=journal, synchronous=synchronous):
            return WorkingDevice(
                SqlWorker(text, path, journal=journal, synchronous=synchronous, token=token)
            )


def _fitting(target: Target, *, destroy: str | None, engine: Engine) -> Target:
    """Return the target; a consent and an engine must be of its kind."""
    match target:
        case DirectoryTarget() | DatabaseTarget() if destroy is not None or engine != "native":
            raise TargetError(
                f"{target.text} has no blocks, and --destroy and --engine are about them",
                remedy="Leave both away.",
            )
        case SimulatedTarget() if destroy is not None:
            raise TargetError(
                f"{target.text} is simulated, and --destroy names a real device",
                remedy="Leave --destroy away, or name the device.",
            )
        case SimulatedTarget() if engine != "native":
            raise TargetError(
                f"{target.text} is simulated, and {engine} drives real devices only",
                remedy="Leave --engine away, or name a file or a device.",
            )
        case FileTarget() if destroy is not None:
            raise TargetError(
                f"{target.text} is a file, and --destroy names a block device",
                remedy="Leave --destroy away; an existing file is given up by --overwrite.",
            )
        case CompositeTarget() if engine != "native":
            raise TargetError(
                f"{target.text} is several targets, and {engine} drives one",
                remedy="Leave --engine away, or name one of them.",
            )
    return target


def inspect_target(where: str | Target) -> Inspection:
    """Return what preflight says of a block device, without opening it for writing.

    It is claimed for the moment it is looked at, so that the answer is not a guess.

    Raises:
        teijo.errors.TargetError: it is no block device, or cannot be opened.
    """
    target = parse_target(where) if isinstance(where, str) else where
    match target:
        case BlockTarget():
            return _inspect_block(target)
        case CompositeTarget():
            return _inspect_members(target)
        case FileTarget() | SimulatedTarget() | DirectoryTarget() | DatabaseTarget():
            raise TargetError(
                f"{target.text} is no block device", remedy="`teijo devices` lists them."
            )


def _inspect_members(target: CompositeTarget) -> Inspection:
    tell_apart(target)
    members = tuple(_inspect_member(member) for member in target.members)
    identities = [member.identity for member in members]
    geometries = [member.geometry for member in members]
    refused = any(member.preflight.refusals for member in members)
    return Inspection(
        identity=identity_over(target, identities, geometries),
        geometry=geometry_over(target, geometries),
        preflight=Preflight(checks=()),
        destroy="" if refused else ",".join(one.destroy for one in members if one.destroy),
        members=members,
    )


def _inspect_member(member: Member) -> Inspection:
    match member:
        case BlockTarget():
            return _inspect_block(member)
        case FileTarget(path=path) if path.exists():
            # Looking at a file is no measurement: holes in it are no reason to refuse.
            allowed = replace(member, allow_holes=True)
            file = open_file(allowed, write=False, overwrite=False)
            try:
                identity, geometry = file.identity, file.geometry
            finally:
                file.release()
        case FileTarget():
            identity, geometry = Identity(kind="file", target=member.text), file_size(member)
    return Inspection(
        identity=identity, geometry=geometry, preflight=Preflight(checks=()), destroy=""
    )


def _inspect_block(target: BlockTarget) -> Inspection:
    subject: Subject = claim(target.path, write=False)
    try:
        seen = look_at(subject)
        report = examine(subject)
        fitness = Fitness(condition=look(subject))
        facts = {**subject.found.identity.facts, **seen.facts, **fitness.facts}
        # A drive that hangs is not asked once more, and what is no drive has no health.
        is_drive = whole_disk(subject.found.node, subject.roots).name.startswith(DRIVES)
        health = of_subject(subject) if is_drive and seen.portrait.stuck is None else None
        return Inspection(
            identity=replace(subject.found.identity, facts=facts),
            condition=fitness.condition,
            health=health,
            drive=seen,
            geometry=subject.found.geometry,
            preflight=report,
            destroy="" if report.refusals else subject.found.token,
        )
    finally:
        os.close(subject.fd)
