"""What an emulated NVMe drive is told to be (knobs), and what it keeps over a power cut (state).

Standard library only: the drive also runs in a guest that has nothing else.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

DNR = 0x4000
"""Do Not Retry, in a status without its phase bit, as the kernel hands it on."""
WHOLE_SUBSYSTEM = 0xFFFFFFFF


class Refusal(Exception):
    """The drive ends a command with a status: code type above bit 8, code below it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status:#x}")
        self.status = status


class PowerCut(Exception):
    """The drive has lost its power; a new object on the same state file is its next start."""


class VirtualClock:
    """Seconds that pass only when somebody lets them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class RealClock:
    """The seconds of this machine."""

    def __call__(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


Clock = VirtualClock | RealClock


@dataclass(frozen=True, kw_only=True)
class Area:
    """One namespace as it is made: its size, LBA format, and whether the controller sees it."""

    size_bytes: int = 4 << 20
    lba_format: int = 0
    attached: bool = True


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """What kind of drive it is and how it misbehaves. Times are seconds, temperatures Kelvin.

    `mode` of its sanitize and format: `ok`; `fail`, that many times as `fails` says; `liar` (says
    it did, and did not); `forced` (deallocates though it was asked not to: state 4); `stuck`
    (SPROG stays at 655). `format_makes` "factory" is the identity some drives fall back to,
    "smaller" and "blocks" are the same drive of half the size, or with other blocks;
    `format_reaches_all` whatever its FNA says;
    `cut_in_format` takes the power away in the middle. `refuse_format` is a status, 0 for none.
    `temperature` is a constant, or (second since power-on, Kelvin) points, straight lines
    between them. `smart` and `ocp` lay values over the counters, by the names in `nvme_logs`.
    """

    serial: str = "EMU0001"
    model: str = "Teijo Emulated NVMe"
    firmware: str = "1.0"
    namespaces: tuple[Area, ...] = (Area(),)
    lba_formats: tuple[tuple[int, int, int], ...] = ((9, 0, 2), (12, 0, 0))
    """LBADS (the power of two), metadata bytes, relative performance."""
    duration: float = 4.0
    estimates: bool = True
    mode: str = "ok"
    fails: int = 1
    fna: int = 0
    sanicap: int = 0x4000_0007
    oacs: int = 0x1A
    """Format 1, namespace management 3, self-test 4."""
    oncs: int = 0x1C
    """Dataset management 2, write zeroes 3, save and select in features 4."""
    cmic: int = 0
    controllers: tuple[int, ...] = (1,)
    volatile_cache: bool = True
    no_secure_erase: bool = False
    crypto_deallocates: bool = False
    new: bool = False
    """Never written since it was made: then Global Data Erased is set without any sanitize."""
    thin: bool = False
    format_seconds: float = 1.0
    format_makes: str = ""
    format_reaches_all: bool = False
    cut_in_format: bool = False
    refuse_format: int = 0
    firmware_pending: bool = False
    exit_clears_status: bool = False
    power_cut_at_command: int = 0
    temperature: float | tuple[tuple[float, float], ...] = 310.0
    wctemp: int = 343
    cctemp: int = 353
    critical_warning: int = 0
    smart: dict[str, int] = field(default_factory=dict)
    ocp: bool = True
    ocp_values: dict[str, int] = field(default_factory=dict)
    write_amplification: float = 1.5
    silence_seconds: float = 0.0
    """So long without a command for its blocks is told in its log; 0 for never."""

    @classmethod
    def from_json(cls, text: str) -> "Knobs":
        """Return the knobs of a JSON object; its keys are the fields."""
        return cls().changed(json.loads(text))

    def changed(self, values: dict[str, Any]) -> "Knobs":
        """Return the knobs with others in their place, as JSON has them.

        Raises:
            KeyError: there is no such knob.
        """
        known = {one.name for one in fields(self)}
        for name in values:
            if name not in known:
                raise KeyError(f"no such knob: {name}")
        made = dict(values)
        if "namespaces" in made:
            made["namespaces"] = tuple(
                one if isinstance(one, Area) else Area(**one) for one in made["namespaces"]
            )
        for name in ("lba_formats", "controllers", "temperature"):
            if isinstance(made.get(name), list):
                made[name] = tuple(
                    tuple(one) if isinstance(one, list) else one for one in made[name]
                )
        return replace(self, **made)

    def json(self) -> str:
        """Return all of it as JSON, for a server's command line."""
        return json.dumps(asdict(self))


def first_state(knobs: Knobs) -> dict[str, Any]:
    """Return the state of a drive as it leaves its maker."""
    return {
        "serial": knobs.serial,
        "model": knobs.model,
        "firmware": knobs.firmware,
        "namespaces": {
            str(number): {
                "bytes": area.size_bytes,
                "lba_format": area.lba_format,
                "attached": list(knobs.controllers) if area.attached else [],
            }
            for number, area in enumerate(knobs.namespaces, 1)
        },
        "sanitize": None,
        "sanitizes_failed": 0,
        "data_erased": knobs.new,
        "formatting": None,
        "saved": {},
        "counters": {
            "bytes_read": 0, "bytes_written": 0, "reads": 0, "writes": 0, "busy_seconds": 0.0,
            "power_cycles": 3, "seconds_on": 1234 * 3600.0, "unsafe_shutdowns": 1,
            "media_errors": 0, "errors": 0, "warning_seconds": 0.0, "critical_seconds": 0.0,
            "t1_count": 0, "t2_count": 0, "t1_seconds": 0.0, "t2_seconds": 0.0,
        },
        "self_tests": [],
        "clean": True,
    }  # fmt: skip


class Store:
    """The state file: each save is whole and durable, or did not happen."""

    def __init__(self, path: Path, made: Callable[[], dict[str, Any]]) -> None:
        """Read the file, or begin with what `made` returns."""
        self._path = path
        self.values: dict[str, Any] = json.loads(path.read_text()) if path.exists() else made()

    def save(self) -> None:
        """Write everything; a power cut leaves the old file or the new one."""
        beside = self._path.with_name(self._path.name + ".new")
        with beside.open("w") as handle:
            json.dump(self.values, handle)
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
