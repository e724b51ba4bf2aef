"""Another program's answer, bounded: it may hang, never end, or print without end."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import Final

LATE_SECONDS: Final = 2.0
"""How long a program may take to end after its answer, or after it was killed."""


class NoAnswer(Exception):
    """A program did not start, did not end in time, or said too much. The message says which."""


def ask(argv: Sequence[str], *, seconds: float, limit_bytes: int) -> bytes:
    """Return what a program prints on stdout. It gets no input and leads a session of its own.

    Its exit code is not looked at: programs that read drives set it for many reasons.

    Raises:
        NoAnswer: there is none.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # C: what it prints must not depend on the language of who runs us.
            env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            # A session of its own, so that its children are ended with it.
            start_new_session=True,
        )
    except OSError as error:
        raise NoAnswer(f"cannot be started: {error.strerror}") from error
    assert process.stdout is not None
    pipe = process.stdout
    answer: list[bytes] = []
    # One byte more than allowed tells too long an answer from one that just fits.
    # A daemon: a program stuck on a dead drive keeps the pipe open, and we must still exit.
    reader = Thread(target=lambda: answer.append(pipe.read(limit_bytes + 1)), daemon=True)
    try:
        reader.start()
        reader.join(seconds)
        late = reader.is_alive()
        if answer and len(answer[0]) <= limit_bytes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LATE_SECONDS)
    finally:
        _end(process)
        reader.join(LATE_SECONDS)
        # A reader still in read() holds the buffer's lock, and close would wait for it.
        if not reader.is_alive():
            pipe.close()
    if late:
        raise NoAnswer(f"did not answer within {seconds:g} s")
    if not answer or len(answer[0]) > limit_bytes:
        raise NoAnswer(f"answered more than {limit_bytes} bytes")
    return answer[0]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and its children; one that waits for a dead drive is not waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(LATE_SECONDS)
        except subprocess.TimeoutExpired:
            # When the drive lets go of it at last, nothing of it is left.
            Thread(target=process.wait, daemon=True).start()
