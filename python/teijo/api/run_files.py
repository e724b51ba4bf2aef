"""Every run file of a folder in a few words: device, method, verdict, date, or what is wrong."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from teijo.api import reading
from teijo.compare.limit import EXIT_NOT_KNOWN, EXIT_NOT_MET, exit_code
from teijo.document.model import Verdict
from teijo.errors import HostError, RunFileError, TeijoError, host_error
from teijo.outside.text import visible
from teijo.runfile.listed import Listed
from teijo.runfile.names import OPEN_SUFFIX, SEALED_SUFFIX

ENDINGS = (SEALED_SUFFIX, SEALED_SUFFIX + OPEN_SUFFIX)
_WORDS_MOST = 160


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a look at a file gave; `lasts` says that it follows from the bytes of the file alone.

    That the disk failed, or memory was short, may be over at the next look.
    """

    listed: Listed
    lasts: bool


def listing(folder: Path | str, *, recursive: bool = False) -> Iterator[Listed]:
    """Return what is in each run file of a folder, in order of their names, one by one.

    A file that is damaged, of another program or not to be read is among them with its `trouble`.

    Raises:
        RunFileError: there is no such folder.
        HostError: it cannot be read.
    """
    for place in places(folder, recursive=recursive):
        yield look(Path(folder) / place).listed


def places(folder: Path | str, *, recursive: bool = False) -> list[str]:
    """Return where in a folder each run file is, in order of their names, folder by folder.

    Raises:
        As `listing`.
    """
    root = Path(folder)
    if not root.is_dir():
        raise RunFileError(f"{root} is no folder", remedy="Name one: teijo list DIR")
    try:
        found = [*_run_files_in(str(root), "", recursive=recursive)]
    except OSError as error:
        raise HostError(
            f"{root} cannot be read: {error.strerror}", remedy="Check who may read the folder."
        ) from error
    return sorted(found, key=lambda place: place.split("/"))


def _run_files_in(root: str, folder: str, *, recursive: bool) -> Iterator[str]:
    """Yield where the run files below a folder are; a link to another folder is not followed."""
    # Paths as text, and one look at each name: a folder may have ten thousand of them.
    with os.scandir(os.path.join(root, folder)) as entries:  # noqa: PTH118
        for entry in entries:
            place = os.path.join(folder, entry.name)  # noqa: PTH118
            if not _is_folder(entry):
                if entry.name.endswith(ENDINGS):
                    yield place
            elif recursive and not entry.is_symlink():
                with suppress(PermissionError):
                    yield from _run_files_in(root, place, recursive=True)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # what may not be looked at is said of the file itself


def look(path: Path) -> Look:
    """Return what is in a run file; that it cannot be read is among it."""
    try:
        return Look(listed=_read(path), lasts=True)
    except HostError as error:
        return troubled(path, _short(error.message), lasts=False)
    except TeijoError as error:
        return troubled(path, _short(error.message))
    except (OSError, MemoryError) as error:
        return troubled(path, _short(host_error(error).message), lasts=False)
    except Exception as error:  # one file, whatever it holds, stops no listing
        return troubled(path, f"it is no run file that can be read ({type(error).__name__})")


def troubled(path: Path, trouble: str, *, lasts: bool = True) -> Look:
    """Return the look at a file that cannot be read."""
    return Look(listed=Listed(path=path, open=is_open(path), trouble=trouble), lasts=lasts)


def is_open(path: Path | str) -> bool:
    """Return whether a file is named as one that is not sealed."""
    return str(path).endswith(OPEN_SUFFIX)


def _read(path: Path) -> Listed:
    run = reading.open(path)
    record = run.record
    ending = "left open" if is_open(path) and record.run.ending == "running" else record.run.ending
    return Listed(
        path=path,
        open=is_open(path),
        device=record.identity.model or record.identity.target,
        serial=record.identity.serial,
        target=record.identity.target,
        method=record.run.method,
        spec=record.run.spec,
        started_at=record.run.started_at,
        ending=ending,
        verdict=_short(_verdict(run)),
        limits=_limits(run),
        provenance=record.run.provenance,
        group=record.run.group,
    )


def _verdict(run: reading.Run) -> str:
    blocks = (block for part in run.document().sections for block in part.blocks)
    return next((block.text for block in blocks if isinstance(block, Verdict)), "")


def _limits(run: reading.Run) -> str:
    if not run.judged:
        return ""
    return {0: "met", EXIT_NOT_MET: "not met", EXIT_NOT_KNOWN: "not known"}[exit_code(run.judged)]


def _short(text: str) -> str:
    """Return a text in one line that is not too long; a phrase that is one stays a phrase."""
    if len(text) <= _WORDS_MOST and visible(text) == text:
        return text
    line = visible(" ".join(text.split()))
    return line if len(line) <= _WORDS_MOST else line[: _WORDS_MOST - 1] + "…"
