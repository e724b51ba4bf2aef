"""Every run file of a folder in a few words: device, method, verdict, date, or what is wrong."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from teijo.api import reading
from teijo.compare.limit import EXIT_NOT_KNOWN, EXIT_NOT_MET, exit_code
from teijo.document.model import Verdict
from teijo.errors import HostError, RunFileError, TeijoError, host_error
from teijo.outside.text import visible
from teijo.terms.provenance import Group

ENDINGS = (".teijo", ".teijo.open")
_WORDS_MOST = 160


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


def listing(folder: Path | str, *, recursive: bool = False) -> Iterator[Listed]:
    """Return what is in each run file of a folder, in order of their names, one by one.

    A file that is damaged, of another program or not to be read is among them with its `trouble`.

    Raises:
        RunFileError: there is no such folder.
        HostError: it cannot be read.
    """
    root = Path(folder)
    if not root.is_dir():
        raise RunFileError(f"{root} is no folder", remedy="Name one: teijo list DIR")
    try:
        names = sorted(root.rglob("*") if recursive else root.iterdir())
    except OSError as error:
        raise HostError(
            f"{root} cannot be read: {error.strerror}", remedy="Check who may read the folder."
        ) from error
    for path in names:
        # Unlike Path.is_dir it says False of what may not be looked at.
        if path.name.endswith(ENDINGS) and not os.path.isdir(path):  # noqa: PTH112
            yield _listed(path)


def _listed(path: Path) -> Listed:
    is_open = path.name.endswith(".open")
    try:
        return _read(path, is_open=is_open)
    except TeijoError as error:
        return Listed(path=path, open=is_open, trouble=_short(error.message))
    except (OSError, MemoryError) as error:
        return Listed(path=path, open=is_open, trouble=_short(host_error(error).message))
    except Exception as error:  # one file, whatever it holds, stops no listing
        trouble = f"it is no run file that can be read ({type(error).__name__})"
        return Listed(path=path, open=is_open, trouble=trouble)


def _read(path: Path, *, is_open: bool) -> Listed:
    run = reading.open(path)
    record = run.record
    ending = "left open" if is_open and record.run.ending == "running" else record.run.ending
    return Listed(
        path=path,
        open=is_open,
        device=record.identity.model or record.identity.target,
        serial=record.identity.serial,
        target=record.identity.target,
        method=record.run.method,
        spec=record.run.spec,
        started_at=record.run.started_at,
        ending=ending,
        verdict=_short(_verdict(run)),
        limits=_limits(run),
        provenance=record.run.provenance,
        group=record.run.group,
    )


def _verdict(run: reading.Run) -> str:
    blocks = (block for part in run.document().sections for block in part.blocks)
    return next((block.text for block in blocks if isinstance(block, Verdict)), "")


def _limits(run: reading.Run) -> str:
    if not run.judged:
        return ""
    return {0: "met", EXIT_NOT_MET: "not met", EXIT_NOT_KNOWN: "not known"}[exit_code(run.judged)]


def _short(text: str) -> str:
    """Return a text in one line that is not too long; a phrase that is one stays a phrase."""
    if len(text) <= _WORDS_MOST and visible(text) == text:
        return text
    line = visible(" ".join(text.split()))
    return line if len(line) <= _WORDS_MOST else line[: _WORDS_MOST - 1] + "…"
