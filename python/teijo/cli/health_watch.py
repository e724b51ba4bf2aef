"""`teijo health --watch`: what changes of a drive, a line each interval, until Ctrl-C."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from teijo.api.device_json import VERSION
from teijo.cli import console
from teijo.errors import TeijoError
from teijo.report.width import columns_of, wrapped
from teijo.speech.tongue import reported, said, tr
from teijo.units import format_capacity, format_duration

if TYPE_CHECKING:
    from teijo.analysis.amplification import Amplification
    from teijo.analysis.drive_changes import Change, Course
    from teijo.terms.reading import Reading

HEADS = ("TIME", "NOW", "HOST WROTE", "NAND WROTE", "WAF", "ERRORS", "SAID")
WIDTHS = (8, 6, 10, 10, 5, 6, 0)
HANG = " " * 10
HEAD_EVERY = 20
"""Lines of a terminal after which the head stands once more."""
QUIET, LOUD = "dim", "yellow"
"""Styles on a terminal: as the names on the live screen of a run, and what is to be seen to."""
KEPT = 4096
"""Looks that the summary is made of: of more, the first and the latest."""


def follow(target: str, *, interval_ns: int, as_json: bool) -> None:
    """Print a line each interval until Ctrl-C, then a summary."""
    from teijo.analysis.drive_changes import change, course
    from teijo.device.health.following import follow as looks
    from teijo.device.health.report import drive_of

    readings: list[Reading] = []
    try:
        with drive_of(target) as subject:
            for number, reading in enumerate(looks(subject, interval_ns)):
                before = next((each for each in reversed(readings) if each.counters), None)
                readings.append(reading)
                del readings[1:-KEPT]
                since = change(before, reading) if before and reading.counters else None
                if as_json:
                    _put(_look_json(reading, since))
                else:
                    if number % HEAD_EVERY == 0:
                        _put_row(tuple(said(head) for head in HEADS), QUIET)
                    _put_row(_cells(reading, since), _style(reading, since))
                console.finish()
    except KeyboardInterrupt:
        _end(course(readings), as_json=as_json)
    except TeijoError:
        # What was seen before a drive went away is not lost.
        if readings:
            _end(course(readings), as_json=as_json)
        raise


def _end(whole: "Course", *, as_json: bool) -> None:
    """Print what all looks together show."""
    if as_json:
        _put({"kind": "summary", "version": VERSION, **_course_json(whole)})
        return
    for line in summary(whole):
        console.put(line)


def _put(value: dict[str, object]) -> None:
    console.put(console.as_json(value))


def _cells(reading: "Reading", since: "Change | None") -> tuple[str, ...]:
    """Return the cells of a look; what the first one tells has nothing before it to differ from."""
    from teijo.analysis.drive_changes import celsius_of

    if not reading.counters:
        return (_time(), "", "", "", "", "", tr("not told: {WHY}", WHY=said(reading.error)))
    if since is None:
        celsius = _celsius(celsius_of(reading))
        return (_time(), celsius, "", "", "", "", tr("the first look"))
    return (
        _time(),
        _celsius(since.celsius),
        _bytes(since.host_bytes),
        _bytes(since.media_bytes),
        _factor(since.amplification),
        "" if since.media_errors is None else f"+{since.media_errors:,}",
        _warnings(since),
    )


def _style(reading: "Reading", since: "Change | None") -> str:
    """Return how a look stands out on a terminal: one with something to see to, or with nothing."""
    if not reading.counters:
        return QUIET
    if since is None:
        return ""
    return LOUD if since.warnings or since.media_errors else ""


def _put_row(cells: tuple[str, ...], style: str) -> None:
    """Print a line of the table; what a drive says that does not fit the terminal stands below."""
    *numbers, words = (
        " " * max(0, width - columns_of(cell)) + cell
        for cell, width in zip(cells, _widths(), strict=True)
    )
    line, room = "  ".join(numbers), console.width(sys.stdout)
    if room is None or columns_of(line) + 2 + columns_of(words) <= room:
        console.put(f"{line}  {words}".rstrip(), style)
        return
    console.put(line.rstrip(), style)
    for part in wrapped(words, room, indent=HANG):
        console.put(part, style)


def _widths() -> tuple[int, ...]:
    """Return how wide each column is: as its head in the language that is spoken, or wider."""
    return tuple(
        max(width, columns_of(said(head))) if width else 0
        for head, width in zip(HEADS, WIDTHS, strict=True)
    )


def summary(whole: "Course") -> Iterator[str]:
    """Yield what all looks together show."""
    told = whole.whole
    yield ""
    seconds = format_duration(told.elapsed_ns) if told else tr("no time")
    yield tr("{n} looks in {time}", n=whole.looks, time=seconds)
    if whole.blind:
        yield tr("not told at {n} of them", n=whole.blind)
    if whole.hottest_celsius is not None:
        low, high = whole.coolest_celsius, whole.hottest_celsius
        yield tr("temperature: {low} to {high} °C", low=low, high=high)
    if told is None:
        return
    if told.host_bytes is not None:
        yield tr("written by the host: {n}", n=format_capacity(told.host_bytes))
    if told.media_bytes is not None:
        yield tr("written to the NAND: {n}", n=format_capacity(told.media_bytes))
    if told.amplification is not None:
        yield tr("write amplification: {n}", n=_whole_factor(told.amplification))
    if told.media_errors is not None:
        yield tr("media errors: {n} more", n=f"{told.media_errors:,}")
    words = _warnings(told) or tr("nothing")
    yield tr("said against itself: {words}", words=words)


def _whole_factor(found: "Amplification") -> str:
    if not found.is_known:
        return tr("cannot be known, too little was written")
    low, high = found.ends
    return tr("{n} ({low} to {high})", n=f"{found.value:.2f}", low=f"{low:.2f}", high=f"{high:.2f}")


def _factor(found: "Amplification | None") -> str:
    if found is None:
        return ""
    return f"{found.value:.2f}" if found.is_known else "?"


def _warnings(since: "Change") -> str:
    return "; ".join(reported(each) for each in since.warnings)


def _time() -> str:
    return f"{datetime.now():%H:%M:%S}"


def _celsius(value: int | None) -> str:
    return "" if value is None else f"{value} °C"


def _bytes(value: int | None) -> str:
    return "" if value is None else format_capacity(value)


def _look_json(reading: "Reading", since: "Change | None") -> dict[str, object]:
    return {
        "kind": "look",
        "version": VERSION,
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "at_ns": reading.at_ns,
        "cost_ns": reading.cost_ns,
        "not_told": reading.error or None,
        "counters": dict(reading.counters),
        "change": None if since is None else _change_json(since),
    }


def _course_json(whole: "Course") -> dict[str, object]:
    told = {name: value for name, value in asdict(whole).items() if name != "whole"}
    return told | {"change": None if whole.whole is None else _change_json(whole.whole)}


def _change_json(since: "Change") -> dict[str, object]:
    found = since.amplification
    factor = None
    if found is not None and found.is_known:
        least, most = found.ends
        factor = {"value": found.value, "least": least, "most": most}
    return {
        "elapsed_ns": since.elapsed_ns,
        "celsius": since.celsius,
        "host_writes_bytes": since.host_bytes,
        "media_writes_bytes": since.media_bytes,
        "media_errors": since.media_errors,
        "write_amplification": factor,
        "said": [str(each) for each in since.warnings],
    }
