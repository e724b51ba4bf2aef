"""What an NVMe drive says of itself, decoded: controller, namespaces, power states, sanitize log.

Source: NVM Express base specification 2.0, Identify (figures 275 and 97 of the NVM command set),
Sanitize Status (81h), Power Management and APST. Bytes of a drive: any value may stand anywhere.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.drive.fields import identifier, is_set, little, text

STRUCTURE_BYTES: Final = 4096
MOST_FORMATS: Final = 64
"""As many LBA formats as Identify Namespace has places for."""
BLOCK_SHIFTS: Final = range(9, 32)
"""A block of 512 B to 1 GiB: another LBADS says that the format cannot be used."""
PROGRESS_WHOLE: Final = 65536
NOT_TOLD_SECONDS: Final = 0xFFFFFFFF
CONTROLLER_TYPES: Final = {1: "I/O", 2: "discovery", 3: "administrative"}
DEALLOCATED: Final = {1: "zeros", 2: "ones"}
SANITIZE_STATES: Final = {
    0: "never sanitized",
    1: "completed",
    2: "under way",
    3: "failed",
    4: "completed, deallocated although it was asked not to",
    5: "in media verification",
}


@dataclass(frozen=True, kw_only=True)
class PowerState:
    """One row of the table of power states; times in µs, power in mW, 0 where it is not told."""

    number: int
    max_mw: float
    idle_mw: float
    active_mw: float
    is_operational: bool
    entry_us: int
    exit_us: int


@dataclass(frozen=True, kw_only=True)
class Transition:
    """APST: from a state, idle for so long, the drive goes to another by itself."""

    state: int
    goes_to: int
    after_ms: int


@dataclass(frozen=True, kw_only=True)
class SanitizeAbility:
    """SANICAP bit by bit; `deallocates` is bit 29 turned round: a host may ask it not to."""

    crypto: bool
    block: bool
    overwrite: bool
    verification: bool
    no_deallocate_inhibited: bool
    no_deallocate_modifies_media: str

    @property
    def any(self) -> bool:
        """Whether there is a sanitize at all."""
        return self.crypto or self.block or self.overwrite


@dataclass(frozen=True, kw_only=True)
class FormatAbility:
    """Format NVM: whether there is one, and FNA bit by bit."""

    supported: bool
    formats_all_namespaces: bool
    erases_all_namespaces: bool
    crypto_erase: bool
    refuses_broadcast: bool


@dataclass(frozen=True, kw_only=True)
class NvmeController:
    """Identify Controller (CNS 01h)."""

    serial: str
    model: str
    firmware: str
    spec_version: str
    subsystem_nqn: str
    controller_id: int
    controller_type: str
    pci_vendor: str
    pci_subsystem_vendor: str
    ieee_oui: str
    has_several_ports: bool
    has_several_controllers: bool
    most_namespaces: int
    capacity_bytes: int
    unallocated_bytes: int
    warning_kelvin: int
    critical_kelvin: int
    format: FormatAbility
    sanitize: SanitizeAbility
    deallocate: bool
    write_zeroes: bool
    security_commands: bool
    manages_namespaces: bool
    self_test: bool
    volatile_write_cache: bool
    power_states: tuple[PowerState, ...]
    autonomous_power_states: bool


@dataclass(frozen=True, kw_only=True)
class LbaFormat:
    """One LBA format; `performance` is relative: 0 best, 3 degraded."""

    number: int
    data_bytes: int
    metadata_bytes: int
    performance: int
    in_use: bool


@dataclass(frozen=True, kw_only=True)
class NvmeNamespace:
    """Identify Namespace (CNS 00h, 11h); sizes are 0 where the block is not told."""

    number: int
    attached: bool
    size_bytes: int
    capacity_bytes: int
    used_bytes: int
    block_bytes: int
    metadata_bytes: int
    thin_provisioned: bool
    formats: tuple[LbaFormat, ...]
    protection: str
    protection_supported: tuple[str, ...]
    deallocated_reads: str
    deallocates_by_write_zeroes: bool
    may_be_shared: bool
    write_protected: bool
    format_left_percent: int | None
    nguid: str
    eui64: str
    command_set: str


@dataclass(frozen=True, kw_only=True)
class SanitizeStatus:
    """Log page 81h. `progress` is of 65536, None unless one runs; times in s, None if not told.

    `command` is dword 10 of the last sanitize: what it was asked to do.
    """

    state: str
    code: int
    progress: int | None
    overwrite_passes: int
    never_written_since: bool
    verification_cancelled: bool
    overwrite_s: int | None
    block_s: int | None
    crypto_s: int | None
    command: int = 0

    @property
    def runs(self) -> bool:
        """Whether one is under way, its verification of the media included."""
        return self.code in (2, 5)

    @property
    def failed(self) -> bool:
        """Whether the last one failed: the drive answers no reads and writes, or old data."""
        return self.code == 3

    @property
    def percent(self) -> float | None:
        """How far it is."""
        return None if self.progress is None else self.progress / PROGRESS_WHOLE * 100


def controller_of(raw: bytes) -> NvmeController:
    """Return the controller from the 4096 bytes of its structure."""
    raw = raw.ljust(STRUCTURE_BYTES, b"\0")
    optional, optional_io = little(raw, 256, 2), little(raw, 520, 2)
    sharing = raw[76]
    return NvmeController(
        serial=text(raw[4:24]),
        model=text(raw[24:64]),
        firmware=text(raw[64:72]),
        spec_version=version_of(little(raw, 80, 4)),
        subsystem_nqn=text(raw[768:1024]),
        controller_id=little(raw, 78, 2),
        controller_type=CONTROLLER_TYPES.get(raw[111], ""),
        pci_vendor=f"{little(raw, 0, 2):04x}",
        pci_subsystem_vendor=f"{little(raw, 2, 2):04x}",
        ieee_oui=f"{little(raw, 73, 3):06x}",
        has_several_ports=is_set(sharing, 0),
        has_several_controllers=is_set(sharing, 1),
        most_namespaces=little(raw, 516, 4),
        capacity_bytes=little(raw, 280, 16),
        unallocated_bytes=little(raw, 296, 16),
        warning_kelvin=little(raw, 266, 2),
        critical_kelvin=little(raw, 268, 2),
        format=_format_of(raw[524], supported=is_set(optional, 1)),
        sanitize=_sanitize_of(little(raw, 328, 4)),
        deallocate=is_set(optional_io, 2),
        write_zeroes=is_set(optional_io, 3),
        security_commands=is_set(optional, 0),
        manages_namespaces=is_set(optional, 3),
        self_test=is_set(optional, 4),
        volatile_write_cache=is_set(raw[525], 0),
        # NPSS counts from 0 and there are 32 places.
        power_states=tuple(_power_state(raw, number) for number in range(min(raw[263], 31) + 1)),
        autonomous_power_states=is_set(raw[265], 0),
    )


def version_of(raw: int) -> str:
    """Return the version of the specification: major, minor, tertiary; empty before 1.2."""
    if raw == 0:
        return ""
    major, minor, tertiary = raw >> 16, raw >> 8 & 0xFF, raw & 0xFF
    return f"{major}.{minor}.{tertiary}" if tertiary else f"{major}.{minor}"


def _format_of(attributes: int, *, supported: bool) -> FormatAbility:
    return FormatAbility(
        supported=supported,
        formats_all_namespaces=is_set(attributes, 0),
        erases_all_namespaces=is_set(attributes, 1),
        crypto_erase=is_set(attributes, 2),
        refuses_broadcast=is_set(attributes, 3),
    )


def _sanitize_of(able: int) -> SanitizeAbility:
    return SanitizeAbility(
        crypto=is_set(able, 0),
        block=is_set(able, 1),
        overwrite=is_set(able, 2),
        verification=is_set(able, 3),
        no_deallocate_inhibited=is_set(able, 29),
        no_deallocate_modifies_media={1: "no", 2: "yes"}.get(able >> 30 & 0b11, ""),
    )


def _power_state(raw: bytes, number: int) -> PowerState:
    row = raw[2048 + 32 * number : 2080 + 32 * number]
    # MXPS: the most is in units of 0.01 W, or of 0.0001 W.
    unit = 0.1 if is_set(row[3], 0) else 10
    return PowerState(
        number=number,
        max_mw=little(row, 0, 2) * unit,
        idle_mw=little(row, 16, 2) * _scale(row[18]),
        active_mw=little(row, 20, 2) * _scale(row[22]),
        is_operational=not is_set(row[3], 1),
        entry_us=little(row, 4, 4),
        exit_us=little(row, 8, 4),
    )


def _scale(flags: int) -> float:
    """Return the unit of idle or active power in mW; 0 where it is not told."""
    return {1: 0.1, 2: 10.0}.get(flags >> 6, 0.0)


def namespace_of(
    raw: bytes, number: int, *, attached: bool, command_set: str = ""
) -> NvmeNamespace:
    """Return a namespace from the 4096 bytes of its structure."""
    raw = raw.ljust(STRUCTURE_BYTES, b"\0")
    used_format = (raw[26] & 0xF) | (raw[26] >> 5 & 0b11) << 4
    formats = _formats_of(raw, used_format)
    mine = next((one for one in formats if one.in_use), None)
    block = mine.data_bytes if mine else 0
    features, percent = raw[24], raw[32]
    return NvmeNamespace(
        number=number,
        attached=attached,
        size_bytes=little(raw, 0, 8) * block,
        capacity_bytes=little(raw, 8, 8) * block,
        used_bytes=little(raw, 16, 8) * block,
        block_bytes=block,
        metadata_bytes=mine.metadata_bytes if mine else 0,
        thin_provisioned=is_set(features, 0),
        formats=formats,
        protection=_protection(raw[29]),
        protection_supported=tuple(f"type {n}" for n in (1, 2, 3) if is_set(raw[28], n - 1)),
        deallocated_reads=DEALLOCATED.get(raw[33] & 0b111, ""),
        deallocates_by_write_zeroes=is_set(raw[33], 3),
        may_be_shared=is_set(raw[30], 0),
        write_protected=is_set(raw[99], 0),
        format_left_percent=percent & 0x7F if is_set(percent, 7) else None,
        nguid=identifier(raw[104:120]),
        eui64=identifier(raw[120:128]),
        command_set=command_set,
    )


def _formats_of(raw: bytes, used: int) -> tuple[LbaFormat, ...]:
    found = []
    # NLBAF counts from 0, and there are 64 places whatever it says.
    for number in range(min(raw[25] + 1, MOST_FORMATS)):
        at = 128 + 4 * number
        shift = raw[at + 2]
        if shift in BLOCK_SHIFTS:
            found.append(
                LbaFormat(
                    number=number,
                    data_bytes=1 << shift,
                    metadata_bytes=little(raw, at, 2),
                    performance=raw[at + 3] & 0b11,
                    in_use=number == used,
                )
            )
    return tuple(found)


def _protection(settings: int) -> str:
    kind = settings & 0b111
    if kind == 0:
        return "none"
    place = "first" if is_set(settings, 3) else "last"
    return f"type {kind}, {place} bytes of metadata" if kind <= 3 else ""


def sanitize_status_of(raw: bytes) -> SanitizeStatus:
    """Return what log page 81h says."""
    progress, status = little(raw, 0, 2), little(raw, 2, 2)
    code = status & 0b111
    return SanitizeStatus(
        state=SANITIZE_STATES.get(code, f"unknown state {code}"),
        code=code,
        progress=progress if code in (2, 5) else None,
        overwrite_passes=status >> 3 & 0x1F,
        never_written_since=is_set(status, 8),
        verification_cancelled=is_set(status, 9),
        overwrite_s=_seconds(raw, 8),
        block_s=_seconds(raw, 12),
        crypto_s=_seconds(raw, 16),
        command=little(raw, 4, 4),
    )


def _seconds(raw: bytes, at: int) -> int | None:
    told = little(raw, at, 4)
    return None if told == NOT_TOLD_SECONDS or len(raw) < at + 4 else told


def transitions_of(raw: bytes) -> tuple[Transition, ...]:
    """Return the table of APST (feature 0Ch, 32 entries of 8 bytes)."""
    rows = [(number, little(raw, 8 * number, 8)) for number in range(32)]
    # ITPS in bits 7:3, ITPT in 31:8 ms; 0 is no transition.
    return tuple(
        Transition(state=number, goes_to=row >> 3 & 0x1F, after_ms=row >> 8 & 0xFFFFFF)
        for number, row in rows
        if row >> 8 & 0xFFFFFF
    )


def command_set_of(raw: bytes) -> str:
    """Return the command set of a namespace from its descriptors (CNS 03h); empty if not told."""
    at = 0
    while at + 4 <= len(raw):
        kind, length = raw[at], raw[at + 1]
        if length == 0:
            break
        if kind == 4:
            return {0: "NVM", 1: "key value", 2: "zoned"}.get(little(raw, at + 4, 1), "unknown")
        at += 4 + length
    return ""


def locking_of(raw: bytes) -> str:
    """Return the state of TCG locking from a level 0 discovery; empty if there is none.

    TCG Storage Architecture Core, 3.3.6: a header of 48 bytes, then features with code and
    length; the feature 0002h has bit 0 supported, 1 enabled, 2 locked.
    """
    end = min(len(raw), 4 + int.from_bytes(raw[0:4], "big"))
    at = 48
    while at + 5 <= end:
        code, flags = int.from_bytes(raw[at : at + 2], "big"), raw[at + 4]
        if code == 2:
            if is_set(flags, 2):
                return "locked"
            return "enabled, not locked" if is_set(flags, 1) else "not enabled"
        at += 4 + raw[at + 3]
    return ""
