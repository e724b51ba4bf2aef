"""What a fleet asks of a host for one drive, and the words that begin or resume its run there."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, Field, StringConstraints

from teijo.fleet.plan import Name
from teijo.runfile.names import SEALED_SUFFIX
from teijo.terms.shared import HERE

NOBODY: Final[Mapping[str, str]] = {}
RUN_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}\.teijo$"
"""The name of a run file in the folder of its host: never a path."""


class Order(BaseModel, frozen=True, extra="forbid"):
    """One drive of a fleet: where it is, what is measured, and what its run file is called.

    `serial` is what has to be consented to, "" of what is no block device. `group` is what the run
    belongs to. One that is to `hold` is begun with all others at one moment. Those in `shared_by`
    measure it together with `host`.
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
    hold: bool = False
    shared_by: tuple[Name, ...] = ()
    run: Annotated[str, StringConstraints(pattern=RUN_NAME)]

    def words(
        self, path: str, *, overwrite: bool = False, reach: Mapping[str, str] = NOBODY
    ) -> tuple[str, ...]:
        """Return what is typed after `teijo` to begin its run, recorded in `path`.

        `reach` has the command that leads to the Teijo of each host that shares it. Behind `--` no
        word of a plan can pass for an option.
        """
        words = ["run", "-o", path, "--seed", str(self.seed)]
        words += ["--spec", self.spec] if self.spec else []
        for option, given in (("--set", self.settings), ("--group", self.group),
                              ("--note", self.notes)):  # fmt: skip
            for key, value in given.items():
                words += [option, f"{key}={value}"]
        for limit in self.limits:
            words += ["--limit", limit]
        words += ["--hold"] if self.hold else []
        words += ["--report", "none", "--progress", "none"]
        words += [*self._hosts(reach), *self._consent(overwrite=overwrite)]
        return (*words, "--", self.method, self.target)

    def words_to_resume(
        self, path: str, *, overwrite: bool = False, reach: Mapping[str, str] = NOBODY
    ) -> tuple[str, ...]:
        """Return what is typed after `teijo` to carry its run on."""
        told = ("--report", "none", "--progress", "none")
        return ("resume", path, *told, *self._hosts(reach), *self._consent(overwrite=overwrite))

    def _hosts(self, reach: Mapping[str, str]) -> list[str]:
        if not self.shared_by:
            return []
        words = ["--host", HERE]
        for name in self.shared_by:
            words += ["--host", f"{name}={reach.get(name, '…')}"]
        return words

    def _consent(self, *, overwrite: bool) -> tuple[str, ...]:
        words: tuple[str, ...] = ("--destroy", self.serial) if self.serial else ()
        return (*words, "--overwrite") if overwrite else words


def run_name(fleet: str, number: int, name: str) -> str:
    """Return the name of a drive's run file: fleet, number, and what may stand in a file name."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return f"{fleet}-{number:04d}-{kept.strip('-')[:60] or 'drive'}{SEALED_SUFFIX}"
