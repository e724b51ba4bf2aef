"""Whether a drive comes back from its purge as the one that went in: serial, model, size, blocks.

A format has turned drives into another model of another size (nvme-cli issue 2072). So the drive
itself is asked before and after: what the kernel prints of it is from when it was plugged in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.commands import ata, nvme, scsi, seam
from teijo.device.drive.asked import Asked, whole
from teijo.device.drive.ata_identity import identity_of
from teijo.device.drive.nvme_identity import controller_of, namespace_of
from teijo.device.drive.scsi_drive import BY_SAT, CAPACITY_LEAST, IDENTITY_BYTES, INQUIRY_LEAST
from teijo.device.drive.scsi_identity import capacity_of, inquiry_of, page_of, unit_serial_of
from teijo.device.identify import describe
from teijo.device.presence import check_present, check_there
from teijo.device.stack import whole_disk
from teijo.errors import DeviceError, IdentityError
from teijo.outside.text import visible
from teijo.units import format_size

Told = dict[str, str]
SHAPE: Final = frozenset({"size", "logical block"})
"""What a drive may have otherwise and still be the same one."""
_DESIGNATORS: Final = 0x83


@dataclass(frozen=True, kw_only=True)
class Who:
    """What a drive said of itself, a line each; `not_told` are the questions without an answer."""

    told: Told
    not_told: Told

    @property
    def text(self) -> str:
        """All of it in a line."""
        return ", ".join(f"{name} {visible(value) or 'none'}" for name, value in self.told.items())


def who_is(subject: Subject) -> Who:
    """Return who a claimed drive says that it is; what has no commands of its own, by the kernel.

    Raises:
        teijo.errors.DeviceError: it is gone.
    """
    disk = whole_disk(subject.found.node, subject.roots)
    asked = Asked()
    if disk.name.startswith("nvme"):
        told = _nvme(subject.fd, asked)
    elif disk.name.startswith("sd"):
        told = _scsi(subject.fd, asked)
    else:
        model, serial, wwid = describe(disk)
        told = {"model": model, "serial": serial, "WWID": wwid}
    if "size" not in told or subject.found.node.is_partition:
        try:
            size, block = kernel.capacity_bytes(subject.fd), kernel.logical_block_bytes(subject.fd)
        except OSError as error:
            check_there(subject)
            raise _silent(subject, str(error)) from error
        told |= _shape(size, block)
    return Who(told=told, not_told=asked.not_told)


def check_same(subject: Subject, was: Who) -> None:
    """Make sure that a drive is after its purge what it was before.

    Raises:
        teijo.errors.IdentityError: it is another one, or has another size or other blocks.
        teijo.errors.DeviceError: it is gone, or says no more who it is.
    """
    check_there(subject)
    now = who_is(subject)
    lost = [f"{name} ({why})" for name, why in now.not_told.items() if name not in was.not_told]
    if lost:
        raise _silent(subject, ", ".join(lost))
    names = [name for name in was.told if was.told[name] != now.told.get(name, "")]
    if not names:
        check_present(subject)
        return
    if SHAPE.issuperset(names):
        raise IdentityError(
            f"{subject.target} came back from its purge in another shape: it was {was.text}, and "
            f"is {now.text}",
            remedy="It is the same drive, and what it held is gone. Format it as it was, or begin "
            "again with what it is now.",
        )
    raise IdentityError(
        f"{subject.target} came back from its purge as another drive ({', '.join(names)}): it was "
        f"{was.text}, and is {now.text}",
        remedy="A drive that fell back to its factory's mode is brought back by its maker's tool "
        "alone; do not measure it, nor trust it with data.",
    )


def _nvme(fd: int, asked: Asked) -> Told:
    controller = asked.of(
        "controller", lambda: controller_of(whole(nvme.identify(fd, structure=1, number=0), 4096))
    )
    told = {}
    if controller is not None:
        told = {
            "model": controller.model,
            "serial": controller.serial,
            "firmware": controller.firmware,
        }
    number = asked.of("namespace number", lambda: seam.ioctl(fd, nvme.NVME_IOCTL_ID))
    if number is None:
        return told
    found = asked.of(
        "namespace",
        lambda: namespace_of(
            whole(nvme.identify(fd, structure=0, number=number), 4096), number, attached=True
        ),
    )
    if found is None:
        return told
    told["WWID"] = found.nguid or found.eui64
    return told | _shape(found.size_bytes, found.block_bytes)


def _scsi(fd: int, asked: Asked) -> Told:
    # It takes what is told once, such as "the medium was formatted", out of the way.
    asked.of("state", lambda: scsi.state(fd))
    inquiry = asked.of("inquiry", lambda: inquiry_of(whole(scsi.inquiry(fd), INQUIRY_LEAST)))
    told = {}
    if inquiry is not None:
        told = {
            "model": f"{inquiry.vendor} {inquiry.product}".strip(),
            "firmware": inquiry.revision,
        }
    told |= _text("serial", asked, lambda: unit_serial_of(scsi.vital_page(fd, 0x80)))
    told |= _text("WWID", asked, lambda: _designator(scsi.vital_page(fd, _DESIGNATORS)))
    if inquiry is not None and inquiry.vendor == BY_SAT:
        found = asked.of(
            "ATA identity", lambda: identity_of(whole(ata.identify(fd), IDENTITY_BYTES))
        )
        if found is not None:
            told |= {"model": found.model, "serial": found.serial, "firmware": found.firmware}
    capacity = asked.of("capacity", lambda: capacity_of(whole(scsi.capacity(fd), CAPACITY_LEAST)))
    if capacity is not None:
        told |= _shape(capacity.size_bytes, capacity.logical_block_bytes)
    return told


def _designator(raw: bytes) -> str:
    """Return the first designator of page 83h: four bytes of header, its own four, its bytes."""
    page = page_of(raw, _DESIGNATORS).ljust(8, b"\0")
    return page[8 : 8 + page[7]].hex()


def _text(name: str, asked: Asked, question: Callable[[], str]) -> Told:
    answer = asked.of(name, question)
    return {} if answer is None else {name: answer}


def _shape(size_bytes: int, block_bytes: int) -> Told:
    return {
        "size": f"{format_size(size_bytes)} ({size_bytes} B)",
        "logical block": f"{block_bytes} B",
    }


def _silent(subject: Subject, why: str) -> DeviceError:
    return DeviceError(
        f"{subject.target} does not say after its purge who it is: {visible(why)}",
        remedy="Look at the kernel log (dmesg); take its power away and give it back.",
    )
