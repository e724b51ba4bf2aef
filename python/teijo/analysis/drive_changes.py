"""What changed of a drive between two looks at it: writes, errors, heat, and its amplification."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.analysis.amplification import MEDIA_WRITES, Amplification, amplification
from teijo.analysis.measures import HOST_WRITES
from teijo.analysis.throttling import MEDIA_ERRORS, warnings_between
from teijo.terms.reading import Reading
from teijo.units import ZERO_CELSIUS_KELVIN

TEMPERATURE: Final = "temperature_kelvin"


@dataclass(frozen=True, kw_only=True)
class Change:
    """From one look to a later one; None is not told, at one of the two. A counter that fell is no
    count of what came between, and so is None too.

    `warnings` are what the drive began to say against itself. `amplification` has its doubt in it;
    None where the drive does not count what reached the media.
    """

    elapsed_ns: int
    celsius: int | None
    host_bytes: int | None
    media_bytes: int | None
    media_errors: int | None
    warnings: tuple[str, ...]
    amplification: Amplification | None


def celsius_of(reading: Reading) -> int | None:
    """Return a drive's temperature in °C, None where it did not tell it."""
    kelvin = reading.counters.get(TEMPERATURE)
    return None if kelvin is None else kelvin - ZERO_CELSIUS_KELVIN


def change(before: Reading, after: Reading) -> Change:
    """Return what changed between two looks."""
    return Change(
        elapsed_ns=after.at_ns - before.at_ns,
        celsius=celsius_of(after),
        host_bytes=_grown(before, after, HOST_WRITES),
        media_bytes=_grown(before, after, MEDIA_WRITES),
        media_errors=_grown(before, after, MEDIA_ERRORS),
        warnings=warnings_between(before, after),
        amplification=amplification(((before, after),)),
    )


@dataclass(frozen=True, kw_only=True)
class Course:
    """All looks together: `whole` from the first that was told to the last, None for one or none.

    `blind` is how many were not told.
    """

    looks: int
    blind: int
    coolest_celsius: int | None
    hottest_celsius: int | None
    whole: Change | None


def course(readings: Sequence[Reading]) -> Course:
    """Return what a series of looks shows."""
    told = [each for each in readings if each.counters]
    celsius = [degrees for degrees in map(celsius_of, told) if degrees is not None]
    return Course(
        looks=len(readings),
        blind=len(readings) - len(told),
        coolest_celsius=min(celsius, default=None),
        hottest_celsius=max(celsius, default=None),
        whole=change(told[0], told[-1]) if len(told) > 1 else None,
    )


def _grown(before: Reading, after: Reading, name: str) -> int | None:
    if name not in before.counters or name not in after.counters:
        return None
    by = after.counters[name] - before.counters[name]
    return by if by >= 0 else None
