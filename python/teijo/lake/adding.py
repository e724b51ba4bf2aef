"""Run files come to a lake: each is looked at as closely as `teijo verify` does, or it is refused.

Several processes do so side by side, and each is a writer of its own: no lock is needed.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.errors import HostError, TeijoError, host_error
from teijo.lake.looking import Look
from teijo.lake.rows import RunRows, digest_of, rows_of
from teijo.lake.store import Partition, store_at
from teijo.lake.writing import write_batches
from teijo.outside.text import visible
from teijo.runfile.names import OPEN_SUFFIX
from teijo.runfile.places import places

SLICE_RUNS: Final = 500
"""Run files of one batch, and so what a writer has in memory at once."""
_SLICE_ROWS: Final = 4_000_000
"""Rows of histograms that it has at once, at most: a run of a day has a million."""
_ALONE_MOST: Final = 64
"""So few files are read faster by one process than others are started."""
_WORDS_MOST: Final = 300

Tell = Callable[[int, int], None]
"""Called with how many files are done, and how many there are."""


@dataclass(frozen=True)
class Refused:
    """A file that did not come to the lake, and why."""

    path: Path
    why: str


@dataclass(frozen=True, kw_only=True)
class Added:
    """What became of the run files of some folders.

    `there` are those that the lake has already, `unsealed` those whose run may still go on.
    `batches` are what was written.
    """

    runs: int = 0
    there: int = 0
    unsealed: int = 0
    refused: tuple[Refused, ...] = ()
    batches: tuple[tuple[Partition, str], ...] = ()

    def __add__(self, other: "Added") -> "Added":
        return Added(
            runs=self.runs + other.runs,
            there=self.there + other.there,
            unsealed=self.unsealed + other.unsealed,
            refused=(*self.refused, *other.refused),
            batches=(*self.batches, *other.batches),
        )


def found_in(given: Iterable[Path | str], *, recursive: bool) -> tuple[list[Path], int]:
    """Return the sealed run files of folders, and how many are not sealed; a file may be named too.

    Raises:
        RunFileError: there is no such folder or file. HostError: it cannot be read.
    """
    found: list[Path] = []
    for each in map(Path, given):
        if each.is_file():
            found.append(each)
        else:
            found += [each / place for place in places(each, recursive=recursive)]
    sealed = [path for path in found if not path.name.endswith(OPEN_SUFFIX)]
    return list(dict.fromkeys(sealed)), len(found) - len(sealed)


def add_files(
    place: str, paths: Sequence[Path], *, anew: bool, processes: int, tell: Tell
) -> Added:
    """Add run files that the lake has not; with `anew` those that it has are written again.

    Raises:
        HostError: the lake cannot be written, or a process was ended.
    """
    alone = processes == 1 or len(paths) <= _ALONE_MOST
    # Where there are few files each of the workers has some.
    size = min(SLICE_RUNS, len(paths) if alone else -(-len(paths) // processes)) or 1
    slices = [paths[at : at + size] for at in range(0, len(paths), size)]
    total, done = Added(), 0
    for part, own in zip(slices, _carried_out(place, slices, anew, processes, alone), strict=True):
        total += own
        done += len(part)
        tell(done, len(paths))
    return total


def _carried_out(
    place: str, slices: Sequence[Sequence[Path]], anew: bool, processes: int, alone: bool
) -> Iterator[Added]:
    """Yield what became of each slice."""
    if alone:
        for part in slices:
            yield add_slice(place, part, anew)
        return
    # A fresh process has none of the threads that Arrow and DuckDB have begun in this one.
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=start, initializer=_leave_ctrl_c) as pool:
        waiting = [pool.submit(add_slice, place, part, anew) for part in slices]
        try:
            for future in waiting:
                yield future.result()
        except BrokenProcessPool as error:
            raise HostError(
                "A process that read run files was ended from outside",
                remedy="See whether memory is short (dmesg); what was added before is kept.",
            ) from error
        finally:
            for future in waiting:
                future.cancel()


def _leave_ctrl_c() -> None:
    """Leave Ctrl-C to the process that waits: what is being written becomes whole."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def add_slice(place: str, paths: Sequence[Path], anew: bool) -> Added:
    """Add some run files as one writer, a batch for each method and month."""
    look = Look(store_at(place))
    digests: dict[str, Path] = {}
    refused: list[Refused] = []
    for path in paths:
        try:
            digests.setdefault(digest_of(path), path)
        except OSError as error:
            refused.append(_refused(path, host_error(error)))
    known = {} if anew else look.known(digests=list(digests))
    new = {digest: path for digest, path in digests.items() if digest not in known.values()}
    writer = _Writer(look, anew=anew)
    for digest, path in new.items():
        try:
            writer.take(path, rows_of(path, digest))
        except TeijoError as error:
            refused.append(_refused(path, error))
        except (OSError, MemoryError) as error:
            refused.append(_refused(path, host_error(error)))
        except Exception as error:  # one file, whatever it holds, stops no other
            why = f"It is no run file that can be read ({type(error).__name__})"
            refused.append(Refused(path, why))
    writer.write()
    return Added(
        runs=writer.runs,
        there=len(digests) - len(new),
        refused=(*refused, *writer.refused),
        batches=tuple(writer.batches),
    )


class _Writer:
    """Rows that wait for their batch."""

    def __init__(self, look: Look, *, anew: bool) -> None:
        self.runs = 0
        self.refused: list[Refused] = []
        self.batches: list[tuple[Partition, str]] = []
        self._look, self._anew = look, anew
        self._waiting: dict[str, tuple[Path, RunRows]] = {}
        self._rows = 0

    def take(self, path: Path, rows: RunRows) -> None:
        """Take a run, and write what waits where it is much."""
        if rows.id in self._waiting:
            self._refuse_other(path)
            return
        self._waiting[rows.id] = (path, rows)
        self._rows += sum(len(one.latency.counts) for one in rows.counted)
        if self._rows > _SLICE_ROWS:
            self.write()

    def write(self) -> None:
        """Write what waits, without runs that the lake has from another file."""
        known = {} if self._anew else self._look.known(runs=list(self._waiting))
        for run in known:
            self._refuse_other(self._waiting.pop(run)[0])
        self.batches += write_batches(
            self._look.store, [rows for _, rows in self._waiting.values()]
        )
        self.runs += len(self._waiting)
        self._waiting, self._rows = {}, 0

    def _refuse_other(self, path: Path) -> None:
        self.refused.append(Refused(path, "Another file of this run is in the lake already."))


def _refused(path: Path, error: TeijoError) -> Refused:
    why = visible(" ".join(error.message.split()))
    return Refused(path, why if len(why) <= _WORDS_MOST else why[: _WORDS_MOST - 1] + "…")
