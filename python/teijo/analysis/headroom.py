"""How far a drive is from what the host could do: by the host's ceilings, its link, its threads.

The ceilings have no device and no driver in them: they are more than any drive can be given. So a
host that is the limit is found by them where they are too low, and ruled out only together with
what the threads of the measured steps did, where there are such steps.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from teijo.analysis.validity import LEAST_NS
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.terms.platform import HostCell, HostLink, Platform, cell_name, cell_of, platform_in
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.workload import Stream

HEADROOM_LEAST: Final = 2.0
"""From here on the host is not the limit: what makes the I/O is idle for half of the time, and the
least of its repeats scattered away by a third would still leave room."""
CELLS_NAMED: Final = 4
REPEATS_LEAST: Final = 3
"""Fewer repeats have no interval."""


class Limit(StrEnum):
    """Whether the host is the limit in a cell."""

    NO = "not the limit"
    MAY_BE = "may be the limit"
    UNKNOWN = "cannot be known"


class Narrowest(StrEnum):
    """What has the least room in a cell."""

    ENGINE = "engine and ring"
    THREADS = "processor time"
    LINK = "link"


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a drive gave in a cell: IOPS of its slowest and fastest step.

    `busiest` is the share of time that the busiest thread worked, at most; None where no step was
    long enough or gave no account. `limited_steps` have the remark *host limited*.
    """

    least_iops: float
    most_iops: float
    busiest: float | None = None
    limited_steps: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Headroom:
    """A cell's ceiling beside what the drive gave or claims, in IOPS.

    `times` is how many times more the host could have done, at least; `times_most` by the highest
    repeat. `link_iops` is what the link carries of such blocks. None: not known.
    """

    cell: HostCell
    limit: Limit
    why: str
    low_iops: float | None = None
    high_iops: float | None = None
    loop_iops: float | None = None
    link_iops: float | None = None
    given: Given | None = None
    claimed_iops: float | None = None
    times: float | None = None
    times_most: float | None = None
    narrowest: Narrowest | None = None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """All cells in one: which may be limited, which nobody knows, and the narrowest of the known.

    `is_witnessed` is whether the threads of measured steps were seen in each cell that is known.
    """

    cells: int
    may_be: tuple[Headroom, ...]
    unknown: tuple[Headroom, ...]
    narrowest: Headroom | None
    is_witnessed: bool


def given_in(record: Record) -> dict[HostCell, Given]:
    """Return what the drive gave in each cell that a record has steps of."""
    seen: dict[HostCell, list[tuple[int, StepResult]]] = {}
    for each in record.steps:
        cell = cell_of(each.step)
        if cell is not None and isinstance(each.answer, StepResult) and each.answer.ios:
            seen.setdefault(cell, []).append((each.seq, each.answer))
    limited = {
        remark.step for remark in record.remarks if remark.kind is RemarkKind.HOST_LIMITED
    } | {
        each.seq
        for each in record.steps
        if isinstance(each.answer, StepResult)
        and any(remark.kind is RemarkKind.HOST_LIMITED for remark in each.answer.remarks)
    }
    return {cell: _given(answers, limited) for cell, answers in seen.items()}


def _given(answers: Sequence[tuple[int, StepResult]], limited: set[int | None]) -> Given:
    rates = [answer.iops for _, answer in answers]
    busy = [
        answer.witness.busiest_worker
        for _, answer in answers
        if answer.witness is not None and answer.witness.wall_ns >= LEAST_NS
    ]
    return Given(
        least_iops=min(rates),
        most_iops=max(rates),
        busiest=max(busy, default=None),
        limited_steps=tuple(seq for seq, _ in answers if seq in limited),
    )


def headrooms(platform: Platform, given: Mapping[HostCell, Given]) -> tuple[Headroom, ...]:
    """Return the headroom of every cell that was measured or asked for, in the plan's order."""
    cells = dict.fromkeys((*(each.cell for each in platform.cells), *given))
    return tuple(headroom(platform, cell, given.get(cell)) for cell in cells)


def headroom(platform: Platform, cell: HostCell, given: Given | None) -> Headroom:
    """Return how far the host is from being the limit in one cell.

    Without `given`, the drive is held to what its link carries: it cannot give more.
    """
    ceiling = platform.by_cell.get(cell)
    link = platform.link
    carried = None if link is None else link.usable / _block_bytes(cell)
    claimed = None if link is None or given is not None else link.raw / _block_bytes(cell)
    base = Headroom(
        cell=cell,
        limit=Limit.UNKNOWN,
        why="no ceiling was measured in this cell",
        given=given,
        link_iops=carried,
        claimed_iops=claimed,
    )
    if ceiling is None or ceiling.low is None or ceiling.high is None:
        return base if ceiling is None else replace(base, why=ceiling.why_not or base.why)
    base = replace(
        base,
        low_iops=ceiling.low,
        high_iops=ceiling.high,
        loop_iops=min(ceiling.loop_iops, default=None),
    )
    if len(ceiling.nop_iops) < REPEATS_LEAST:
        return replace(base, why="too few repeats to say how far they scatter")
    asked = claimed if given is None else given.most_iops
    if not asked:
        return replace(base, why="the drive claims nothing, and gave nothing yet")
    return _judged(base, link, asked)


