"""ATA's device statistics (log 04h) page by page, each with its name, unit and flags (ACS-4)."""

from dataclasses import dataclass
from typing import Final

from teijo.device.health.ata_data import SECTOR_BYTES
from teijo.device.health.raw import Unreadable, little, signed

LIST: Final = 0
"""The page that lists which pages there are."""

PAGES: Final[dict[int, tuple[str, tuple[tuple[int, int, str], ...]]]] = {
    1: ("general", (
        (0x08, 4, "power_on_resets"), (0x10, 4, "power_on_hours"),
        (0x18, 6, "logical_sectors_written"), (0x20, 6, "write_commands"),
        (0x28, 6, "logical_sectors_read"), (0x30, 6, "read_commands"),
        (0x38, 6, "clock_ms"), (0x40, 4, "pending_errors"),
        (0x48, 2, "workload_utilization_percent"), (0x50, 6, "utilization_usage_rate"),
        (0x58, 7, "resource_availability"), (0x60, 1, "random_write_resources_used_percent"),
    )),
    2: ("free fall", ((0x08, 4, "free_falls"), (0x10, 4, "overlimit_shocks"))),
    3: ("rotating media", (
        (0x08, 4, "spindle_hours"), (0x10, 4, "head_flying_hours"), (0x18, 4, "head_loads"),
        (0x20, 4, "reallocated_sectors"), (0x28, 4, "read_recovery_attempts"),
        (0x30, 4, "mechanical_start_failures"), (0x38, 4, "reallocation_candidates"),
        (0x40, 4, "high_priority_unloads"),
    )),
    4: ("general errors", (
        (0x08, 4, "uncorrectable_errors"), (0x10, 4, "resets_within_commands"),
        (0x18, 4, "physical_element_status_changes"),
    )),
    5: ("temperature", (
        (0x08, 1, "now_celsius"), (0x10, 1, "average_short_celsius"),
        (0x18, 1, "average_long_celsius"), (0x20, 1, "highest_celsius"),
        (0x28, 1, "lowest_celsius"), (0x30, 1, "highest_average_short_celsius"),
        (0x38, 1, "lowest_average_short_celsius"), (0x40, 1, "highest_average_long_celsius"),
        (0x48, 1, "lowest_average_long_celsius"), (0x50, 4, "over_limit_minutes"),
        (0x58, 1, "operating_limit_celsius"), (0x60, 4, "under_limit_minutes"),
        (0x68, 1, "operating_least_celsius"),
    )),
    6: ("transport", (
        (0x08, 4, "hardware_resets"), (0x10, 4, "signal_recoveries"),
        (0x18, 4, "interface_crc_errors"),
    )),
    7: ("solid state", ((0x08, 1, "percentage_used"),)),
}  # fmt: skip
"""Page: its name, and each statistic with its place, its bytes and its name."""
_SUPPORTED, _VALID, _NORMALIZED, _MONITORED = 0x80, 0x40, 0x20, 0x08


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """One statistic of a page: `value` is None where the drive has it and does not know it now."""

    page: int
    page_name: str
    name: str
    value: int | None
    is_normalized: bool
    is_monitored: bool


def listed_pages(raw: bytes) -> tuple[int, ...]:
    """Return the pages of log 04h that page 0 lists, of those that are known here.

    Raises:
        Unreadable: it is no such list.
    """
    if len(raw) < SECTOR_BYTES or raw[2] != LIST or not raw[8]:
        raise Unreadable("the drive's list of statistics (log 04h, page 0) is blank")
    listed = raw[9 : 9 + min(raw[8], SECTOR_BYTES - 9)]
    return tuple(page for page in sorted(set(listed)) if page in PAGES)


def statistics_of(raw: bytes, page: int) -> tuple[Statistic, ...]:
    """Return the statistics of one page that the drive supports.

    Raises:
        Unreadable: it is another page, or cut short.
    """
    if len(raw) < SECTOR_BYTES or raw[2] != page:
        raise Unreadable(f"the drive answered another page of statistics than {page}")
    title, fields = PAGES[page]
    found = []
    for at, length, name in fields:
        flags = raw[at + 7]
        if not flags & _SUPPORTED:
            continue
        value: int | None = little(raw, at, length)
        if name.endswith("_celsius") and value is not None:
            value = signed(value)
        found.append(
            Statistic(
                page=page,
                page_name=title,
                name=name,
                value=value if flags & _VALID else None,
                is_normalized=bool(flags & _NORMALIZED),
                is_monitored=bool(flags & _MONITORED),
            )
        )
    return tuple(found)
