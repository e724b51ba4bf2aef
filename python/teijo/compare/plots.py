"""The plots of a comparison: the curves of all its runs over one pair of axes, one colour a run."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from teijo.analysis import measures
from teijo.compare.sides import Entry, Match
from teijo.document.model import Axis, Column, Paragraph, Series, Table, Value, XYChart
from teijo.document.phrase import Verbatim, say
from teijo.methods.pages import ms
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.hir.found import HirFound, HirSettings
from teijo.methods.pts.iops.found import IopsSettings
from teijo.methods.pts.lat.found import LatSettings
from teijo.methods.pts.settings import time_name
from teijo.methods.pts.tp.found import TpSettings
from teijo.methods.pts.wsat.found import WsatFound, WsatSettings
from teijo.methods.pts.xsr.found import XsrFound, XsrSettings
from teijo.methods.scaled import full_size
from teijo.methods.settings import Settings
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell
from teijo.units import GIGA, KIB, format_block_size

S = TypeVar("S", bound=Settings)
Points = Sequence[tuple[Value, float | None]]
Style = Literal["line", "points", "line and points", "bars"]
_Value = Callable[[Cell], float]
_MIXES = (0, 65, 100)
"""The mixes of the IOPS matrix that are drawn; its tables have all of them."""
_BARS_MOST = 12
_SWEEP_NOTE = (
    "Of the points of the sweep with one total of outstanding I/Os the one with the most IOPS is "
    "drawn; the reports of the runs have all of them."
)
CURVES_MOST = 8
"""As many as a chart has colours for."""
_DIGITS = {"MB/s": 2, "ms": 4, "%": 2}


def plots_of(match: Match) -> tuple[XYChart, ...]:
    """Return the plots of one test: those that people read its reports for.

    Of more runs than a chart has colours for the first ones of each side are drawn.
    """
    match = _drawn(match)
    settings: Settings = match.entries[0].part.found.settings
    rounds = _rounds(match)
    match settings:
        case IopsSettings():
            return (*_iops(match, settings), *rounds)
        case TpSettings():
            return (_cells(match, "Throughput", "MB/s", lambda c: c.throughput_mb_s), *rounds)
        case LatSettings():
            mean = _cells(match, "Mean latency", "ms", lambda c: ms(c.latency_ns_mean))
            longest = _cells(match, "Maximum latency", "ms", lambda c: ms(c.latency_ns_max))
            return (mean, longest, *rounds)
        case DemandSettings():
            return (*_demand(match), *rounds)
        case WsatSettings():
            return _saturation(match)
        case HirSettings():
            return (_gains(match),)
        case XsrSettings():
            return (_recovery(match),)
        case Settings():
            return ()


def plots_notes(match: Match) -> list[Paragraph]:
    """Return what must be known to read the plots of a test."""
    found = []
    if len(match.entries) > CURVES_MOST:
        text = say(
            "Of {count} runs the first ones of each side are drawn, {most} in all.",
            count=len(match.entries),
            most=CURVES_MOST,
        )
        found.append(Paragraph(text=text))
    if isinstance(match.entries[0].part.found.settings, DemandSettings):
        found.append(Paragraph(text=_SWEEP_NOTE))
    return found


def _drawn(match: Match) -> Match:
    """Return the match with so many runs as can be drawn, in turns from each side."""
    if len(match.entries) <= CURVES_MOST:
        return match
    by_side = [match.of(side) for side in match.sides]
    in_turns = [
        entries[place]
        for place in range(max(map(len, by_side)))
        for entries in by_side
        if place < len(entries)
    ]
    kept = {entry.label for entry in in_turns[:CURVES_MOST]}
    return replace(match, entries=tuple(e for e in match.entries if e.label in kept))


def overlay(
    title: str,
    x: Axis,
    y: Axis,
    curves: Sequence[tuple[str, Points]],
    *,
    style: Style = "line and points",
    table: Table | None = None,
) -> XYChart:
    """Return curves by the names of their runs, with a table that has a column for each.

    A row of the table is a place that one of them has; the others may have none there.
    """
    is_log = y.scale == "log"
    series = tuple(
        Series(
            name=Verbatim(name),
            x=tuple(place for place, _ in points),
            y=tuple(None if is_log and not value else value for _, value in points),
            style=style,
        )
        for name, points in curves
    )
    return XYChart(title=title, x=x, y=y, series=series, table=table or _table(x, y, curves))


def _table(x: Axis, y: Axis, curves: Sequence[tuple[str, Points]]) -> Table:
    places = list(dict.fromkeys(place for _, points in curves for place, _ in points))
    if x.scale != "category":
        places.sort(key=lambda place: place if isinstance(place, int | float) else 0.0)
    found = [dict(points) for _, points in curves]
    return Table(
        columns=(
            Column(name=x.name, unit=x.unit, digits=_digits(places)),
            *(
                Column(name=Verbatim(name), unit=y.unit or y.name, digits=_DIGITS.get(y.unit, 1))
                for name, _ in curves
            ),
        ),
        rows=tuple((place, *(each.get(place) for each in found)) for place in places),
        folded=True,
    )


def _digits(places: Sequence[Value]) -> int | None:
    """Return the digits that places on an axis need, at most three; None where they are names."""
    numbers = [place for place in places if isinstance(place, int | float)]
    if len(numbers) < len(places):
        return None
    return next((n for n in range(3) if all(round(at, n) == at for at in numbers)), 3)


def _settings(entry: Entry, kind: type[S]) -> S:
    assert isinstance(entry.part.found.settings, kind), entry.part.found.settings
    return entry.part.found.settings


def _curves(match: Match, points: Callable[[Entry], Points]) -> list[tuple[str, Points]]:
    return [(entry.label, points(entry)) for entry in match.entries]


def _rounds(match: Match) -> tuple[XYChart, ...]:
    """Return the tracking variables that all runs have, by round: how each came to its window."""
    by_run = [
        {str(state.variable): state for state in entry.part.findings.steady_states}
        for entry in match.entries
    ]
    names = [name for name in by_run[0] if all(name in each for each in by_run)]
    return tuple(
        overlay(
            say("{variable} by round", variable=by_run[0][name].variable),
            Axis(name="Round", from_zero=False),
            Axis(name="Tracking variable", unit=by_run[0][name].unit),
            [
                (entry.label, tuple(zip(each[name].rounds, each[name].values, strict=True)))
                for entry, each in zip(match.entries, by_run, strict=True)
            ],
        )
        for name in names[:1]
        if all(each[name].rounds for each in by_run)
    )


def _iops(match: Match, settings: IopsSettings) -> tuple[XYChart, ...]:
    mixes = [mix for mix in _MIXES if mix in settings.mixes_read_percent]

    def points(mix: int) -> Callable[[Entry], Points]:
        def of(entry: Entry) -> Points:
            found = {cell.labels: cell for cell in entry.part.findings.cells}
            own = sorted(_settings(entry, IopsSettings).block_sizes_bytes)
            keys = [
                (block, (("r/w mix", mix_name(mix)), ("block size", format_block_size(block))))
                for block in own
            ]
            return [(block / KIB, found[key].iops) for block, key in keys if key in found]

        return of

    return tuple(
        overlay(
            say("IOPS at R/W {mix} by block size", mix=mix_name(mix)),
            Axis(name="Block size", unit="KiB", scale="log"),
            Axis(name="IOPS", scale="log"),
            _curves(match, points(mix)),
        )
        for mix in mixes
    )


def _cells(match: Match, name: str, unit: str, value: _Value) -> XYChart:
    """Return a figure of every cell: bars while their numbers have room, else points."""

    def points(entry: Entry) -> Points:
        return [
            (Verbatim(" ".join(part for _, part in reversed(cell.labels))), value(cell))
            for cell in entry.part.findings.cells
        ]

    curves = _curves(match, points)
    roomy = sum(len(each) for _, each in curves) <= _BARS_MOST
    x, y = Axis(name="Cell", scale="category"), Axis(name=name, unit=unit)
    if roomy:
        return overlay(name, x, y, curves, style="bars")
    return overlay(name, x, replace(y, scale="log"), curves, style="points")


def _demand(match: Match) -> tuple[XYChart, XYChart]:
    best = [(entry.label, _best_by_demand(entry)) for entry in match.entries]
    totals = sorted({total for _, cells in best for total in cells})
    table = Table(
        columns=(
            Column(name="Total OIO (TC × QD)", digits=0),
            *(
                column
                for name, _ in best
                for column in (
                    Column(name=say("{run}, IOPS", run=Verbatim(name)), digits=1),
                    Column(name=say("{run}, ART", run=Verbatim(name)), unit="ms", digits=4),
                )
            ),
        ),
        rows=tuple(
            (
                total,
                *(
                    value
                    for _, cells in best
                    for value in (
                        (cells[total].iops, ms(cells[total].latency_ns_mean))
                        if total in cells
                        else (None, None)
                    )
                ),
            )
            for total in totals
        ),
        folded=True,
    )
    return (
        overlay(
            "Demand intensity: ART against IOPS",
            Axis(name="IOPS"),
            Axis(name="ART", unit="ms", scale="log"),
            [
                (name, [(cell.iops, ms(cell.latency_ns_mean)) for cell in cells.values()])
                for name, cells in best
            ],
            table=table,
        ),
        overlay(
            "IOPS against total OIO",
            Axis(name="Total OIO (TC × QD)", scale="log"),
            Axis(name="IOPS"),
            [(name, [(total, cell.iops) for total, cell in cells.items()]) for name, cells in best],
            table=table,
        ),
    )


def _best_by_demand(entry: Entry) -> dict[int, Cell]:
    """Return the point of most IOPS for each total of outstanding I/Os, little demand first."""
    best: dict[int, Cell] = {}
    for cell in entry.part.findings.cells:
        (_, threads), (_, depth) = cell.labels
        total = int(threads) * int(depth)
        if total not in best or cell.iops > best[total].iops:
            best[total] = cell
    return dict(sorted(best.items()))


@dataclass(frozen=True, kw_only=True)
class _Minute:
    """One minute of a run that saturates a drive, as its curves need it."""

    number: int
    iops: float
    written_gb: float
    fills: float
    latency_ms: float


def _minutes(entry: Entry) -> list[_Minute]:
    found = entry.part.found
    assert isinstance(found, WsatFound), found
    capacity = found.record.geometry.capacity_bytes
    return [
        _Minute(
            number=number,
            iops=sample.iops,
            written_gb=sample.written_bytes / GIGA,
            fills=sample.written_bytes / capacity,
            latency_ms=ms(measures.latency_ns_mean(answer)),
        )
        for number, (sample, answer) in enumerate(
            zip(found.samples, found.answers, strict=True), start=1
        )
    ]


def _saturation(match: Match) -> tuple[XYChart, ...]:
    runs = [(entry.label, _minutes(entry)) for entry in match.entries]
    time = _time_axis(_settings(entry, WsatSettings) for entry in match.entries)
    table = _minutes_table(runs)
    iops = Axis(name="IOPS", scale="log")
    rulers: tuple[tuple[str, Axis, Callable[[_Minute], float]], ...] = (
        ("IOPS against time", time, lambda one: one.number),
        (
            "IOPS against total written",
            Axis(name="Total written (TGBW)", unit="GB"),
            lambda one: one.written_gb,
        ),
        (
            "IOPS against drive fills",
            Axis(name="Drive fills", unit="user capacities"),
            lambda one: one.fills,
        ),
    )
    latency = overlay(
        "Mean latency against time",
        time,
        Axis(name="ART", unit="ms", scale="log"),
        [(name, [(one.number, one.latency_ms) for one in minutes]) for name, minutes in runs],
        style="line",
        table=table,
    )
    return (
        *(
            overlay(
                title,
                axis,
                iops,
                [(name, [(place(one), one.iops) for one in minutes]) for name, minutes in runs],
                style="line",
                table=table,
            )
            for title, axis, place in rulers
        ),
        latency,
    )


def _time_axis(settings: Iterable[WsatSettings | XsrSettings]) -> Axis:
    """Return the axis of minutes, named as in each run's own report where they have one minute."""
    minutes_ns = {each.minute_ns for each in settings}
    name = time_name(minutes_ns.pop()) if len(minutes_ns) == 1 else "Time (of each run's minute)"
    return Axis(name=name, unit="min")


