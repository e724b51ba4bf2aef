"""The text that names a target, read: `sim:NAME?…`, a block device, a file, or several as one.

Nothing is opened here but the file `sim:FILE.toml` names; `opening.py` does the rest.
"""

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, assert_never, get_args
from urllib.parse import parse_qsl

from teijo.device.composed import Source, spell_out
from teijo.device.nearest import guess, sibling
from teijo.errors import TargetError
from teijo.outside.text import unspeakable
from teijo.sql.worker import Journal, Synchronous
from teijo.terms.work import WorkKind
from teijo.units import MIB, format_size, parse_size

GRAMMAR: Final = "sim:NAME?key=value, sim:FILE.toml, /dev/disk/by-id/NAME, or PATH?size=8GiB"
SEVERAL: Final = "concat:A,B or stripe?chunk=64KiB:A,B"
LEAST_FILE_BYTES: Final = 1024 * 1024
CHUNK_BYTES: Final = MIB
"""A stripe's chunk where none is given; ORION's default."""

LONGEST: Final = 20_000
"""Characters of a target text; the largest description in the examples has 500."""

_SEVERAL: Final = re.compile(r"(concat|stripe)(?:\?([^:]*))?:(.*)", re.DOTALL)
_COMMA: Final = re.compile(r"(?<!\\),")


@dataclass(frozen=True, kw_only=True)
class SimulatedTarget:
    """A simulated device and the parameters that differ from its preset."""

    text: str
    name: str
    """A preset's, or the whole text of devices put together, parameters included."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    source: Source | None = None
    """The file it was written in; `text` is what that stands for, and needs no file."""


@dataclass(frozen=True, kw_only=True)
class FileTarget:
    """A regular file, existing or to be made. `size_bytes` None: as large as it is."""

    text: str
    path: Path
    size_bytes: int | None = None
    direct: bool = True
    allow_holes: bool = False
    keep: bool = True
    """Whether the file stays when its run ends; one that does not is made for the run alone."""


@dataclass(frozen=True, kw_only=True)
class BlockTarget:
    """A block device by any of its names."""

    text: str
    path: Path


Member = FileTarget | BlockTarget


@dataclass(frozen=True, kw_only=True)
class CompositeTarget:
    """Several targets as one address space. `chunk_bytes` is 0 where they are concatenated."""

    text: str
    kind: Literal["concatenated", "striped"]
    members: tuple[Member, ...]
    chunk_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class DirectoryTarget:
    """A directory, in which files are made and removed again."""

    text: str
    path: Path


@dataclass(frozen=True, kw_only=True)
class DatabaseTarget:
    """An SQLite database that does not exist yet: made for a run, and removed after it."""

    text: str
    path: Path
    journal: Journal = "wal"
    synchronous: Synchronous = "full"


BlocksTarget = SimulatedTarget | FileTarget | BlockTarget | CompositeTarget
Target = BlocksTarget | DirectoryTarget | DatabaseTarget


def work_of(target: Target) -> WorkKind:
    """Return the kind of work that a target is for; a simulated one does work on files as well."""
    match target:
        case DirectoryTarget():
            return "files"
        case DatabaseTarget():
            return "sql"
        case SimulatedTarget() | FileTarget() | BlockTarget() | CompositeTarget():
            return "blocks"


def check_work(target: Target, work: WorkKind) -> None:
    """Make sure that a target can do the work that a method asks for.

    Raises:
        teijo.errors.TargetError: it cannot.
    """
    # A private server has its data in a directory, beside which files may be worked on.
    wanted = "files" if work == "databases" else work
    if work_of(target) == wanted:
        return
    if work == "files" and isinstance(target, SimulatedTarget):
        return  # on an operating system before it
    match work:
        case "files":
            raise TargetError(
                f"{target.text} is no directory, and this method makes files in one",
                remedy="Name a directory: dir:PATH.",
            )
        case "databases":
            raise TargetError(
                f"{target.text} is no directory, and this method has a database in one",
                remedy="Name a directory: dir:PATH.",
            )
        case "sql":
            raise TargetError(
                f"{target.text} is no database, and this method sends statements to one",
                remedy="Name a file that does not exist: sqlite:PATH.",
            )
        case "blocks" if isinstance(target, DirectoryTarget):
            raise TargetError(
                f"{target.path} is a directory, and this method needs a file or a block device",
                remedy=f"Name a file in it: {target.path / 'teijo.dat'}?size=8GiB.",
            )
        case "blocks":
            raise TargetError(
                f"{target.text} is a database, and this method needs a file or a block device",
                remedy=f"Write {GRAMMAR}.",
            )


def member_texts(text: str) -> tuple[str, ...]:
    """Return the target texts within a target text: its members', or itself alone."""
    several = _SEVERAL.fullmatch(text)
    if several is None:
        return (text,)
    return tuple(part.replace(r"\,", ",") for part in _COMMA.split(several[3]))


