"""All that can be asked of a drive's health without a run, within a bound, each log by itself.

A drive that does not answer leaves what it had said before, and the reason for the rest. smartctl
is asked only where the drive itself tells us nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.drive.asked import Asked
from teijo.device.drive.portrait import PATIENCE_NS
from teijo.device.health import ata_health, nvme_health, scsi_health, smartctl_answer
from teijo.device.health.ata_health import AtaHealth
from teijo.device.health.flat import ata_counts, nvme_counts, scsi_counts
from teijo.device.health.nvme_health import NvmeHealth
from teijo.device.health.reading import Kind, kind_behind
from teijo.device.health.scsi_health import ScsiHealth
from teijo.device.health.smartctl_answer import SmartctlAnswer
from teijo.device.stack import Node, whole_disk
from teijo.device.watched import Moved, watched
from teijo.errors import StuckDevice
from teijo.units import NS_PER_S

DRIVES: Final = ("nvme", "sd")
"""How the kernel's names of disks begin that take a drive's own commands."""
SMARTCTL: Final = "smartctl"
SOURCES: Final[Mapping[str, Mapping[str, str]]] = {
    "nvme": nvme_health.SOURCES,
    "ata": ata_health.SOURCES,
    "scsi": scsi_health.SOURCES,
}


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log: where it was read, what it says (None for nothing), and why it says nothing."""

    name: str
    source: str
    told: object
    not_told: str


@dataclass(kw_only=True)
class Snapshot:
    """What a drive told; of nvme, ata and scsi those that it is not are None.

    `not_told` has each question without an answer, with the reason.
    """

    nvme: NvmeHealth | None = None
    ata: AtaHealth | None = None
    scsi: ScsiHealth | None = None
    smartctl: SmartctlAnswer | None = None
    not_told: dict[str, str] = field(default_factory=dict)
    stuck: StuckDevice | None = None

    @property
    def kind(self) -> Kind | None:
        """Which commands the drive took; None where it took none of ours."""
        kinds: tuple[Kind, ...] = ("nvme", "ata", "scsi")
        return next((kind for kind in kinds if getattr(self, kind) is not None), None)

    @property
    def counts(self) -> dict[str, int]:
        """The counters by the names of `Counters` and `Vendor`, of whatever log tells them."""
        found: dict[str, int] = {} if self.smartctl is None else dict(self.smartctl.counts)
        if self.nvme is not None:
            found |= nvme_counts(self.nvme)
        if self.ata is not None:
            found |= ata_counts(self.ata)
        if self.scsi is not None:
            found |= scsi_counts(self.scsi)
        return found

    @property
    def logs(self) -> tuple[Log, ...]:
        """Every log that was asked for, told or not."""
        return tuple(self._logs())

    def _logs(self) -> Iterator[Log]:
        fields = {"smart_status": "fails", "errors": "error_count"} if self.ata else {}
        if self.kind is not None:
            part = getattr(self, self.kind)
            for name, source in SOURCES[self.kind].items():
                told = getattr(part, fields.get(name, name))
                why = "" if told is not None else self.not_told.get(name, "it was not asked")
                yield Log(name=name, source=source, told=told, not_told=why)
        if self.smartctl is not None or SMARTCTL in self.not_told:
            version = self.smartctl.version if self.smartctl else ""
            yield Log(
                name=SMARTCTL,
                source=f"{SMARTCTL} {version}".strip(),
                told=self.smartctl,
                not_told=self.not_told.get(SMARTCTL, ""),
            )


def snapshot(subject: Subject, patience_ns: int = PATIENCE_NS) -> Snapshot:
    """Return all that the drive under an open block device tells of its health.

    A question without an answer for `patience_ns` ends it: `stuck` is then what may be raised.
    """
    seen = Snapshot()
    asked = Asked(not_told=seen.not_told)
    disk = whole_disk(subject.found.node, subject.roots)
    try:
        watched(
            lambda moved: _ask(subject, disk, asked, seen, moved),
            what=f"What {subject.target} was asked of its health",
            silence_ns=patience_ns,
        )
    except StuckDevice as error:
        seen.stuck = error
        asked.not_told[asked.waiting or "the rest"] = (
            f"the drive did not answer within {patience_ns // NS_PER_S} s, and was asked no more"
        )
    return seen


def _ask(subject: Subject, disk: Node, asked: Asked, seen: Snapshot, moved: Moved) -> None:
    asked.moved = moved
    match asked.of("commands", partial(kind_behind, subject.fd)):
        case "nvme":
            seen.nvme = NvmeHealth()
            nvme_health.ask(subject.fd, asked, seen.nvme)
        case "ata":
            seen.ata = AtaHealth()
            ata_health.ask(subject.fd, asked, seen.ata)
        case "scsi":
            seen.scsi = ScsiHealth()
            scsi_health.ask(subject.fd, asked, seen.scsi)
        case None:
            pass
    if not seen.counts and disk.name.startswith(DRIVES):
        # As long as smartctl may take, it is no drive that hangs.
        moved(asked.asked, asked.asked, allow_ns=smartctl_answer.SECONDS * NS_PER_S)
        seen.smartctl = asked.of(SMARTCTL, partial(smartctl_answer.read, disk, subject.roots))
