"""What is said of a device by topic: facts and tables, which the command line prints and a page
draws. Texts are in the language that is spoken; names and heads become so when they are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.speech.tongue import said

Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Facts:
    """A title, and names with what each is; a fact whose value is empty is not told."""

    title: str
    rows: Rows

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The facts that are told, with their names in the language."""
        return [(said(name), value) for name, value in self.rows if value]

    @property
    def is_told(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.shown)


@dataclass(frozen=True)
class Table:
    """A title, a head and rows. Without rows it is left out, or says `none` where that is told.

    `tones` are the English words of the rows' verdicts, for who paints them.
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    none: str = ""
    tones: Sequence[str] = ()

    @property
    def heads(self) -> list[str]:
        """The head in the language."""
        return [said(text) for text in self.head]

    @property
    def is_told(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.rows) or bool(self.none)


Section = Facts | Table


@dataclass(frozen=True)
class Typed:
    """A sentence, and the command line that it speaks of; "" where there is none."""

    words: str
    command: str = ""
