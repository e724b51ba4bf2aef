"""A run file that a browser brings: kept apart until it has proved itself.

Another process looks at it (`teijo verify`), so that whatever it holds, this one goes on.
"""

import asyncio
import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo import creating
from teijo.api.own_process import PROGRAM
from teijo.errors import HostError, RunFileError, UsageError
from teijo.outside.text import visible
from teijo.runfile.names import SEALED_SUFFIX

NAME_BYTES_MOST: Final = 200
FLAWS_SHOWN: Final = 3
VERIFIED_WITHIN_S: Final = 600.0
_APART: Final = ".teijo-upload-"
"""What the name of a folder begins with that a file is kept in until it is taken."""
_LEFT_AFTER_S: Final = 60.0
"""A folder that nobody holds for so long was left by a server that was killed."""
_KEPT: Final = "upload"
"""Its name until it is taken: no list of run files has it."""
_HOLDS: Final = (0, 11)
"""How `teijo verify` ends where nothing speaks against a file, or another version made it."""


@dataclass
class Upload:
    """A file on its way into a folder, in a folder of its own until then."""

    folder: Path
    name: str

    async def take(self, parts: AsyncIterator[bytes], most_bytes: int) -> Path:
        """Return the file in the folder once all of it is there and proves itself.

        Raises:
            UsageError: its name is none of a run file, or there is one of that name.
            RunFileError: it does not prove itself. HostError: the disk refuses it.
        """
        place = self._place()
        try:
            apart = Path(tempfile.mkdtemp(prefix=_APART, dir=self.folder))
            held = os.open(apart, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise self._refused(error) from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kept = apart / _KEPT
            await self._keep(kept, parts, most_bytes)
            await asyncio.to_thread(check, kept)
            os.link(kept, place)  # never over another file
        except FileExistsError as error:
            raise self._taken() from error
        except OSError as error:
            raise self._refused(error) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, apart, ignore_errors=True)
            os.close(held)
        return place

    def _place(self) -> Path:
        name = self.name
        plain = name.isprintable() and "/" not in name and not name.startswith(".")
        if not plain or not name.endswith(SEALED_SUFFIX) or len(name.encode()) > NAME_BYTES_MOST:
            raise UsageError(
                f"{visible(name, most=80)!r} is no name of a sealed run file",
                remedy="Its name ends in .teijo.",
            )
        if (self.folder / name).exists():
            raise self._taken()
        return self.folder / name

    async def _keep(self, path: Path, parts: AsyncIterator[bytes], most_bytes: int) -> None:
        size_bytes = 0
        with os.fdopen(creating.create(path), "wb") as file:
            async for part in parts:
                size_bytes += len(part)
                if size_bytes > most_bytes:
                    raise UsageError("The file is too large.", remedy="Copy it into the folder.")
                file.write(part)

    def _taken(self) -> UsageError:
        return UsageError(
            f"There is a file {self.name} already",
            remedy="Give it another name, and send it again.",
        )

    def _refused(self, error: OSError) -> HostError:
        return HostError(
            f"The file cannot be kept: {error.strerror}",
            remedy="Look at the folder of the server, and the space in it.",
        )


def remove_left(folder: Path) -> int:
    """Remove what servers that were killed left of files on their way; return how many.

    A folder is left where it is another's, a link, held by a server that goes on, younger than
    a minute, or has more in it than the one file.
    """
    removed = 0
    with suppress(OSError):
        for place in folder.glob(f"{_APART}*"):
            with suppress(OSError), _nobodys(place) as descriptor:
                with suppress(FileNotFoundError):
                    os.unlink(_KEPT, dir_fd=descriptor)
                place.rmdir()
                removed += 1
    return removed


@contextmanager
def _nobodys(place: Path) -> Iterator[int]:
    """Hold a folder of this user that nobody holds; OSError where it is none."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        is_own = found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
        if not is_own or time.time() - found.st_mtime < _LEFT_AFTER_S:
            raise PermissionError(place)
        with os.scandir(descriptor) as entries:
            if any(each.name != _KEPT for each in entries):
                raise FileExistsError(place)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


def check(path: Path) -> None:
    """Make sure that a run file proves itself.

    Raises:
        RunFileError: it is damaged, contradicts itself, or takes too long.
    """
    command = [sys.executable, *PROGRAM, "--lang", "en", "verify", "--json", str(path)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=VERIFIED_WITHIN_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise RunFileError(
            "The file could not be verified in time.", remedy="Verify it by hand: teijo verify FILE"
        ) from error
    if done.returncode in _HOLDS:
        return
    raise RunFileError(
        f"The file is not taken: {_why(done.stdout, done.stderr, path)}",
        remedy="Ask whoever made it for what was recorded; `teijo verify FILE` shows more.",
    )


def _why(out: str, err: str, path: Path) -> str:
    """Return what `teijo verify` found, in a few words."""
    try:
        (found,) = json.loads(out)
        flaws = [str(one["text"]) for one in found["flaws"]]
        flaws += [found["unsealed"]] if found["unsealed"] else []
    except (ValueError, KeyError, TypeError):
        flaws = [err.removeprefix("error: ").partition("\n")[0].replace(f"{path.parent}/", "")]
    return visible("; ".join(flaws[:FLAWS_SHOWN]) or "it does not prove itself", most=400)
