"""A look at a lake as it is now: its whole batches, a connection to them, what it has already."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import duckdb
import pyarrow

from teijo.errors import HostError, TeijoError
from teijo.lake.session import Limits, session
from teijo.lake.store import Batch, Partition, Store

T = TypeVar("T")
_TRIES: Final = 10
"""A lake that is compacted meanwhile may lose a file between its listing and its reading."""
_WORDS_MOST: Final = 400


@dataclass(frozen=True)
class Look:
    """Who looks at a lake, and what a question may take."""

    store: Store
    limits: Limits = field(default_factory=Limits)

    def whole(self) -> list[Batch]:
        """Return the batches that count."""
        return [each for each in self.store.batches() if each.is_whole]

    @contextmanager
    def session(self, batches: Sequence[Batch] | None = None) -> Iterator[Any]:
        """Yield a connection to all of the lake, or to some whole batches of it."""
        seen = self.whole() if batches is None else batches
        with session(self.store, seen, self.limits) as db:
            yield db

    def answer(self, ask: Callable[[Any], T]) -> T:
        """Return what is asked of a connection to all of the lake.

        Raises:
            HostError: the lake cannot be read. Others: what `ask` does.
        """

        def act(batches: Sequence[Batch]) -> T:
            with self.session(batches) as db:
                return ask(db)

        return self.tried(act)

    def tried(self, act: Callable[[Sequence[Batch]], T], of: Partition | None = None) -> T:
        """Return what is done with the whole batches of a partition, or of all.

        It is done again with those of then where files have gone meanwhile.

        Raises:
            HostError: the lake cannot be read. Others: what `act` does.
        """
        for left in reversed(range(_TRIES)):
            seen = self._of(of)
            try:
                return act(seen)
            except (duckdb.Error, pyarrow.ArrowException, OSError, TeijoError) as error:
                # DuckDB says of a file that is gone that it may not be read, as of any other.
                if left and set(seen) - set(self._of(of)):
                    continue
                if isinstance(error, TeijoError):
                    raise
                raise self._damaged(error) from error
        raise AssertionError("the last try ends in an answer or an error")

    def _of(self, partition: Partition | None) -> list[Batch]:
        return [each for each in self.whole() if partition in (None, each.partition)]

    def known(self, *, digests: Sequence[str] = (), runs: Sequence[str] = ()) -> dict[str, str]:
        """Return which of some run files the lake has: their digests by the ids of their runs."""
        if not digests and not runs:
            return {}

        def ask(db: Any) -> dict[str, str]:
            found: dict[str, str] = {}
            for name, values in (("digest", digests), ("run_id", runs)):
                if values:
                    question = f"SELECT run_id, digest FROM runs WHERE {name} IN (SELECT unnest(?))"
                    found |= dict(db.execute(question, [list(values)]).fetchall())
            return found

        return self.answer(ask)

    def _damaged(self, error: Exception) -> HostError:
        words = " ".join(str(error).split())[:_WORDS_MOST].rstrip(".")
        return HostError(
            f"The lake {self.store.place} cannot be read: {words}",
            remedy="If a file of it is damaged, make it anew: teijo lake rebuild DIR",
        )
