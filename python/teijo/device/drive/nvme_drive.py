"""An NVMe drive asked who it is, on the open descriptor: identify, lists, features, log 81h.

Only questions: no command here changes anything or wakes a drive out of a power state for long.
"""

import struct
from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.commands import nvme, seam
from teijo.device.drive.asked import Asked, whole
from teijo.device.drive.nvme_identity import (
    NvmeController,
    NvmeNamespace,
    SanitizeStatus,
    Transition,
    command_set_of,
    controller_of,
    locking_of,
    namespace_of,
    sanitize_status_of,
    transitions_of,
)

NAMESPACE, CONTROLLER = 0x00, 0x01
DESCRIPTORS: Final = 0x03
ALLOCATED_NAMESPACE: Final = 0x11
CONTROLLERS: Final = 0x13
POWER: Final = 0x02
APST: Final = 0x0C
APST_BYTES: Final = 256
SANITIZE_LOG: Final = 0x81
SANITIZE_LOG_BYTES: Final = 512
MOST_ASKED: Final = 128
"""As many namespaces are asked for their details; the numbers of all are listed."""
PER_LIST: Final = 1024


@dataclass
class NvmeDrive:
    """What an NVMe drive said; None is not told, and the questions' `not_told` says why.

    `allocated` are the numbers of all namespaces that hold space, `attached` those that this
    controller reaches, `this` the one that is open; `controllers` the ids in the subsystem.
    """

    controller: NvmeController | None = None
    this: int | None = None
    allocated: tuple[int, ...] | None = None
    attached: tuple[int, ...] | None = None
    namespaces: tuple[NvmeNamespace, ...] = ()
    controllers: tuple[int, ...] | None = None
    power_state: int | None = None
    moves_by_itself: bool | None = None
    transitions: tuple[Transition, ...] | None = None
    sanitize: SanitizeStatus | None = None
    locking: str | None = None


def ask_nvme(fd: int, asked: Asked, drive: NvmeDrive) -> None:
    """Ask for all of it, and put each answer into `drive` as it comes."""
    drive.controller = asked.of(
        "controller",
        lambda: controller_of(whole(nvme.identify(fd, structure=CONTROLLER, number=0), 1)),
    )
    if drive.controller is None:
        return
    _states(fd, asked, drive, drive.controller)
    _namespaces(fd, asked, drive, drive.controller)


def _states(fd: int, asked: Asked, drive: NvmeDrive, controller: NvmeController) -> None:
    if controller.sanitize.any:
        drive.sanitize = asked.of("sanitize status", partial(sanitize_status, fd))
    if controller.security_commands:
        drive.locking = asked.of("locking", lambda: locking_of(nvme.level_0_discovery(fd)))
    power = asked.of("power state", lambda: nvme.feature(fd, POWER))
    drive.power_state = None if power is None else power & 0x1F
    if controller.autonomous_power_states:
        enabled = asked.of("autonomous power states", lambda: nvme.feature(fd, APST))
        drive.moves_by_itself = None if enabled is None else bool(enabled & 1)
        drive.transitions = asked.of(
            "power transitions", lambda: transitions_of(nvme.feature_data(fd, APST, APST_BYTES))
        )


def _namespaces(fd: int, asked: Asked, drive: NvmeDrive, controller: NvmeController) -> None:
    drive.this = asked.of("namespace", lambda: seam.ioctl(fd, nvme.NVME_IOCTL_ID))
    drive.attached = asked.of("attached namespaces", partial(_listed, fd, nvme.ACTIVE_LIST))
    drive.allocated = drive.attached
    if controller.manages_namespaces:
        # A detached namespace holds data too, and the list of active ones leaves it out.
        drive.allocated = asked.of(
            "allocated namespaces", partial(_listed, fd, nvme.ALLOCATED_LIST)
        )
        drive.controllers = asked.of("controllers", partial(_controllers, fd))
    numbers = sorted({*(drive.allocated or ()), *(drive.attached or ())})
    for number in numbers[:MOST_ASKED]:
        attached = number in (drive.attached or ())
        found = asked.of(f"namespace {number}", partial(_namespace, fd, number, attached))
        if found is not None:
            drive.namespaces += (found,)
    for number in numbers[MOST_ASKED:]:
        asked.not_told[f"namespace {number}"] = f"only the first {MOST_ASKED} are asked"


def sanitize_status(fd: int) -> SanitizeStatus:
    """Return what the drive's log of sanitizing says.

    Raises:
        OSError: it has none, or does not answer.
    """
    return sanitize_status_of(nvme.log_page(fd, SANITIZE_LOG, SANITIZE_LOG_BYTES))


def _listed(fd: int, structure: int) -> tuple[int, ...]:
    """Return a list of namespaces to its end; one that does not ascend ends there."""
    found: list[int] = []
    while True:
        after = found[-1] if found else 0
        numbers = struct.unpack(
            f"<{PER_LIST}I", nvme.identify(fd, structure=structure, number=after)
        )
        for number in numbers:
            if number <= (found[-1] if found else 0):
                return tuple(found)
            found.append(number)


def _controllers(fd: int) -> tuple[int, ...]:
    """Return the ids of all controllers in the subsystem (CNS 13h: a count, then the ids)."""
    raw = nvme.identify(fd, structure=CONTROLLERS, number=0)
    count = min(int.from_bytes(raw[:2], "little"), len(raw) // 2 - 1)
    return struct.unpack_from(f"<{count}H", raw, 2)


def _namespace(fd: int, number: int, attached: bool) -> NvmeNamespace:
    structure = NAMESPACE if attached else ALLOCATED_NAMESPACE
    raw = nvme.identify(fd, structure=structure, number=number)
    try:
        command_set = command_set_of(nvme.identify(fd, structure=DESCRIPTORS, number=number))
    except OSError:
        command_set = ""  # before 1.3 there is no such structure, and one command set
    return namespace_of(raw, number, attached=attached, command_set=command_set)
