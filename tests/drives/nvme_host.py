"""A host around the emulated NVMe drive: nodes that one program has alone, mounts, a journal.

The checks before a purge are the real ones, on the made-up sysfs and proc of the bench.
"""

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.identify import identify
from teijo.device.kernel import Number
from teijo.device.purging import waiting
from teijo.device.target import BlockTarget
from tests.drives.in_process import NvmeBench
from tests.drives.switched_on import LEFT

TARGET = "/dev/nvme0n1"


class NvmeHost:
    """`claim` gives a node to one opener alone, as O_EXCL does, until its descriptor is closed."""

    def __init__(self, on: NvmeBench, monkeypatch: pytest.MonkeyPatch) -> None:
        """Lead every claim of the device room, and the pauses of a purge, to this host."""
        self.on = on
        self.nodes = {f"nvme0n{number}": Number(259, number - 1) for number in on.fds}
        self._open: dict[int, tuple[str, int]] = {}
        self._given: dict[int, int] = {}
        """The inode of each descriptor that was given out, whoever has closed it since."""
        LEFT.append(self.close)
        own = on.tree.roots.proc / "self"
        own.mkdir(exist_ok=True)
        (own / "mountinfo").write_text("")
        for room in ("block", "survey", "purging.others", "purging.by_hand"):
            monkeypatch.setattr(import_module(f"teijo.device.{room}"), "claim", self.claim)
        for room in ("survey", "purging.by_hand"):
            monkeypatch.setattr(import_module(f"teijo.device.{room}"), "parse_target", self._parse)
        plain = kernel.number_of
        monkeypatch.setattr(
            kernel,
            "number_of",
            lambda fd: self.nodes[self._open[fd][0]] if self._is_open(fd) else plain(fd),
        )
        monkeypatch.setattr(waiting, "rest", lambda ns, look: on.clock.sleep(ns / 1e9))

    def claim(
        self, path: Path, *, write: bool, results: tuple[Path, ...] = (), roots: object = None
    ) -> Subject:
        """Take the place of `preflight.claim`."""
        del roots
        name = path.name
        taken = name in {held for fd, (held, _) in list(self._open.items()) if self._is_open(fd)}
        number = int(name.rpartition("n")[2])
        fd = os.dup(self.on.fds[number])
        self.on.numbers[fd], self._given[fd] = number, os.fstat(fd).st_ino
        if write and not taken:
            self._open[fd] = (name, os.fstat(fd).st_ino)
        else:
            self._open.pop(fd, None)
        try:
            found = identify(fd, f"/dev/{name}", self.on.tree.roots)
        except BaseException:
            os.close(fd)
            raise
        return Subject(
            fd=fd,
            target=f"/dev/{name}",
            found=found,
            refusal="Device or resource busy" if taken else "",
            results=results,
            roots=self.on.tree.roots,
        )

    def kill(self) -> None:
        """Let go of all that the program had open: it was killed."""
        for fd in [fd for fd in list(self._open) if self._is_open(fd)]:
            os.close(fd)
        self._open.clear()

    def close(self) -> None:
        """Let go of what the tests themselves claimed."""
        for fd, inode in self._given.items():
            # What its owner closed may be another file's number by now.
            with suppress(OSError):
                if os.fstat(fd).st_ino == inode:
                    os.close(fd)
        self._given.clear()

    def mount(self, number: Number, point: str = "/data") -> None:
        """Have a process in whose namespace a device is mounted."""
        process = self.on.tree.roots.proc / "4711"
        (process / "ns").mkdir(parents=True)
        (process / "fd").mkdir()
        (process / "ns" / "mnt").symlink_to("mnt:[4026531841]")
        (process / "mountinfo").write_text(f"1 0 {number} / {point} rw - ext4 /dev/x rw\n")

    def twin(self, number: int, name: str) -> None:
        """Give a namespace a second node, by another controller of the same subsystem."""
        self.nodes[name] = Number(259, 10 + number)
        first = self.on.tree.roots.sys / "devices" / "pci0" / f"nvme0n{number}"
        texts = {
            "__".join(path.relative_to(first).parts): path.read_text().strip("\n")
            for path in first.rglob("*")
            if path.is_file() and path.name != "dev"
        }
        self.on.tree.disk(name, str(self.nodes[name]), **texts)

    def _is_open(self, fd: int) -> bool:
        if fd not in self._open:
            return False
        with suppress(OSError):
            if os.fstat(fd).st_ino == self._open[fd][1]:
                return True
        del self._open[fd]
        return False

    @staticmethod
    def _parse(text: str, **_: bool) -> BlockTarget:
        return BlockTarget(text=text, path=Path(text))
