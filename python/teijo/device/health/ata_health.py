"""All that an ATA drive tells of its health, asked inside SCSI on the open descriptor."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from teijo.device.commands import ata, scsi, seam
from teijo.device.drive.asked import Asked
from teijo.device.health import ata_data, ata_statistics, self_tests
from teijo.device.health.ata_data import STATISTICS, Attribute
from teijo.device.health.ata_statistics import Statistic
from teijo.device.health.raw import Unreadable, little
from teijo.device.health.self_tests import SelfTests

Told = TypeVar("Told")
ERROR_LOG, SELF_TEST_LOG = 0x01, 0x06
SOURCES: Final = {
    "smart_status": "ATA SMART RETURN STATUS",
    "attributes": "ATA SMART READ DATA and READ THRESHOLDS",
    "statistics": "ATA device statistics (log 04h)",
    "self_tests": "ATA SMART log 06h",
    "errors": "ATA SMART log 01h",
}
_ERROR_COUNT: Final = 452
_THRESHOLDS: Final = ata.SMART_READ_THRESHOLDS


@dataclass(kw_only=True)
class AtaHealth:
    """What was told; None is not told, and `Asked.not_told` says why.

    `fails` is the drive's own word (SMART RETURN STATUS); `error_count` is of its life.
    """

    fails: bool | None = None
    attributes: tuple[Attribute, ...] | None = None
    statistics: tuple[Statistic, ...] | None = None
    self_tests: SelfTests | None = None
    error_count: int | None = None


def ask(fd: int, asked: Asked, health: AtaHealth) -> None:
    """Ask for each log, and put each answer in its place as it comes."""
    health.fails = asked.of("smart_status", partial(_fails, fd))
    data = asked.of("attributes", _said(partial(ata.smart_sector, fd, ata.SMART_READ_DATA)))
    if data is not None:
        # A drive need not have thresholds; its attributes are told all the same.
        limits = asked.of("thresholds", _said(partial(ata.smart_sector, fd, _THRESHOLDS)))
        health.attributes = asked.of("attributes", lambda: ata_data.attributes(data, limits or b""))
    health.statistics = asked.of("statistics", _said(partial(_statistics, fd)))
    health.self_tests = asked.of(
        "self_tests", lambda: self_tests.of_ata(_sector(fd, SELF_TEST_LOG), data or b"")
    )
    health.error_count = asked.of("errors", lambda: _error_count(_sector(fd, ERROR_LOG)))


def _fails(fd: int) -> bool:
    told = _said(partial(ata.smart_fails, fd))()
    if told is None:
        raise Unreadable("the layer between keeps the drive's registers to itself")
    return told


def _statistics(fd: int) -> tuple[Statistic, ...]:
    pages = ata_statistics.listed_pages(ata.log_pages(fd, STATISTICS))
    found: list[Statistic] = []
    for page in pages:
        raw = ata.log_pages(fd, STATISTICS, first=page)
        found += ata_statistics.statistics_of(raw, page)
    return tuple(found)


def _sector(fd: int, log: int) -> bytes:
    return _said(partial(ata.smart_sector, fd, ata.SMART_READ_LOG, log))()


def _error_count(raw: bytes) -> int:
    if len(raw) < _ERROR_COUNT + 2:
        raise Unreadable("the drive's error log (01h) is cut short")
    return little(raw, _ERROR_COUNT, 2)


def _said(question: Callable[[], Told]) -> Callable[[], Told]:
    """Return a question whose refusal says in words who refused it."""

    def asked() -> Told:
        try:
            return question()
        except ata.AtaError as error:
            raise seam.CommandError("the drive aborts the command") from error
        except scsi.ScsiError as error:
            raise seam.CommandError(
                f"the layer between passes no such command (sense {error.sense.text})"
            ) from error

    return asked
