"""What a SATA or SAS drive shares with others: what stands before it, and its other names here.

One drive can be several disks of the kernel: by a second path, or by a second logical unit. Whoever
purges it has them all claimed, or leaves it alone.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device import serial
from teijo.device.checks import Subject
from teijo.device.drive.place import place_of
from teijo.device.identify import describe
from teijo.device.purging.offer import Refusal
from teijo.device.stack import disks, whole_disk
from teijo.errors import UnsafeError

LOOK_WHICH: Final = "Look which drive this is: lsblk -o NAME,MODEL,SERIAL,WWN."


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """`paths` are the kernel's names of other disks that are this very unit (serial and WWID),
    `alike` of those that have one of the two in common, so that nobody can tell what they are.

    `between` says what stands between it and the host that may change commands; empty for nothing.
    """

    is_partition: bool
    between: str
    paths: tuple[str, ...]
    alike: tuple[str, ...]


def surroundings_of(subject: Subject) -> Surroundings:
    """Return what there is around a claimed disk of the kernel's SCSI layer."""
    own = whole_disk(subject.found.node, subject.roots)
    place = place_of(own)
    between = f"a USB bridge ({place.bridge.driver})" if place.bridge else ""
    if not between and place.raid.hidden != "no":
        between = place.raid.told_by
    own_serial, wwid = subject.found.own_serial, subject.found.identity.wwid
    paths, alike = [], []
    for disk in disks(subject.roots):
        if disk.number == own.number:
            continue
        _model, its_serial, its_wwid = describe(disk)
        same = (bool(own_serial) and its_serial == own_serial, bool(wwid) and its_wwid == wwid)
        if all(same):
            paths.append(disk.name)
        elif any(same):
            alike.append(disk.name)
    return Surroundings(
        is_partition=subject.found.node.is_partition,
        between=between,
        paths=tuple(paths),
        alike=tuple(alike),
    )


def refuse_partition(around: Surroundings) -> Refusal | None:
    """Refuse where a part was named, and the whole would be lost."""
    if not around.is_partition:
        return None
    return "it is a partition, and this takes the whole drive", "Name the drive."


def refuse_between(around: Surroundings) -> Refusal | None:
    """Refuse where something may change what is sent, or hide what is answered."""
    if not around.between:
        return None
    return (
        f"between it and this host is {around.between}",
        "Connect it to a port of this host itself.",
    )


def refuse_alike(around: Surroundings) -> Refusal | None:
    """Refuse where the kernel knows another disk of this serial or name that is another unit."""
    if not around.alike:
        return None
    return (
        f"{', '.join(around.alike)} has its serial or its WWID too, and may be another part of the "
        "same drive",
        LOOK_WHICH,
    )


def refuse_another(said: str, own_serial: str) -> Refusal | None:
    """Refuse where who answers, by the serial that it says, is not the drive that was opened."""
    said = serial.canonical(said.encode())
    return None if said and said == own_serial else (_another(said, own_serial), LOOK_WHICH)


def check_own(subject: Subject, said: str) -> None:
    """Make sure that who answers is the claimed drive, before what was left of it is ended.

    Raises:
        teijo.errors.UnsafeError: it is another drive; nothing was sent to end anything.
    """
    said, own_serial = serial.canonical(said.encode()), subject.found.own_serial
    if said != own_serial:
        raise UnsafeError(
            f"{subject.target} was left as it is: {_another(said, own_serial)}", remedy=LOOK_WHICH
        )


def _another(said: str, own_serial: str) -> str:
    return f"who answers says it is {said!r}, and the drive is {own_serial!r}"
