"""What a run file is in a few words, as a list of many has it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.terms.provenance import Group

RUNNING: Final = "running"
LEFT_OPEN: Final = "left open"
"""How a run ended that has not: somebody writes to its file, or nobody is known to."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One run file. `trouble` says why it cannot be read, and then the rest is empty.

    Of a run that has not ended `share` is how much of it is done (0 to 1, by what is expected of
    it), `round_number` the round it is in, and `written_at` when its file was last written.
    """

    path: Path
    open: bool
    device: str = ""
    serial: str = ""
    target: str = ""
    method: str = ""
    spec: str = ""
    started_at: str = ""
    ending: str = ""
    verdict: str = ""
    limits: str = ""
    provenance: str = ""
    group: Group = field(default_factory=dict)
    trouble: str = ""
    share: float | None = None
    round_number: int | None = None
    written_at: str = ""
