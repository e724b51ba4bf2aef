"""A run whose device keeps its threads: whoever waits for the program does not wait for those.

The kernel ends no process while one of its threads waits for a device uninterruptibly. So the
program that a shell waits for forks before it measures, and only looks after its child; when the
child has recorded what is known and cannot end, it says so, and this one leaves in its place.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

_VERBS: Final = ("run", "resume", "quick", "as")
_PASSED_ON: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TO_BOTH: Final = (*_PASSED_ON, signal.SIGTSTP, signal.SIGCONT)
_LEFT: Final = signal.SIGUSR1
_PR_SET_PDEATHSIG: Final = 1
_BY_KERNEL: Final = 0
"""Signals of a terminal have a code above: the kernel gave them to the child as well."""


@dataclass
class _Child:
    """What a measuring process knows of the one that looks after it."""

    pipe: int | None = None
    parent: int = 0
    is_stuck: bool = False


_child = _Child()


def note_stuck() -> None:
    """Note that threads wait for a device, so that this process cannot end by itself."""
    _child.is_stuck = True


def carry_out(main: Callable[[], None]) -> None:
    """Run the program; a verb that measures in a process of its own.

    Raises:
        SystemExit: it is over.
    """
    if measures(sys.argv[1:]):
        _look_after_a_child()
    try:
        main()
    except SystemExit as end:
        if _child.is_stuck:
            _leave(end.code if isinstance(end.code, int) else 1)
        raise


def measures(arguments: Sequence[str]) -> bool:
    """Return whether the verb of a command line measures."""
    # The program's own options come before the verb, and --lang takes a value.
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[2 if arguments[0] == "--lang" else 1 :]
    return bool(arguments) and arguments[0] in _VERBS


def _look_after_a_child() -> None:
    """Fork; return in the child. The parent passes signals on, and ends as the child ends.

    Both stop by SIGTSTP and go on by SIGCONT. SIGSTOP cannot be heard: it stops the parent alone.
    """
    reader, writer = os.pipe()
    heard = {*_PASSED_ON, _LEFT, signal.SIGCHLD, signal.SIGCONT}
    if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
        heard.add(signal.SIGTSTP)
    # Before the fork, so that a signal that comes at once waits for sigwaitinfo and kills nothing.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reader)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before prctl: then no signal would ever end this child.
        if os.getppid() != parent:
            os._exit(1)
        _child.pipe, _child.parent = writer, parent
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    os.close(writer)
    _look_after(child, reader, heard)


def _look_after(child: int, reader: int, heard: set[signal.Signals]) -> NoReturn:
    while True:
        signalled = signal.sigwaitinfo(heard)
        if signalled.si_signo == _LEFT and signalled.si_pid == child:
            os._exit(os.read(reader, 1)[0])
        if signalled.si_signo in _TO_BOTH and signalled.si_code <= _BY_KERNEL:
            os.kill(child, signalled.si_signo)
        if signalled.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)  # until somebody sends a SIGCONT, reported next
        if signalled.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                if code == -signal.SIGKILL:
                    _tell_of_memory(child)
                _end_as(code)


def _tell_of_memory(child: int) -> None:
    """Say so, and leave, where the memory limit of a run killed it: the child could not.

    In any case the control group that the child left is removed.
    """
    # Only now: as a rule this process needs nothing of it.
    from teijo.cli import console
    from teijo.device.memory_limit import MemoryLimit
    from teijo.errors import HostError
    from teijo.speech import tongue

    if not MemoryLimit(pid=child).outlived():
        return
    tongue.speak(tongue.asked(sys.argv[1:], os.environ))
    console.explain(
        "The run needed more memory than its limit, so the kernel ended it",
        "Run anew with a larger limit: --set memory=… The open file holds what was recorded.",
    )
    sys.stderr.flush()
    os._exit(HostError.exit_code)


def _end_as(code: int) -> NoReturn:
    """End as a child did: with its code, or by its signal."""
    if code < 0:
        # Ending by the signal takes its default action, unblocked; SIGKILL's cannot be set.
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    # A signal that ends no process is reported as a shell would: 128 and its number.
    os._exit(code if code >= 0 else 128 - code)


def _leave(code: int) -> NoReturn:
    """Leave at once: nothing waits for the threads that a device keeps."""
    sys.stdout.flush()
    sys.stderr.flush()
    if _child.pipe is not None:
        # The code goes first: the parent reads it as soon as it hears the signal.
        os.write(_child.pipe, bytes([code]))
        os.kill(_child.parent, _LEFT)
    os._exit(code)
