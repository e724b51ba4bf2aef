"""What a run file is in a few words, as a list of many has it."""

from dataclasses import dataclass, field
from pathlib import Path

from teijo.terms.provenance import Group


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One run file. `trouble` says why it cannot be read, and then the rest is empty."""

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
