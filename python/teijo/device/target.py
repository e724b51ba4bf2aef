"""The text that names a target, read: `sim:NAME?…`, a block device, or a file with its size.

Nothing is opened here; `opening.py` does that.
"""

import difflib
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

from teijo.errors import TargetError
from teijo.units import format_size, parse_size

GRAMMAR: Final = "sim:NAME?key=value, /dev/disk/by-id/NAME, or PATH?size=8GiB"
LEAST_FILE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class SimulatedTarget:
    """A simulated device and the parameters that differ from its preset."""

    text: str
    name: str
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FileTarget:
    """A regular file, existing or to be made. `size_bytes` None: as large as it is."""

    text: str
    path: Path
    size_bytes: int | None = None
    direct: bool = True
    allow_holes: bool = False


@dataclass(frozen=True, kw_only=True)
class BlockTarget:
    """A block device by any of its names."""

    text: str
    path: Path


Target = SimulatedTarget | FileTarget | BlockTarget


def parse_target(text: str) -> Target:
    """Return what a target text names.

    Raises:
        teijo.errors.TargetError: it names nothing that can be measured; says why.
    """
    place, _, query = text.partition("?")
    if text.startswith("sim:"):
        name = place.removeprefix("sim:")
        if not name:
            raise TargetError(
                "sim: names no simulated device", remedy="`teijo devices` lists them: sim:mlc-a."
            )
        return SimulatedTarget(text=text, name=name, overrides=_pairs(query))
    if "://" in place:
        raise TargetError(
            f"{place!r} is an address on a network, and a target is a device or a file here",
            remedy=f"Write {GRAMMAR}.",
        )
    if not place:
        raise TargetError("the target is empty", remedy=f"Write {GRAMMAR}.")
    return _on_disk(text, Path(place).expanduser(), _pairs(query))


def _on_disk(text: str, path: Path, pairs: dict[str, str]) -> Target:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _new_file(text, path, pairs)
    except (OSError, ValueError) as error:
        raise TargetError(f"{path} cannot be looked at: {error}") from error
    if stat.S_ISBLK(mode):
        if pairs:
            raise TargetError(
                f"{path} is a block device and takes no ?{next(iter(pairs))}=",
                remedy="Name it alone; a part of it is asked for with --set active_range=.",
            )
        return BlockTarget(text=text, path=path)
    if stat.S_ISDIR(mode):
        raise TargetError(
            f"{path} is a directory, and this method needs a file or a block device",
            remedy=f"Name a file in it: {path / 'teijo.dat'}?size=8GiB.",
        )
    if stat.S_ISCHR(mode):
        raise TargetError(
            f"{path} is a character device, which has no blocks",
            remedy="Name the block device: /dev/nvme0n1 for /dev/nvme0 or /dev/ng0n1.",
        )
    if not stat.S_ISREG(mode):
        raise TargetError(f"{path} is a pipe or a socket", remedy=f"Write {GRAMMAR}.")
    return _file(text, path, pairs)


def _new_file(text: str, path: Path, pairs: dict[str, str]) -> FileTarget:
    top = path.absolute().parts[1:2]
    in_memory = path.absolute().is_relative_to("/dev/shm")
    if top and top[0] in {"dev", "proc", "sys"} and not in_memory:
        raise TargetError(
            f"there is no device {path}", remedy="`teijo devices` lists the ones there are."
        )
    if not path.parent.is_dir():
        raise TargetError(f"there is no folder {path.parent}", remedy="Make it, or check the path.")
    target = _file(text, path, pairs)
    if target.size_bytes is None:
        raise TargetError(
            f"{path} does not exist, and no size is given to make it",
            remedy=f"Write {path}?size=8GiB; larger than the memory of the machine is best.",
        )
    return target


def _file(text: str, path: Path, pairs: dict[str, str]) -> FileTarget:
    known = ("size", "direct", "holes")
    for key in pairs:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise TargetError(
                f"a file target has no setting {key!r}",
                remedy=(f"Did you mean {near[0]}? " if near else "")
                + "It takes size, direct, holes.",
            )
    return FileTarget(
        text=text,
        path=path,
        size_bytes=_size(pairs["size"]) if "size" in pairs else None,
        direct=_one_of(pairs, "direct", yes="yes", no="no", default=True),
        allow_holes=_one_of(pairs, "holes", yes="allow", no="refuse", default=False),
    )


def _size(text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError as error:
        raise TargetError(f"size: {error}", remedy="Write a size like 8GiB.") from error
    if size < LEAST_FILE_BYTES or size % 4096:
        raise TargetError(
            f"size={text} is {size} bytes, and a file target is at least "
            f"{format_size(LEAST_FILE_BYTES)} and a multiple of 4 KiB",
            remedy="Write a size like 8GiB.",
        )
    return size


def _one_of(pairs: dict[str, str], key: str, *, yes: str, no: str, default: bool) -> bool:
    value = pairs.get(key)
    if value is None:
        return default
    if value not in {yes, no}:
        raise TargetError(f"{key}={value} is unknown", remedy=f"Write {key}={yes} or {key}={no}.")
    return value == yes


def _pairs(query: str) -> dict[str, str]:
    if not query:
        return {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    except ValueError as error:
        raise TargetError(
            f"{query!r} after the ? is not key=value&key=value", remedy=f"Write {GRAMMAR}."
        ) from error
    settings = dict(pairs)
    if len(settings) != len(pairs):
        raise TargetError(f"{query!r} gives a setting twice", remedy="Keep one of the two.")
    return settings
