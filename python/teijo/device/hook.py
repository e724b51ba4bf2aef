"""The hook: a person's own program that applies settings to a real target between two cells."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from teijo.errors import HostError
from teijo.terms.step import Configure
from teijo.units import NS_PER_S, format_duration

TAIL_BYTES: Final = 4096
"""How much of the end of what it prints is kept."""
_GRACE_SECONDS: Final = 5.0


def run_hook(step: Configure, target: str) -> dict[str, str]:
    """Run a step's hook to its end and return what is worth keeping of it.

    It has no input, the environment of this program, TEIJO_TARGET and, for every setting,
    TEIJO_SET_NAME. Signals of the terminal do not reach it: what was begun is ended.

    Raises:
        teijo.errors.HostError: it cannot be started, takes too long, or ends with an exit code
            other than 0.
        KeyboardInterrupt: somebody asked twice to stop; it was ended.
    """
    began_ns = time.monotonic_ns()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _ended(step, _started(step, target, out, err))
        told = {"hook_stdout": _tail(out), "hook_stderr": _tail(err)}
    if code != 0:
        raise HostError(
            f"The hook {shlex.join(step.hook)} {_how(code)} for {step.text}"
            f"{_last_line(told['hook_stderr'] or told['hook_stdout'])}.",
            remedy="Mend the cause and resume the run: it goes on with this configuration.",
        )
    return {
        "hook_exit_code": str(code),
        "hook_ns": str(time.monotonic_ns() - began_ns),
        **_digests(step.hook),
        **{name: text for name, text in told.items() if text},
    }


def environment_of(step: Configure, target: str) -> dict[str, str]:
    """Return what a hook finds in its environment beside this program's own."""
    settings = {
        f"TEIJO_SET_{re.sub('[^A-Z0-9]', '_', name.upper())}": value
        for name, value in step.settings
    }
    return {"TEIJO_TARGET": target} | settings


def _started(
    step: Configure, target: str, out: IO[bytes], err: IO[bytes]
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            step.hook,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=os.environ | environment_of(step, target),
            start_new_session=True,
        )
    except OSError as error:
        raise HostError(
            f"The hook {step.hook[0]} cannot be started: {error.strerror}.",
            remedy="Check its path, that it is executable, and its first line (#!/bin/sh).",
        ) from error


def _ended(step: Configure, process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(step.timeout_ns / NS_PER_S)
    except subprocess.TimeoutExpired as error:
        _end(process)
        raise HostError(
            f"The hook {shlex.join(step.hook)} was not done after "
            f"{format_duration(step.timeout_ns)} for {step.text}, and was ended.",
            remedy="Give it more time (timeout in the plan), or mend it and resume the run.",
        ) from error
    except BaseException:
        _end(process)
        raise


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a hook and its children: it leads a session of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
            return


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL_BYTES))
    return file.read().decode(errors="replace").strip()


def _how(code: int) -> str:
    return f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code}"


def _last_line(text: str) -> str:
    return f": {text.splitlines()[-1].rstrip('.!')}" if text else ""


def _digests(argv: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of the program, and of every argument that is a file (a script)."""
    program = shutil.which(argv[0]) or argv[0]
    digests = {}
    for name, place in zip(argv, (program, *argv[1:]), strict=True):
        with suppress(OSError, ValueError):
            if Path(place).is_file():
                with Path(place).open("rb") as file:
                    digests[f"sha256 {name}"] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
