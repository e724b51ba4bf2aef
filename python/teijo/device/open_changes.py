"""Changes of a drive that must be undone: a cache that was switched, a password, a purge under way.

Each is a file of its own in the user's state folder, on the disk before the drive is told, and gone
once it is undone. What a kill or a power cut leaves there is what `teijo purge TARGET --finish`
ends. A drive is recognised by serial and WWID together: its name in /dev may be another's by then.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from teijo.creating import create_anew
from teijo.device.kernel import HOST, Roots, read_text
from teijo.errors import HostError
from teijo.outside.file import Unreadable, read_bytes

MOST_BYTES: Final = 65_536
_BOOT_ID: Final = Path("sys/kernel/random/boot_id")
_KINDS: Final = ("cache", "password", "purge")
_SUFFIX: Final = ".json"
_LATER: Final = {"stamps": ""}
"""Fields that a file of an older version does not have."""

Kind = Literal["cache", "password", "purge"]


@dataclass(frozen=True, kw_only=True)
class OpenChange:
    """One change that must be undone or ended.

    `method` is the purge or the command that made it; `before` what the drive said before;
    `secret` a password that was set; `stamps` what a purge is proven by (`purging/earlier.py`).
    `pid`, `boot_id` and `began` (UTC, ISO 8601) say who made it and when: `note` fills them in.
    """

    kind: Kind
    serial: str
    wwid: str
    target: str
    method: str = ""
    before: str = ""
    secret: str = ""
    stamps: str = ""
    pid: int = 0
    boot_id: str = ""
    began: str = ""


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where this user's open changes are, by the XDG base directories."""
    base = environment.get("XDG_STATE_HOME", "")
    # XDG has a relative path ignored as invalid.
    home = Path(environment.get("HOME", "/")) / ".local" / "state"
    return (Path(base) if base.startswith("/") else home) / "teijo" / "open-changes"


def note(change: OpenChange, roots: Roots = HOST) -> OpenChange:
    """Put a change on the disk before the drive is told of it; return it as it stands there.

    Where the same change of the same drive is open already, what the drive said before that one
    is kept: the state to go back to is the oldest.

    Raises:
        teijo.errors.HostError: it cannot be written; the drive must not be changed then.
    """
    folder = state_folder()
    older = next((one for one in open_changes(change.serial) if _same(one, change)), None)
    noted = replace(
        change,
        before=older.before if older else change.before,
        pid=os.getpid(),
        boot_id=read_text(roots.proc / _BOOT_ID),
        began=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_own(folder)
        _write(folder, _path(folder, noted), json.dumps(asdict(noted), indent=1).encode())
    except OSError as error:
        raise HostError(
            f"What is about to be changed of {change.target} cannot be noted in {folder}: "
            f"{error.strerror or error}; nothing was changed.",
            remedy="Give that folder room and rights, or name another with XDG_STATE_HOME.",
        ) from error
    return noted


def close(change: OpenChange) -> None:
    """Take a change that is undone out of the journal.

    Raises:
        teijo.errors.HostError: the file cannot be removed.
    """
    folder = state_folder()
    try:
        _path(folder, change).unlink(missing_ok=True)
        if folder.is_dir():
            _sync(folder)
    except OSError as error:
        raise HostError(
            f"{_path(folder, change)} cannot be removed: {error.strerror or error}.",
            remedy="Remove it: the change it tells of is undone.",
        ) from error


def open_changes(serial: str | None = None) -> tuple[OpenChange, ...]:
    """Return the changes that are open, of one drive or of all, the oldest first.

    Raises:
        teijo.errors.HostError: a file of the journal cannot be read, or is none of ours.
    """
    folder = state_folder()
    if not folder.is_dir():
        return ()
    try:
        _check_own(folder)
        found = [_read(path) for path in sorted(folder.iterdir()) if path.suffix == _SUFFIX]
    except OSError as error:
        raise HostError(
            f"The open changes of drives in {folder} cannot be read: {error.strerror or error}.",
            remedy="Run it as the user that this folder belongs to.",
        ) from error
    kept = [one for one in found if serial is None or one.serial == serial]
    return tuple(sorted(kept, key=lambda one: one.began))


def _read(path: Path) -> OpenChange:
    try:
        told = json.loads(read_bytes(path, most_bytes=MOST_BYTES))
        return _typed(told)
    except (Unreadable, ValueError, TypeError, RecursionError) as error:
        raise HostError(
            f"{path} is no open change of a drive that Teijo wrote.",
            remedy="Look at what it says of which drive, see to that drive, and remove the file.",
        ) from error


def _typed(told: Any) -> OpenChange:
    """Return what a file says, if it says all of it in the right types.

    Raises:
        ValueError, TypeError: it does not.
    """
    wanted = {each.name: int if each.name == "pid" else str for each in fields(OpenChange)}
    if not isinstance(told, dict):
        raise ValueError
    told = _LATER | told
    if told.keys() != wanted.keys():
        raise ValueError
    if any(type(told[name]) is not kind for name, kind in wanted.items()):
        raise TypeError
    if told["kind"] not in _KINDS:
        raise ValueError
    return OpenChange(**told)


def _same(one: OpenChange, other: OpenChange) -> bool:
    return (one.kind, one.serial, one.wwid) == (other.kind, other.serial, other.wwid)


def _path(folder: Path, change: OpenChange) -> Path:
    drive = sha256(f"{change.serial}\0{change.wwid}".encode()).hexdigest()[:16]
    return folder / f"{change.kind}-{drive}{_SUFFIX}"


def _check_own(folder: Path) -> None:
    """Make sure that nobody else may write into the journal, and so have a drive changed.

    Raises:
        PermissionError: somebody may.
    """
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(f"others may write into {folder}")


def _write(folder: Path, path: Path, data: bytes) -> None:
    """Put a file whole on the disk: after a power cut there is the old one, the new one, or none.

    Raises:
        OSError: it cannot be written; an older one is still there.
    """
    beside = path.with_suffix(".new")
    descriptor = create_anew(beside, mode=0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    _sync(folder)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
