"""A small process that holds a private server for a run, and outlives it when that is killed.

It is started by its path, so it may import nothing but the standard library. It reads what to
start from its standard input, and waits there: when the run says "done", or is gone, it stops the
server and removes the folder with all that the server wrote.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, Final

PATIENCE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.05
_TOLD_BYTES: Final = 600
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


def _tied(stop: int, parent: int) -> None:
    """Let the kernel stop this process when its parent ends, however that happens.

    It is called in the child after its user was changed, which would undo it.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, stop, 0, 0, 0)
    if os.getppid() != parent:  # it ended before it was asked to tell
        os._exit(1)


def _spawn(argv: list[str], spec: dict[str, Any], lock: int, log: int) -> subprocess.Popen[bytes]:
    user = spec["user"]
    me = os.getpid()
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=spec["data"],
        env=spec["environment"],
        pass_fds=(lock,),  # as long as it is held, nobody takes the folder for abandoned
        start_new_session=True,
        preexec_fn=lambda: _tied(spec["stop"], me),
        **({"user": user[0], "group": user[1], "extra_groups": []} if user else {}),
    )


def _stopped(process: subprocess.Popen[bytes], stop: int) -> None:
    """End a server; what it leaves is thrown away, so it need not end in order."""
    with suppress(ProcessLookupError):
        process.send_signal(stop)
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reap(group: int) -> None:
    """Wait until what a program started has ended too: it writes into the folder until then.

    Its children are this process's when it is gone; those that stayed in its group are killed.
    """
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    late = monotonic() + PATIENCE_SECONDS
    while monotonic() < late:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                sleep(_LOOK_SECONDS)
        except ChildProcessError:
            return


def _run_is_over() -> bool:
    """Return whether the run has said that it is done, or is gone."""
    return bool(select.select([0], [], [], _LOOK_SECONDS)[0])


def _say(text: str) -> None:
    with suppress(OSError):  # the run may be gone
        os.write(1, f"{text}\n".encode())


def _told(log: int) -> str:
    """Return the end of what a program said before it failed, in one line."""
    size = os.fstat(log).st_size
    text = os.pread(log, _TOLD_BYTES, max(0, size - _TOLD_BYTES)).decode(errors="replace")
    return " ".join(text.split())


def _keep(spec: dict[str, Any], lock: int, log: int) -> None:
    running: subprocess.Popen[bytes] | None = None
    last = 0
    try:
        for argv in spec["prepare"]:
            running = _spawn(argv, spec, lock, log)
            last = running.pid
            while running.poll() is None:
                if _run_is_over():
                    return
            if running.returncode:
                _say(f"failed {_told(log)}")
                running = None
                break
            running = None
        else:
            if spec["serve"]:
                running = _spawn(spec["serve"], spec, lock, log)
                last = running.pid
            _say(f"started {running.pid if running else 0}")
        while not _run_is_over():
            if running is not None and running.poll() is not None:
                _say(f"failed {_told(log)}")
                running = None
    finally:
        if running is not None:
            _stopped(running, spec["stop"])
        if last:
            _reap(last)


def main() -> None:
    """Keep a server until the run's end: arguments are the target's and the lock's descriptors."""
    target, lock, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # only the run's end is one for it
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    line = b""
    while not line.endswith(b"\n"):  # unbuffered: what follows is for `select`
        more = os.read(0, 1)
        if not more:
            break
        line += more
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        if line.endswith(b"\n"):
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=target)
            log = os.open("log", flags, 0o600, dir_fd=folder)
            os.close(folder)
            _keep(json.loads(line), lock, log)
    finally:
        shutil.rmtree(name, ignore_errors=True, dir_fd=target)
        os.close(lock)


if __name__ == "__main__":
    main()
