"""NVMe admin commands on our own namespace descriptor: identify, list, ask, format.

No other node is opened and no name is built, so the command can only reach the controller the
claimed namespace belongs to. A kernel passes these commands even under a mounted file system:
the caller checks first.
"""

import ctypes
import mmap
import struct
from dataclasses import dataclass
from typing import Final

from teijo.device import serial
from teijo.device.commands import seam

NVME_IOCTL_ID: Final = 0x4E40
NVME_IOCTL_ADMIN_CMD: Final = 0xC0484E41
GET_LOG_PAGE: Final = 0x02
SMART_LOG: Final = 0x02
SMART_LOG_BYTES: Final = 512
WHOLE_CONTROLLER: Final = 0xFFFFFFFF
IDENTIFY: Final = 0x06
SET_FEATURES: Final = 0x09
GET_FEATURES: Final = 0x0A
VOLATILE_WRITE_CACHE: Final = 0x06
FORMAT_NVM: Final = 0x80
SANITIZE: Final = 0x84
SECURITY_RECEIVE: Final = 0x82
DISCOVERY_BYTES: Final = 512
ACTIVE_LIST: Final = 0x02
ALLOCATED_LIST: Final = 0x10
PAGE_BYTES: Final = 4096
FORMAT_TIMEOUT_MS: Final = 3_600_000
USER_DATA_ERASE: Final = 1
CRYPTOGRAPHIC_ERASE: Final = 2
"""Secure erase settings of Format NVM (SES)."""
EXIT_FAILURE: Final = 1
BLOCK_ERASE: Final = 2
OVERWRITE: Final = 3
CRYPTO_ERASE: Final = 4
"""Actions of Sanitize (SANACT)."""
_MAY_BE_LEFT: Final = 1 << 3
_RESULT: Final = slice(68, 72)
"""Where the kernel puts what a command answers beside its data."""


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """What its controller says of an open namespace (NVMe base specification, Identify)."""

    number: int
    controller_serial: str
    """As `serial.canonical` has what the kernel prints of it."""

    all_namespaces: tuple[int, ...]
    """Every namespace that exists on the drive, attached to this controller or not."""

    can_format: bool
    format_bits: int
    """The LBA format and protection in use, as Format NVM takes them: a purge keeps them."""


def namespace(fd: int) -> Namespace:
    """Return what an open namespace and its controller are.

    Raises:
        OSError: it is no NVMe namespace, or the command was refused.
    """
    number = seam.ioctl(fd, NVME_IOCTL_ID)
    controller = identify(fd, structure=1, number=0)
    optional_commands = int.from_bytes(controller[256:258], "little")
    manages_namespaces = optional_commands & 0b1000
    # A detached namespace holds data too, and the list of active ones leaves it out.
    listing = ALLOCATED_LIST if manages_namespaces else ACTIVE_LIST
    listed = struct.unpack("<1024I", identify(fd, structure=listing, number=0))
    own = identify(fd, structure=0, number=number)
    size, protection = own[26], own[29]
    # FLBAS and DPS go where Format has them in CDW10: LBAFU 13:12, PIL 8, PI 7:5, MSET 4.
    return Namespace(
        number=number,
        controller_serial=serial.canonical(serial.as_the_kernel_prints(controller[4:24])),
        all_namespaces=tuple(entry for entry in listed if entry),
        can_format=bool(optional_commands & 0b10),
        format_bits=(size & 0x1F) | (size >> 5 & 0b11) << 12 | (protection & 0x0F) << 5,
    )


def write_cache_enabled(fd: int) -> bool:
    """Return whether the controller's volatile write cache is on (Get Features, feature 06h).

    Raises:
        OSError: it has none, or the command was refused.
    """
    return bool(feature(fd, VOLATILE_WRITE_CACHE) & 1)


def has_write_cache(fd: int) -> bool:
    """Return whether the controller has a volatile write cache (Identify Controller, VWC).

    Raises:
        OSError: the command was refused.
    """
    return bool(identify(fd, structure=1, number=0)[525] & 1)


def critical_warning(fd: int) -> int:
    """Return the controller's critical warning bits (Get Log Page, SMART 02h, byte 0).

    Raises:
        OSError: it is no NVMe namespace, or the command was refused.
    """
    return log_page(fd, SMART_LOG, SMART_LOG_BYTES)[0]


def format_namespace(fd: int, found: Namespace, *, erase: int = USER_DATA_ERASE) -> None:
    """Erase all user data of the namespace (Format NVM with this secure erase setting).

    Raises:
        OSError: the drive refused or the command failed; what is left of the data is unknown.
    """
    # SES is bits 11:9 of CDW10.
    settings = found.format_bits | erase << 9
    admin(fd, opcode=FORMAT_NVM, number=found.number, cdw10=settings, timeout_ms=FORMAT_TIMEOUT_MS)


