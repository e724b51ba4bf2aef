"""Every run file of a folder in a few words: device, method, verdict, date, or what is wrong."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from teijo.api import reading
from teijo.api.watching import Watched
from teijo.compare.limit import EXIT_NOT_KNOWN, EXIT_NOT_MET, exit_code
from teijo.document.model import Verdict
from teijo.errors import HostError, TeijoError, host_error
from teijo.outside.text import visible
from teijo.runfile import writers
from teijo.runfile.listed import LEFT_OPEN, Listed
from teijo.runfile.names import OPEN_SUFFIX, Names
from teijo.runfile.places import places
from teijo.runner.run_state import RunState
from teijo.units import NS_PER_S

_WORDS_MOST = 160
_SHARE_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a look at a file gave; `lasts` says that it follows from the bytes of the file alone.

    That the disk failed, or memory was short, may be over at the next look.
    """

    listed: Listed
    lasts: bool


def listing(folder: Path | str, *, recursive: bool = False) -> Iterator[Listed]:
    """Return what is in each run file of a folder, in order of their names, one by one.

    A file that is damaged, of another program or not to be read is among them with its `trouble`.

    Raises:
        RunFileError: there is no such folder.
        HostError: it cannot be read.
    """
    for place in places(folder, recursive=recursive):
        yield look(Path(folder) / place).listed


def look(path: Path, watched: Watched | None = None) -> Look:
    """Return what is in a run file; that it cannot be read is among it.

    Of a growing file that is `watched` from look to look only what is new in it is read.
    """
    try:
        return Look(listed=_read(path, watched or watch(path)), lasts=True)
    except HostError as error:
        return troubled(path, _short(error.message), lasts=False)
    except TeijoError as error:
        return troubled(path, _short(error.message))
    except (OSError, MemoryError) as error:
        return troubled(path, _short(host_error(error).message), lasts=False)
    except Exception as error:  # one file, whatever it holds, stops no listing
        return troubled(path, f"it is no run file that can be read ({type(error).__name__})")


def troubled(path: Path, trouble: str, *, lasts: bool = True) -> Look:
    """Return the look at a file that cannot be read."""
    return Look(listed=Listed(path=path, open=is_open(path), trouble=trouble), lasts=lasts)


def is_open(path: Path | str) -> bool:
    """Return whether a file is named as one that is not sealed."""
    return str(path).endswith(OPEN_SUFFIX)


def watch(path: Path) -> Watched | None:
    """Return what follows a growing file; None of a sealed one, or of a strange name."""
    with suppress(TeijoError):
        return Watched(Names.of(path)) if is_open(path) else None
    return None


def _read(path: Path, watched: Watched | None) -> Listed:
    run, state = _opened(path, watched)
    record = run.record
    ending = LEFT_OPEN if is_open(path) and record.run.ending == "running" else record.run.ending
    return Listed(
        path=path,
        open=is_open(path),
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
        share=None if state is None else round(state.share, _SHARE_DIGITS),
        round_number=None if state is None else state.round_number,
        written_at=_date(writers.last_write_ns(path)) if state is not None else "",
    )


def _opened(path: Path, watched: Watched | None) -> tuple[reading.Run, RunState | None]:
    """Return a run, and how far it is where it has not ended."""
    if watched is not None:
        with suppress(TeijoError):  # then reading it says what it is
            found = watched.look()
            grows = found.state.ending == "running"
            run = reading.Run(found.state.path or path, found.record)
            return run, found.state if grows else None
    return reading.open(path), None


def _date(moment_ns: int) -> str:
    return datetime.fromtimestamp(moment_ns // NS_PER_S, UTC).isoformat()


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
