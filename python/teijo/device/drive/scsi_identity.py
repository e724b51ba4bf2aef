"""What a SCSI drive says of itself, decoded: INQUIRY, vital product data, capacity, operations.

Source: SPC-5 (INQUIRY, REPORT SUPPORTED OPERATION CODES), SBC-4 (READ CAPACITY 16, pages B0h, B1h,
B2h). Bytes of a drive: any value may stand anywhere, and an answer may be cut anywhere.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.commands.scsi import MEDIUM_ERROR, NOT_READY, Sense
from teijo.device.drive.fields import big, is_set, text

NON_ROTATING: Final = 1
LOWEST_RPM: Final = 0x0401
HIGHEST_RPM: Final = 0xFFFE
PROGRESS_WHOLE: Final = 65536
FORM_FACTORS: Final = {
    1: "5.25 inch", 2: "3.5 inch", 3: "2.5 inch", 4: "1.8 inch", 5: "less than 1.8 inch",
}  # fmt: skip
VERSIONS: Final = {3: "SPC", 4: "SPC-2", 5: "SPC-3", 6: "SPC-4", 7: "SPC-5", 0x0D: "SPC-6"}
PROVISIONING: Final = {0: "", 1: "resource", 2: "thin"}
ZONED: Final = {1: "host-aware", 2: "device-managed"}
HOST_MANAGED: Final = 0x14
"""The peripheral device type of a host-managed zoned disk."""
SUPPORT: Final = {1: False, 3: True, 5: True}


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """The standard INQUIRY data."""

    device_type: int
    vendor: str
    product: str
    revision: str
    spec_version: str
    protection: bool


@dataclass(frozen=True, kw_only=True)
class Unmapping:
    """Pages B0h and B2h and READ CAPACITY 16: what can be unmapped, and what is read then."""

    unmap: bool
    write_same_16: bool
    write_same_10: bool
    reads_zeros: bool
    provisioning: str
    most_unmap_blocks: int
    granularity_blocks: int


@dataclass(frozen=True, kw_only=True)
class Characteristics:
    """Page B1h; `rotation_rpm` is 0 of a drive that does not rotate, None where not told."""

    rotation_rpm: int | None
    form_factor: str
    zoned: str


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """READ CAPACITY 16."""

    size_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int
    protection: str
    provisioned: bool
    reads_zeros: bool


@dataclass(frozen=True, kw_only=True)
class Operations:
    """What REPORT SUPPORTED OPERATION CODES says of what purges; None is not told."""

    sanitize_overwrite: bool | None
    sanitize_block: bool | None
    sanitize_crypto: bool | None
    sanitize_exit_failure: bool | None
    format_unit: bool | None
    unmap: bool | None


@dataclass(frozen=True, kw_only=True)
class Background:
    """What the sense says that is at work or went wrong; `percent` of it, None where not told."""

    kind: str
    """"", "sanitize", "format"."""

    failed: bool
    percent: float | None


def inquiry_of(raw: bytes) -> Inquiry:
    """Return the standard INQUIRY data; it may be cut."""
    raw = raw.ljust(36, b"\0")
    return Inquiry(
        device_type=raw[0] & 0x1F,
        vendor=text(raw[8:16]),
        product=text(raw[16:32]),
        revision=text(raw[32:36]),
        spec_version=VERSIONS.get(raw[2], ""),
        protection=is_set(raw[5], 0),
    )


def page_of(raw: bytes, number: int) -> bytes:
    """Return a page of vital product data, cut to its own length; empty if it is another page."""
    if len(raw) < 4 or raw[1] != number:
        return b""
    return raw[: 4 + big(raw, 2, 2)]


def pages_of(raw: bytes) -> frozenset[int]:
    """Return the numbers of the pages that there are (page 00h)."""
    return frozenset(page_of(raw, 0)[4:])


def unit_serial_of(raw: bytes) -> str:
    """Return the unit serial number (page 80h)."""
    return text(page_of(raw, 0x80)[4:])


def characteristics_of(raw: bytes) -> Characteristics:
    """Return page B1h."""
    page = page_of(raw, 0xB1).ljust(64, b"\0")
    rate = big(page, 4, 2)
    rpm = rate if LOWEST_RPM <= rate <= HIGHEST_RPM else None
    return Characteristics(
        rotation_rpm=0 if rate == NON_ROTATING else rpm,
        form_factor=FORM_FACTORS.get(page[7] & 0xF, ""),
        zoned=ZONED.get(page[8] >> 4 & 0b11, ""),
    )


def unmapping_of(limits: bytes, provisioning: bytes, capacity: Capacity | None) -> Unmapping:
    """Return what pages B0h and B2h say, and READ CAPACITY 16 where page B2h is silent."""
    block = page_of(limits, 0xB0).ljust(64, b"\0")
    page = page_of(provisioning, 0xB2).ljust(8, b"\0")
    # LBPRZ is 3 bits since SBC-4: 1 zeros (as before), 2 a pattern.
    zeros = page[5] >> 2 & 0b111 == 1 or bool(capacity and capacity.reads_zeros)
    return Unmapping(
        unmap=is_set(page[5], 7),
        write_same_16=is_set(page[5], 6),
        write_same_10=is_set(page[5], 5),
        reads_zeros=zeros,
        provisioning=PROVISIONING.get(page[6] & 0b111, ""),
        most_unmap_blocks=big(block, 20, 4),
        granularity_blocks=big(block, 28, 4),
    )


def capacity_of(raw: bytes) -> Capacity:
    """Return READ CAPACITY 16; it may be cut."""
    raw = raw.ljust(32, b"\0")
    logical = big(raw, 8, 4)
    protected = is_set(raw[12], 0)
    return Capacity(
        size_bytes=(big(raw, 0, 8) + 1) * logical,
        logical_block_bytes=logical,
        physical_block_bytes=logical << (raw[13] & 0xF),
        protection=f"type {(raw[12] >> 1 & 0b111) + 1}" if protected else "none",
        provisioned=is_set(raw[14], 7),
        reads_zeros=is_set(raw[14], 6),
    )


def supported_of(raw: bytes) -> bool | None:
    """Return whether a command is there, as REPORT SUPPORTED OPERATION CODES answers for one."""
    return SUPPORT.get(raw[1] & 0b111) if len(raw) > 1 else None


def background_of(sense: Sense | None) -> Background | None:
    """Return what works in the background, or failed there, by the sense; None for nothing."""
    if sense is None:
        return None
    kind = {
        (NOT_READY, 0x04, 0x1B): "sanitize",
        (NOT_READY, 0x04, 0x04): "format",
        (MEDIUM_ERROR, 0x31, 0x03): "sanitize",
        (MEDIUM_ERROR, 0x31, 0x00): "format",
        (MEDIUM_ERROR, 0x31, 0x01): "format",
    }.get(sense.triple)
    # Some tell a running sanitize with no sense key: the additional code alone counts.
    if kind is None and (sense.code, sense.qualifier) in ((0x04, 0x1B), (0x04, 0x04)):
        kind = "sanitize" if sense.qualifier == 0x1B else "format"
    if kind is None:
        return None
    percent = None if sense.progress is None else sense.progress / PROGRESS_WHOLE * 100
    return Background(kind=kind, failed=sense.key == MEDIUM_ERROR, percent=percent)
