"""Which runs are compared as one fleet, and what was left out and why."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from teijo.compare.conditions import ASPECTS, Deviation
from teijo.compare.fleet.drive import Drive, in_order
from teijo.document.phrase import Verbatim, listed, say
from teijo.errors import UsageError

_SHOWN = 4
"""So many of the conditions that differ are told of a run that is left out."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A run file that is not in the fleet's figures, and why; `drive` is "" where not known.

    `unreadable`: nobody knows what is in it.
    """

    file: str
    drive: str
    why: str
    unreadable: bool = False


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The runs of a fleet that are compared, one a drive, in order of their names.

    `deviations` are conditions that differ among these, and were allowed to. `unfinished` are
    runs of it that did not come to their end.
    """

    fleet: str
    method: str
    drives: tuple[Drive, ...]
    unfinished: tuple[Drive, ...]
    left_out: tuple[LeftOut, ...]
    deviations: tuple[Deviation, ...]


def chosen_from(
    drives: Sequence[Drive],
    *,
    fleet: str = "",
    allowed: Iterable[str] = (),
    unreadable: Iterable[LeftOut] = (),
) -> Chosen:
    """Return the runs of one fleet that were made alike; `fleet` names it where there are several.

    What most runs have in common (the method, each condition that is not allowed to differ)
    decides which these are.

    Raises:
        UsageError: there is no run, no fleet of this name, several and none is named, or a word
        allows nothing.
    """
    left_out = [*unreadable]
    if not drives:
        raise _nothing(left_out)
    name = _fleet(drives, fleet)
    kept = _without(drives, left_out, lambda each: _other_fleet(each, name))
    method = Counter(each.method for each in kept).most_common(1)[0][0]
    kept = _without(kept, left_out, lambda each: _other_method(each, method))
    kept = _each_once(kept, left_out)
    words = _words(allowed, kept)
    unfinished = tuple(each for each in kept if not each.is_whole)
    kept = _alike([each for each in kept if each.is_whole], words, left_out)
    kept = _latest(kept, left_out)
    return Chosen(
        fleet=name,
        method=method,
        drives=_named_apart(
            sorted(kept, key=lambda each: (in_order(each.name), each.host, each.file))
        ),
        unfinished=unfinished,
        left_out=tuple(left_out),
        deviations=_deviations(kept, words),
    )


def aspect_of(condition: str) -> str:
    """Return the word that allows a condition to differ."""
    return ASPECTS.get(condition, condition)


def _nothing(unreadable: Sequence[LeftOut]) -> UsageError:
    if unreadable:
        first = unreadable[0]
        return UsageError(
            f"None of {len(unreadable)} run files can be read; of the first: {first.why}",
            remedy=f"See what is wrong with it: teijo verify {first.file}",
        )
    return UsageError(
        "There is no run file here",
        remedy="Name run files, or folders that have some: teijo fleet report DIR",
    )


def _fleet(drives: Sequence[Drive], asked: str) -> str:
    names = Counter(each.fleet for each in drives)
    known = sorted(name for name in names if name)
    if asked:
        if asked not in names:
            remedy = f"They name {', '.join(known)}." if known else "They name none: leave it out."
            raise UsageError(f"No run names the fleet {asked!r}", remedy=remedy)
        return asked
    if len(known) > 1:
        told = ", ".join(f"{name} ({names[name]})" for name in known)
        raise UsageError(
            f"These runs are of {len(known)} fleets: {told}",
            remedy=f"Name one: --fleet {known[0]}",
        )
    return known[0] if known else ""


def _without(
    drives: Iterable[Drive], left_out: list[LeftOut], why_not: Callable[[Drive], str]
) -> list[Drive]:
    """Return the drives that nothing speaks against; the others are left out, with the reason."""
    kept = []
    for each in drives:
        why = why_not(each)
        if why:
            left_out.append(LeftOut(file=each.file, drive=each.name, why=why))
        else:
            kept.append(each)
    return kept


def _other_fleet(drive: Drive, fleet: str) -> str:
    if drive.fleet == fleet:
        return ""
    return (
        say("it is of the fleet {name}", name=drive.fleet) if drive.fleet else "it is of no fleet"
    )