def _judged(base: Headroom, link: HostLink | None, asked: float) -> Headroom:
    assert base.low_iops is not None
    assert base.high_iops is not None
    given = base.given
    rooms: dict[Narrowest, float] = {Narrowest.ENGINE: base.low_iops / asked}
    if given is not None and given.busiest:
        rooms[Narrowest.THREADS] = 1 / given.busiest
    # A link at the drive's own pace is the drive's; one that the host's side slows is the host's.
    if given is not None and link is not None and link.is_held_back and base.link_iops:
        rooms[Narrowest.LINK] = base.link_iops / asked
    narrowest = min(rooms, key=lambda each: rooms[each])
    times = rooms[narrowest]
    limited = given is not None and bool(given.limited_steps)
    enough = times >= HEADROOM_LEAST and not limited
    why = "steps of it are host limited" if limited else ""
    return replace(
        base,
        limit=Limit.NO if enough else Limit.MAY_BE,
        why=why,
        times=times,
        times_most=max(times, min(base.high_iops / asked, *_others(rooms))),
        narrowest=narrowest,
    )


def _others(rooms: dict[Narrowest, float]) -> tuple[float, ...]:
    """Return the rooms that do not scatter with the repeats; endless where there is no other."""
    found = tuple(room for kind, room in rooms.items() if kind is not Narrowest.ENGINE)
    return found or (float("inf"),)


def summary(cells: Iterable[Headroom]) -> Summary:
    """Return what is to be said of all cells together."""
    all_cells = tuple(cells)
    known = [each for each in all_cells if each.times is not None]
    return Summary(
        cells=len(all_cells),
        may_be=tuple(each for each in all_cells if each.limit is Limit.MAY_BE),
        unknown=tuple(each for each in all_cells if each.limit is Limit.UNKNOWN),
        narrowest=min(known, key=lambda each: each.times or 0.0, default=None),
        is_witnessed=bool(known)
        and all(each.given is not None and each.given.busiest is not None for each in known),
    )


def judged(record: Record, platform: Platform) -> tuple[Headroom, ...]:
    """Return the headroom of each cell of a record, by what its own steps gave."""
    return headrooms(platform, given_in(record))


def summary_of(record: Record) -> Summary | None:
    """Return what a record shows of its host in one; None where no ceiling was recorded.

    It is what the header and the conformance ledger both go by.
    """
    platform = platform_in(record.environment)
    return None if platform is None else summary(judged(record, platform))


def _block_bytes(cell: HostCell) -> float:
    """Return the mean length of an I/O of a cell, its streams at equal shares."""
    return sum(map(_mean, cell)) / len(cell)


def _mean(stream: Stream) -> float:
    return stream.block_bytes_mean


def sentence(found: Summary) -> str:
    """Return what is to be said of all cells, in whole sentences."""
    if not found.cells:
        return "No ceiling of the host was measured: whether it is the limit is not known."
    parts: list[str] = []
    narrow = found.narrowest
    if found.may_be and found.cells == 1:
        parts.append(
            say("The host may be the limit in the one cell: {name}.", name=_named(found.may_be))
        )
    elif found.may_be:
        parts.append(
            say(
                "The host may be the limit in {count} of {cells} cells: {names}.",
                count=len(found.may_be),
                cells=found.cells,
                names=_named(found.may_be),
            )
        )
    elif narrow is not None:
        parts.append(
            say(
                "The host is not the limit, by ×{times:.1f} in the narrowest cell ({name}).",
                times=floored(narrow),
                name=Verbatim(cell_name(narrow.cell)),
            )
        )
        if not found.is_witnessed:
            parts.append("No thread of a measured step was seen: the driver's part is not in it.")
    if found.unknown and found.cells == 1:
        parts.append(
            say(
                "Whether the host is the limit cannot be known: {why}.", why=_reasons(found.unknown)
            )
        )
    elif found.unknown:
        parts.append(
            say(
                "In {count} of {cells} cells it cannot be known: {why}.",
                count=len(found.unknown),
                cells=found.cells,
                why=_reasons(found.unknown),
            )
        )
    return sentences(parts)


def in_a_word(found: Summary) -> str:
    """Return the same for a header, where there is room for a line."""
    narrow = found.narrowest
    if found.may_be and found.cells == 1:
        return "may be the limit in the one cell"
    if found.may_be:
        return say(
            "may be the limit in {count} of {cells} cells",
            count=len(found.may_be),
            cells=found.cells,
        )
    if narrow is None:
        return "not known to be the limit or not"
    if found.unknown:
        return say(
            "not the limit, by ×{times:.1f} in the narrowest of {count} of {cells} cells",
            times=floored(narrow),
            count=found.cells - len(found.unknown),
            cells=found.cells,
        )
    return say("not the limit, by ×{times:.1f} in the narrowest cell", times=floored(narrow))


def reason(each: Headroom) -> str:
    """Return why a cell may be limited: steps that say so, else what has the least room."""
    return each.why or ("" if each.narrowest is None else each.narrowest.value)


def floored(each: Headroom) -> float:
    """Return the room of a cell, never rounded up: ×1.96 is not ×2.0."""
    return math.floor((each.times or 0.0) * 10) / 10


def _reasons(cells: Sequence[Headroom]) -> str:
    """Return why nothing is known of cells: each reason once, and no more than a strange file's."""
    return _first_of(tuple(dict.fromkeys(each.why for each in cells)))


def _named(cells: Sequence[Headroom]) -> str:
    worst = sorted(cells, key=lambda each: each.times or 0.0)
    return _first_of(
        [
            say(
                "{name} (×{times:.1f}, {what})",
                name=Verbatim(cell_name(each.cell)),
                times=floored(each),
                what=reason(each),
            )
            for each in worst
        ]
    )


def _first_of(parts: Sequence[str]) -> str:
    """Return the first few of a list, and how many more there are."""
    more = len(parts) - CELLS_NAMED
    told = listed(parts[:CELLS_NAMED])
    return told if more <= 0 else say("{names} and {n} more", names=told, n=more)
