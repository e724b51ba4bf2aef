"""A regular file under measurement: made at its size, never taken from anybody, kept at the end.

A file cannot be purged, and what is measured is the file system with the drive below it.
"""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device import marker
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.kernel import direct_alignment_bytes
from teijo.device.layout import Progress, has_holes, lay_out, reserve
from teijo.device.marker import NOBODY, Hold, Holder
from teijo.device.mounts import Mount, mount_of_descriptor
from teijo.device.not_opened import not_opened
from teijo.device.openers import openers
from teijo.device.retry import retry_for
from teijo.device.standing import check_under_nothing
from teijo.device.target import FileTarget
from teijo.device.watched import SILENCE_NS, Moved, hangs, unwatched, watched
from teijo.document.phrase import say
from teijo.engine.plan import Layout
from teijo.errors import DeviceError, HostError, IdentityError, TargetError, UnsafeError
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO
from teijo.terms.remark import Remark, RemarkKind
from teijo.units import format_size

LOCK_WAIT_SECONDS: Final = 0.5
KEEPER_WAIT_SECONDS: Final = 10.0
"""How long it may take to write down that a run was killed, on a host that is busy."""
BUFFERING: Final = frozenset({"tmpfs", "ramfs", "zfs", "btrfs"})
"""File systems that accept O_DIRECT and may serve from memory all the same."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """One open file, locked for this run, which marks it by `hold`. `mount` is where it lies,
    None where unknown; `blind`: what could not be checked. Without `keep` the end removes it.
    """

    fd: int
    path: Path
    size_bytes: int
    direct: bool
    created: bool
    ours: bool
    hold: Hold
    mount: Mount | None
    blind: str = ""
    keep: bool = True


class FileMedium:
    """One open file, locked until `release`."""

    def __init__(self, target: FileTarget, opened: Opened) -> None:
        """Take over an open, locked file."""
        self._opened = opened
        self._status = os.fstat(opened.fd)
        self._remarks = _remarks(target, opened)
        self.identity = _identity(target, opened, self._status)
        self.geometry = file_geometry(opened)
        self.descriptors = (opened.fd,)
        self.layout = Layout(kind="single", member_bytes=(self.geometry.capacity_bytes,))

    def remarks(self) -> tuple[Remark, ...]:
        """Return whether the file is buffered, and what of it could not be checked."""
        return self._remarks

    def free_counters(self) -> FreeCounters:
        """Return nothing: a file counts nothing of its own."""
        return FreeCounters()

    def asked_counters(self) -> AskedCounters:
        """Return nothing: there is nobody to ask."""
        return AskedCounters()

    def log_reader(self) -> None:
        """Return nothing: there is nobody to ask."""

    def purge(self, moved: Moved = unwatched, method: str = AUTO) -> None:
        """Do nothing: what the drive below keeps of a file cannot be purged through it."""

    def check(self) -> None:
        """Make sure that the file is still there under its name, and as large."""
        name, now = self.identity.target, os.fstat(self._opened.fd)
        try:
            there = self._opened.path.stat()
        except OSError as error:
            raise IdentityError(f"{name} was removed", remedy="Run again.") from error
        if (there.st_dev, there.st_ino) != (now.st_dev, now.st_ino):
            raise IdentityError(f"{name} is another file by now", remedy="Run again.")
        if now.st_size < self._opened.size_bytes:
            raise IdentityError(
                f"{name} is {now.st_size} bytes large, and was {self._opened.size_bytes}",
                remedy="Leave it alone while it is measured, and run again.",
            )

    def release(self) -> None:
        """Give up the lock; the file stays, marked as left in order, or goes with its run."""
        try:
            if self._opened.keep:
                with suppress(OSError):  # it stays marked as in use, and asks for consent once more
                    self._opened.hold.settle()
            else:
                _remove(self._opened)
        finally:
            # A ring may keep the file open a little longer; the lock is given up here and now.
            fcntl.flock(self._opened.fd, fcntl.LOCK_UN)
            with suppress(InterruptedError):  # closed all the same (close(2), Linux)
                os.close(self._opened.fd)

    def abandon(self) -> None:
        """Give up the lock, and remove the file if it was made for this run."""
        give_back(self._opened)


def open_file(
    target: FileTarget,
    *,
    write: bool,
    overwrite: bool,
    holder: Holder = NOBODY,
    make: bool = True,
    progress: Progress | None = None,
    silence_ns: int = SILENCE_NS,
) -> FileMedium:
    """Open an existing file, or make it (if `make`), reserve its space and write it once.

    Raises:
        teijo.errors.UnsafeError: the file is somebody else's, or in use.
        teijo.errors.TargetError: the file does not fit what is asked of it.
        teijo.errors.DeviceError: the file system refuses direct I/O.
        teijo.errors.HostError: there is no space for it.
    """
    opened = claim_file(target, write=write, overwrite=overwrite, make=make, holder=holder)
    try:
        return fill_watched(target, opened, write=write, progress=progress, silence_ns=silence_ns)
    except BaseException as error:
        if not hangs(error):  # to close or remove it would wait as well
            give_back(opened)
        raise


def fill_watched(
    target: FileTarget, opened: Opened, *, write: bool, progress: Progress | None, silence_ns: int
) -> FileMedium:
    """Fill a claimed file in a thread of its own: a file system may never answer."""
    return watched(
        lambda moved: fill(target, opened, write=write, progress=moved),
        what=f"Laying out {target.path}",
        silence_ns=silence_ns,
        progress=progress,
    )


def claim_file(
    target: FileTarget,
    *,
    write: bool,
    overwrite: bool,
    make: bool = True,
    holder: Holder = NOBODY,
) -> Opened:
    """Open and lock a file that may be used; a new one (if `make`) is made and marked, and empty.

    Raises:
        teijo.errors.UnsafeError: the file is somebody else's, or in use.
        teijo.errors.TargetError: the file does not fit what is asked of it.
        teijo.errors.DeviceError: the file system refuses direct I/O.
    """
    if not make and target.keep and not target.path.exists():
        raise UnsafeError(
            f"{target.path} is not there any more, and a run that goes on makes no file; "
            "nothing was written",
            remedy="Put it back; or, if the run is yours, add --overwrite to make the file anew.",
        )
    try:
        return _create(target, holder)
    except FileExistsError:
        return _existing(target, holder, write=write, overwrite=overwrite)


def fill(
    target: FileTarget, opened: Opened, *, write: bool, progress: Progress | None = None
) -> FileMedium:
    """Take over a claimed file, with its space reserved and all of it written once.

    Raises:
        teijo.errors.TargetError: it is only read, and parts of it were never written.
        teijo.errors.HostError: there is no space for it.
    """
    if opened.created:
        _fill(target, opened, progress)
    elif write:
        _prepare(target, opened, progress)
    elif not target.allow_holes and has_holes(opened.fd, opened.size_bytes):
        raise TargetError(
            f"{target.path} has blocks never written, and reading them asks no drive",
            remedy="Write it first, or accept it with --set holes=allow.",
        )
    return FileMedium(target, opened)


def _remove(opened: Opened) -> None:
    """Remove a file that was made for a run alone, unless another stands under its name by now."""
    opened.hold.withdraw()
    with suppress(OSError):
        if os.path.samestat(os.fstat(opened.fd), opened.path.lstat()):
            opened.path.unlink()


def give_back(opened: Opened) -> None:
    """Close a file, and remove it if it was made for this run.

    One that was somebody else's is somebody else's again, for what it held may still be in it.
    """
    try:
        if not opened.keep:
            _remove(opened)
        elif opened.created or not opened.ours:
            opened.hold.withdraw()
        else:
            with suppress(OSError):
                opened.hold.settle()
        if opened.created:
            opened.path.unlink(missing_ok=True)
    finally:
        os.close(opened.fd)


def _create(target: FileTarget, holder: Holder) -> Opened:
    """Make the file; it is marked before it holds anything."""
    size = target.size_bytes
    if size is None:
        raise FileExistsError  # without a size it is never made: what is there is taken, or none
    fd = _open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL)  # of two runs one makes it
    try:
        _lock(fd, target, write=True)
        opened = Opened(
            fd=fd,
            path=target.path,
            size_bytes=size,
            direct=target.direct,
            created=True,
            ours=True,
            hold=Hold(fd, target.path, holder, keep=target.keep),
            mount=mount_of_descriptor(fd),
            keep=target.keep,
        )
        _mark(opened)
    except BaseException:
        target.path.unlink(missing_ok=True)
        os.close(fd)
        raise
    return opened


def _fill(target: FileTarget, opened: Opened, progress: Progress | None) -> None:
    reserve(opened.fd, opened.path, opened.size_bytes)
    if not target.allow_holes:
        lay_out(opened.fd, opened.size_bytes, progress)


def _existing(target: FileTarget, holder: Holder, *, write: bool, overwrite: bool) -> Opened:
    fd = _open(target, os.O_RDWR if write else os.O_RDONLY)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise TargetError(
                f"{target.path} is not a regular file any more", remedy="Name a regular file."
            )
        _lock(fd, target, write=write)
        status = os.fstat(fd)  # only now: until then the last run may have been leaving it
        mark = marker.read_mark(fd, target.path)
        refusal = marker.refusal(mark, status, target.path, holder.run)
        if not target.keep and not marker.is_of(mark, status, holder.run):
            raise UnsafeError(
                f"{target.path} exists, and keep=no would remove it at the end",
                remedy="Name a file that does not exist, or leave keep=no away.",
            )
        if write and refusal is not None and not overwrite:
            raise refusal
        ours = refusal is None
        blind = _in_no_use(fd, target, ours=ours) if write else ""
        size = _size(target, status.st_size)
        return Opened(
            fd=fd,
            path=target.path,
            size_bytes=size,
            direct=target.direct,
            created=False,
            ours=ours,
            hold=Hold(fd, target.path, holder, keep=target.keep),
            mount=mount_of_descriptor(fd),
            blind=blind,
            keep=target.keep,
        )
    except BaseException:
        os.close(fd)
        raise


def _in_no_use(fd: int, target: FileTarget, *, ours: bool) -> str:
    """Refuse what somebody uses, even if it was given up.

    Returns what could not be looked at; empty where everything was seen.
    """
    key = check_under_nothing(fd, target.path)
    users = openers(files=frozenset({key}), except_fds=frozenset({fd}))
    if users.processes:
        raise UnsafeError(
            f"{target.path} is open in {', '.join(users.processes)}; nothing was written",
            remedy="End that program first.",
        )
    if users.hidden and not ours:
        return f"{len(users.hidden)} processes hide whether they have the file open"
    return ""


def _mark(opened: Opened) -> None:
    try:
        opened.hold.begin()
    except OSError as error:
        raise HostError(
            f"{opened.path} cannot be marked as made by teijo: {error.strerror}",
            remedy="Use a file system that can be written.",
        ) from error


def _prepare(target: FileTarget, opened: Opened, progress: Progress | None) -> None:
    """Take a file that was given up; one with holes in it is laid out again."""
    _mark(opened)
    reserve(opened.fd, opened.path, opened.size_bytes)
    if not target.allow_holes and has_holes(opened.fd, opened.size_bytes):
        lay_out(opened.fd, opened.size_bytes, progress)


def _size(target: FileTarget, found_bytes: int) -> int:
    if target.size_bytes is not None and target.size_bytes != found_bytes:
        raise TargetError(
            f"{target.path} is {format_size(found_bytes)} large, and size asks for "
            f"{format_size(target.size_bytes)}",
            remedy="Leave ?size= away, or remove the file to make it anew.",
        )
    whole = found_bytes // 4096 * 4096
    if whole == 0:
        raise TargetError(f"{target.path} is empty", remedy=f"Write {target.path}?size=8GiB.")
    return whole


def _open(target: FileTarget, flags: int) -> int:
    direct = os.O_DIRECT if target.direct else 0
    try:
        return os.open(target.path, flags | direct | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno == errno.EINVAL and direct:  # how O_DIRECT is refused (open(2))
            _forget_if_new(target.path, flags)
            raise _refused(target) from error
        if error.errno == errno.ETXTBSY:
            raise UnsafeError(
                f"{target.path} is in use as swap or as a program; nothing was written",
                remedy="Name another file.",
            ) from error
        raise not_opened(
            target.path, error, remedy="Check the path and who may open it."
        ) from error


def _refused(target: FileTarget) -> DeviceError:
    folder = os.open(target.path.parent, os.O_RDONLY)
    try:
        mount = mount_of_descriptor(folder)
    finally:
        os.close(folder)
    where = f"{mount.file_system} at {mount.point}" if mount else "its file system"
    return DeviceError(
        f"{where} refuses direct I/O for {target.path}",
        remedy="Use another folder, or measure memory and drive together with ?direct=no.",
    )


def _forget_if_new(path: Path, flags: int) -> None:
    """Remove the empty file that an open refused for O_DIRECT has just made."""
    if flags & os.O_EXCL and path.is_file() and path.stat().st_size == 0:
        path.unlink()


def _lock(fd: int, target: FileTarget, *, write: bool) -> None:
    kind = fcntl.LOCK_EX if write else fcntl.LOCK_SH

    def lock(seconds: float) -> None:
        retry_for(
            lambda: fcntl.flock(fd, kind | fcntl.LOCK_NB),
            errors=frozenset({errno.EWOULDBLOCK}),
            seconds=seconds,
        )

    try:
        try:
            lock(LOCK_WAIT_SECONDS)
        except BlockingIOError:
            mark = marker.read_mark(fd, target.path)
            if mark is None or mark.state == "in order" or marker.is_alive(mark):
                raise
            # Its run was killed, and that is just being written down, or was a moment ago.
            lock(KEEPER_WAIT_SECONDS)
    except BlockingIOError as error:
        raise UnsafeError(
            f"{target.path} is being measured by another run{_whose(fd, target)}; "
            "nothing was written",
            remedy="Wait for its end, or name another file.",
        ) from error
    except OSError as error:
        raise HostError(
            f"{target.path} cannot be locked: {error.strerror}",
            remedy="Use a file system that has locks (flock).",
        ) from error


def _whose(fd: int, target: FileTarget) -> str:
    mark = marker.read_mark(fd, target.path)
    return f" (process {mark.pid})" if mark is not None and marker.is_alive(mark) else ""


def file_geometry(opened: Opened) -> Geometry:
    """Return the size of an open file, and the blocks in which it can be read and written."""
    alignment = direct_alignment_bytes(opened.fd) if opened.direct else 512
    block = os.fstatvfs(opened.fd).f_bsize
    return Geometry(
        capacity_bytes=opened.size_bytes,
        nominal_capacity_bytes=opened.size_bytes,
        logical_block_bytes=alignment or 4096,  # None: a kernel before 6.1 does not say
        physical_block_bytes=max(4096, min(block, 65536)),
    )


def _identity(target: FileTarget, opened: Opened, status: os.stat_result) -> Identity:
    mount = opened.mount
    name = mount.file_system if mount else "unknown file system"
    facts = {
        "path": str(target.path.absolute()),
        "inode": str(status.st_ino),
        "file system": name,
        "mounted from": mount.source if mount else "",
        "mounted at": mount.point if mount else "",
        "direct i/o": "yes" if target.direct else "no",
    }
    return Identity(
        kind="file",
        target=target.text,
        model=f"File on {name}" + (f" ({mount.source})" if mount else ""),
        interface="file system",
        facts={key: text for key, text in facts.items() if text},
    )


def _remarks(target: FileTarget, opened: Opened) -> tuple[Remark, ...]:
    found = []
    name = opened.mount.file_system if opened.mount else ""
    if not target.direct:
        found.append(Remark(kind=RemarkKind.BUFFERED, text="direct=no: memory answers too"))
    elif name in BUFFERING:
        cached = say("{name} accepts direct I/O and may still serve from memory", name=name)
        found.append(Remark(kind=RemarkKind.BUFFERED, text=cached))
    if opened.mount is None:
        text = "the file system cannot be told, so neither whether direct I/O is direct"
        found.append(Remark(kind=RemarkKind.CHECK_BLIND, text=text))
    if opened.blind:
        found.append(Remark(kind=RemarkKind.CHECK_BLIND, text=opened.blind))
    if has_holes(opened.fd, opened.size_bytes):
        text = "parts of the file were never written: reading them asks no drive"
        found.append(Remark(kind=RemarkKind.DEVIATION, text=text))
    cache = "the write cache of the drive below a file is not looked at"
    found.append(Remark(kind=RemarkKind.CACHE_UNKNOWN, text=cache))
    return tuple(found)
