"""Runs beside runs: which of them are one side, and what the comparison is."""

from collections.abc import Iterable, Mapping, Sequence

from teijo.api.reading import Run
from teijo.compare.comparison import Comparison, compared
from teijo.compare.pages import pages
from teijo.compare.sides import Side, names_for
from teijo.document.model import Document


def compare(
    runs: Sequence[Run] | Mapping[str, Sequence[Run]], *, allow: Iterable[str] = ()
) -> Comparison:
    """Return what differs between runs; the first is what the others are held against.

    A mapping names the sides, and several runs under one name repeat each other. `allow` names
    what may differ between their conditions ("oio", "spec" …).

    Raises:
        UsageError: nothing to compare, or conditions differ that were not allowed to.
    """
    if not isinstance(runs, Mapping):
        names = names_for([run.record for run in runs], [run.path.stem for run in runs])
        runs = {name: (run,) for name, run in zip(names, runs, strict=True)}
    sides = [
        Side(name=name, records=tuple(run.record for run in several))
        for name, several in runs.items()
    ]
    return compared(sides, allow)


def comparison_document(comparison: Comparison) -> Document:
    """Return the report of a comparison."""
    return pages(comparison)
