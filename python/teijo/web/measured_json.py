"""What a browser is told of what a run measured: rounds, windows, and what drive and host say."""

from typing import Any, Final

from teijo.analysis.amplification import Amplification
from teijo.analysis.steady_state import line_at
from teijo.analysis.window_shares import (
    range_percent,
    share_digits,
    share_percent,
    slope_percent,
)
from teijo.speech.tongue import reported, tr
from teijo.terms.finding import SteadyState, Window
from teijo.units import NVME_DATA_UNIT
from teijo.web.counter_words import LIMIT_NAMES, named
from teijo.web.live import Sight

Json = dict[str, Any]
_RANGE_LIMIT_PERCENT: Final = 20
_SLOPE_LIMIT_PERCENT: Final = 10


def measured_json(sight: Sight) -> Json:
    """Return all of it for a program."""
    return {"rounds": rounds_json(sight), "window": window_json(sight), "drive": drive_json(sight)}


def rounds_json(sight: Sight, first: int = 0) -> Json:
    """Return what cells measured from place `first` on: [round, cell, IOPS, MB/s, mean ms]."""
    return {
        "begun": [sight.epoch, sight.rounds.begun],
        "first": first,
        "answers": [
            [each.round_number, each.cell, each.iops, each.mb_s, each.latency_ms]
            for each in sight.rounds.answers[first:]
        ],
    }


def window_json(sight: Sight) -> list[Json]:
    """Return how far each tracking variable is: its rounds, and the window with its operands.

    Shares are in percent of the window's average; texts are as the report writes them.
    """
    windows = [state.window for state in sight.states if state.window is not None]
    digits = share_digits(windows)
    return [variable_json(state, digits) for state in sight.states if state.rounds]


def variable_json(state: SteadyState, digits: int) -> Json:
    """Return one tracking variable; see `window_json`. `digits` are those of the shares."""
    window = state.window
    first = {"name": reported(state.variable), "unit": state.unit, "rounds": len(state.rounds)}
    return first | ({"window": None} if window is None else {"window": _window(window, digits)})


def _window(window: Window, digits: int) -> Json:
    numbers = range(window.first_round, window.last_round + 1)
    lines = [line_at(window, number) for number in numbers]
    return {
        "rounds": [*numbers],
        "values": [*window.values],
        "average": window.average,
        "share": [share_percent(value, window.average) for value in window.values],
        "line": [share_percent(value, window.average) for value in lines],
        "range": _judged(range_percent(window), _RANGE_LIMIT_PERCENT, digits),
        "range_ok": window.range_ok,
        "slope": _judged(slope_percent(window), _SLOPE_LIMIT_PERCENT, digits),
        "slope_ok": window.slope_ok,
        "steady": window.steady,
    }


def _judged(share: float | None, limit: int, digits: int) -> str:
    if share is None:
        return "–"
    return tr("{share} % of {limit} %", share=f"{share:.{digits}f}", limit=limit)


def drive_json(sight: Sight, first: int = 0) -> Json:
    """Return what drive and host told; `points` from place `first` on: [s, °C, begins a line]."""
    drive = sight.drive
    return {
        "joined": drive.joined,
        "epoch": sight.epoch,
        "first": first,
        "points": [[each.at_s, each.celsius, each.begins] for each in drive.points[first:]],
        "limits": [
            {"name": f"{tr(LIMIT_NAMES[name])}: {celsius} °C", "celsius": celsius}
            for name, celsius in drive.limits_celsius.items()
        ],
        "drive": named(drive.counters),
        "host": named(drive.host),
        "amplification": _amplified(drive.amplification),
    }


def _amplified(found: Amplification | None) -> str:
    if found is None:
        return ""
    if not found.is_known:
        return tr(
            "cannot be known: {host} B written, counted {unit} B at a time",
            host=f"{found.host_bytes:,}",
            unit=f"{NVME_DATA_UNIT:,}",
        )
    low, high = found.ends
    return f"{found.value:.3f} ({low:.3f} – {high:.3f})"
