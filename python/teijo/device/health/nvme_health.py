"""All that an NVMe drive tells of its health, asked on the open descriptor, log by log."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from teijo.device.commands import nvme, seam
from teijo.device.drive.asked import Asked
from teijo.device.health import nvme_logs, nvme_more, self_tests
from teijo.device.health.nvme_more import EnduranceGroup, ErrorEntry
from teijo.device.health.raw import kelvin, little
from teijo.device.health.reading import VENDOR_LOG
from teijo.device.health.self_tests import SelfTests

CONTROLLER: Final = 0x01
SOURCES: Final = {
    "smart": "NVMe log 02h",
    "ocp": "NVMe log C0h (OCP)",
    "errors": "NVMe log 01h",
    "self_tests": "NVMe log 06h",
    "endurance_groups": "NVMe log 09h",
    "limits": "NVMe Identify Controller",
}
_SELF_TEST_COMMAND: Final = 1 << 4
_ENDURANCE_GROUPS: Final = 1 << 4


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The temperatures from which on the drive warns and is in danger; None is not told."""

    warning_kelvin: int | None
    critical_kelvin: int | None


@dataclass(kw_only=True)
class NvmeHealth:
    """What was told, by log; None is not told, and `Asked.not_told` says why."""

    smart: Mapping[str, Any] | None = None
    ocp: Mapping[str, int | None] | None = None
    errors: tuple[ErrorEntry, ...] | None = None
    self_tests: SelfTests | None = None
    endurance_groups: tuple[EnduranceGroup, ...] | None = None
    limits: Limits | None = None


def ask(fd: int, asked: Asked, health: NvmeHealth) -> None:
    """Ask for each log, and put each answer in its place as it comes."""
    controller = asked.of("limits", partial(nvme.identify, fd, structure=CONTROLLER, number=0))
    if controller is not None:
        health.limits = Limits(
            warning_kelvin=kelvin(little(controller, 266, 2)),
            critical_kelvin=kelvin(little(controller, 268, 2)),
        )
    health.smart = asked.of(
        "smart", lambda: nvme_logs.smart(_log(fd, nvme.SMART_LOG, nvme.SMART_LOG_BYTES))
    )
    health.ocp = asked.of("ocp", lambda: nvme_logs.ocp(_log(fd, VENDOR_LOG, nvme_logs.LOG_BYTES)))
    kept = nvme_more.MOST_ENTRIES if controller is None else controller[262] + 1
    length = min(kept, nvme_more.MOST_ENTRIES) * nvme_more.ENTRY_BYTES
    health.errors = asked.of(
        "errors", lambda: nvme_more.errors_of(_log(fd, nvme_more.ERRORS, length))
    )
    if controller is None or little(controller, 256, 2) & _SELF_TEST_COMMAND:
        health.self_tests = asked.of(
            "self_tests",
            lambda: self_tests.of_nvme(_log(fd, nvme_more.SELF_TEST, self_tests.NVME_BYTES)),
        )
    else:
        asked.not_told["self_tests"] = "the drive has no self-test"
    groups = little(controller, 340, 2) if controller is not None else 0
    if controller is not None and little(controller, 96, 4) & _ENDURANCE_GROUPS and groups:
        health.endurance_groups = asked.of("endurance_groups", partial(_groups, fd, groups))
    else:
        asked.not_told.setdefault("endurance_groups", "the drive has no endurance groups")


def _groups(fd: int, most: int) -> tuple[EnduranceGroup, ...]:
    """Return each group that there is; a number in between may name none.

    Raises:
        OSError: none of them answers.
    """
    found, refusal = [], None
    for number in range(1, min(most, nvme_more.MOST_GROUPS) + 1):
        try:
            raw = _log(fd, nvme_more.ENDURANCE_GROUP, nvme_more.GROUP_BYTES, specific=number)
            found.append(nvme_more.group_of(raw, number))
        except seam.CommandError as error:
            refusal = error
    if not found and refusal is not None:
        raise refusal
    return tuple(found)


def _log(fd: int, page: int, length: int, *, specific: int = 0) -> bytes:
    """Return a log page; a refusal says in words what the drive's status means."""
    try:
        return nvme.log_page(fd, page, length, specific=specific)
    except seam.NvmeError as error:
        meaning = nvme_more.meaning_of(error.status)
        raise seam.CommandError(f"the drive refuses it ({meaning})") from error