def parse_target(text: str, *, makes: bool = True) -> Target:
    """Return what a target text names; `makes`: a file that is not there may be made of it.

    Raises:
        teijo.errors.TargetError: it names nothing that can be measured; says why.
    """
    if len(text) > LONGEST:
        raise TargetError(
            f"The target has {len(text):,} characters, and {LONGEST:,} are the most",
            remedy=f"Write {GRAMMAR}.",
        )
    if why := unspeakable(text):
        raise TargetError(f"The target {text!r}: {why}", remedy=f"Write {GRAMMAR}.")
    if several := _SEVERAL.fullmatch(text):
        return _composite(text, several[1], _pairs(several[2] or ""), makes=makes)
    return _single(text, makes=makes)


def split_settings(target: Target, settings: Mapping[str, str]) -> tuple[Target, Mapping[str, str]]:
    """Return a target with its own settings in it, and the method's that are left.

    `holes` is the one there is; of several members it is every file's. Within the text it is
    recorded with the run, so that a resume opens the same target.

    Raises:
        teijo.errors.TargetError: the target has no files, or says `holes` itself.
    """
    if "holes" not in settings:
        return target, settings
    query = f"holes={settings['holes']}"
    rest = {key: value for key, value in settings.items() if key != "holes"}
    match target:
        case FileTarget():
            return _with_query(target, query), rest
        case CompositeTarget(members=members) if any(isinstance(m, FileTarget) for m in members):
            several = _SEVERAL.fullmatch(target.text)
            assert several is not None, "it was read as a composite"
            # As written, with its \, kept: this text is recorded, and read again by a resume.
            parts = _COMMA.split(several[3])
            for place, member in enumerate(members):
                if isinstance(member, FileTarget):
                    parts[place] += _joint(parts[place]) + query
            text = target.text[: several.start(3)] + ",".join(parts)
            members = tuple(
                _with_query(member, query) if isinstance(member, FileTarget) else member
                for member in members
            )
            return replace(target, text=text, members=members), rest
        case (
            SimulatedTarget()
            | BlockTarget()
            | CompositeTarget()
            | DirectoryTarget()
            | DatabaseTarget()
        ):
            raise TargetError(
                f"holes={settings['holes']} is of a file, and {target.text} is none",
                remedy="Leave the setting away: only a file has blocks that were never written.",
            )
        case other:
            assert_never(other)


def _with_query(target: FileTarget, query: str) -> FileTarget:
    text = target.text + _joint(target.text) + query
    return _file(text, target.path, _pairs(text.partition("?")[2]))


def _joint(text: str) -> str:
    return "&" if "?" in text else "?"


