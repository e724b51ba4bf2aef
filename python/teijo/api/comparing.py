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


def sided(named: Iterable[tuple[str, Run]]) -> list[Run] | dict[str, list[Run]]:
    """Return what `compare` takes of runs that each have the name of a side, or "" for none.

    Where a side is named, a run without a name is one under that of its file.
    """
    pairs = [*named]
    if not any(name for name, _ in pairs):
        return [run for _, run in pairs]
    sides: dict[str, list[Run]] = {}
    for name, run in pairs:
        sides.setdefault(name or run.path.stem, []).append(run)
    return sides


def comparison_document(comparison: Comparison) -> Document:
    """Return the report of a comparison."""
    return pages(comparison)
