"""What lies on a device without being in use: file systems, tables, members, and mere data.

Two readers look, for either may be blind: wipefs (libblkid) where it is installed, and one of our
own (formats.py, weak_formats.py). A reader that fails is an error, never "no signature".
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.device.contents.formats import MAGICS, SECTOR, Signature
from teijo.device.contents.weak_formats import weak_signatures
from teijo.device.kernel import edges, read_blocks
from teijo.outside.text import shell_path
from teijo.units import KIB

PIECE_BYTES: Final = 64 * KIB
PROBE_SECONDS: Final = 60
# As for smartctl: what root runs is looked for where only root installs, never on a PATH.
_SEARCH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is on a device. `readers` looked; `blank` says that both ends hold only zeros."""

    signatures: tuple[Signature, ...]
    readers: tuple[str, ...]
    blank: bool


class ProbeError(Exception):
    """A reader failed, so nothing is known of the device."""


def contents(fd: int, size_bytes: int) -> Contents:
    """Return what lies on an open device.

    Raises:
        ProbeError: a reader failed; the message says which and why.
    """
    found: dict[int, Signature] = {}
    readers = ["built in"]
    if shutil.which("wipefs", path=_SEARCH) is not None:
        # First, for of two finds at one place its own has the UUID, and the way to erase it.
        readers.append("wipefs")
        found |= {item.offset_bytes: item for item in _wipefs(fd)}
    try:
        first, last = edges(fd, size_bytes)
        for item in read_signatures(fd, size_bytes):
            found.setdefault(item.offset_bytes, item)
    except OSError as error:
        raise ProbeError(f"the device cannot be read: {error.strerror}") from error
    blank = not any(first) and not any(last)
    return Contents(signatures=tuple(found.values()), readers=tuple(readers), blank=blank)


def erasing(target: str, found: Sequence[Signature]) -> str:
    """Return the shell command after which none of the signatures is there any more.

    wipefs leaves what it does not know, and most copies; those are overwritten sector by sector.
    """
    word = shell_path(target)
    commands = [f"wipefs --all {word}"] if any(one.erased_by == "wipefs" for one in found) else []
    for one in found:
        if one.erased_by == "wipefs":
            continue
        first = one.offset_bytes // SECTOR
        count = -(-(one.offset_bytes + one.length_bytes) // SECTOR) - first
        commands.append(
            f"dd if=/dev/zero of={word} bs={SECTOR} seek={first} count={count} conv=notrunc,fsync"
        )
    return " && ".join(commands)


def read_signatures(fd: int, size_bytes: int) -> tuple[Signature, ...]:
    """Return what the built-in reader finds on an open device or file, in order of place.

    Raises:
        OSError: the device cannot be read.
    """
    read = Pieces(fd, size_bytes).read
    found: dict[int, Signature] = {}
    for magic in MAGICS:
        for place in magic.places(size_bytes):
            if place not in found and read(place, len(magic.value)) == magic.value:
                found[place] = Signature(
                    kind=magic.kind, offset_bytes=place, length_bytes=len(magic.value)
                )
    for sign in weak_signatures(read, size_bytes):
        found.setdefault(sign.offset_bytes, sign)
    return tuple(found[place] for place in sorted(found))


class Pieces:
    """A device read in aligned pieces, each once: what direct I/O accepts, and few reads."""

    def __init__(self, fd: int, size_bytes: int) -> None:
        """Read nothing yet."""
        self._fd = fd
        self._size_bytes = size_bytes
        self._read: dict[int, bytes] = {}

    def read(self, place: int, length: int) -> bytes:
        """Return a range; what lies outside of the device is left out."""
        if not 0 <= place < self._size_bytes:
            return b""
        end = min(place + length, self._size_bytes)
        first = place // PIECE_BYTES
        data = b"".join(self._piece(index) for index in range(first, -(-end // PIECE_BYTES)))
        return data[place - first * PIECE_BYTES : end - first * PIECE_BYTES]

    def _piece(self, index: int) -> bytes:
        if index not in self._read:
            start = index * PIECE_BYTES
            length = min(PIECE_BYTES, self._size_bytes - start)
            self._read[index] = read_blocks(self._fd, start, length)
        return self._read[index]


def _wipefs(fd: int) -> list[Signature]:
    answer = _ask(fd, "wipefs", "--no-act", "--json", f"/proc/self/fd/{fd}")
    if not answer.strip():
        return []
    try:
        rows = json.loads(answer)["signatures"]
        return [
            Signature(
                kind=row["type"],
                offset_bytes=int(row["offset"], 16),
                uuid=row["uuid"] or "",
                label=row["label"] or "",
                erased_by="wipefs",
            )
            for row in rows
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ProbeError(f"wipefs answered something unknown: {answer[:200]!r}") from error


def _ask(fd: int, program: str, *arguments: str) -> str:
    """Run a reader on our own descriptor, so that it looks at the device we claimed."""
    try:
        done = subprocess.run(
            [shutil.which(program, path=_SEARCH) or program, *arguments],
            pass_fds=[fd],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            env={"LC_ALL": "C", "PATH": _SEARCH},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProbeError(f"{program} did not answer: {error}") from error
    if done.returncode != 0:
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise ProbeError(f"{program} failed: {reason}")
    return done.stdout
