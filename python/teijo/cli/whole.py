"""Files that are there whole or not at all: a full disk must not cost the report that was there."""

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place and put it there once all of it is written.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe: nothing to put in its place
        path.write_bytes(data)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            beside.write_bytes(data)
        except InterruptedError:  # Python asks again but for the last call, that closes the file
            beside.write_bytes(data)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
