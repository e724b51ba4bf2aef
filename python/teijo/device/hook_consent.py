"""What a hook is: known by one digest of its command and its files, and run only by consent to it.

A file names it (a plan, a run file), and a file may come from anybody.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

from teijo.errors import HostError, UnsafeError, UsageError
from teijo.outside.text import LONGEST, shell_word
from teijo.units import MIB

OPTION: Final = "--hook"
MOST_BYTES: Final = 256 * MIB
"""A program or a script is smaller; what is larger is data."""
MOST_LETTERS: Final = LONGEST // 2
"""A longer command would be shown with its end cut off."""
_KERNEL: Final = (("proc",), ("sys",))


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A hook as it would run now. `digest` stands for all of it, in 64 hexadecimal digits.

    `program` is the path that `argv[0]` was found at, `files` are (argument, SHA-256) of the
    program, which is the first, and of every other argument that is a file.
    """

    argv: tuple[str, ...]
    program: str
    files: tuple[tuple[str, str], ...]
    digest: str

    @classmethod
    def of(cls, argv: tuple[str, ...]) -> Self:
        """Return a hook by its arguments, with its files read.

        Raises:
            teijo.errors.HostError: it cannot be started, or one of its files cannot be read.
        """
        with open_files(argv) as (found, _):
            return cls(argv=found.argv, program=found.program, files=found.files,
                       digest=found.digest)  # fmt: skip

    @property
    def text(self) -> str:
        """The command as a shell has it, with nothing in it that moves a cursor."""
        return shown(self.argv)


def shown(argv: Iterable[str]) -> str:
    """Return a command in one line as a shell has it; it reads as no other command does."""
    return " ".join(shell_word(each) for each in argv)


def is_named(digest: str, given: str | None) -> bool:
    """Return whether somebody named a digest: all of it, as it is printed."""
    return given is not None and len(digest) == 64 and given == digest


def hook_to_run(argv: tuple[str, ...], given: str | None) -> Hook | None:
    """Return the hook of a run that begins; None where it has none.

    Who begins it named the plan, so the digest need not be named; what is named must be right.

    Raises:
        teijo.errors.UnsafeError: another digest was named.
        teijo.errors.HostError: the hook cannot be started or read.
        teijo.errors.UsageError: a digest was named, and there is no hook.
    """
    if not argv:
        _refuse_needless(given)
        return None
    hook = Hook.of(argv)
    if given is not None and not is_named(hook.digest, given):
        raise _not_named(hook, given, "The plan")
    return hook


def hook_to_resume(named: Iterable[tuple[str, ...]], given: str | None) -> Hook | None:
    """Return the hook that a run file names, if `given` is its digest; None where it names none.

    `named` are the commands it names anywhere: a run has one.

    Raises:
        teijo.errors.UnsafeError: it is not consented to; the message shows command and digest.
        teijo.errors.UsageError: a digest was named, and there is no hook.
    """
    different = list(dict.fromkeys(argv for argv in named if argv))
    if not different:
        _refuse_needless(given)
        return None
    if len(different) > 1:
        listed = "\n".join(f"  {shown(argv)}" for argv in different)
        raise UnsafeError(
            f"The run file names {len(different)} hooks, and a run has one:\n{listed}\n"
            "No program was run.",
            remedy="Teijo did not write that. Do not use this file.",
        )
    try:
        hook = Hook.of(different[0])
    except HostError as error:
        raise UnsafeError(
            f"The run file names a hook that cannot be looked at:\n  {shown(different[0])}\n"
            f"{error.message} No program was run.",
            remedy=error.remedy,
        ) from error
    if not is_named(hook.digest, given):
        raise _not_named(hook, given, "The run file")
    return hook


def _refuse_needless(given: str | None) -> None:
    if given is not None:
        raise UsageError(
            f"{OPTION} names a hook, and this run has none.", remedy=f"Leave {OPTION} away."
        )


def _not_named(hook: Hook, given: str | None, who: str) -> UnsafeError:
    other = "" if given is None else f"\nThe digest that was named is another: {shown([given])}"
    return UnsafeError(
        f"{who} names a program to run on this machine, with your rights:\n"
        f"  {hook.text}\n"
        f"  found at {shown([hook.program])}, SHA-256 of it all {hook.digest}{other}\n"
        "It was not run.",
        remedy=f"Read that command and its files. If you want it to run, add "
        f"{OPTION} {hook.digest}",
    )


