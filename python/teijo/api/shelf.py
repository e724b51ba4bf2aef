"""A folder of run files that is searched: each file is read once, and again when it has changed.

What is known is in an index beside the files (`runfile/shelf.py`), or where no file can be made
there, in a folder that the caller names. Nothing depends on it: it is made anew at will.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

from teijo import creating
from teijo.api import run_files
from teijo.api.watching import Watched
from teijo.runfile.listed import LEFT_OPEN, RUNNING
from teijo.runfile.mark import Mark, mark_of
from teijo.runfile.names import OPEN_SUFFIX
from teijo.runfile.places import ENDINGS, places
from teijo.runfile.shelf import (
    FILE,
    FILE_OF_ALL,
    Answer,
    Column,
    Index,
    Question,
    Shelved,
    Unfit,
    fits,
    id_of,
)
from teijo.runfile.writers import Writers

LEADS_OUT: Final = "it is a symbolic link that leads out of the folder"
_SAVED_EVERY: Final = 100
"""Files that are read before the index is written again, or a tenth of all, if that is more."""
_FOLLOWED_MOST: Final = 32
"""Growing files of which only what is new is read; each is held in memory."""
_Marks = dict[str, Mark]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a refresh has come: of `total` files that had to be read again `done` are."""

    done: int
    total: int


