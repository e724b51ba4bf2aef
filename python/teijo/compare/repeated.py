"""Runs that repeat each other: each run's value is a batch of what they are compared by."""

import math
from collections.abc import Sequence
from dataclasses import replace

from teijo.analysis.difference import level_of
from teijo.analysis.quantities import Quantity


def repeated(several: Sequence[Sequence[Quantity]]) -> tuple[Quantity, ...]:
    """Return the quantities of runs that repeat each other: each run's value is a batch then.

    What one of them has not measured is left out.
    """
    by_run = [{(each.place, each.figure): each for each in run} for run in several]
    found = []
    for key, first in by_run[0].items():
        same = [run[key] for run in by_run if key in run]
        if len(same) < len(by_run):
            continue
        values = tuple(each.value for each in same)
        found.append(
            replace(
                first,
                value=math.fsum(values) / len(values),
                batches=values,
                batch_samples=1,
                resolution=max(each.resolution for each in same),
                runs=len(same),
                own_error=math.fsum(_own_error(each) for each in same) / len(same),
                load="",
            )
        )
    return tuple(found)


def _own_error(run: Quantity) -> float:
    level = level_of(run.batches)
    return 0.0 if level is None else level.squared_error
