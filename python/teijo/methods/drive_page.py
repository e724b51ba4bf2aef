"""The page of what a drive told of itself while the run went on, on the time axis of its IOPS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis import measures, throttling
from teijo.analysis.amplification import MEDIA_WRITES, amplification
from teijo.analysis.drive_changes import TEMPERATURE
from teijo.analysis.quantities import IOPS
from teijo.document import model
from teijo.document.grid import Edge, Figure, Grid, Line
from teijo.document.phrase import listed, say
from teijo.terms.reading import Reading
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition

POINTS_MOST: Final = 1440
SPANS_MOST: Final = 3
"""More throttled stretches are named, not shaded: their labels stand one above the other."""
_TEMPERATURE: Final = Figure(name="Temperature", unit="°C", digits=0)
_TIMES: Final = Figure(name="Throttled", unit="times", digits=0)
_ERRORS: Final = Figure(name="Media errors", digits=0)
_WRITTEN: Final = Figure(name="Written", unit="GB", digits=3)
_THROTTLING: Final = {
    "thermal_1_transitions": "Thermal state 1",
    "thermal_2_transitions": "Thermal state 2",
    "throttle_events": "Throttle events",
}
_WRITES: Final = {measures.HOST_WRITES: "Host", MEDIA_WRITES: "NAND"}


@dataclass(frozen=True, kw_only=True)
class _Point:
    """Readings drawn as one: the last of them, and the hottest. Nothing is told in a gap."""

    at_s: float
    counters: Mapping[str, int]


def drive_section(record: Record) -> model.Section | None:
    """Return what a watched drive told; None where nobody watched it."""
    if not record.readings:
        return None
    points = _points(record)
    shaded = _throttled_spans(record)
    charts = (
        _rate_chart(record, shaded),
        _temperature_chart(points, shaded),
        _grown_chart("Throttling over time", _TIMES, points, _THROTTLING),
        _grown_chart("Media errors over time", _ERRORS, points, {throttling.MEDIA_ERRORS: ""}),
        _grown_chart("Written by the host and to the NAND", _WRITTEN, points, _WRITES),
    )
    blocks: list[model.Block] = [_facts(record)]
    blocks += [each for each in charts if each is not None]
    return model.Section(title="The drive during the run", blocks=tuple(blocks))


def _facts(record: Record) -> model.Facts:
    readings = record.readings
    blind = [each for each in readings if each.error]
    counted = say("{count:,}", count=len(readings))
    if blind:
        counted = say(
            "{count:,}, of these {blind:,} without an answer ({why})",
            count=len(readings),
            blind=len(blind),
            why=blind[0].error,
        )
    slowest_ms = max(each.cost_ns for each in readings) / units.NS_PER_MS
    rows: list[tuple[str, str]] = [
        ("Readings of its log", counted),
        ("Slowest answer", say("{ms:,.3f} ms", ms=slowest_ms)),
        ("Longest time between two readings", say("{s:,.1f} s", s=_unwatched_s(record))),
    ]
    if kelvins := [each.counters[TEMPERATURE] for each in readings if TEMPERATURE in each.counters]:
        low, high = (each - units.ZERO_CELSIUS_KELVIN for each in (min(kelvins), max(kelvins)))
        told = say("{low} to {high} °C", low=low, high=high)
        rows.append(("Temperature", told if low < high else say("{celsius} °C", celsius=low)))
    slowed = _throttled(record)
    rows.append(("Throttled steps", listed(map(str, slowed)) if slowed else "none"))
    errors = [
        each.counters[throttling.MEDIA_ERRORS]
        for each in readings
        if throttling.MEDIA_ERRORS in each.counters
    ]
    if errors:
        told = say("{before:,}, then {after:,}", before=errors[0], after=errors[-1])
        rows.append(("Media errors", told))
    if amplified := _amplified(record):
        rows.append(("Write amplification by its counters", amplified))
    return model.Facts(rows=tuple(rows))


def _unwatched_s(record: Record) -> float:
    """Return the longest time in which a watched drive told nothing, in seconds."""
    told = [[each for each in piece if each.counters] for piece in throttling.sessions(record)]
    pauses = (after.at_ns - before.at_ns for piece in told for before, after in pairwise(piece))
    return max(pauses, default=0) / units.NS_PER_S


def _amplified(record: Record) -> str:
    found = amplification(throttling.sessions(record))
    if found is None:
        return ""
    if not found.is_known:
        return say(
            "cannot be known: {host:,} B written, counted {unit:,} B at a time",
            host=found.host_bytes,
            unit=units.NVME_DATA_UNIT,
        )
    low, high = found.ends
    return say("{value:.3f} ({low:.3f} to {high:.3f})", value=found.value, low=low, high=high)


def _points(record: Record) -> list[_Point]:
    """Return what is drawn, a point without counters where nobody watched the drive."""
    joined = -(-len(record.readings) // POINTS_MOST)
    found: list[_Point] = []
    for session in throttling.sessions(record):
        if found:
            found.append(_Point(at_s=session[0].at_ns / units.NS_PER_S, counters={}))
        for first in range(0, len(session), joined):
            found.append(_point(session[first : first + joined]))
    return found


def _point(readings: Sequence[Reading]) -> _Point:
    counters = dict(readings[-1].counters)
    if kelvins := [each.counters[TEMPERATURE] for each in readings if TEMPERATURE in each.counters]:
        counters[TEMPERATURE] = max(kelvins)
    return _Point(at_s=readings[-1].at_ns / units.NS_PER_S, counters=counters)


def _edge(places_s: Sequence[float]) -> Edge:
    return Edge(name="Time", unit="s", digits=3, places=tuple(places_s), from_zero=True)


def _rate_chart(record: Record, shaded: Sequence[model.Span]) -> model.XYChart | None:
    answers = [answer for kind in (Precondition, Measure) for _, answer in record.taken(kind)]
    answers.sort(key=lambda each: each.started_ns)
    if not answers:
        return None
    end_ns = max(each.started_ns + each.elapsed_ns for each in answers)
    rates = [pair for each in answers for pair in _rates(each, end_ns // POINTS_MOST)]
    values = tuple(rate for _, rate in rates)
    line = Line(figure=IOPS, values=values, style="points")
    grid = Grid(rows=_edge([at_s for at_s, _ in rates]), columns=(line,))
    title = say("{name} over time", name=IOPS.name)
    return grid.chart(title, IOPS, table=grid.table(folded=True), spans=shaded)


def _rates(answer: StepResult, least_ns: int) -> list[tuple[float, float]]:
    """Return (end in s, IOPS) of stretches of a step, each at least so long but for a short step.

    A step without a time series is one stretch.
    """
    series = [part.intervals for part in answer.results]
    lengths = [each.length_ns for each in series if each is not None]
    length_ns = max(least_ns, *lengths, 1) if lengths else 0
    pieces = answer.elapsed_ns // length_ns if length_ns else 0
    end_s = (answer.started_ns + answer.elapsed_ns) / units.NS_PER_S
    if pieces < 2 or None in series:
        return [(end_s, answer.iops)]
    ios = np.zeros(pieces, np.int64)
    for each in series:
        if each is not None:
            places = np.minimum(each.index * each.length_ns // length_ns, pieces - 1)
            np.add.at(ios, places, each.ios)
    ends_ns = [length_ns * (place + 1) for place in range(pieces - 1)] + [answer.elapsed_ns]
    lasts_ns = [ends_ns[0], *(after - before for before, after in pairwise(ends_ns))]
    return [
        ((answer.started_ns + end_ns) / units.NS_PER_S, units.per_second(count, lasts))
        for end_ns, count, lasts in zip(ends_ns, ios.tolist(), lasts_ns, strict=True)
    ]


def _temperature_chart(
    points: Sequence[_Point], shaded: Sequence[model.Span]
) -> model.XYChart | None:
    told = [each.counters.get(TEMPERATURE) for each in points]
    if not any(told):
        return None
    celsius = tuple(None if each is None else each - units.ZERO_CELSIUS_KELVIN for each in told)
    line = Line(figure=_TEMPERATURE, values=celsius)
    grid = Grid(rows=_edge([each.at_s for each in points]), columns=(line,))
    limit = next((c[throttling.LIMIT] for p in points if throttling.LIMIT in (c := p.counters)), 0)
    rules = [model.Rule(name="warning", value=limit - units.ZERO_CELSIUS_KELVIN)] if limit else []
    title = say("{name} over time", name=_TEMPERATURE.name)
    return grid.chart(title, _TEMPERATURE, table=grid.table(folded=True), rules=rules, spans=shaded)


def _grown_chart(
    title: str, y: Figure, points: Sequence[_Point], names: Mapping[str, str]
) -> model.XYChart | None:
    """Return counters as they grew since the first reading; None where none of them did."""
    lines = []
    for counter, name in names.items():
        first = next((p.counters[counter] for p in points if counter in p.counters), 0)
        scale = units.GIGA if y is _WRITTEN else 1
        grown = tuple(
            None if counter not in each.counters else (each.counters[counter] - first) / scale
            for each in points
        )
        if any(grown):
            figure = Figure(name=name or y.name, unit=y.unit, digits=y.digits)
            lines.append(Line(figure=figure, values=grown))
    if not lines:
        return None
    grid = Grid(rows=_edge([each.at_s for each in points]), columns=tuple(lines))
    note = "Since the first reading."
    return grid.chart(title, y, table=grid.table(folded=True), note=note)


def _throttled(record: Record) -> list[int]:
    """Return the numbers of the steps that were slowed by heat, in order."""
    heat = RemarkKind.THROTTLED
    return sorted({one.step for one in record.remarks if one.kind is heat and one.step})


def _throttled_spans(record: Record) -> tuple[model.Span, ...]:
    """Return the stretches to shade, neighbours as one; none where they are too many."""
    slowed = set(_throttled(record))
    found: list[tuple[int, int]] = []
    is_open = False
    for each in throttling.spans(record):
        if each.seq in slowed:
            begin = found.pop()[0] if is_open else each.started_ns
            found.append((begin, each.ended_ns))
        is_open = each.seq in slowed
    if len(found) > SPANS_MOST:
        return ()
    name = RemarkKind.THROTTLED.value
    return tuple(
        model.Span(name=name, first=first / units.NS_PER_S, last=last / units.NS_PER_S)
        for first, last in found
    )
