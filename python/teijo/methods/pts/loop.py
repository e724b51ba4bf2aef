"""What the PTS methods of rounds share beside their pages: determinations, figures over the
window's rounds, and curves to compare.
"""

from collections.abc import Callable, Iterable, Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import Tracked, determine
from teijo.document.curve import Curve
from teijo.document.grid import Edge
from teijo.document.model import Axis
from teijo.document.phrase import Verbatim, say
from teijo.methods.pages import ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.rounds import Round
from teijo.terms.finding import Cell, Scalar, SteadyState
from teijo.terms.histogram import EMPTY
from teijo.terms.record import Record
from teijo.terms.result import StepResult


def checked(variable: str, checks: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination of the IOPS of check minutes, numbered from 1."""
    # Exact: in doubles [90, 110, 100, 110, 90] is steady, and a hundredth of it is not.
    values = tuple(measures.exact_iops(answer) for answer in checks)
    tracked = Tracked(variable=variable, unit="IOPS", values=values)
    return determine(range(1, len(checks) + 1), [tracked])


def by_minute(minute_ns: int, places: Sequence[float]) -> Edge:
    """Return the edge of the standard's minutes, named by what one is here."""
    return Edge(
        name=shared.time_name(minute_ns),
        unit="min",
        digits=0,
        places=tuple(places),
        # XSR's plots of a switch begin in mid run: from zero, most of them would be empty.
        from_zero=not places or places[0] == 1,
    )


def written_in(record: Record) -> Scalar:
    """Return what was written in the whole run."""
    written = sum(map(measures.written_bytes, record.answers))
    return Scalar(name="written in the run", value=written / units.GIGA, unit="GB")


def scalars_of(rows: Iterable[tuple[str, float | None, str]]) -> tuple[Scalar, ...]:
    """Return scalars of names, values and units."""
    return tuple(Scalar(name=name, value=value, unit=unit) for name, value, unit in rows)


def window_scalars(record: Record, window: Sequence[Round]) -> tuple[Scalar, ...]:
    """Return what was written in the run, and over the window its amplification and gaps."""
    in_window = [answer for each in window for _, answer in each.cells]
    amplification = measures.write_amplification(in_window)
    # Idle time between two cells lets a drive recover (HIR), and so is a figure of the window.
    gap_ms = max((ms(answer.gap_ns) for answer in in_window), default=None)
    rows = (
        ("write amplification over the window", amplification, ""),
        ("longest gap between the window's steps", gap_ms, "ms"),
    )
    return (written_in(record), *scalars_of(rows))


def histogram_scalars(run: StepResult | None) -> tuple[Scalar, ...]:
    """Return ART, 5 9s and MRT of the histogram's run, each None before it took place."""
    latency = EMPTY if run is None else measures.latency_of(run)
    levels = (
        ("ART of the histogram's run", ms(latency.mean_ns)),
        ("5 9s of the histogram's run", five_nines_ms(latency)),
        ("MRT of the histogram's run", ms(latency.max_ns)),
    )
    return scalars_of((name, value if latency.count else None, "ms") for name, value in levels)


def tracking_curves(states: Sequence[SteadyState]) -> tuple[Curve, ...]:
    """Return the tracking variables by round: how a run came to its window."""
    return tuple(
        Curve(
            title=say("{variable} by round", variable=state.variable),
            x=Axis(name="Round", from_zero=False),
            y=Axis(name="Tracking variable", unit=state.unit),
            points=tuple(zip(state.rounds, state.values, strict=True)),
            tracks=True,
        )
        for state in states
    )


def cell_curve(
    cells: Iterable[Cell], name: str, unit: str, value: Callable[[Cell], float]
) -> Curve:
    """Return a figure of every cell."""
    return Curve(
        title=name,
        x=Axis(name="Cell", scale="category"),
        y=Axis(name=name, unit=unit),
        points=tuple(
            (Verbatim(" ".join(part for _, part in reversed(cell.labels))), value(cell))
            for cell in cells
        ),
        style="bars",
    )
