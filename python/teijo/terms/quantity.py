"""What can be compared between runs: a figure at one place of a test, and how well it is known."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is measured: its name, its unit, and whether more of it is faster."""

    name: str
    unit: str = ""
    digits: int = 1
    more_is_faster: bool = True


IOPS = Figure(name="IOPS")
THROUGHPUT = Figure(name="Throughput", unit="MB/s", digits=2)
LATENCY = Figure(name="Mean latency", unit="ms", digits=4, more_is_faster=False)
LATENCY_MAX = Figure(
    name="Maximum latency, mean of rounds", unit="ms", digits=3, more_is_faster=False
)
"""A single long I/O in one round does not decide it, as it decides the longest of the window."""
FIGURES = (IOPS, THROUGHPUT, LATENCY, LATENCY_MAX)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One figure at one place of a test. `value` is what the test's report says; `batches` are
    what its uncertainty is told from, each of `batch_samples` neighbours. `by_round` holds of the
    window's rounds, in order. `resolution` is the share that one I/O is of those behind a batch.

    `steady` is what was determined of the window that it is measured in, None where nothing was.
    Of several `runs` each one's value is a batch, and `own_error` the squared relative error
    that one of them has by its rounds. `load` is the demand that a run chose by itself.
    """

    place: str
    figure: Figure
    value: float
    batches: tuple[float, ...]
    by_round: bool = False
    resolution: float = 0.0
    batch_samples: int = 1
    steady: bool | None = None
    runs: int = 1
    own_error: float = 0.0
    load: str = ""
