"""Facts of this host for the run file: what a reader must know to trust or repeat a number."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from teijo.outside.secret import parted
from teijo.runfile import program
from teijo.units import KIB, format_size

UNKNOWN: Final = "unknown"
_CPU: Final = Path("/sys/devices/system/cpu")
_CLOCK: Final = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def describe_host() -> dict[str, str]:
    """Return facts by name; what cannot be learned is "unknown", never a guess."""
    return {
        "teijo": program.version(),
        program.BUILD: program.build(),
        "command": shlex.join(parted(word)[0] for word in sys.argv),  # no password
        "python": platform.python_version(),
        "fio": _fio_version(),
        "host": platform.node() or UNKNOWN,
        "os": _os_name(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine() or UNKNOWN,
        "cpu": _cpu_model(),
        "cpu count": _cpu_count(),
        "cpu governor": _governor(),
        "memory": _memory(),
        "clocksource": _read(_CLOCK),
        "virtualisation": _virtualisation(),
        "system": _system(),
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or UNKNOWN
    except OSError:
        return UNKNOWN


def _field(path: Path, name: str) -> str:
    """Return the value of the first "name : value" line of a file in /proc."""
    for line in _read(path).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip() or UNKNOWN
    return UNKNOWN


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", UNKNOWN)
    except OSError:
        return UNKNOWN


def _cpu_model() -> str:
    model = _field(Path("/proc/cpuinfo"), "model name")
    return model if model != UNKNOWN else platform.processor() or UNKNOWN


def _cpu_count() -> str:
    online = os.cpu_count()
    usable = len(os.sched_getaffinity(0))
    return f"{online or UNKNOWN} online, {usable} usable"


def _governor() -> str:
    governors = {_read(path) for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ", ".join(sorted(governors)) or UNKNOWN


def _memory() -> str:
    total, _, unit = _field(Path("/proc/meminfo"), "MemTotal").partition(" ")
    return format_size(int(total) * KIB) if total.isdigit() and unit == "kB" else UNKNOWN


def _virtualisation() -> str:
    """Say what lies beneath: a guest's host may cache and share what is measured."""
    if program := shutil.which("systemd-detect-virt"):
        return _first_line(program) or UNKNOWN
    flags = _field(Path("/proc/cpuinfo"), "flags")
    if flags == UNKNOWN:
        return UNKNOWN
    return "guest of a hypervisor" if "hypervisor" in flags.split() else "none seen"


def _system() -> str:
    names = (_read(Path("/sys/class/dmi/id") / name) for name in ("sys_vendor", "product_name"))
    return " ".join(name for name in names if name != UNKNOWN) or UNKNOWN


def _fio_version() -> str:
    program = shutil.which("fio")
    return _first_line(program, "--version") if program else "not installed"


@cache
def _first_line(*command: str) -> str:
    """Return the first line a program prints, whatever its exit code."""
    try:
        # systemd-detect-virt ends with 1 where it finds no hypervisor.
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip().partition("\n")[0] or UNKNOWN