def _other_method(drive: Drive, method: str) -> str:
    if drive.method == method:
        return ""
    return say("its method is {name}, and not {other}", name=drive.method, other=Verbatim(method))


def _each_once(drives: Iterable[Drive], left_out: list[LeftOut]) -> list[Drive]:
    """Return each run once: a copy, or the open file that a sealed one was made of, is none."""
    by_id: dict[str, Drive] = {}
    for each in drives:
        by_id[each.run_id] = _farther(by_id.get(each.run_id, each), each)
    kept = {id(each) for each in by_id.values()}

    def why_not(each: Drive) -> str:
        if id(each) in kept:
            return ""
        return say("it is the same run as {file}", file=by_id[each.run_id].file)

    return _without(drives, left_out, why_not)


def _farther(one: Drive, other: Drive) -> Drive:
    return other if (other.is_whole, other.steps) > (one.is_whole, one.steps) else one


def _alike(drives: Sequence[Drive], words: set[str], left_out: list[LeftOut]) -> list[Drive]:
    """Return the drives whose conditions are those of most of them."""

    def strict(each: Drive) -> tuple[tuple[tuple[str, str], str], ...]:
        return tuple(
            (at, value) for at, value in sorted(each.conditions.items())
            if aspect_of(at[1]) not in words
        )  # fmt: skip

    if not drives:
        return []
    usual = dict(Counter(map(strict, drives)).most_common(1)[0][0])

    def why_not(each: Drive) -> str:
        own = dict(strict(each))
        names = [at for at in {**usual, **own} if own.get(at) != usual.get(at)]
        if not names:
            return ""
        told = [_difference(at, own.get(at, "none"), usual.get(at, "none")) for at in names]
        more = [] if len(told) <= _SHOWN else [say("{count} more", count=len(told) - _SHOWN)]
        return listed([*told[:_SHOWN], *more])

    return _without(drives, left_out, why_not)


def _difference(at: tuple[str, str], own: str, usual: str) -> str:
    test, name = at
    return say(
        "{condition} is {own}, and {usual} in most",
        condition=Verbatim(f"{test}: {name}" if test else name),
        own=Verbatim(own),
        usual=Verbatim(usual),
    )


def _latest(drives: Sequence[Drive], left_out: list[LeftOut]) -> list[Drive]:
    """Return the latest run of each drive."""
    last: dict[tuple[str, str], Drive] = {}
    for each in sorted(drives, key=lambda each: each.started_at):
        last[each.identity] = each

    def why_not(each: Drive) -> str:
        later = last[each.identity]
        if later is each:
            return ""
        return say("a later run of this drive counts: {file}", file=later.file)

    return _without(drives, left_out, why_not)


def _named_apart(drives: Sequence[Drive]) -> tuple[Drive, ...]:
    """Return the drives under names that differ: with the serial number, the host or the file."""
    counts = Counter(each.name for each in drives)
    named, taken = [], set(counts)
    for each in drives:
        name = str(each.name)
        if counts[each.name] > 1:
            more = (each.serial, each.host, each.file, each.run_id)
            names = (f"{each.name} ({other})" for other in more if other not in ("", each.name))
            name = next(new for new in names if new not in taken)
            taken.add(name)
        named.append(replace(each, name=Verbatim(name)))
    return tuple(named)


def _words(allowed: Iterable[str], drives: Sequence[Drive]) -> set[str]:
    words = {word.strip().lower() for word in allowed if word.strip()}
    known = {aspect_of(name) for each in drives for _, name in each.conditions}
    if strange := sorted(words - known):
        raise UsageError(
            f"--allow {strange[0]} names nothing that these runs have",
            remedy=f"It takes {', '.join(sorted(known))}.",
        )
    return words


def _deviations(drives: Sequence[Drive], words: set[str]) -> tuple[Deviation, ...]:
    """Return what differs between drives that are compared, by its values."""
    found = []
    for test, name in dict.fromkeys(at for each in drives for at in each.conditions):
        aspect = aspect_of(name)
        values = tuple((each.name, each.conditions.get((test, name), "none")) for each in drives)
        if aspect in words and len({value for _, value in values}) > 1:
            found.append(Deviation(test=test, aspect=aspect, condition=name, values=values))
    return tuple(found)
