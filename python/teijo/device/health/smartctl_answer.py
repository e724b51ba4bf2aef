"""What smartctl tells of a drive that we cannot ask ourselves: its JSON, read without belief.

Such a drive hides behind a bridge or a RAID adapter that smartctl has a way through.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from teijo.device.asking import NoAnswer, ask
from teijo.device.health.ata_data import Attribute
from teijo.device.health.ata_names import name_of
from teijo.device.health.raw import Unreadable
from teijo.device.health.smart import answer_of, smart_counters, whole
from teijo.device.kernel import Number, Roots
from teijo.device.stack import Node
from teijo.outside.text import visible
from teijo.terms.drive_warning import COUNTER
from teijo.units import MIB

SEARCH: Final = "/usr/sbin:/usr/bin:/sbin:/usr/local/sbin"
SECONDS: Final = 30
ANSWER_BYTES: Final = 4 * MIB
MOST_MESSAGES: Final = 16
EXIT_BITS: Final = (
    "its command line is wrong",
    "the drive cannot be opened or identified",
    "a command to the drive failed",
    "the drive says that it is failing",
    "a pre-failure attribute is at or below its threshold",
    "an attribute was at or below its threshold before",
    "the drive's error log has errors",
    "the drive's self-test log has errors",
)
"""What the bits of smartctl's exit status mean, from 0 on (smartctl(8), Exit status)."""
_ONE_BYTE: Final = 0xFF


@dataclass(frozen=True, kw_only=True)
class SmartctlAnswer:
    """What it said. `exit_bits` are numbers of `EXIT_BITS`; `passed` None is not told."""

    version: str
    exit_bits: tuple[int, ...]
    messages: tuple[str, ...]
    passed: bool | None
    counts: Mapping[str, int]
    attributes: tuple[Attribute, ...]

    @property
    def troubles(self) -> tuple[str, ...]:
        """The exit bits in words, and its messages."""
        return (*(EXIT_BITS[bit] for bit in self.exit_bits), *self.messages)

    @property
    def is_blind(self) -> bool:
        """Whether it told nothing of the drive's health."""
        return self.passed is None and not self.counts and not self.attributes


def smartctl_for(disk: Node, roots: Roots) -> tuple[str, Path]:
    """Return the program and the name of a disk that it is to be told.

    It takes a name, so that is looked at first: it must still be the drive that was opened.

    Raises:
        NoAnswer: it is not installed, or the name is another drive's by now.
        OSError: there is no such name.
    """
    program = shutil.which("smartctl", path=SEARCH)
    path = roots.dev / disk.name
    if program is None:
        raise NoAnswer("smartctl is not installed")
    if Number.of(path.stat().st_rdev) != disk.number:
        raise NoAnswer(f"{path} is another drive by now")
    return program, path


def read(disk: Node, roots: Roots) -> SmartctlAnswer:
    """Ask smartctl for a drive.

    Raises:
        OSError: it did not answer, or said nothing that can be read.
    """
    try:
        program, path = smartctl_for(disk, roots)
    except NoAnswer as error:
        raise Unreadable(str(error)) from error
    command = [program, "--json", "--all", str(path)]
    try:
        answer = answer_of(ask(command, seconds=SECONDS, limit_bytes=ANSWER_BYTES))
    except NoAnswer as error:
        raise Unreadable(f"smartctl {error}") from error
    if answer is None:
        raise Unreadable("smartctl answered something unknown")
    return decoded(answer)


def decoded(answer: Mapping[str, object]) -> SmartctlAnswer:
    """Return its JSON as far as it has the types it must have."""
    about = _mapping(answer.get("smartctl"))
    status = whole(about.get("exit_status"), most=_ONE_BYTE) or 0
    passed = _mapping(answer.get("smart_status")).get("passed")
    return SmartctlAnswer(
        version=".".join(str(part) for part in _numbers(about.get("version"))),
        exit_bits=tuple(bit for bit in range(8) if status >> bit & 1),
        messages=tuple(_messages(about.get("messages"))),
        passed=passed if isinstance(passed, bool) else None,
        counts={**_counters(answer)},
        attributes=tuple(_attributes(answer)),
    )


def _counters(answer: Mapping[str, object]) -> dict[str, int]:
    """Return what of it is a counter by the names that a drive's own logs have."""
    told = smart_counters(answer)
    if not isinstance(answer.get("nvme_smart_health_information_log"), dict):
        # There it only repeats `passed`, which is judged by itself.
        told.pop(COUNTER, None)
    spare = _mapping(answer.get("spare_available"))
    places = {
        "percentage_used": _mapping(answer.get("endurance_used")).get("current_percent"),
        "available_spare_percent": spare.get("current_percent"),
        "spare_threshold_percent": spare.get("threshold_percent"),
        "power_cycles": answer.get("power_cycle_count"),
    }
    older = answer.get("scsi_percentage_used_endurance_indicator")
    found = {name: whole(value) for name, value in places.items()}
    if found["percentage_used"] is None:
        found["percentage_used"] = whole(older)
    return {name: value for name, value in found.items() if value is not None} | told


def _attributes(answer: Mapping[str, object]) -> list[Attribute]:
    rows = _mapping(answer.get("ata_smart_attributes")).get("table")
    found = []
    for row in rows if isinstance(rows, list) else []:
        one = _mapping(row)
        byte = {
            name: whole(one.get(name), most=_ONE_BYTE)
            for name in ("id", "value", "worst", "thresh")
        }
        flags = whole(_mapping(one.get("flags")).get("value"), most=0xFFFF)
        raw = whole(_mapping(one.get("raw")).get("value"))
        number, value, worst = byte["id"], byte["value"], byte["worst"]
        if number is None or value is None or worst is None:
            continue
        found.append(
            Attribute(
                number=number,
                name=name_of(number),
                flags=flags or 0,
                value=value,
                worst=worst,
                threshold=byte["thresh"],
                raw=raw or 0,
            )
        )
    return found


def _messages(given: object) -> Sequence[str]:
    rows = given if isinstance(given, list) else []
    texts = [_mapping(row).get("string") for row in rows[:MOST_MESSAGES]]
    return [visible(text, most=200) for text in texts if isinstance(text, str)]


def _numbers(given: object) -> list[int]:
    rows = given if isinstance(given, list) else []
    return [value for value in (whole(row) for row in rows[:4]) if value is not None]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
