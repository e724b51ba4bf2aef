"""The files that a Windows tool is given, as targets: paths, sizes, and several as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teijo.device.survey import survey
from teijo.device.target import (
    BlockTarget,
    DirectoryTarget,
    FileTarget,
    SimulatedTarget,
    parse_target,
)
from teijo.errors import UsageError
from teijo.personas.paths import refuse_windows
from teijo.units import MIB


@dataclass(frozen=True, kw_only=True)
class NamedFile:
    """A file as it was named. `size_bytes` is what was asked for, None: as large as it is."""

    name: str
    size_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Placed:
    """One target of several files: its text, and the first byte and the length of each file."""

    text: str
    pieces: tuple[tuple[int, int], ...]


def placed(files: Sequence[NamedFile], *, buffered: bool) -> Placed:
    """Return files as one target. A file is read and written through the page cache if `buffered`.

    A file that is there keeps its size; where a smaller one is asked for, that much of it is used.

    Raises:
        UsageError: a Windows path, a size that a file has not, a target that cannot be buffered.
        teijo.errors.TargetError: it is no target.
    """
    texts, pieces, reached = [], [], 0
    for file in files:
        refuse_windows(file.name)
        text, size = _single(file, buffered=buffered)
        texts.append(text)
        length = size if file.size_bytes is None else min(size, file.size_bytes)
        pieces.append((reached, length))
        reached += size
    if len(texts) == 1:
        return Placed(text=texts[0], pieces=tuple(pieces))
    joined = ",".join(text.replace(",", "\\,") for text in texts)
    return Placed(text=f"concat:{joined}", pieces=tuple(pieces))


def _single(file: NamedFile, *, buffered: bool) -> tuple[str, int]:
    """Return the text of one target, and its size."""
    text = file.name
    target = parse_target(_sized(text, file.size_bytes))
    match target:
        case FileTarget(path=path) if path.exists():
            text = _joined(text, {"direct": "no"} if buffered and target.direct else {})
        case FileTarget():
            text = _sized(text, file.size_bytes)
            text = _joined(text, {"direct": "no"} if buffered and target.direct else {})
        case DirectoryTarget():
            raise UsageError(
                f"{file.name} is a directory",
                remedy=f"Name a file in it: {file.name.rstrip('/')}/testfile.dat.",
            )
        case SimulatedTarget() | BlockTarget() if buffered:
            raise UsageError(
                f"{file.name} has no file system, so no file cache is before it",
                remedy="Name a file, or leave the file cache out: -BN or -BH, -Sh or -Su.",
            )
        case _:
            pass
    size = survey(text).geometry.capacity_bytes
    if size == 0:
        raise UsageError(f"The file {file.name} is empty", remedy="Remove it to have it made anew.")
    wanted = file.size_bytes
    if wanted is not None and wanted > size:
        raise UsageError(
            f"{file.name} has {size // MIB:,} MiB, and {wanted // MIB:,} are asked for",
            remedy="Remove it to have it made anew, or ask for no more than it has.",
        )
    return text, size


def _sized(name: str, size_bytes: int | None) -> str:
    """Return a name with the size to make the file at; of what is there, it is left out."""
    bare = name.partition("?")[0]
    if size_bytes is None or name.startswith("sim:") or Path(bare).exists():
        return name
    return _joined(name, {"size": str(size_bytes)})


def _joined(text: str, settings: Mapping[str, str]) -> str:
    for key, value in settings.items():
        text += ("&" if "?" in text else "?") + f"{key}={value}"
    return text
