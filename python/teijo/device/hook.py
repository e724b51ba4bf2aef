"""The hook: a person's own program that applies settings to a real target between two cells."""

import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from typing import IO, Final

from teijo.device.hook_consent import OPTION, Hook, cannot, is_named, open_files, shown
from teijo.errors import HostError, UnsafeError
from teijo.terms.step import Configure
from teijo.units import NS_PER_S, format_duration

TAIL_BYTES: Final = 4096
"""How much of the end of what it prints is kept."""
_GRACE_SECONDS: Final = 5.0


def run_hook(step: Configure, target: str, consent: Hook | None) -> dict[str, str]:
    """Run a step's hook to its end and return what is worth keeping of it.

    It is looked at once more, and runs only if it is still what was consented to. It has no input,
    the environment of this program, TEIJO_TARGET and, for every setting, TEIJO_SET_NAME. Signals
    of the terminal do not reach it: what was begun is ended.

    Raises:
        teijo.errors.UnsafeError: nobody consented to this command; it was not run.
        teijo.errors.HostError: its files changed since then and it was not run; or it cannot be
            started, takes too long, or ends with an exit code other than 0.
        KeyboardInterrupt: somebody asked twice to stop; it was ended.
    """
    if consent is None or consent.argv != step.hook:
        raise UnsafeError(
            f"The hook {shown(step.hook)} is not one that was consented to; it was not run.",
            remedy=f"Name its digest with {OPTION}; `teijo preview` shows it.",
        )
    began_ns = time.monotonic_ns()
    with ExitStack() as stack:
        now, program = stack.enter_context(open_files(step.hook))
        _check_unchanged(consent, now)
        # Files, not pipes: a service that the hook leaves behind would hold a pipe open.
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        code = _ended(step, _started(step, target, now.program, program, out, err))
        told = {"hook_stdout": _tail(out), "hook_stderr": _tail(err)}
    if code != 0:
        raise HostError(
            f"The hook {shown(step.hook)} {_how(code)} for {step.text}"
            f"{_last_line(told['hook_stderr'] or told['hook_stdout'])}.",
            remedy="Mend the cause and resume the run: it goes on with this configuration.",
        )
    return {
        "hook_exit_code": str(code),
        "hook_ns": str(time.monotonic_ns() - began_ns),
        "hook_sha256": now.digest,
        **{f"sha256 {name}": digest for name, digest in now.files},
        **{name: text for name, text in told.items() if text},
    }


def environment_of(step: Configure, target: str) -> dict[str, str]:
    """Return what a hook finds in its environment beside this program's own."""
    settings = {
        f"TEIJO_SET_{re.sub('[^A-Z0-9]', '_', name.upper())}": value
        for name, value in step.settings
    }
    return {"TEIJO_TARGET": target} | settings


def _check_unchanged(consent: Hook, now: Hook) -> None:
    if is_named(now.digest, consent.digest):
        return
    before = dict(consent.files)
    what = [name for name, digest in now.files if before.get(name) != digest]
    what += [name for name in before if name not in dict(now.files)]
    raise HostError(
        f"The hook {now.text} is not what it was when it was consented to: "
        f"{shown(what) or shown([now.program])} changed. It was not run.",
        remedy=f"If that was you, resume the run with {OPTION} {now.digest}. "
        "What a hook writes must not be one of its arguments.",
    )


def _started(
    step: Configure, target: str, path: str, program: int, out: IO[bytes], err: IO[bytes]
) -> "subprocess.Popen[bytes]":
    # What was read is what is run. Only a script is opened by its path once more, by its
    # interpreter, for `$0` is how it finds what lies beside it.
    script = os.pread(program, 2, 0) == b"#!"
    try:
        return subprocess.Popen(
            step.hook,
            executable=path if script else f"/proc/self/fd/{program}",
            pass_fds=() if script else (program,),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=os.environ | environment_of(step, target),
            start_new_session=True,
        )
    except OSError as error:
        raise cannot(step.hook, "start", str(error.strerror)) from error
    # An environment holds no NUL, and a setting may.
    except ValueError as error:
        raise cannot(step.hook, "start", f"its settings: {error}") from error


def _ended(step: Configure, process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(step.timeout_ns / NS_PER_S)
    except subprocess.TimeoutExpired as error:
        _end(process)
        raise HostError(
            f"The hook {shown(step.hook)} was not done after "
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
