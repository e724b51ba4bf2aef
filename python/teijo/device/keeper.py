"""A small process that outlives a killed run, to write down how the run left its file.

It waits on a pipe whose other end the run holds. When that end closes without a word, the run was
killed: the time of the last write then is the run's own, and whatever comes later is not. It is
started by its path, so it may import nothing but the standard library.
"""

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

ATTRIBUTE: Final = "user.teijo"
IN_USE: Final = "in use"
KILLED: Final = "killed"
WITHOUT_ATTRIBUTES: Final = frozenset({errno.ENOTSUP, errno.EPERM, errno.ENOSPC, errno.ENODATA})
LEAST_BYTES: Final = 2
PATIENCE_SECONDS: Final = 5.0
MOST_BYTES: Final = 64 * 1024
"""More than any mark has: what is larger is none."""

Values = Mapping[str, object]


def read(fd: int, beside: Path) -> Values | None:
    """Return what is written down of an open file, as it stands there; None where nothing is."""
    try:
        text = os.getxattr(fd, ATTRIBUTE)
    except OSError:
        text = _read_beside(beside)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def write(fd: int, beside: Path, values: Values) -> None:
    """Write down `values` of an open file: in its attribute, or in the file beside it.

    Raises:
        OSError: neither can be written.
    """
    text = json.dumps(dict(values)).encode()
    try:
        os.setxattr(fd, ATTRIBUTE, text)
    except OSError as error:
        if error.errno not in WITHOUT_ATTRIBUTES:
            raise
        # `read` looks there first: an older mark left in it would hide the new one.
        with suppress(OSError):
            os.removexattr(fd, ATTRIBUTE)
        _write_beside(beside, text)


def settle(fd: int, beside: Path, values: Values, state: str) -> None:
    """Write down that nobody writes to an open file from now on, and how it stands.

    The time of its last write is set to this moment, to the nanosecond: a write by somebody else
    in the same tick of the kernel's clock then has another time.

    Raises:
        OSError: it cannot be written down.
    """
    with suppress(OSError):  # of a file that is not ours the time cannot be set
        os.utime(fd, ns=(os.fstat(fd).st_atime_ns, time.time_ns()))
    write(fd, beside, values)  # so that the time of the last change is now, too
    status = os.fstat(fd)
    left = {
        "state": state,
        "size_bytes": status.st_size,
        "written_ns": status.st_mtime_ns,
        "changed_ns": status.st_ctime_ns,
    }
    write(fd, beside, {**values, **left})


def start(fd: int, beside: Path, removed: Path | None = None) -> subprocess.Popen[bytes] | None:
    """Start the process for an open file that is marked as in use; None where it cannot be.

    `removed` is the file's name, where a kill of its run is to remove it.
    """
    if not sys.executable:
        return None
    names = [os.fspath(name.absolute()) for name in (beside, removed) if name is not None]
    try:
        return subprocess.Popen(
            # -I -S: no PYTHONPATH, working folder or site-packages decides what it runs.
            [sys.executable, "-I", "-S", __file__, str(fd), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(fd,),
            cwd="/",
            start_new_session=True,  # a Ctrl-C, or a kill of the run's group, is not for it
        )
    except OSError:
        return None


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the process: the run ends in order."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(b"done")
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read_beside(beside: Path) -> bytes:
    """Return the text of the file beside, if it is a plain one that only we can have written."""
    try:
        # Anybody may plant something here: no link is followed, and a pipe is not waited for.
        fd = os.open(beside, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        status = os.fstat(fd)
        ours = status.st_uid in {0, os.geteuid()} and not status.st_mode & 0o022
        if not ours or not LEAST_BYTES <= status.st_size <= MOST_BYTES:
            return b""
        return os.read(fd, MOST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _write_beside(beside: Path, text: bytes) -> None:
    """Put the file beside in its place, whole; whatever stood under its name is replaced."""
    new = beside.with_name(f"{beside.name}.{os.urandom(4).hex()}")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, text)
        new.replace(beside)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


def _wait(fd: int, beside: Path, removed: Path | None) -> None:
    """Wait for the run's end, and mark the file if that was a kill, or remove it.

    It must be told before anybody can write, so it goes before all others where it may.
    """
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    if sys.stdin.buffer.read():
        return
    values = read(fd, beside)
    # The run may have been killed after it had written down how it left the file.
    if values is None or values.get("state") != IN_USE:
        return
    settle(fd, beside, values, KILLED)
    # By now the name may be another file's.
    if removed is not None and os.path.samestat(os.fstat(fd), removed.lstat()):
        removed.unlink()
        beside.unlink(missing_ok=True)


if __name__ == "__main__":
    _wait(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
