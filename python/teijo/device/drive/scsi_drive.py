"""A SCSI drive asked who it is, and the ATA drive behind a SCSI host, on the open descriptor.

Only questions. ATA commands are sent where the drive or the layer before it says that it passes
them: a bridge that knows no such command may hang on it.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.commands import ata, scsi
from teijo.device.drive.asked import Asked, whole
from teijo.device.drive.ata_identity import (
    POWER_MODES,
    AtaIdentity,
    AtaSanitizeStatus,
    identity_of,
    sanitize_status_of,
)
from teijo.device.drive.scsi_identity import (
    Background,
    Capacity,
    Characteristics,
    Inquiry,
    Operations,
    Unmapping,
    background_of,
    capacity_of,
    characteristics_of,
    inquiry_of,
    pages_of,
    supported_of,
    unit_serial_of,
    unmapping_of,
)

UNMAP: Final = 0x42
ATA_INFORMATION: Final = 0x89
IDENTITY_BYTES: Final = 512
INQUIRY_LEAST: Final = 32
CAPACITY_LEAST: Final = 12
BY_SAT: Final = "ATA"
"""The maker that a SAT layer names in INQUIRY."""


@dataclass
class AtaDrive:
    """What an ATA drive said; None is not told."""

    identity: AtaIdentity | None = None
    sanitize: AtaSanitizeStatus | None = None
    power_mode: str | None = None


@dataclass
class ScsiDrive:
    """What a SCSI drive said; None is not told. `background` is None where nothing is at work."""

    inquiry: Inquiry | None = None
    serial: str | None = None
    capacity: Capacity | None = None
    characteristics: Characteristics | None = None
    unmapping: Unmapping | None = None
    operations: Operations | None = None
    background: Background | None = None


def ask_scsi(fd: int, asked: Asked, scsi_drive: ScsiDrive, ata_drive: AtaDrive) -> bool:
    """Ask for all of it, and put each answer in its place; return whether it is an ATA drive."""
    # First, for it answers also while a drive answers nothing else.
    sense = asked.of("state", partial(scsi.state, fd))
    scsi_drive.background = background_of(sense)
    scsi_drive.inquiry = asked.of(
        "inquiry", lambda: inquiry_of(whole(scsi.inquiry(fd), INQUIRY_LEAST))
    )
    pages = asked.of("vital product data", lambda: pages_of(scsi.vital_page(fd, 0))) or frozenset()
    is_ata = _is_by_sat(scsi_drive.inquiry)
    if is_ata or ATA_INFORMATION in pages:
        _ata(fd, asked, ata_drive)
    scsi_drive.capacity = asked.of(
        "capacity", lambda: capacity_of(whole(scsi.capacity(fd), CAPACITY_LEAST))
    )
    if 0x80 in pages:
        scsi_drive.serial = asked.of("serial", lambda: unit_serial_of(scsi.vital_page(fd, 0x80)))
    if 0xB1 in pages:
        scsi_drive.characteristics = asked.of(
            "characteristics", lambda: characteristics_of(scsi.vital_page(fd, 0xB1))
        )
    scsi_drive.unmapping = asked.of("unmapping", lambda: _unmapping(fd, pages, scsi_drive.capacity))
    if ata_drive.identity is None:
        scsi_drive.operations = asked.of("operations", lambda: _operations(fd))
    return is_ata or ata_drive.identity is not None


def passes_ata(fd: int) -> bool:
    """Return whether the drive, or the layer before it, says that it takes ATA commands."""
    try:
        if _is_by_sat(inquiry_of(whole(scsi.inquiry(fd), INQUIRY_LEAST))):
            return True
        return ATA_INFORMATION in pages_of(scsi.vital_page(fd, 0))
    except OSError:
        return False


def _is_by_sat(inquiry: Inquiry | None) -> bool:
    return inquiry is not None and inquiry.vendor == BY_SAT


def _ata(fd: int, asked: Asked, drive: AtaDrive) -> None:
    drive.identity = asked.of(
        "ATA identity", lambda: identity_of(whole(ata.identify(fd), IDENTITY_BYTES))
    )
    if drive.identity is None:
        return
    if drive.identity.sanitize.supported:
        drive.sanitize = asked.of("sanitize status", partial(ata_sanitize_status, fd))
    mode = asked.of("power mode", partial(ata.power_mode, fd))
    drive.power_mode = None if mode is None else POWER_MODES.get(mode, f"{mode:#04x}")


def ata_sanitize_status(fd: int) -> AtaSanitizeStatus:
    """Return how far a sanitize of an ATA drive is.

    Raises:
        OSError: it does not say.
    """
    registers, aborted = ata.sanitize_status(fd)
    return sanitize_status_of(registers, aborted=aborted)


def _unmapping(fd: int, pages: frozenset[int], capacity: Capacity | None) -> Unmapping:
    limits = scsi.vital_page(fd, 0xB0) if 0xB0 in pages else b""
    provisioning = scsi.vital_page(fd, 0xB2) if 0xB2 in pages else b""
    return unmapping_of(limits, provisioning, capacity)


def _operations(fd: int) -> Operations:
    """Return what purges there are. A drive without the question fails at the first of them."""
    format_unit = supported_of(scsi.supported_operation(fd, scsi.FORMAT_UNIT))
    overwrite, block, crypto, exit_failure = (
        sanitizes(fd, action)
        for action in (scsi.OVERWRITE, scsi.BLOCK_ERASE, scsi.CRYPTO_ERASE, scsi.EXIT_FAILURE)
    )
    return Operations(
        format_unit=format_unit,
        unmap=supported_of(scsi.supported_operation(fd, UNMAP)),
        sanitize_overwrite=overwrite,
        sanitize_block=block,
        sanitize_crypto=crypto,
        sanitize_exit_failure=exit_failure,
    )


def sanitizes(fd: int, action: int) -> bool | None:
    """Return whether there is a sanitize of a kind; a drive that refuses the question has none."""
    try:
        return supported_of(scsi.supported_operation(fd, scsi.SANITIZE, action))
    except scsi.ScsiError as error:
        # SPC: a command without service actions, or an unknown one, ends so.
        if error.sense.key == scsi.ILLEGAL_REQUEST:
            return False
        raise