def _single(
    text: str, *, makes: bool
) -> SimulatedTarget | Member | DirectoryTarget | DatabaseTarget:
    place, _, query = text.partition("?")
    if text.startswith("sim:"):
        name = place.removeprefix("sim:")
        if not name:
            raise TargetError(
                "sim: names no simulated device", remedy="`teijo devices` lists them: sim:mlc-a."
            )
        if place.endswith(".toml"):
            return _from_file(_path(name), query)
        if "(" in text:
            return SimulatedTarget(text=text, name=text.removeprefix("sim:"))
        return SimulatedTarget(text=text, name=name, overrides=_pairs(query))
    if place.startswith("sqlite:"):
        return _database(text, _path(place.removeprefix("sqlite:")), _pairs(query))
    if place.startswith("dir:"):
        return _directory(text, _path(place.removeprefix("dir:")))
    if "://" in place:
        raise TargetError(
            f"{place!r} is an address on a network, and a target is a device or a file here",
            remedy=f"Write {GRAMMAR}.",
        )
    if not place:
        raise TargetError("The target is empty", remedy=f"Write {GRAMMAR}.")
    return _on_disk(text, _path(place), _pairs(query), makes=makes)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise TargetError(
            f"{text}: there is no user of this name, or no home of theirs",
            remedy="Write the path from / on; ./ before a name that begins with ~.",
        ) from error


def _from_file(path: Path, query: str) -> SimulatedTarget:
    if query:
        raise TargetError(
            f"{path} describes a device whole, and ?{query} stands behind it",
            remedy="Write the parameter into the file.",
        )
    name, source = spell_out(path)
    return SimulatedTarget(text=f"sim:{name}", name=name, source=source)


def _composite(text: str, word: str, pairs: dict[str, str], *, makes: bool) -> CompositeTarget:
    known = ("chunk",) if word == "stripe" else ()
    for key in pairs:
        if key not in known:
            raise TargetError(
                f"{word}: has no setting {key!r}",
                remedy=f"Write {SEVERAL}; a file's settings go behind the file.",
            )
    texts = member_texts(text)
    if len(texts) < 2:
        raise TargetError(
            f"{word}: makes one target of several, and {len(texts)} is named",
            remedy=f"Write {SEVERAL}.",
        )
    return CompositeTarget(
        text=text,
        kind="striped" if word == "stripe" else "concatenated",
        members=tuple(_member(word, part, makes=makes) for part in texts),
        chunk_bytes=_chunk(pairs.get("chunk")) if word == "stripe" else 0,
    )


def _member(word: str, text: str, *, makes: bool) -> Member:
    if not text:
        raise TargetError(
            f"{word}: has an empty member",
            remedy=rf"Write {SEVERAL}; a comma within a name is written \,.",
        )
    if _SEVERAL.fullmatch(text):
        raise TargetError(
            f"{text} is several targets already, and is no member of another",
            remedy=f"Write {SEVERAL}.",
        )
    match _single(text, makes=makes):
        case FileTarget(keep=False):
            raise TargetError(
                f"{text} is made for one run alone, and {word}: takes files that stay",
                remedy="Leave keep=no away.",
            )
        case FileTarget() | BlockTarget() as member:
            return member
        case DirectoryTarget() | DatabaseTarget() as other:
            check_work(other, "blocks")
            raise AssertionError(f"{other.text} has no blocks")
        case SimulatedTarget():
            raise TargetError(
                f"{text} is simulated, and {word}: takes block devices and files",
                remedy="Name real devices or files, or measure the simulated one alone.",
            )


def _directory(text: str, path: Path) -> DirectoryTarget:
    _check_folder(path)
    return DirectoryTarget(text=text, path=path)


def _check_folder(path: Path) -> None:
    if not path.is_dir():
        raise TargetError(
            f"There is no folder {path}{sibling(path)}", remedy="Make it, or check the path."
        )