class Shelf:
    """The run files of a folder, for one thread that refreshes and others that ask meanwhile."""

    def __init__(
        self, folder: Path | str, *, recursive: bool = False, cache: Path | None = None
    ) -> None:
        """Take what is known of the folder; nothing in it is read before a refresh.

        `cache` is a folder for the index where none can be made beside the files.
        """
        self.folder = Path(folder)
        self.recursive = recursive
        name = FILE_OF_ALL if recursive else FILE
        self._places = [self.folder / name]
        if cache is not None:
            digest = hashlib.sha256(os.fsencode(os.path.realpath(self.folder))).hexdigest()
            self._places.append(cache / f"{digest[:32]}{name}")
        self._seen: dict[Path, str] = {}
        self._followed: dict[str, Watched] = {}
        self._writers = Writers.now()
        self._refreshing = Lock()
        self._index = next(self._indexes(), None) or Index.empty()

    def find(self, question: Question | None = None) -> Answer:
        """Return the run files that are asked for, as far as they are known by now.

        Raises:
            PlanError: more values are chosen than one question may.
        """
        try:
            found = self._index.find(question or Question())
        except Unfit:
            self._index = Index.empty()
            return Answer(rows=(), total=0, known=0)
        return replace(found, rows=tuple(self._placed(row) for row in found.rows))

    def choices(self, column: Column) -> tuple[tuple[str, int], ...]:
        """Return which values a column has, with the number of files, the most frequent first."""
        try:
            return self._index.choices(column)
        except Unfit:
            self._index = Index.empty()
            return ()

    def path_of(self, id: str) -> Path | None:  # noqa: A002 — as an address has it
        """Return the path of a run file, None unless it is one that lies in the folder by now."""
        try:
            row = self._index.row(id)
        except Unfit:
            return None
        # An index is what anybody wrote: its path must be the one that the id is the digest of.
        if row is None or row.id != id or not fits(str(row.listed.path)):
            return None
        path = self.folder / row.listed.path
        # It may have been sealed since it was read; while both are there, the open one goes.
        sealed = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
        return next((each for each in (sealed, path) if self._is_run_file(each)), None)

    def refresh(self) -> Iterator[Progress]:
        """Read what is new or has changed since it was read, and forget what is gone.

        It yields after each file, the latest first, and may be left at any time: what has been
        read by then is kept. Where another thread is at it, it does nothing.

        Raises:
            RunFileError: there is no such folder. HostError: it cannot be read.
        """
        if not self._refreshing.acquire(blocking=False):
            return
        try:
            yield from self._refresh()
        except Unfit:
            self._index = Index.empty()  # the next refresh fills it
        finally:
            self._refreshing.release()

    def close(self) -> None:
        """Give back its memory; nobody may ask any more."""
        self._index.close()

    def _refresh(self) -> Iterator[Progress]:
        index = self._index
        there = self._marks()
        known = index.marks()
        gone = known.keys() - there.keys()
        stale = {place: mark for place, mark in there.items() if known.get(place) != mark.text}
        renewed = {id_of(place) for place in stale}
        for place in gone:
            if id_of(place) not in renewed:  # a run that was sealed is there all the time
                index.remove(place)
        taken = self._take(index, stale) if stale else 0
        latest = sorted(stale, key=lambda place: stale[place].changed_ns, reverse=True)
        unsaved, enough = len(gone) + taken, max(_SAVED_EVERY, len(there) // 10)
        for place in self._followed.keys() - there.keys():
            del self._followed[place]
        yield Progress(done=0, total=len(latest))
        self._writers = Writers.now()
        try:
            for done, place in enumerate(latest, 1):
                lasts = self._read(index, place)
                # A run that goes on is another one each second: nothing is written for it.
                grown = place in known and run_files.is_open(place)
                unsaved += lasts and not grown
                if unsaved >= enough:
                    self._save(index)
                    unsaved = 0
                yield Progress(done=done, total=len(latest))
            unsaved += self._tell_writers(index)
        finally:
            if unsaved:
                self._save(index)

    def _marks(self) -> _Marks:
        found: _Marks = {}
        there = set(places(self.folder, recursive=self.recursive))
        for place in there:
            # Where a seal was cut short both are there, and the open one is read by nobody.
            is_left = place.endswith(OPEN_SUFFIX) and place.removesuffix(OPEN_SUFFIX) in there
            if fits(place) and not is_left:
                with suppress(OSError):  # gone meanwhile
                    found[place] = mark_of(os.path.join(self.folder, place))  # noqa: PTH118
        return found

    def _take(self, index: Index, stale: _Marks) -> int:
        """Take from the indexes on the disk what another process has read already."""
        taken = 0
        for other in self._indexes():
            known = other.marks()
            for place in [each for each, mark in stale.items() if known.get(each) == mark.text]:
                if (row := other.row(id_of(place))) is not None and row.listed.path == Path(place):
                    index.put(row.listed, mark=stale.pop(place).text)
                    taken += 1
            other.close()
        return taken

    def _read(self, index: Index, place: str) -> bool:
        """Read a file again; tell whether what it says is worth keeping when this process ends."""
        path = self.folder / place
        try:
            mark = mark_of(path)  # before it is read: what changes meanwhile is read again
        except OSError:
            index.remove(place)
            return True
        if path.is_symlink() and not self._is_inside(path):
            look = run_files.troubled(path, LEADS_OUT)
        else:
            look = self._look(path, place)
        lasts = look.lasts and mark.is_settled()
        index.put(replace(look.listed, path=Path(place)), mark=mark.text if lasts else "")
        return lasts

    def _look(self, path: Path, place: str) -> run_files.Look:
        """Look into a file; one that somebody writes to is followed from now on."""
        watched = self._followed.pop(place, None) or run_files.watch(path)
        look = run_files.look(path, watched)
        if look.listed.ending != LEFT_OPEN or not self._writers.write_to(path):
            return look
        if watched is not None and len(self._followed) < _FOLLOWED_MOST:
            self._followed[place] = watched
        return replace(look, listed=replace(look.listed, ending=RUNNING))

    def _tell_writers(self, index: Index) -> int:
        """Tell apart of all files that grow those that somebody writes to; return what changed."""
        self._writers = Writers.now()
        rows = index.unended()
        marks = index.marks() if rows else {}
        changed = 0
        for row in rows:
            ending = self._ending_of(row.listed.path)
            if ending != row.listed.ending:
                place = str(row.listed.path)
                index.put(replace(row.listed, ending=ending), mark=marks.get(place, ""))
                changed += 1
        return changed

    def _ending_of(self, place: Path) -> str:
        return RUNNING if self._writers.write_to(self.folder / place) else LEFT_OPEN

    def _is_run_file(self, path: Path) -> bool:
        return path.name.endswith(ENDINGS) and self._is_inside(path) and _is_file(path)

    def _save(self, index: Index) -> None:
        for path in self._places:
            with suppress(OSError):  # nowhere: then it lasts as long as the process
                if path.parent != self.folder:
                    creating.make_folder(path.parent)
                index.save(path)
                self._seen[path] = mark_of(path).text
                return

    def _indexes(self) -> Iterator[Index]:
        """Yield each index on the disk that this shelf has not seen yet."""
        for path in self._places:
            with suppress(Unfit, OSError):
                mark = mark_of(path).text
                if self._seen.get(path) != mark:
                    self._seen[path] = mark
                    yield Index.load(path)

    def _placed(self, row: Shelved) -> Shelved:
        return replace(row, listed=replace(row.listed, path=self.folder / row.listed.path))

    def _is_inside(self, path: Path) -> bool:
        root = os.path.realpath(self.folder)
        return Path(os.path.realpath(path)).is_relative_to(root)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