@contextmanager
def open_files(argv: tuple[str, ...]) -> Iterator[tuple[Hook, int]]:
    """Give a hook with its files read, and the descriptor of its program, open for the block.

    Raises:
        teijo.errors.HostError: it cannot be started, or one of its files cannot be read.
    """
    try:
        encoded = [os.fsencode(each) for each in argv]
    except UnicodeEncodeError as error:
        raise cannot(argv, "start", "its arguments are no text of this system") from error
    if any(b"\0" in each for each in encoded):
        raise cannot(argv, "start", "an argument holds a NUL")
    if (letters := len(shown(argv))) > MOST_LETTERS:
        why = f"its command of {letters:,} characters could not be shown whole"
        raise cannot(argv, "read", f"{why}; put it into a script")
    program = str(Path(_found(argv)).absolute())
    descriptor = _open(argv, program)
    try:
        files = {0: _sha256(argv, program, descriptor)}
        for place, each in enumerate(argv[1:], 1):
            if _is_file(each):
                other = _open(argv, each)
                try:
                    files[place] = _sha256(argv, each, other)
                finally:
                    os.close(other)
        hook = Hook(
            argv=argv,
            program=program,
            files=tuple((argv[place], digest) for place, digest in files.items()),
            digest=_digest(encoded, os.fsencode(program), files),
        )
        yield hook, descriptor
    finally:
        os.close(descriptor)


def _digest(argv: list[bytes], program: bytes, files: dict[int, str]) -> str:
    """Return one digest over all of it; each part has its length before it, so none runs over."""
    read = [f"{place} {digest}".encode() for place, digest in files.items()]
    whole = hashlib.sha256(b"teijo hook, version 1")
    for group in (argv, [program], read):
        whole.update(len(group).to_bytes(8, "big"))
        for part in group:
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def _found(argv: tuple[str, ...]) -> str:
    path = shutil.which(argv[0]) if argv[0] else None
    if path is None:
        there = _is_there(argv[0])
        raise cannot(argv, "start", "Permission denied" if there else "No such file or directory")
    return path


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # too long for a name: a script that is an argument itself
        return False


def _is_there(text: str) -> bool:
    return bool(text) and Path(text).exists()


def _open(argv: tuple[str, ...], path: str) -> int:
    try:
        # O_NONBLOCK: some files of the kernel's are regular, and make a reader wait.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise cannot(argv, "read", f"{shown([path])}: {error.strerror}") from error


def _sha256(argv: tuple[str, ...], path: str, descriptor: int) -> str:
    status = os.fstat(descriptor)
    # Asked of the descriptor, for a link elsewhere may lead there.
    if Path(f"/proc/self/fd/{descriptor}").readlink().parts[1:2] in _KERNEL:
        # Reading one of those may take what it says away from others, or never end.
        raise cannot(argv, "read", f"{shown([path])} is a file of the kernel's")
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        size = f"no file of at most {MOST_BYTES // MIB} MiB"
        raise cannot(argv, "read", f"{shown([path])} is {size}")
    digest, left = hashlib.sha256(), MOST_BYTES
    try:
        while left > 0 and (part := os.pread(descriptor, min(left, MIB), MOST_BYTES - left)):
            digest.update(part)
            left -= len(part)
    except OSError as error:
        raise cannot(argv, "read", f"{shown([path])}: {error.strerror}") from error
    # Longer than its size said: somebody writes to it, or it is made up as it is read.
    if left == 0 and status.st_size < MOST_BYTES:
        raise cannot(argv, "read", f"{shown([path])} has no end")
    return digest.hexdigest()


def cannot(argv: tuple[str, ...], verb: Literal["start", "read"], why: str) -> HostError:
    """Return why a hook cannot be started or read, as an error."""
    remedies = {
        "start": "Check its path, that it is executable, and its first line (#!/bin/sh).",
        "read": "A hook, and each of its arguments that is a file, is a program or a script that "
        "you may read.",
    }
    what = {"start": "started", "read": "read"}[verb]
    return HostError(f"The hook {shown(argv[:1])} cannot be {what}: {why}.", remedy=remedies[verb])
