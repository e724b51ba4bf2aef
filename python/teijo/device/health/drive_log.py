"""What is read of a drive again and again, while a run goes on or a person watches.

NVMe: log 02h, and OCP's C0h where there is one. SAS: log pages 0Dh, 02h, 03h, 2Fh. SATA: the device
statistics (SMART's data where there are none) and the SMART status: two commands that the drive
empties its queue for, which a measurement shows.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from teijo.analysis.throttling import LIMIT
from teijo.device.commands import ata, nvme, scsi
from teijo.device.health import ata_data, scsi_pages
from teijo.device.health.raw import from_celsius
from teijo.device.health.reading import (
    Counters,
    counters_of_ata,
    counters_of_nvme,
    counters_of_scsi,
    kind_behind,
    read_vendor,
)
from teijo.device.health.smart import HOTTEST, warning_of_sense
from teijo.terms.drive_warning import COUNTER, DriveWarning

LogReader = Callable[[], Mapping[str, int]]
"""Asks a drive once. It may raise an OSError: the drive refused, or is gone."""

_WARNING_LIMIT: Final = slice(266, 268)
"""Of Identify Controller: WCTEMP in kelvins, 0 where the drive does not tell it."""


@dataclass(frozen=True, kw_only=True)
class DriveLog:
    """Asks a drive once. With `drains_queue` it works on nothing else while it answers."""

    read: LogReader
    drains_queue: bool = False

    def __call__(self) -> Mapping[str, int]:
        """Return what the drive tells by the names of `Counters`."""
        return self.read()


def log_reader(fd: int) -> DriveLog | None:
    """Return what reads the logs of the drive under a descriptor; None where there is none.

    What does not change, and which logs the drive has, is asked once, here.
    """
    try:
        kind = kind_behind(fd)
    except OSError:
        return None
    match kind:
        case "nvme":
            return _of_nvme(fd)
        case "ata":
            return _of_ata(fd)
        case "scsi":
            return _of_scsi(fd)


def _of_nvme(fd: int) -> DriveLog:
    limit, has_vendor = None, False
    with suppress(OSError):
        told = nvme.identify(fd, structure=1, number=0)
        limit = int.from_bytes(told[_WARNING_LIMIT], "little")
    with suppress(OSError):
        read_vendor(fd)
        has_vendor = True
    constant = _limit(limit)

    def read() -> Mapping[str, int]:
        vendor = read_vendor(fd).counts if has_vendor else {}
        return {**counters_of_nvme(fd).counts, **vendor, **constant}

    return DriveLog(read=read)


def _of_ata(fd: int) -> DriveLog:
    limit = None
    with suppress(OSError):
        pages = ata.log_pages(fd, ata_data.STATISTICS, count=ata_data.STATISTICS_PAGES)
        limit = from_celsius(ata_data.statistic(pages, ata_data.TEMPERATURE, 0x58, 1))
    constant = _limit(limit)

    def read() -> Mapping[str, int]:
        told = _counts(counters_of_ata(fd))
        with suppress(ata.AtaError, scsi.ScsiError):
            if (fails := ata.smart_fails(fd)) is not None:
                told[COUNTER] = DriveWarning.RELIABILITY_DEGRADED.bit if fails else 0
        return {**told, **constant}

    return DriveLog(read=read, drains_queue=True)


def _of_scsi(fd: int) -> DriveLog | None:
    """Return what reads a SCSI drive; None of one that tells nothing now, and is let be."""
    try:
        counters_of_scsi(fd)
    except OSError:
        return None
    limit = None
    with suppress(OSError):
        page = scsi.log_parameters(fd, scsi_pages.TEMPERATURE)
        limit = from_celsius(scsi_pages.celsius(page, 1))
    constant = _limit(limit)

    def read() -> Mapping[str, int]:
        told = _counts(counters_of_scsi(fd))
        with suppress(scsi.ScsiError):
            page = scsi.log_parameters(fd, scsi_pages.EXCEPTIONS)
            if (code := scsi_pages.exception(page)) is not None:
                warning = warning_of_sense(*code)
                told[COUNTER] = warning.bit if warning else 0
        return {**told, **constant}

    return DriveLog(read=read)


def _counts(told: Counters) -> dict[str, int]:
    return dict(told.counts)


def _limit(kelvin: int | None) -> dict[str, int]:
    return {LIMIT: kelvin} if kelvin is not None and 0 < kelvin <= HOTTEST else {}
