"""A target text becomes an open device, or a clear refusal."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from teijo.device.block import open_block
from teijo.device.checks import Subject
from teijo.device.device import Device
from teijo.device.file import open_file
from teijo.device.layout import Progress
from teijo.device.preflight import Preflight, claim, examine
from teijo.device.sessions import Engine
from teijo.device.simulated import open_simulated
from teijo.device.target import BlockTarget, FileTarget, SimulatedTarget, parse_target
from teijo.errors import TargetError
from teijo.terms.geometry import Geometry, Identity


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """A block device looked at without being changed.

    `destroy` is what to type after --destroy to give it up; empty while a check refuses.
    """

    identity: Identity
    geometry: Geometry
    preflight: Preflight
    destroy: str


def open_target(
    text: str,
    *,
    write: bool,
    destroy: str | None = None,
    overwrite: bool = False,
    engine: Engine = "native",
    results: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Device:
    """Return the device a target text names, claimed until it is closed.

    `write` asks for a device that may be destroyed: a block device then needs `destroy`, its
    serial, and a file that teijo did not make `overwrite`. `results` are folders that must
    not lie on it. `progress` hears how far a new file is laid out.

    Raises:
        teijo.errors.TargetError: it is not there, or no target.
        teijo.errors.UnsafeError: writing there could destroy something; nothing was written.
        teijo.errors.DeviceError: it refuses direct I/O, or went away.
        teijo.errors.HostError: there is no space for the file, or the engine is missing.
    """
    match parse_target(text):
        case SimulatedTarget() as target:
            if destroy is not None:
                raise TargetError(
                    f"{text} is simulated, and --destroy names a real device",
                    remedy="Leave --destroy away, or name the device.",
                )
            return open_simulated(target, engine=engine)
        case FileTarget() as target:
            if destroy is not None:
                raise TargetError(
                    f"{text} is a file, and --destroy names a block device",
                    remedy="Leave --destroy away; an existing file is given up by --overwrite.",
                )
            return open_file(
                target, write=write, overwrite=overwrite, engine=engine, progress=progress
            )
        case BlockTarget() as target:
            return open_block(
                target, write=write, destroy=destroy, engine=engine, results=tuple(results)
            )
        case other:
            assert_never(other)


def inspect_target(text: str) -> Inspection:
    """Return what preflight says of a block device, without opening it for writing.

    It is claimed for the moment it is looked at, so that the answer is not a guess.

    Raises:
        teijo.errors.TargetError: it is no block device, or cannot be opened.
    """
    target = parse_target(text)
    if not isinstance(target, BlockTarget):
        raise TargetError(f"{text} is no block device", remedy="`teijo devices` lists them.")
    subject: Subject = claim(target.path, write=False)
    try:
        report = examine(subject)
        return Inspection(
            identity=subject.found.identity,
            geometry=subject.found.geometry,
            preflight=report,
            destroy="" if report.refusals else subject.found.token,
        )
    finally:
        os.close(subject.fd)


def geometry_of(text: str) -> Geometry:
    """Return a target's size; a file that does not exist is not made for it.

    Raises:
        teijo.errors.TargetError: it is not there, or no target.
    """
    match parse_target(text):
        case FileTarget(path=path, size_bytes=size_bytes):
            size_bytes = path.stat().st_size if size_bytes is None else size_bytes
            return Geometry(capacity_bytes=size_bytes, nominal_capacity_bytes=size_bytes)
        case BlockTarget():
            return inspect_target(text).geometry
        case SimulatedTarget() as target:
            with closing(open_simulated(target, engine="native")) as device:
                return device.geometry
        case other:
            assert_never(other)
