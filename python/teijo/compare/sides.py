"""Who is compared: sides of one or several runs, what they are to each other, and the tests they
have in common. No number is made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.document.phrase import Verbatim, say
from teijo.errors import UsageError
from teijo.methods.method import AnyMethod
from teijo.methods.parts import Part, parts_of
from teijo.terms.record import Record

SIDES_LEAST = 2
RUNS_MOST = 24


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a comparison under its name: a run, or several that repeat each other."""

    name: str
    records: tuple[Record, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each run: the side's own, numbered where there are several."""
        if len(self.records) == 1:
            return (Verbatim(self.name),)
        return tuple(Verbatim(f"{self.name} {place}") for place in range(1, len(self.records) + 1))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One test of one run: `label` names the run, `side` the side it belongs to."""

    side: str
    label: str
    part: Part


@dataclass(frozen=True, kw_only=True)
class Match:
    """One test that two sides or more have run; `entries` are in the order of the sides."""

    name: str
    method: AnyMethod
    entries: tuple[Entry, ...]

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the sides that have run it."""
        return tuple(dict.fromkeys(entry.side for entry in self.entries))

    def of(self, side: str) -> tuple[Entry, ...]:
        """Return one side's runs of it."""
        return tuple(entry for entry in self.entries if entry.side == side)


def check_sides(sides: Sequence[Side]) -> None:
    """Make sure that there is something to compare.

    Raises:
        UsageError: fewer than two sides, more than 24 runs, or one run twice.
    """
    records = [record for side in sides for record in side.records]
    if len(sides) < SIDES_LEAST:
        raise UsageError(
            f"A comparison has at least two sides, and here is {len(sides)}",
            remedy="Name two run files or more: teijo compare before.teijo after.teijo",
        )
    check_count(len(records))
    ids = [record.run.id for record in records]
    if len(set(ids)) < len(ids):
        raise UsageError(
            "One run stands twice in this comparison", remedy="Name every run file once."
        )


def check_count(runs: int) -> None:
    """Make sure that so many runs can be shown beside each other.

    Raises:
        UsageError: they are too many.
    """
    if runs > RUNS_MOST:
        raise UsageError(
            f"{runs} runs are more than a comparison can show, which is {RUNS_MOST}",
            remedy="Leave some of them out, or compare them in groups.",
        )


def names_for(records: Sequence[Record], stems: Sequence[str]) -> list[str]:
    """Return a short name for each run: what tells all of them apart, else the file's name.

    The model is asked first, then the serial number, the firmware, and the files' names. Of
    models and files the words that all of them begin or end with are left out.
    """
    models = [record.identity.model for record in records]
    if _apart(models):
        return _differing(models)
    for known in (
        [record.identity.serial for record in records],
        [record.identity.firmware for record in records],
    ):
        if _apart(known):
            return known
    if _apart(stems):
        return _differing(stems)
    return [f"{place}: {stem}" for place, stem in enumerate(stems, start=1)]


def kind_of(sides: Sequence[Side]) -> str:
    """Say what the sides are to each other, by the serial numbers they were recorded with."""
    serials = [{record.identity.serial for record in side.records} for side in sides]
    if any("" in each for each in serials):
        return "It is not known whether this is one device: a serial number is missing."
    count = len(set().union(*serials))
    if any(len(each) > 1 for each in serials):
        return say("Groups of devices: a side has runs of several, {count} in all.", count=count)
    if count == 1:
        return _one_device(sides)
    if count == len(sides):
        return say("{count} different devices.", count=count)
    return say(
        "{count} devices on {sides} sides: some are on more than one.",
        count=count,
        sides=len(sides),
    )


def matches_of(sides: Sequence[Side]) -> tuple[Match, ...]:
    """Return the tests that two sides or more have run, in the order of the first run's.

    Raises:
        UsageError: there is none.
    """
    found: dict[tuple[str, str], list[Entry]] = {}
    for side in sides:
        for label, record in zip(side.labels, side.records, strict=True):
            for part in parts_of(record):
                entry = Entry(side=side.name, label=label, part=part)
                found.setdefault((part.method.id, part.name), []).append(entry)
    matches = tuple(
        Match(name=name, method=entries[0].part.method, entries=tuple(entries))
        for (_, name), entries in found.items()
        if len({entry.side for entry in entries}) >= SIDES_LEAST
    )
    if not matches:
        told = "; ".join(
            f"{side.name}: {', '.join(sorted({r.run.method for r in side.records}))}"
            for side in sides
        )
        raise UsageError(
            f"No two of these runs have a test in common ({told})",
            remedy="Compare runs of one method, or campaigns that have one.",
        )
    return matches


def _one_device(sides: Sequence[Side]) -> str:
    first = sides[0].records[0].identity
    firmwares = list(dict.fromkeys(r.identity.firmware for side in sides for r in side.records))
    if len(firmwares) > 1:
        return say(
            "One device ({serial}) with different firmware: {firmwares}.",
            serial=Verbatim(first.serial),
            firmwares=Verbatim(", ".join(firmwares)),
        )
    if len(sides) == SIDES_LEAST:
        return say("One device ({serial}), before and after.", serial=Verbatim(first.serial))
    return say(
        "One device ({serial}) in {count} states.", serial=Verbatim(first.serial), count=len(sides)
    )


def _apart(names: Sequence[str]) -> bool:
    return all(names) and len(set(names)) == len(names)


def _differing(names: Sequence[str]) -> list[str]:
    """Return the names without the words that all begin or end with; one word is left at least.

    Words end at a space, or, in names without one, at a hyphen.
    """
    between = " " if any(" " in name for name in names) else "-"
    words = [name.split(between) for name in names]
    while all(len(each) > 1 for each in words) and len({each[0] for each in words}) == 1:
        words = [each[1:] for each in words]
    while all(len(each) > 1 for each in words) and len({each[-1] for each in words}) == 1:
        words = [each[:-1] for each in words]
    return [between.join(each) for each in words]
