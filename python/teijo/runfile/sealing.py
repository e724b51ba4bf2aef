"""Sealing by hand: a run that has ended, and whose own sealing was cut short."""

from contextlib import closing
from pathlib import Path

from teijo.errors import RunFileError
from teijo.outside.text import shell_path
from teijo.runfile import reader
from teijo.runfile.recorder import Recorder


def seal_ended(path: Path) -> Path:
    """Seal an open file whose run has ended and return the sealed one.

    Raises:
        RunFileError: its run has not ended, or it cannot be acted on. Others: as `Recorder.reopen`.
    """
    with closing(Recorder.reopen(path)) as recorder:
        ending = reader.read(recorder.names.open).run.ending
        if ending in ("running", "interrupted"):
            raise RunFileError(
                f"{recorder.names.open} holds a run that has not ended ({ending}).",
                remedy=f"End it first: teijo resume {shell_path(recorder.names.open)}",
            )
        return recorder.seal()
