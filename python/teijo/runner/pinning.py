"""Which processors make the I/O: read from `--set cpus=`, kept for a run, recorded in its file.

A worker thread inherits the processors of the thread that starts it, and the memory of its buffers
is the nearest to where it first touches them: so one mask pins threads, the kernel's threads for
their rings, and arenas.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from teijo.errors import PlanError

CPUS: Final = "cpus"
_NODES: Final = Path("/sys/devices/system/node")
_REMEDY: Final = "Write numbers and ranges, or a NUMA node: --set cpus=0-3,8 or cpus=node0."
_MOST: Final = 1 << 13


def split_cpus(settings: Mapping[str, str]) -> tuple[dict[str, str], frozenset[int]]:
    """Return the settings of the method, and the processors that `cpus` names, none without.

    Raises:
        PlanError: it names none, or one that this program may not use.
    """
    others = {key: value for key, value in settings.items() if key != CPUS}
    if CPUS not in settings:
        return others, frozenset()
    return others, cpus_from(settings[CPUS])


def cpus_from(text: str) -> frozenset[int]:
    """Return the processors in "0-3,8", or those of "node0".

    Raises:
        PlanError: it names none, or one that this program may not use.
    """
    node = re.fullmatch(r"node(\d{1,4})", text.strip())
    named = numbers(_cpulist(int(node[1])) if node else text)
    allowed = os.sched_getaffinity(0)
    if named is None or not named:
        raise PlanError(f"{CPUS}={text} names no processor", remedy=_REMEDY)
    if strange := sorted(named - allowed):
        raise PlanError(
            f"{CPUS}={text}: this program may not use processor {strange[0]}",
            remedy=f"It may use {shown(frozenset(allowed))}.",
        )
    return named


def numbers(text: str) -> frozenset[int] | None:
    """Return the numbers in "0-3,8", None where that is no such text."""
    found: set[int] = set()
    for part in text.strip().split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:-(\d{1,4}))?\s*", part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last >= _MOST:
            return None
        found.update(range(first, last + 1))
    return frozenset(found)


def shown(cpus: frozenset[int]) -> str:
    """Return "0-3,8" of processors."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def shown_with_nodes(cpus: frozenset[int]) -> str:
    """Return "0-3,8 (NUMA node 0)" of processors, which is what a run file has."""
    nodes = [node for node in _nodes() if (numbers(_cpulist(node)) or frozenset()) & cpus]
    where = f" (NUMA node {', '.join(map(str, nodes))})" if nodes else ""
    return shown(cpus) + where


def recorded(environment: Mapping[str, str]) -> frozenset[int]:
    """Return the processors that a run was begun on, none where it named none."""
    return numbers(environment.get(CPUS, "").partition(" ")[0]) or frozenset()


@contextmanager
def pinned(cpus: frozenset[int]) -> Iterator[None]:
    """Let this thread, and those it starts, use only these processors; all that it may, of none."""
    if not cpus:
        yield
        return
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
    try:
        return (_NODES / f"node{node}" / "cpulist").read_text()
    except OSError:
        return ""