def sanitize(fd: int, action: int) -> None:
    """Begin a sanitize of the whole subsystem, or leave the failure of one (Sanitize, SANACT).

    The drive answers at once and works on. It deallocates (NDAS 0), and a failure may be left
    (AUSE 1); an overwrite is one pass of zeros.

    Raises:
        OSError: the drive refused it, or the kernel did not hear an answer.
    """
    # SANACT 2:0, AUSE 3, OWPASS 7:4. Exit Failure Mode takes the action alone.
    settings = action if action == EXIT_FAILURE else action | _MAY_BE_LEFT
    if action == OVERWRITE:
        settings |= 1 << 4
    admin(fd, opcode=SANITIZE, number=0, cdw10=settings)


def identify(fd: int, *, structure: int, number: int) -> bytes:
    """Return the 4096 bytes of one Identify structure (CNS) of a namespace or controller.

    Raises:
        OSError: the command was refused.
    """
    with mmap.mmap(-1, PAGE_BYTES) as buffer:
        admin(fd, opcode=IDENTIFY, number=number, cdw10=structure, data=buffer)
        return buffer[:]


def log_page(
    fd: int, page: int, length: int, *, number: int = WHOLE_CONTROLLER, specific: int = 0
) -> bytes:
    """Return the first `length` bytes of a log page (Get Log Page); `length` divides by 4.

    `specific` is the log specific identifier: of page 09h the endurance group.

    Raises:
        OSError: the drive has no such page, or the command was refused.
    """
    # The length is in words of 4 bytes and counts from 0.
    words = length // 4 - 1
    with mmap.mmap(-1, length) as buffer:
        admin(
            fd, opcode=GET_LOG_PAGE, number=number, cdw10=(words & 0xFFFF) << 16 | page,
            cdw11=words >> 16 | specific << 16, data=buffer, length=length,
        )  # fmt: skip
        return buffer[:]


def feature(fd: int, identifier: int) -> int:
    """Return a feature's current value (Get Features, dword 0 of the answer).

    Raises:
        OSError: the drive has no such feature, or the command was refused.
    """
    return admin(fd, opcode=GET_FEATURES, number=0, cdw10=identifier)


def feature_data(fd: int, identifier: int, length: int) -> bytes:
    """Return what a feature has besides its value, `length` bytes (APST: 256).

    Raises:
        OSError: the drive has no such feature, or the command was refused.
    """
    with mmap.mmap(-1, length) as buffer:
        admin(
            fd, opcode=GET_FEATURES, number=0, cdw10=identifier, data=buffer, length=length,
        )  # fmt: skip
        return buffer[:]


def level_0_discovery(fd: int) -> bytes:
    """Return what a drive tells anybody of TCG locking (Security Receive, protocol 01h).

    Raises:
        OSError: the drive has no such protocol, or the command was refused.
    """
    # SECP in bits 31:24, SPSP (ComID 0001h) in 23:8.
    with mmap.mmap(-1, DISCOVERY_BYTES) as buffer:
        admin(
            fd, opcode=SECURITY_RECEIVE, number=0, cdw10=0x01 << 24 | 0x0001 << 8,
            cdw11=DISCOVERY_BYTES, data=buffer, length=DISCOVERY_BYTES,
        )  # fmt: skip
        return buffer[:]


def set_feature(fd: int, identifier: int, value: int) -> None:
    """Set a feature's current value; it is not saved, and a power cycle ends it.

    Raises:
        OSError: the drive has no such feature, or the command was refused.
    """
    admin(fd, opcode=SET_FEATURES, number=0, cdw10=identifier, cdw11=value)


def admin(
    fd: int,
    *,
    opcode: int,
    number: int,
    cdw10: int,
    cdw11: int = 0,
    cdw12: int = 0,
    cdw13: int = 0,
    data: mmap.mmap | None = None,
    length: int = PAGE_BYTES,
    timeout_ms: int = 0,
) -> int:
    """Send one admin command, struct nvme_admin_cmd of linux/nvme_ioctl.h; return its result.

    `length` is how many bytes of `data` the drive fills; the kernel sends both, or none. A
    `timeout_ms` of 0 is the kernel's own limit, 60 s.

    Raises:
        seam.NvmeError: the drive refused it.
        OSError: the kernel did.
    """
    address, length = (_address(data), length) if data is not None else (0, 0)
    command = bytearray(
        struct.pack(
            "<BBHIIIQQIIIIIIIIII",
            opcode, 0, 0, number, 0, 0, 0, address, 0, length,
            cdw10, cdw11, cdw12, cdw13, 0, 0, timeout_ms, 0,
        )
    )  # fmt: skip
    status = seam.ioctl(fd, NVME_IOCTL_ADMIN_CMD, command)
    # Above 0 it is the drive's own status: only the kernel's refusals come as errno.
    if status != 0:
        raise seam.NvmeError(status)
    return int.from_bytes(command[_RESULT], "little")


def _address(buffer: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
