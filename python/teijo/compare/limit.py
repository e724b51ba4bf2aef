"""The text of a limit, read: `iops[0/100,4KiB] >= 6000`, and what can become of a limit. What it
is held against is in limits.py.

    LIMIT = [TEST "/"] FIGURE ["[" PLACE {"," PLACE} "]"] SIGN NUMBER [UNIT]

TEST names one of a campaign's; FIGURE is "iops", "throughput", "latency", "maximum latency" or a
figure of the findings by its name; PLACE is a word of a cell's name; SIGN is >=, <=, > or <.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from teijo import units
from teijo.errors import PlanError
from teijo.outside.text import unspeakable
from teijo.terms.record import Record

Sign = Literal[">=", "<=", ">", "<"]

EXAMPLE: Final = "--limit 'iops[0/100,4KiB] >= 6000'"
LONGEST: Final = 300
LIMITS_MOST: Final = 100
SEPARATOR: Final = "; "
"""Between several limits in a run file, so that none of them may hold a semicolon."""

_KEPT: Final = 1_000
"""Names and places that are kept as they are spelt: runs of one method have the same."""
_LIMIT: Final = re.compile(
    r"(?:(?P<part>[^\[\]/<>=]+)/)?(?P<figure>[^\[\]<>=]+)(?:\[(?P<places>[^\[\]]*)\])?"
    r"\s*(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<value>[0-9][0-9,_]*(?:\.[0-9]+)?)\s*(?P<unit>\S*)"
)
_SIGNS: Final[dict[str, Sign]] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<=", ">": ">", "<": "<"}
_ALIASES: Final = {
    "latency": "mean latency",
    "latency mean": "mean latency",
    "art": "mean latency",
    "latency max": "maximum latency",
    "max latency": "maximum latency",
    "mrt": "maximum latency",
    "bandwidth": "throughput",
}
# µ is two characters that look alike: the micro sign and the Greek letter.
_TIMES: Final = {
    "ns": 1.0, "us": units.NS_PER_US, "µs": units.NS_PER_US, "μs": units.NS_PER_US,
    "ms": units.NS_PER_MS, "s": units.NS_PER_S, "min": 60 * units.NS_PER_S,
}  # fmt: skip
_RATES: Final = {
    "B/s": 1 / units.MEGA, "kB/s": units.KILO / units.MEGA, "MB/s": 1.0,
    "GB/s": units.GIGA / units.MEGA, "MiB/s": units.MIB / units.MEGA,
}  # fmt: skip
_SIZES: Final = {
    "B": 1.0, "kB": units.KILO, "MB": units.MEGA, "GB": units.GIGA, "TB": units.TERA,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
_FAMILIES: Final = (_TIMES, _RATES, _SIZES)
PER_SECOND: Final = "1/s"
"""The unit of a rate of something counted, as of transactions: "200/s" in a limit."""
_COUNTS: Final = {"": 1.0, "k": units.KILO, "M": units.MEGA}
_SIZE_WORD: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[kmgt]i?b?|b)", re.IGNORECASE)
_APART: Final = re.compile(r"(?<=[0-9]) (?=(?:[kmgt]i?)?b\b)", re.IGNORECASE)


FACT: Final = "limits"
"""The row of the run file's environment that holds the limits a run was begun with."""
EXIT_NOT_MET: Final = 9
EXIT_NOT_KNOWN: Final = 11

Verdict = Literal["met", "not met", "not known"]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit as it was asked for. `figure` and `part` are spelt as `spelt` does, `places` are
    the words that the name of a cell must have.
    """

    text: str
    part: str
    figure: str
    places: frozenset[str]
    sign: Sign
    value: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What became of one limit. `why` gives the reason where it is not known."""

    text: str
    verdict: Verdict
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    why: str = ""


def parse_limit(text: str) -> Limit:
    """Return the limit that a text asks for.

    Raises:
        PlanError: it is none, or has a unit that there is not.
    """
    shown = " ".join(text.split())
    # A semicolon would make it two limits when the run file is read again.
    if len(text) > LONGEST or ";" in text or unspeakable(text):
        raise PlanError(f"{shown[:80]!r} is no limit", remedy=f"Write it like {EXAMPLE}.")
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise PlanError(
            f"{shown!r} is no limit: it is FIGURE[PLACE,PLACE], then >=, <=, > or <, then a number",
            remedy=f"Write it like {EXAMPLE}.",
        )
    value = float(found["value"].replace(",", "").replace("_", ""))
    unit = found["unit"]
    if unit in _COUNTS:
        value, unit = value * _COUNTS[unit], ""
    elif unit.lower() == "iops":
        unit = ""
    elif unit in (PER_SECOND, "/s"):
        unit = PER_SECOND
    elif unit != "%" and not any(unit in family for family in _FAMILIES):
        known = ", ".join(name for family in _FAMILIES for name in family)
        raise PlanError(
            f"{shown!r}: there is no unit {unit!r}",
            remedy=f"The units are {known}, /s, % and none.",
        )
    places = words_of(found["places"] or "")
    return Limit(
        text=shown,
        part=spelt(found["part"] or ""),
        figure=_ALIASES.get(spelt(found["figure"]), spelt(found["figure"])),
        places=places,
        sign=_SIGNS[found["sign"]],
        value=value,
        unit=unit,
    )


def limits_from(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of limits that can all be read, each once.

    Raises:
        PlanError: one is none, or there are too many.
    """
    kept = tuple(dict.fromkeys(parse_limit(text).text for text in texts))
    if len(kept) > LIMITS_MOST:
        raise PlanError(f"{len(kept)} limits are more than {LIMITS_MOST}", remedy="Ask for fewer.")
    return kept


def in_unit(limit: Limit, unit: str) -> float | None:
    """Return the limit's number in a figure's unit, None where the two do not go together."""
    for family in _FAMILIES:
        if unit in family:
            return limit.value * family[limit.unit] / family[unit] if limit.unit in family else None
    fits = limit.unit == "" or limit.unit == unit
    return limit.value if fits else None


@lru_cache(_KEPT)
def spelt(name: str) -> str:
    """Return a name in one spelling: small letters, one blank for blanks, dashes and so on."""
    return re.sub(r"[\s_-]+", " ", name).strip().lower()


@lru_cache(_KEPT)
def words_of(place: str) -> frozenset[str]:
    """Return the words of a place; a size is one word whatever its unit: "4 KiB", "4k", "4096B"."""
    joined = _APART.sub("", " ".join(place.replace(",", " ").split()))
    return frozenset(_word(word) for word in joined.lower().split())


def _word(word: str) -> str:
    if _SIZE_WORD.fullmatch(word) is None:
        return word
    try:
        return f"{units.parse_size(word)}b"
    except ValueError:
        return word


def recorded_limits(record: Record) -> tuple[str, ...]:
    """Return the limits that a run was begun with."""
    text = record.environment.get(FACT, "")
    return tuple(part for part in text.split(SEPARATOR) if part.strip())


def fact_of(limits: Iterable[str]) -> str:
    """Return limits as the run file has them."""
    return SEPARATOR.join(limits)


def exit_code(several: Iterable[Judged]) -> int:
    """Return the exit code for several limits: the worst of them counts."""
    verdicts = {each.verdict for each in several}
    if "not met" in verdicts:
        return EXIT_NOT_MET
    return EXIT_NOT_KNOWN if "not known" in verdicts else 0