def _database(text: str, path: Path, pairs: dict[str, str]) -> DatabaseTarget:
    journals, levels = get_args(Journal), get_args(Synchronous)
    asked = (pairs.pop("journal", "wal"), pairs.pop("sync", "full"))
    for key in pairs:
        raise TargetError(
            f"A database target has no setting {key!r}{guess(key, ('journal', 'sync'))}",
            remedy="It takes journal and sync: sqlite:run.db?journal=wal&sync=full.",
        )
    for journal in journals:
        for level in levels:
            if asked == (journal, level):
                return DatabaseTarget(text=text, path=path, journal=journal, synchronous=level)
    raise TargetError(
        f"A database target has no journal={asked[0]} with sync={asked[1]}",
        remedy="Write journal=wal or delete, and sync=full, normal or off.",
    )


def _chunk(text: str | None) -> int:
    if text is None:
        return CHUNK_BYTES
    try:
        chunk = parse_size(text)
    except ValueError as error:
        raise TargetError(f"chunk: {error}", remedy="Write a chunk like 64KiB.") from error
    if chunk == 0 or chunk % 512:
        raise TargetError(
            f"chunk={text} is {chunk} bytes, and a chunk is a multiple of 512 B",
            remedy="Write a chunk like 64KiB.",
        )
    return chunk


def _on_disk(
    text: str, path: Path, pairs: dict[str, str], *, makes: bool
) -> Member | DirectoryTarget:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _new_file(text, path, pairs, makes=makes)
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or "its name cannot be one"
        raise TargetError(f"{path} cannot be looked at: {why}", remedy="Check the path.") from error
    if stat.S_ISBLK(mode):
        if pairs:
            raise TargetError(
                f"{path} is a block device and takes no ?{next(iter(pairs))}=",
                remedy="Name it alone; a part of it is asked for with --set active_range=.",
            )
        return BlockTarget(text=text, path=path)
    if stat.S_ISDIR(mode):
        return DirectoryTarget(text=text, path=path)
    if stat.S_ISCHR(mode):
        raise TargetError(
            f"{path} is a character device, which has no blocks",
            remedy="Name the block device: /dev/nvme0n1 for /dev/nvme0 or /dev/ng0n1.",
        )
    if not stat.S_ISREG(mode):
        raise TargetError(f"{path} is a pipe or a socket", remedy=f"Write {GRAMMAR}.")
    return _file(text, path, pairs)


def not_there(path: Path) -> TargetError:
    """Return what is to be raised for a path without anything, where nothing is made of it."""
    return TargetError(
        f"There is no file and no device {path}{sibling(path)}",
        remedy="Check the path; `teijo devices` lists the devices there are.",
    )


def _new_file(text: str, path: Path, pairs: dict[str, str], *, makes: bool) -> FileTarget:
    top = path.absolute().parts[1:2]
    # A mistyped device must not become a file in /dev; /dev/shm is a place for files.
    in_memory = path.absolute().is_relative_to("/dev/shm")
    if top and top[0] in {"dev", "proc", "sys"} and not in_memory:
        raise TargetError(
            f"There is no device {path}{sibling(path)}",
            remedy="`teijo devices` lists the ones there are.",
        )
    target = _file(text, path, pairs)
    if target.size_bytes is None and not makes:
        raise not_there(path)
    _check_folder(path.parent)
    if target.size_bytes is None:
        raise TargetError(
            f"{path} does not exist, and no size is given to make it",
            remedy=f"Write {path}?size=8GiB; larger than the memory of the machine "
            "is best. A directory for files has to be there already.",
        )
    return target


def _file(text: str, path: Path, pairs: dict[str, str]) -> FileTarget:
    known = ("size", "direct", "holes", "keep")
    for key in pairs:
        if key not in known:
            raise TargetError(
                f"A file target has no setting {key!r}{guess(key, known)}",
                remedy="It takes size, direct, holes, keep: drive.img?size=8GiB.",
            )
    return FileTarget(
        text=text,
        path=path,
        size_bytes=_size(pairs["size"]) if "size" in pairs else None,
        direct=_one_of(pairs, "direct", yes="yes", no="no", default=True),
        allow_holes=_one_of(pairs, "holes", yes="allow", no="refuse", default=False),
        keep=_one_of(pairs, "keep", yes="yes", no="no", default=True),
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
