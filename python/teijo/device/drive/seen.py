"""A drive as it is seen before a run or by `teijo device`: who it is, where, and what comes first.

The facts are what a run file keeps of it, a line each; docs/device.md has what JSON has of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.drive.place import Place, place_of
from teijo.device.drive.portrait import PATIENCE_NS, Portrait, portrait
from teijo.device.drive.unfinished import Unfinished, refuse_unfinished, unfinished
from teijo.device.open_changes import OpenChange, open_changes
from teijo.device.stack import whole_disk
from teijo.device.watched import SILENCE_NS
from teijo.device.zones import NONE, zoned
from teijo.document.phrase import say
from teijo.errors import HostError
from teijo.outside.text import visible
from teijo.terms.remark import Remark, RemarkKind
from teijo.units import format_size

MOST_NAMED: Final = 8
"""As many namespaces are named in a fact."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known of a drive; `zoned` is empty where nobody says."""

    portrait: Portrait
    place: Place
    zoned: str
    unfinished: tuple[Unfinished, ...]

    @property
    def facts(self) -> dict[str, str]:
        """What is kept in the record, a line each; what is not told is left out."""
        facts = {
            "specification": self._specification(),
            "namespaces": self._namespaces(),
            "power state": self._power(),
            "rotation": self._rotation(),
            "form factor": self._form(),
            "SATA speed": self._sata(),
            "zones": "" if self.zoned == NONE else self.zoned,
            "RAID": "" if self.place.raid.hidden == "no" else self.place.raid.told_by,
            "bridge": self._bridge(),
        }
        return {name: visible(text) for name, text in facts.items() if text}

    def remarks(self) -> tuple[Remark, ...]:
        """Return a remark for each link on the way that runs below what both its ends can."""
        return tuple(
            Remark(
                kind=RemarkKind.LINK_DEGRADED,
                text=say(
                    "the PCIe link of {place} runs at {now}, and both its ends can {possible}",
                    place=link.address,
                    now=str(link.now),
                    possible=str(link.possible),
                ),
            )
            for link in self.place.links
            if link.is_degraded
        )

    def _specification(self) -> str:
        nvme, ata, scsi = self.portrait.nvme, self.portrait.ata, self.portrait.scsi
        if nvme and nvme.controller:
            return f"NVMe {nvme.controller.spec_version}".strip()
        if ata and ata.identity:
            return ata.identity.spec_version
        return scsi.inquiry.spec_version if scsi and scsi.inquiry else ""

    def _namespaces(self) -> str:
        nvme = self.portrait.nvme
        if nvme is None or nvme.allocated is None:
            return ""
        sizes = {one.number: one for one in nvme.namespaces}
        words = []
        for number in nvme.allocated[:MOST_NAMED]:
            one = sizes.get(number)
            words.append(f"{number} ({format_size(one.size_bytes)})" if one else str(number))
        more = len(nvme.allocated) - MOST_NAMED
        return ", ".join(words) + (f" and {more} more" if more > 0 else "")

    def _power(self) -> str:
        nvme, ata = self.portrait.nvme, self.portrait.ata
        if nvme and nvme.controller and nvme.power_state is not None:
            most = len(nvme.controller.power_states) - 1
            return f"{nvme.power_state} of 0 to {most}" if most else str(nvme.power_state)
        return (ata.power_mode or "") if ata else ""

    def _rotation(self) -> str:
        ata, scsi = self.portrait.ata, self.portrait.scsi
        rpm = ata.identity.rotation_rpm if ata and ata.identity else None
        if rpm is None and scsi and scsi.characteristics:
            rpm = scsi.characteristics.rotation_rpm
        return "" if rpm is None else f"{rpm} rpm" if rpm else "none"

    def _form(self) -> str:
        ata, scsi = self.portrait.ata, self.portrait.scsi
        if ata and ata.identity and ata.identity.form_factor:
            return ata.identity.form_factor
        return scsi.characteristics.form_factor if scsi and scsi.characteristics else ""

    def _sata(self) -> str:
        identity = self.portrait.ata.identity if self.portrait.ata else None
        if identity is None or not identity.sata_speed_now:
            return ""
        most = identity.sata_speed_possible
        return f"{identity.sata_speed_now} (at most {most})" if most else identity.sata_speed_now

    def _bridge(self) -> str:
        bridge = self.place.bridge
        if bridge is None:
            return ""
        name = f"{bridge.maker} {bridge.product}".strip()
        return f"USB {bridge.vendor_id}:{bridge.product_id} {name}".strip()


def look_at(subject: Subject, patience_ns: int = PATIENCE_NS) -> Seen:
    """Return what a claimed block device's drive says of itself, and what is known of its place."""
    disk = whole_disk(subject.found.node, subject.roots)
    told = portrait(subject, patience_ns)
    return Seen(
        portrait=told,
        place=place_of(disk),
        zoned=zoned(disk),
        unfinished=unfinished(told, subject.target, _changes(subject, told)),
    )


def ready(subjects: Sequence[Subject]) -> tuple[Seen, ...]:
    """Return what each drive says of itself, where none has something to be ended first.

    Raises:
        teijo.errors.DeviceError: one has.
        teijo.errors.StuckDevice: one does not answer.
    """
    seen = tuple(look_at(subject, SILENCE_NS) for subject in subjects)
    for subject, one in zip(subjects, seen, strict=True):
        refuse_unfinished(subject.target, one.unfinished)
        if one.portrait.stuck is not None:
            raise one.portrait.stuck
    return seen


def _changes(subject: Subject, told: Portrait) -> tuple[OpenChange, ...]:
    """Return what Teijo left open of this drive; a journal that cannot be read is said."""
    found = subject.found
    names = {found.own_serial, found.identity.serial} - {""}
    try:
        return tuple(one for one in open_changes() if one.serial in names)
    except HostError as error:
        told.not_told["open changes"] = error.message
        return ()