def _minutes_table(runs: Sequence[tuple[str, Sequence[_Minute]]]) -> Table:
    longest = max(len(minutes) for _, minutes in runs)
    columns = [Column(name="Minute", digits=0)]
    for name, _ in runs:
        run = Verbatim(name)
        columns += [
            Column(name=say("{run}, IOPS", run=run), digits=1),
            Column(name=say("{run}, ART", run=run), unit="ms", digits=4),
            Column(name=say("{run}, TGBW", run=run), unit="GB", digits=3),
            Column(name=say("{run}, drive fills", run=run), digits=4),
        ]
    rows: list[tuple[Value, ...]] = []
    for place in range(longest):
        row: list[Value] = [place + 1]
        for _, minutes in runs:
            if place < len(minutes):
                one = minutes[place]
                row += [one.iops, one.latency_ms, one.written_gb, one.fills]
            else:
                row += [None] * 4
        rows.append(tuple(row))
    return Table(columns=tuple(columns), rows=tuple(rows), caption="Every minute", folded=True)


def _gains(match: Match) -> XYChart:
    def points(entry: Entry) -> Points:
        found = entry.part.found
        assert isinstance(found, HirFound), found
        return [
            (wait.idle_s, gain.share * 100)
            for wait in found.waits
            if (gain := wait.gain) is not None
        ]

    return overlay(
        "What idling gained: bursts against writes without a rest",
        Axis(name="Idle time", unit=full_size("s", match.entries[0].part.record.geometry)),
        Axis(name="Gain", unit="%"),
        _curves(match, points),
    )


def _recovery(match: Match) -> XYChart:
    def points(entry: Entry) -> Points:
        found = entry.part.found
        assert isinstance(found, XsrFound), found
        return list(enumerate(found.rates, start=1))

    return overlay(
        "Throughput against time, all groups",
        _time_axis(_settings(entry, XsrSettings) for entry in match.entries),
        Axis(name="Throughput", unit="MB/s"),
        _curves(match, points),
        style="line",
    )
