"""When statements ended and how long they took, and what came of them as a result."""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from teijo.terms.histogram import histogram_of
from teijo.terms.result import Intervals, OperationResult
from teijo.units import NS_PER_S

STREAM = "sql"


class Timeline:
    """Times of statements, in ns since the work began: 8 bytes each, for there are millions."""

    def __init__(self) -> None:
        """Begin with none."""
        self.ended_ns = array("q")
        self.took_ns = array("q")
        self.waited_ns = array("q")
        """From when it was due to when it ended, where there was a schedule."""


def result_of(operation: str, parts: Sequence[Timeline]) -> OperationResult:
    """Return the statements of all clients as one result, with a time series."""
    ended = _joined([part.ended_ns for part in parts])
    took = _joined([part.took_ns for part in parts])
    waited = _joined([part.waited_ns for part in parts])
    return OperationResult(
        stream=STREAM,
        operation=operation,
        count=len(took),
        latency=histogram_of(took),
        response=histogram_of(waited) if len(waited) else None,
        intervals=_series(ended, took),
    )


def _joined(parts: Sequence["array[int]"]) -> NDArray[np.int64]:
    return np.concatenate([np.frombuffer(part, np.int64) for part in parts])


def _series(ended: NDArray[np.int64], took: NDArray[np.int64]) -> Intervals:
    index, place = np.unique(ended // NS_PER_S, return_inverse=True)
    count = np.bincount(place, minlength=len(index)).astype(np.int64)
    total, most = np.zeros(len(index), np.int64), np.zeros(len(index), np.int64)
    least = np.full(len(index), np.iinfo(np.int64).max, np.int64)
    np.add.at(total, place, took)
    np.maximum.at(most, place, took)
    np.minimum.at(least, place, took)
    nothing = np.zeros(len(index), np.int64)
    return Intervals(
        length_ns=NS_PER_S,
        index=index,
        ios=count,
        bytes=nothing,
        errors=nothing,
        latency_ns_sum=total,
        latency_ns_min=least,
        latency_ns_max=most,
    )
