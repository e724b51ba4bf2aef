"""All that an open block device's drive says of who it is, asked within a bound.

A drive that does not answer leaves what it had said before, and the reason for the rest.
"""

from dataclasses import dataclass, field
from typing import Final

from teijo.device.checks import Subject
from teijo.device.drive.asked import Asked
from teijo.device.drive.nvme_drive import NvmeDrive, ask_nvme
from teijo.device.drive.scsi_drive import AtaDrive, ScsiDrive, ask_scsi
from teijo.device.stack import whole_disk
from teijo.device.watched import Moved, watched
from teijo.errors import StuckDevice
from teijo.units import NS_PER_S

PATIENCE_NS: Final = 20 * NS_PER_S
"""So long one question may be without an answer for a person who only looks."""


@dataclass(kw_only=True)
class Portrait:
    """What a drive said of itself; of the three, those that it is not are None.

    `not_told` has each question that has no answer, with the reason.
    """

    nvme: NvmeDrive | None = None
    ata: AtaDrive | None = None
    scsi: ScsiDrive | None = None
    not_told: dict[str, str] = field(default_factory=dict)
    stuck: StuckDevice | None = None
    """What is to be raised of a drive that did not answer."""


def portrait(subject: Subject, patience_ns: int = PATIENCE_NS) -> Portrait:
    """Return what the drive under an open block device says; nothing of what is no drive."""
    name = whole_disk(subject.found.node, subject.roots).name
    seen = Portrait()
    if name.startswith("nvme"):
        seen.nvme = NvmeDrive()
    elif name.startswith("sd"):
        seen.scsi, seen.ata = ScsiDrive(), AtaDrive()
    else:
        return seen
    asked = Asked(not_told=seen.not_told)
    try:
        watched(
            lambda moved: _ask(subject.fd, asked, seen, moved),
            what=f"What {subject.target} was asked of itself",
            silence_ns=patience_ns,
        )
    except StuckDevice as error:
        seen.stuck = error
        asked.not_told[asked.waiting or "the rest"] = (
            f"the drive did not answer within {patience_ns // NS_PER_S} s, and was asked no more"
        )
    return seen


def _ask(fd: int, asked: Asked, seen: Portrait, moved: Moved) -> None:
    asked.moved = moved
    if seen.nvme is not None:
        ask_nvme(fd, asked, seen.nvme)
    if (
        seen.scsi is not None
        and seen.ata is not None
        and not ask_scsi(fd, asked, seen.scsi, seen.ata)
    ):
        seen.ata = None
