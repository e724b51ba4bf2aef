"""What analysis found in a record: verdicts with every operand, ready for a report or JSON."""

from dataclasses import dataclass
from typing import Protocol

from teijo.terms.conformance import LedgerLine


@dataclass(frozen=True, kw_only=True)
class Window:
    """One determination over consecutive rounds (PTS 2.0.2 §2.1.24), in the variable's unit.

    Steady when `range` <= `range_limit` (20 % of the average) and `slope_excursion` <=
    `slope_limit` (10 % of the average); `slope_excursion` is |slope| × (rounds − 1). The line is
    `slope` · round + `intercept`. These are doubles, each nearest to the truth; `range_ok` and
    `slope_ok` were judged on exact numbers, so that no unit decides. Values that average to
    nothing (a device that answers no I/O) are never steady.
    """

    first_round: int
    last_round: int
    values: tuple[float, ...]
    average: float
    range: float
    range_limit: float
    slope: float
    intercept: float
    slope_excursion: float
    slope_limit: float
    range_ok: bool
    slope_ok: bool

    @property
    def steady(self) -> bool:
        """Whether both are, of something that was measured at all."""
        return self.average > 0 and self.range_ok and self.slope_ok


@dataclass(frozen=True, kw_only=True)
class SteadyState:
    """The determination of one tracking variable over all rounds so far.

    `values` has one value per round; `windows` every window looked at, in order. `reached` is
    the place in `windows` of the first one in which this and every other tracking variable of
    the same determination is steady, None where there is none.
    """

    variable: str
    unit: str
    rounds: tuple[int, ...]
    values: tuple[float, ...]
    windows: tuple[Window, ...]
    reached: int | None

    @property
    def window(self) -> Window | None:
        """The window to report: the first steady one, else the last looked at."""
        if self.reached is not None:
            return self.windows[self.reached]
        return self.windows[-1] if self.windows else None


class Determined(Protocol):
    """What came of a determination: see Findings."""

    @property
    def converged(self) -> bool | None:
        """Whether steady state was reached; None where it is not asked."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds were measured whole."""
        ...

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last round of the measurement window."""
        ...


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """One number with its name and unit ("first 4 KiB write plateau", 56140.2, "IOPS")."""

    name: str
    value: float | None
    unit: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a matrix: its labels, and the mean over the window's rounds.

    The latency of a mixed cell is the mean over its I/Os, reads and writes alike; the maximum is
    the largest of the rounds' maxima.
    """

    labels: tuple[tuple[str, str], ...]
    """((axis, place), …), e.g. (("r/w mix", "0/100"), ("block size", "4 KiB"))."""
    iops: float
    throughput_mb_s: float
    latency_ns_mean: float
    latency_ns_max: int


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that a method found. `converged` is None where steady state is not asked.

    `window_rounds` are the rounds every cell is averaged over (the measurement window), equal
    for all tracking variables.
    """

    method: str
    spec: str
    converged: bool | None
    rounds: int
    window_rounds: tuple[int, int] | None = None
    steady_states: tuple[SteadyState, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    cells: tuple[Cell, ...] = ()
    parts: tuple["PartFindings", ...] = ()
    """The tests of a campaign that have begun; empty for a run of one test."""
    ledger: tuple[LedgerLine, ...] = ()
    """How the run kept to its standard; empty where it follows none, and of a campaign."""


@dataclass(frozen=True, kw_only=True)
class PartFindings:
    """What one test of a campaign found, under its name in the campaign."""

    name: str
    findings: Findings
