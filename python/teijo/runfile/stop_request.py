"""How another process asks a run to stop: NAME.teijo.stop beside its growing file, with its id.

The file says nothing else, and is believed only where the run's own user wrote it (request.py).
"""

from contextlib import suppress

from teijo.creating import replace_atomically
from teijo.errors import HostError
from teijo.runfile.names import Names
from teijo.runfile.request import words_for


def ask(names: Names, run: str) -> None:
    """Ask the run of this id to stop; asked twice, it stops at once.

    Raises:
        HostError: nothing can be written beside the run file.
    """
    try:
        replace_atomically(names.stop, f"{run} {asked(names, run) + 1}\n".encode())
    except OSError as error:
        raise HostError(
            f"No run file can be written in {names.open.parent}: {error.strerror}.",
            remedy="Name a folder that exists and can be written with -o.",
        ) from error


def asked(names: Names, run: str) -> int:
    """Return how often the run of this id was asked to stop; what others wrote is not believed."""
    words = words_for(names.stop)
    if len(words) != 2 or words[0] != run or not words[1].isdecimal():
        return 0
    return int(words[1])


def clear(names: Names, run: str) -> None:
    """Take a request away that was meant for this run."""
    if asked(names, run):
        with suppress(OSError):
            names.stop.unlink()
