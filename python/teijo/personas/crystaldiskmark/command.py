"""The command line of ours for a program that has none: what its window offers, and a target."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from teijo import units
from teijo.errors import UsageError
from teijo.methods.classic.crystaldiskmark.rows import Like
from teijo.methods.classic.crystaldiskmark.settings import (
    INTERVAL_NS,
    MEASURE_NS,
    SIZE_BYTES,
    SIZE_BYTES_3,
    CrystalDiskMarkSettings,
)
from teijo.methods.knobs import parse_overrides
from teijo.outside.names import unknown
from teijo.outside.text import visible
from teijo.personas.crystaldiskmark.text import Drive
from teijo.personas.paths import refuse_windows

USAGE: Final = """\
Usage: crystaldiskmark [--OPTION VALUE …] TARGET

The original has a window and no command line; these are the settings of its window.

  TARGET               a folder (a file is made in it and removed), a file, or a device
  --runs 1-9           how many passes of a row count: 5
  --size 1GiB          the test file; of version 3: 1000MiB
  --data random|0fill  what is written: random
  --comment TEXT       a line below the result
Of version 5:
  --interval 5s        between two rows
  --queues 32, --threads 1
Of version 8 (teijo as --like 8, the usual one):
  --profile default|nvme|peak|real-world|demo
  --mix [R70/W30]      rows that read and write at once: R10/W90 … R90/W10
  --interval 5s        between two rows
  --measure 5s         how long a pass lasts
"""
_COMMON: Final = ("runs", "size", "data", "comment")
OPTIONS: Final[Mapping[Like, tuple[str, ...]]] = {
    "3": _COMMON,
    "5": (*_COMMON, "interval", "queues", "threads"),
    "8": (*_COMMON, "profile", "mix", "interval", "measure"),
}
_MIX: Final = re.compile(r"R\d+/W\d+|none", re.IGNORECASE)
_USUAL_MIX: Final = "R70/W30"
"""What the window has where nobody chooses another."""
_COMMENT_MOST: Final = 200


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a command line asks for. `target` is what the run is given, `drive` what is shown."""

    target: str
    settings: Mapping[str, str]
    asked: CrystalDiskMarkSettings
    drive: Drive | None
    name: str
    comment: str | None


def wanted(words: Sequence[str], like: Like, now: datetime, folder: Path) -> Wanted | None:
    """Return what the words ask for; None where they ask for help.

    Raises:
        UsageError: an option that the version has not, a Windows path, no target or several.
        teijo.errors.PlanError: an unknown option or a bad value.
    """
    if any(word in ("-h", "--help", "/?") for word in words):
        return None
    settings, targets = _read(words, like)
    if len(targets) != 1:
        told = ", ".join(map(visible, targets[:5])) if targets else "none"
        raise UsageError(
            f"One target is measured, and the words name {told}",
            remedy="Name a folder, a file or a device: teijo as crystaldiskmark /mnt/disk",
        )
    comment = settings.pop("comment", None)
    if comment is not None:
        comment = visible(comment)[:_COMMENT_MOST]
    if "interval" in settings:
        settings["interval"] = _with_unit(settings["interval"])
    if "measure" in settings:
        settings["measure"] = _with_unit(settings["measure"])
    asked = _asked(settings, like)
    target, drive = _target(targets[0], asked.size_bytes, now, folder)
    return Wanted(
        target=target,
        settings={"like": like, **settings},
        asked=asked,
        drive=drive,
        name=visible(targets[0]),
        comment=comment,
    )


def _read(words: Sequence[str], like: Like) -> tuple[dict[str, str], list[str]]:
    """Return the options and the other words."""
    settings: dict[str, str] = {}
    others: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            others += left
            break
        if not word.startswith("-") or word == "-":
            others.append(word)
            continue
        key, equals, value = word.lstrip("-").partition("=")
        _check_option(key, like)
        if not equals:
            if key == "mix" and not (left and _MIX.fullmatch(left[0])):
                value = _USUAL_MIX
            elif not left or left[0].startswith("--"):
                raise UsageError(f"--{key} has no value", remedy=f"Write --{key} VALUE.")
            else:
                value = left.pop(0)
        if key in settings:
            raise UsageError(f"--{key} stands twice", remedy="Keep one of the two.")
        settings[key] = value
    return settings, others


def _check_option(key: str, like: Like) -> None:
    if key in OPTIONS[like]:
        return
    versions = [each for each, names in OPTIONS.items() if key in names]
    if not versions:
        raise unknown("option", f"--{key}", [f"--{name}" for name in OPTIONS[like]])
    raise UsageError(
        f"CrystalDiskMark {like} has no --{key}",
        remedy=f"Leave it out, or act as version {versions[-1]}: "
        f"teijo as --like {versions[-1]} crystaldiskmark …",
    )


def _with_unit(text: str) -> str:
    return f"{text}s" if text.strip().isdecimal() else text


def _asked(settings: Mapping[str, str], like: Like) -> CrystalDiskMarkSettings:
    """Return the settings at full size, as the text names them whatever the device is."""
    usual: dict[str, object] = {
        "size_bytes": SIZE_BYTES_3 if like == "3" else SIZE_BYTES,
        "interval_ns": 0 if like == "3" else INTERVAL_NS,
        "measure_ns": MEASURE_NS,
    }
    given = parse_overrides(CrystalDiskMarkSettings, {"like": like, **settings})
    return CrystalDiskMarkSettings.model_validate({**usual, **given})


def _target(name: str, size_bytes: int, now: datetime, folder: Path) -> tuple[str, Drive | None]:
    """Return the target's text, and the drive to show; None where it has no file system."""
    refuse_windows(name)
    if name.startswith(("sim:", "concat:", "stripe")) or "?" in name:
        return name, None
    place = Path(name).expanduser()
    try:
        mode = (folder / place).stat().st_mode
    except (OSError, ValueError):
        mode = None
    if mode is not None and stat.S_ISBLK(mode):
        return name, None
    if mode is not None and stat.S_ISDIR(mode):
        drive = _file_system(folder / place, str((folder / place).resolve()))
        ticks = int(now.timestamp() * 1000) & 0xFFFFFFFF
        place = place / f"CrystalDiskMark{ticks:08X}.tmp"
        return f"{place}?size={size_bytes}&keep=no", drive
    drive = _file_system((folder / place).parent, str((folder / place).absolute()))
    return (name if mode is not None else f"{place}?size={size_bytes}&keep=no"), drive


def _file_system(folder: Path, name: str) -> Drive | None:
    try:
        found = os.statvfs(folder)
    except (OSError, ValueError):
        return None
    return Drive(
        name=visible(name),
        used_bytes=(found.f_blocks - found.f_bfree) * found.f_frsize,
        total_bytes=found.f_blocks * found.f_frsize,
    )


def size_word(size_bytes: int) -> str:
    """Return a size as the window has it: "1GiB", "64MiB"."""
    if size_bytes % units.GIB == 0:
        return f"{size_bytes // units.GIB}GiB"
    return f"{size_bytes // units.MIB}MiB"
