"""What a fleet asks of a host for one drive, and the words that begin or resume its run there."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, Field, StringConstraints

from teijo.runfile.names import SEALED_SUFFIX

RUN_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}\.teijo$"
"""The name of a run file in the folder of its host: never a path."""


class Order(BaseModel, frozen=True, extra="forbid"):
    """One drive of a fleet: where it is, what is measured, and what its run file is called.

    `serial` is what has to be consented to, "" of what is no block device. `group` is what the run
    belongs to. One that is to `hold` is begun with all others at one moment.
    """

    number: Annotated[int, Field(ge=1)]
    host: str
    name: str
    target: str
    serial: str = ""
    model: str = ""
    is_spare: bool = False
    method: str
    spec: str = ""
    settings: Mapping[str, str] = Field(default_factory=dict)
    limits: tuple[str, ...] = ()
    notes: Mapping[str, str] = Field(default_factory=dict)
    group: Mapping[str, str] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    overwrite: bool = False
    hold: bool = False
    run: Annotated[str, StringConstraints(pattern=RUN_NAME)]

    def words(self, path: str) -> tuple[str, ...]:
        """Return what is typed after `teijo` to begin its run, recorded in `path`."""
        words = ["run", self.method, self.target, "-o", path, "--seed", str(self.seed)]
        words += ["--spec", self.spec] if self.spec else []
        for option, given in (("--set", self.settings), ("--group", self.group),
                              ("--note", self.notes)):  # fmt: skip
            for key, value in given.items():
                words += [option, f"{key}={value}"]
        for limit in self.limits:
            words += ["--limit", limit]
        words += ["--hold"] if self.hold else []
        words += ["--report", "none", "--progress", "none"]
        return (*words, *self._consent())

    def words_to_resume(self, path: str) -> tuple[str, ...]:
        """Return what is typed after `teijo` to carry its run on."""
        return ("resume", path, "--report", "none", "--progress", "none", *self._consent())

    def _consent(self) -> tuple[str, ...]:
        words: tuple[str, ...] = ("--destroy", self.serial) if self.serial else ()
        return (*words, "--overwrite") if self.overwrite else words


def run_name(fleet: str, number: int, name: str) -> str:
    """Return the name of a drive's run file: fleet, number, and what may stand in a file name."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return f"{fleet}-{number:04d}-{kept.strip('-')[:60] or 'drive'}{SEALED_SUFFIX}"
