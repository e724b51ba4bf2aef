"""Where the run files of a folder lie, sealed and growing ones; none of them is opened."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from teijo.errors import HostError, RunFileError
from teijo.runfile.names import OPEN_SUFFIX, SEALED_SUFFIX

ENDINGS: Final = (SEALED_SUFFIX, SEALED_SUFFIX + OPEN_SUFFIX)


def places(folder: Path | str, *, recursive: bool = False) -> list[str]:
    """Return where in a folder each run file is, in order of their names, folder by folder.

    Raises:
        RunFileError: there is no such folder.
        HostError: it cannot be read.
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
