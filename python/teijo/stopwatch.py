"""Times operations one by one, where this program and not its engine carries them out."""

from collections import Counter
from collections.abc import Callable
from time import monotonic_ns
from typing import TypeVar

import numpy as np

from teijo.terms.histogram import histogram_of
from teijo.terms.result import OperationResult

T = TypeVar("T")


class Stopwatch:
    """The times of one operation, and the errors of those that failed.

    `bytes_each` is what every one moves, None where it moves nothing.
    """

    def __init__(self, stream: str, operation: str, bytes_each: int | None = None) -> None:
        """Begin with none."""
        self._stream = stream
        self._operation = operation
        self._bytes_each = bytes_each
        self._times_ns: list[int] = []
        self._errors: Counter[int] = Counter()

    def time(self, act: Callable[[], T]) -> T | None:
        """Carry out an operation and return what it gave; None of one that failed.

        Errors by errno are counted, and their time is not: it says nothing of those that succeed.
        """
        began_ns = monotonic_ns()
        try:
            given = act()
        except OSError as error:
            self._errors[error.errno or 0] += 1
            return None
        self._times_ns.append(monotonic_ns() - began_ns)
        return given

    @property
    def result(self) -> OperationResult:
        """What came of all of them."""
        count = len(self._times_ns)
        return OperationResult(
            stream=self._stream,
            operation=self._operation,
            count=count,
            bytes=None if self._bytes_each is None else count * self._bytes_each,
            errors=dict(self._errors),
            latency=histogram_of(np.array(self._times_ns, np.int64)),
        )
