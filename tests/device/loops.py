"""Loop devices over temporary files, and the programs the tests of devices drive."""

import errno
import fcntl
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from teijo.device.preflight import claim, consent
from teijo.device.retry import retry_for
from teijo.units import MIB

LOOP_BYTES = 32 * MIB
LOOP_CTL_ADD = 0x4C80
LOOP_CTL_REMOVE = 0x4C81
NUMBERS = iter(range(1024 + os.getpid() % 15_000 * 64, 1 << 20))


@dataclass
class Loops:
    """Makes loop devices and forgets none.

    Each has a number that nobody had: one that a test gave back may still be held by whoever lists
    the loop devices, and what was written to it may still be on its way.
    """

    folder: Path
    made: list[str]

    def over(self, path: Path | str, *options: str) -> Path:
        """Return a new loop device over a file or device."""
        node = f"/dev/loop{new_number()}"
        self.made.append(node)
        attach(node, path, *options)
        return Path(node)

    def exchange(self, node: Path, path: Path) -> None:
        """Put another file under a loop device."""
        run("losetup", "-d", str(node))
        attach(str(node), path)

    def new(self, name: str = "disk.img", size_bytes: int = LOOP_BYTES) -> Path:
        """Return a new loop device over a new file of zeros."""
        file = self.folder / name
        with file.open("wb") as handle:
            handle.truncate(size_bytes)
        return self.over(file)


def new_number() -> int:
    """Make a node of the kernel's, and return its number: far from those that it finds itself."""
    for number in NUMBERS:
        try:
            control(LOOP_CTL_ADD, number)
        except FileExistsError:
            continue
        return number
    raise AssertionError("no number is left")


def attach(node: str, path: Path | str, *options: str) -> None:
    """Put a file under a loop device that is free, or soon will be.

    Whoever lists loop devices holds each for a moment, one that was just given back too, and the
    ring of a process that was killed lets go of its files a little later.
    """

    def once() -> None:
        command = ["losetup", *options, node, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode and "busy" in done.stderr:
            raise OSError(errno.EBUSY, done.stderr)
        assert done.returncode == 0, f"{command}: {done.stderr}"

    retry_for(once, errors=frozenset({errno.EBUSY}), seconds=60)


def control(request: int, number: int) -> None:
    """Ask the kernel to make or remove a loop device.

    Raises:
        FileExistsError: it is there already.
        OSError: it is in use.
    """
    descriptor = os.open("/dev/loop-control", os.O_RDWR)
    try:
        fcntl.ioctl(descriptor, request, number)
    finally:
        os.close(descriptor)


def run(*command: str, stdin: str | None = None) -> str:
    """Run a program that must succeed; return what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, input=stdin, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def need(*programs: str) -> None:
    """Skip a test where a program it drives is missing."""
    for program in programs:
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            pytest.skip(f"needs the program {program}")


def serial_of(path: Path) -> str:
    """Return what a person has to type to give a device up."""
    subject = claim(path, write=False)
    try:
        return subject.found.token
    finally:
        os.close(subject.fd)


def try_to_write(path: Path, destroy: str | None = None) -> str:
    """Ask to destroy a device, by its own serial unless another is given; "" where allowed.

    Raises:
        teijo.errors.TeijoError: it was refused.
    """
    named = serial_of(path) if destroy is None else destroy
    subject = claim(path, write=True)
    try:
        consent(subject, named or None)
    finally:
        os.close(subject.fd)
    return ""
