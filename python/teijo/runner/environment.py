"""Facts of this host for the run file: what a reader must know to trust or repeat a number."""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from teijo.outside.secret import parted
from teijo.runfile import program
from teijo.units import KIB, KILO, format_size

UNKNOWN: Final = "unknown"
_CPU: Final = Path("/sys/devices/system/cpu")
_NODES: Final = Path("/sys/devices/system/node")
_CPUINFO: Final = Path("/proc/cpuinfo")
_DIGITS_MOST: Final = 10
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
        "cpu frequency": _frequency(),
        "turbo": _turbo(),
        "idle states": _idle_states(),
        "mitigations": _mitigations(),
        "NUMA nodes": _nodes(),
        "memory": _memory(),
        "memory available": _memory("MemAvailable"),
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
    model = _field(_CPUINFO, "model name")
    return model if model != UNKNOWN else platform.processor() or UNKNOWN


def _cpu_count() -> str:
    online = os.cpu_count()
    usable = len(os.sched_getaffinity(0))
    return f"{online or UNKNOWN} online, {usable} usable"


def _governor() -> str:
    governors = {_read(path) for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ", ".join(sorted(governors)) or UNKNOWN


def _frequency() -> str:
    """Return at what frequencies the processors run now, and between which they may."""
    now = [_megahertz(path) for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_cur_freq")]
    driver = _CPU / "cpu0" / "cpufreq"
    low, high = (_megahertz(driver / f"cpuinfo_{name}_freq") for name in ("min", "max"))
    seen = [each for each in now if each] or _told_megahertz()
    if not seen:
        return UNKNOWN
    told = f"{min(seen):,.0f} to {max(seen):,.0f} MHz now"
    if low is None or high is None:
        return f"{told}, possible {UNKNOWN}"
    return f"{told}, {low:,.0f} to {high:,.0f} MHz possible"


def _megahertz(path: Path) -> float | None:
    text = _read(path)
    return int(text) / KILO if text.isdigit() and len(text) < _DIGITS_MOST else None


def _told_megahertz() -> list[float]:
    """Return what /proc/cpuinfo says, where there is no driver of frequencies."""
    lines = _read(_CPUINFO).splitlines()
    values = (line.partition(":")[2].strip() for line in lines if line.startswith("cpu MHz"))
    return [float(text) for text in values if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text)]


def _turbo() -> str:
    """Return whether processors may run above their base frequency, as their driver says."""
    for name, on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        text = _read(_CPU / name)
        if text in ("0", "1"):
            return "on" if text == on else "off"
    return UNKNOWN


def _idle_states() -> str:
    """Return who puts idle processors to sleep, and how deep they may sleep."""
    driver = _read(_CPU / "cpuidle" / "current_driver")
    folders = sorted((_CPU / "cpu0" / "cpuidle").glob("state[0-9]*"))
    names = [_read(each / "name") for each in folders if _read(each / "disable") == "0"]
    if not names:
        return UNKNOWN if driver == UNKNOWN else f"{driver}, states {UNKNOWN}"
    return f"{driver}: {', '.join(names)}"


def _mitigations() -> str:
    """Return what the kernel does against faults of the processor: each costs system calls time."""
    said = [_read(each) for each in sorted((_CPU / "vulnerabilities").glob("*"))]
    if not said:
        return UNKNOWN
    words = ("Mitigation", "Vulnerable", "Not affected")
    counts = {word: sum(each.startswith(word) for each in said) for word in words}
    counts[UNKNOWN] = len(said) - sum(counts.values())
    return ", ".join(f"{word.lower()}: {count}" for word, count in counts.items() if count)


def _nodes() -> str:
    """Return which processors lie on which node."""
    found = {
        each.name.removeprefix("node"): _read(each / "cpulist")
        for each in sorted(_NODES.glob("node[0-9]*"))
    }
    return "; ".join(f"{node}: {cpus}" for node, cpus in found.items()) or UNKNOWN


def _memory(which: str = "MemTotal") -> str:
    total, _, unit = _field(Path("/proc/meminfo"), which).partition(" ")
    return format_size(int(total) * KIB) if total.isdigit() and unit == "kB" else UNKNOWN


def _virtualisation() -> str:
    """Say what lies beneath: a guest's host may cache and share what is measured."""
    if program := shutil.which("systemd-detect-virt"):
        return _first_line(program) or UNKNOWN
    flags = _field(_CPUINFO, "flags")
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
