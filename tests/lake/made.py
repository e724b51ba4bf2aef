"""Run files and rows for the tests of the lake: real small runs, and copies of their rows."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from teijo import api
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.schema import LEADING, TABLES
from teijo.lake.store import store_at
from teijo.lake.writing import write_batches

SETTINGS = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
_PLACES = {column.name: place for place, column in enumerate(LEADING)}
_RUN_PLACES = {column.name: place for place, column in enumerate(TABLES["runs"])}


def make_run(path: Path, seed: int, **asked: Any) -> Path:
    """Make a small sealed run of a simulated drive with a serial number of its own."""
    target = f"sim:mlc-a?seed={seed}"
    api.run("quick", target, output=path, settings=SETTINGS, seed=seed, **asked)
    return path.with_name(path.name + ".teijo")


def another(rows: RunRows, number: int, **changes: Any) -> RunRows:
    """Return a run like another: with an id of its own, and other leading or run's values.

    `figures` are (cell, figure, value, unit, low, high, more_is_faster) of it.
    """
    leading, run = list(rows.leading), list(rows.run)
    leading[_PLACES["run_id"]] = f"run-{number:06}"
    figures = changes.pop("figures", None)
    remarks = changes.pop("remarks", rows.remarks)
    started = changes.get("started_at")
    for name, value in changes.items():
        if name in _PLACES:
            leading[_PLACES[name]] = value
        else:
            run[_RUN_PLACES[name]] = value
    digest = f"{number:064x}"
    run[_RUN_PLACES["digest"]] = digest
    if figures is not None:
        figures = tuple(
            ("", cell, figure, value, unit, low, high, way, None)
            for cell, figure, value, unit, low, high, way in figures
        )
    return replace(
        rows,
        digest=digest,
        leading=tuple(leading),
        run=tuple(run),
        month=rows.month if started is None else f"{started:%Y-%m}",
        figures=rows.figures if figures is None else figures,
        remarks=remarks,
    )


def lake_of(place: Path, runs: Iterable[RunRows], *, batches: int = 1) -> Lake:
    """Return a lake of runs that were written as so many batches."""
    lake = Lake(store_at(place))
    lake.store.make("test")
    all_of_them: Sequence[RunRows] = list(runs)
    size = -(-len(all_of_them) // batches) or 1
    for at in range(0, len(all_of_them), size):
        write_batches(lake.store, all_of_them[at : at + size])
    return lake


def rates(value: float, low: float | None = None, high: float | None = None) -> list[Any]:
    """Return the figures of a run that has one rate."""
    return [("RND 4 KiB", "iops", value, "", low, high, True)]


def at(year: int, month: int, day: int = 1) -> datetime:
    """Return the beginning of a day."""
    return datetime(year, month, day)


def copied(source: Path, target: Path) -> Path:
    """Return a copy of a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target
