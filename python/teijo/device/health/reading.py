"""A drive's counters by one cheap question, on the open descriptor: made to be asked every 10 s.

NVMe answers with one log page (02h); ATA with its device statistics, or with SMART's own data where
it has none; SCSI with its temperature and its error counters. No program is started. Names carry
their units; None means that the drive did not tell.
"""

import errno
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from teijo.device.commands import ata, nvme, scsi, seam
from teijo.device.drive.scsi_drive import ATA_INFORMATION
from teijo.device.drive.scsi_identity import pages_of
from teijo.device.health import ata_data, nvme_logs, scsi_pages
from teijo.device.health.raw import Unreadable

Kind = Literal["nvme", "ata", "scsi"]
VENDOR_LOG: Final = 0xC0
_ATA_VENDOR: Final = b"ATA     "
_GONE: Final = frozenset({errno.ENODEV, errno.ENXIO, errno.EIO})
_CHEAP_PAGES: Final = (scsi_pages.TEMPERATURE, scsi_pages.WRITES, scsi_pages.READS)


@dataclass(frozen=True, kw_only=True)
class Counters:
    """What a drive says of itself at one moment. `source` names the log it said it in.

    `sensors_kelvin` has the NVMe sensors 1 to 8 in order, None where there is none of that number.
    Thermal state 1 is light throttling, 2 heavy (NVMe, host controlled thermal management).
    """

    source: str
    critical_warning: int | None = None
    temperature_kelvin: int | None = None
    sensors_kelvin: tuple[int | None, ...] = ()
    available_spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    percentage_used: int | None = None
    host_reads_bytes: int | None = None
    host_writes_bytes: int | None = None
    read_commands: int | None = None
    write_commands: int | None = None
    busy_minutes: int | None = None
    power_cycles: int | None = None
    power_on_hours: int | None = None
    unsafe_shutdowns: int | None = None
    media_errors: int | None = None
    error_log_entries: int | None = None
    warning_temperature_minutes: int | None = None
    critical_temperature_minutes: int | None = None
    thermal_1_transitions: int | None = None
    thermal_2_transitions: int | None = None
    thermal_1_seconds: int | None = None
    thermal_2_seconds: int | None = None

    @property
    def counts(self) -> dict[str, int]:
        """What was told, by name; a sensor is `sensor_1_kelvin` and so on."""
        told = {name: value for name, value in asdict(self).items() if isinstance(value, int)}
        sensors = enumerate(self.sensors_kelvin, start=1)
        return told | {f"sensor_{n}_kelvin": value for n, value in sensors if value is not None}


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """What a data centre drive says beyond the standard's log (OCP, log page C0h).

    Media bytes are what reached the flash; divided by the host's they are the write amplification.
    `throttle_status` is 0 where the drive does not throttle now, 1 to 3 where it does.
    """

    version: int
    media_writes_bytes: int
    media_reads_bytes: int
    bad_user_blocks: int
    bad_system_blocks: int
    uncorrectable_reads: int
    throttle_events: int
    throttle_status: int
    pcie_correctable_errors: int
    incomplete_shutdowns: int
    free_blocks_percent: int
    capacitor_health_percent: int | None
    link_retrains: int
    power_state_changes: int

    @property
    def counts(self) -> dict[str, int]:
        """All of it by name, without the version."""
        told = asdict(self).items()
        return {name: value for name, value in told if value is not None and name != "version"}


def kind_of(fd: int) -> Kind:
    """Return which commands an open whole drive or partition takes.

    Raises:
        Unreadable: it takes none: a loop device, dm, a file.
        OSError: it is gone.
    """
    with suppress(OSError):
        # Answered by the kernel itself; every other driver refuses the number.
        seam.ioctl(fd, nvme.NVME_IOCTL_ID)
        return "nvme"
    try:
        said = scsi.inquiry(fd)
    except OSError as error:
        if error.errno in _GONE:
            raise
        why = "it takes no commands of a drive's own"
        raise Unreadable(f"{why} ({error.strerror or error})") from error
    return "ata" if said[8:16] == _ATA_VENDOR else "scsi"


def kind_behind(fd: int) -> Kind:
    """Return which commands an open drive takes; an ATA drive may call itself something else.

    Raises:
        Unreadable: it takes none.
        OSError: it is gone.
    """
    kind = kind_of(fd)
    if kind != "scsi":
        return kind
    try:
        pages = pages_of(scsi.vital_page(fd, 0))
    except OSError:
        return kind
    return "ata" if ATA_INFORMATION in pages else kind


def counters_of_nvme(fd: int) -> Counters:
    """Return what log 02h of an NVMe drive says.

    Raises:
        Unreadable: it is blank.
        OSError: the drive refused, did not answer, or is gone.
    """
    told: Any = nvme_logs.smart(nvme.log_page(fd, nvme.SMART_LOG, nvme.SMART_LOG_BYTES))
    told.pop("group_warning")
    return Counters(source="NVMe log 02h", **told)


def read_vendor(fd: int) -> Vendor:
    """Return what the OCP log of an NVMe drive says.

    Raises:
        Unreadable: it is no NVMe drive, or what it has there is not this log.
        OSError: it refused (most drives have no such log), did not answer, or is gone.
    """
    if kind_of(fd) != "nvme":
        raise Unreadable("only an NVMe drive has a log C0h")
    log = nvme_logs.ocp(nvme.log_page(fd, VENDOR_LOG, nvme.SMART_LOG_BYTES))
    told: Any = {name: log[name] for name in Vendor.__dataclass_fields__}
    return Vendor(**told)


def counters_of_ata(fd: int) -> Counters:
    """Return the device statistics, or where there are none what the attributes tell.

    Raises:
        Unreadable: the drive tells none.
        OSError: it refused, did not answer, or is gone.
    """
    told: Any
    with suppress(seam.CommandError):
        pages = ata.log_pages(fd, ata_data.STATISTICS, count=ata_data.STATISTICS_PAGES)
        told = ata_data.in_statistics(pages, ata.SECTOR_BYTES)
        if any(value is not None for value in told.values()):
            return Counters(source="ATA device statistics", **told)
    told = ata_data.in_attributes(
        ata_data.attributes(ata.smart_sector(fd, ata.SMART_READ_DATA), b"")
    )
    return Counters(source="ATA SMART data", **told)


def counters_of_scsi(fd: int) -> Counters:
    """Return what three log pages tell; a page that is refused is not told.

    Raises:
        Unreadable: the drive tells none.
        OSError: it did not answer, or is gone.
    """
    pages = {}
    for page in _CHEAP_PAGES:
        with suppress(seam.CommandError, Unreadable):
            pages[page] = scsi.log_parameters(fd, page)
    told: Any = scsi_pages.counters(pages)
    if all(value is None for value in told.values()):
        raise Unreadable("the drive answers none of the SCSI log pages 0Dh, 02h and 03h")
    return Counters(source="SCSI log pages", **told)
