"""Which processors make the I/O: read from `--set cpus=`, kept for a run, recorded in its file.

Each worker is kept on one of them, in the order in which they are named and over again: the engine
does that, before a worker makes its ring and touches its buffers, so that these lie on the node it
runs on. All that the run does beside (the thread that looks on, what is asked of the device) stays
among them.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from teijo.errors import PlanError

CPUS: Final = "cpus"
_NODES: Final = Path("/sys/devices/system/node")
_ONLINE: Final = Path("/sys/devices/system/cpu/online")
_REMEDY: Final = "Write numbers and ranges, or a NUMA node: --set cpus=0-3,8 or cpus=node0."
_BEYOND: Final = 1 << 10
"""The set of processors that the engine hands to the kernel ends before this number."""

Cpus = tuple[int, ...]
"""Processors in the order in which workers take them; none leaves it to the kernel."""


def split_cpus(settings: Mapping[str, str]) -> tuple[dict[str, str], Cpus]:
    """Return the settings of the method, and the processors that `cpus` names, none without.

    Raises:
        PlanError: it names none, or one that is not there or that this program may not use.
    """
    others = {key: value for key, value in settings.items() if key != CPUS}
    if CPUS not in settings:
        return others, ()
    return others, cpus_from(settings[CPUS])


def cpus_from(text: str) -> Cpus:
    """Return the processors in "8,0-3", or those of "node0".

    Raises:
        PlanError: it names none, or one that is not there or that this program may not use.
    """
    node = re.fullmatch(r"node(\d{1,4})", text.strip())
    named = numbers(_cpulist(int(node[1])) if node else text)
    if not named:
        raise PlanError(f"{CPUS}={text} names no processor", remedy=_REMEDY)
    check_usable(named)
    return named


def check_usable(cpus: Sequence[int]) -> None:
    """Make sure that this program may use all of them.

    Raises:
        PlanError: one of them is not there, or kept from this program.
    """
    allowed = {cpu for cpu in os.sched_getaffinity(0) if cpu < _BEYOND}
    strange = sorted(set(cpus) - allowed)
    if not strange:
        return
    asked = f"{CPUS}={shown(cpus)}"
    online = _online()
    if online and strange[0] not in online:
        raise PlanError(
            f"{asked}: this machine has no processor {strange[0]}",
            remedy=f"It has {shown(online)}.",
        )
    raise PlanError(
        f"{asked}: this program may not use processor {strange[0]}",
        remedy=f"It may use {shown(sorted(allowed))}: a cgroup or taskset keeps it from others.",
    )


def numbers(text: str) -> Cpus | None:
    """Return the numbers in "8,0-3" in their order, each once; None where that is no such text."""
    found: dict[int, None] = {}
    for part in text.strip().split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:-(\d{1,4}))?\s*", part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            return None
        found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


def shown(cpus: Sequence[int]) -> str:
    """Return "8,0-3" of processors, in their order."""
    parts: list[list[int]] = []
    for cpu in cpus:
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def shown_with_nodes(cpus: Sequence[int]) -> str:
    """Return "8,0-3 (NUMA node 0: 0-3; 1: 8)" of processors, which is what a run file has."""
    lying = {node: set(numbers(_cpulist(node)) or ()).intersection(cpus) for node in _nodes()}
    lying = {node: its for node, its in lying.items() if its}
    match list(lying):
        case []:
            return shown(cpus)
        case [node]:
            return f"{shown(cpus)} (NUMA node {node})"
        case _:
            parts = (f"{node}: {shown(sorted(its))}" for node, its in lying.items())
            return f"{shown(cpus)} (NUMA node {'; '.join(parts)})"


def recorded(environment: Mapping[str, str]) -> Cpus:
    """Return the processors that a run was begun on, none where it named none."""
    return numbers(environment.get(CPUS, "").partition(" ")[0]) or ()


@contextmanager
def kept_among(cpus: Sequence[int]) -> Iterator[None]:
    """Let this thread, and those it starts, use only these processors; all that it may, of none.

    Raises:
        PlanError: one of them is not there by now, or kept from this program.
    """
    if not cpus:
        yield
        return
    # A run that is taken up again may find a recorded processor gone.
    check_usable(cpus)
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        raise PlanError(f"{CPUS}={shown(cpus)}: {error.strerror}", remedy=_REMEDY) from error
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _nodes() -> list[int]:
    names = (re.fullmatch(r"node(\d+)", each.name) for each in _NODES.glob("node*"))
    return sorted(int(name[1]) for name in names if name is not None)


def _cpulist(node: int) -> str:
    return _text(_NODES / f"node{node}" / "cpulist")


def _online() -> Cpus:
    """Return the processors of this machine, none where it does not tell."""
    return numbers(_text(_ONLINE)) or ()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
