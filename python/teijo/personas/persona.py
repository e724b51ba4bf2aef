"""What every persona can do, and what it says: text for stdout and stderr, files, an exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from teijo.methods.found import Found
from teijo.terms.result import Answer
from teijo.terms.step import Step


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the original says at one time. Texts hold their own line ends.

    `files` are names in the folder it was called in, with their contents; what has such a name
    already is replaced, as the original does. `exit_code` is what the process ends with. `unread`
    is no word of the original's: a drive as it was named, and what of it could not be read and why.
    """

    stdout: str = ""
    stderr: str = ""
    files: tuple[tuple[str, bytes], ...] = ()
    exit_code: int = 0
    unread: tuple[tuple[str, str], ...] = ()


class Refused(Exception):
    """The original makes no run of its command line: `said` is what it says instead."""

    def __init__(self, said: Said) -> None:
        """Take what it says."""
        super().__init__(said.stderr)
        self.said = said


@dataclass(frozen=True, kw_only=True)
class Order:
    """The run that an original's command line asks for.

    `target` and `settings` are as `teijo run METHOD TARGET --set …` takes them; `name` begins the
    name of the run file. `files_in` is the folder in which `outcome` leaves files, None where it
    leaves none. `begins` is what the original says before it does anything. `memory` is
    what `outcome` needs of the command line, by name. `seed` is what the original was given for
    the run's, None where it was not.
    """

    method: str
    target: str
    settings: Mapping[str, str]
    name: str
    spec: str = ""
    seed: int | None = None
    files_in: str | None = None
    begins: Said = field(default_factory=Said)
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of an original: its words, the version to act as, where and when it was called.

    `like` is empty for the persona's usual version.
    """

    words: Sequence[str]
    like: str
    folder: Path
    now: datetime
    screen: bool = False
    """Whether stderr is a terminal, where what is said may be drawn over."""


class Persona(Protocol):
    """One original. `likes` are the versions it acts as, the usual one first.

    `naming` is what to write where what was named is no target: as this tool names its own.
    """

    names: tuple[str, ...]
    likes: tuple[str, ...]
    naming: str

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that a command line asks for; what is said instead where it asks for none.

        Raises:
            teijo.errors.UsageError: an option that the original has and Teijo does not, or a
                Windows path; the remedy names what to write. What the original itself refuses is
                said in its own words, with its own exit code.
        """
        ...

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return what is said as a step begins (no answer yet), or when it has ended."""
        ...

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return what is said, and the files that are left, when the run is over."""
        ...
