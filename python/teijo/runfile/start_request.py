"""How a run that holds is told when to begin: NAME.teijo.start beside its file, with its id.

So that many runs begin together, on one machine or on several whose clocks were compared.
"""

from contextlib import suppress
from dataclasses import dataclass

from teijo.creating import replace_atomically
from teijo.errors import HostError
from teijo.runfile.names import Names
from teijo.runfile.request import words_for


@dataclass(frozen=True, kw_only=True)
class Start:
    """When to begin, by this host's wall clock, in ns since 1970.

    `ahead_ns` is by how much this clock is ahead of the one that all hosts go by, known to
    `error_ns`; 0 and 0 where there is but one.
    """

    at_ns: int
    ahead_ns: int = 0
    error_ns: int = 0


def tell(names: Names, run: str, start: Start) -> None:
    """Tell the run of this id when to begin.

    Raises:
        HostError: nothing can be written beside the run file.
    """
    line = f"{run} {start.at_ns} {start.ahead_ns} {start.error_ns}\n"
    try:
        replace_atomically(names.start, line.encode())
    except OSError as error:
        raise HostError(
            f"No run file can be written in {names.open.parent}: {error.strerror}.",
            remedy="Name a folder that exists and can be written with -o.",
        ) from error


def told(names: Names, run: str) -> Start | None:
    """Return when the run of this id is to begin; None while nobody has said."""
    match words_for(names.start):
        case [name, at, *more] if name == run and len(more) in (0, 2):
            with suppress(ValueError):
                numbers = [int(each) for each in (at, *(more or (0, 0)))]
                return Start(at_ns=numbers[0], ahead_ns=numbers[1], error_ns=numbers[2])
    return None


def clear(names: Names) -> None:
    """Take the file away."""
    with suppress(OSError):
        names.start.unlink()
