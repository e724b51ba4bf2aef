"""The lake as Python sees it: add run files, ask in SQL, compact, make anew, report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teijo.document.model import Document
from teijo.errors import UsageError
from teijo.lake import adding, compacting
from teijo.lake.adding import Added, Tell
from teijo.lake.compacting import Compacted
from teijo.lake.looking import Look
from teijo.lake.session import Limits, asked
from teijo.lake.store import Batch, Store
from teijo.runfile import program

_LOST = """
SELECT count(DISTINCT run_id), min(run_id) FROM stored_runs
WHERE batch IN (SELECT unnest(?)) AND run_id NOT IN (
    SELECT run_id FROM stored_runs WHERE batch NOT IN (SELECT unnest(?))
)
"""
"""The runs that are in some batches alone."""


def _untold(done: int, files: int) -> None:
    del done, files


@dataclass(frozen=True)
class Lake:
    """A lake, which need not be there yet: `add` makes it.

    `limits` are what a question may take.
    """

    store: Store
    limits: Limits = field(default_factory=Limits)

    @property
    def look(self) -> Look:
        """What looks at it."""
        return Look(self.store, self.limits)

    def add(
        self,
        given: Iterable[Path | str],
        *,
        recursive: bool = False,
        processes: int = 1,
        tell: Tell = _untold,
    ) -> Added:
        """Add the sealed run files of folders, each once; what is refused is in the answer.

        More than one of `processes` share many files; a script that asks for them must be one that
        can be imported (`if __name__ == "__main__"`).

        Raises:
            RunFileError: there is no such folder. UsageError: the place is no lake, or another's.
            HostError: it cannot be written.
        """
        paths, unsealed = adding.found_in(given, recursive=recursive)
        self.store.make(program.version())
        added = adding.add_files(
            self.store.given, paths, anew=False, processes=processes, tell=tell
        )
        return added + Added(unsealed=unsealed)

    def sql(self, question: str) -> Any:
        """Return the answer to one SELECT as a pyarrow Table.

        Raises:
            UsageError: it is none that the lake can answer. HostError: it cannot be read.
        """
        self.store.check()
        return self.look.answer(lambda db: asked(db, question))

    def compact(self) -> Compacted:
        """Write the small files of each method and month as one, and remove what is left over.

        Raises:
            UsageError: there is no lake. HostError: it cannot be read or written.
        """
        self.store.check()
        return compacting.compact(self.look)

    def rebuild(
        self,
        given: Iterable[Path | str],
        *,
        recursive: bool = False,
        drop_missing: bool = False,
        processes: int = 1,
        tell: Tell = _untold,
    ) -> Added:
        """Write all of a lake anew from run files; what it had before goes once that is done.

        Raises:
            As `add`. UsageError: the lake has runs that are in none of these files, which only
            `drop_missing` lets go; it is then as it was, but for what is new.
        """
        paths, unsealed = adding.found_in(given, recursive=recursive)
        self.store.make(program.version())
        before = self.store.batches()
        added = adding.add_files(self.store.given, paths, anew=True, processes=processes, tell=tell)
        written = set(added.batches)
        old = [each for each in before if (each.partition, each.id) not in written]
        if not drop_missing:
            self._check_all_there(old)
        for each in old:
            self.store.remove(each)
        return added + Added(unsealed=unsealed)

    def document(self) -> Document:
        """Return the report of the lake's views."""
        from teijo.lake.pages import pages

        self.store.check()
        place = self.store.place
        return self.look.answer(lambda db: pages(place, lambda text: asked(db, text)))

    def _check_all_there(self, old: Sequence[Batch]) -> None:
        """Make sure that each run of old batches is in the others too.

        Raises:
            UsageError: one is not.
        """
        names = [each.id for each in old if each.is_whole]
        if not names:
            return
        lost, one = self.look.answer(lambda db: db.execute(_LOST, [names, names]).fetchone())
        if lost:
            raise UsageError(
                f"The lake {self.store.place} has {lost:,} runs whose run files are not in "
                f"these folders, such as {one}",
                remedy="Name their folders too, or let these runs go: --drop-missing",
            )
