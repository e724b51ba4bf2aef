"""What drives have in common: whether their host, firmware, slot or temperature goes with how fast
they are, and where that cannot be known.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis import drift
from teijo.analysis.difference import CONFIDENCE, holm
from teijo.analysis.drift import LEAST_PER_GROUP, Shuffled
from teijo.analysis.outliers import LEAST_DRIVES
from teijo.compare.fleet.drive import Drive, in_order
from teijo.document.phrase import Verbatim, listed, say

Floats = NDArray[np.float64]
TEMPERATURE: Final = "temperature"
_TWICE: Final = 2
"""The level, and all single figures together, are one test each."""
_TEMPERATURES_LEAST: Final = 3


class Verdict(StrEnum):
    """What is shown of something that drives have in common."""

    GOES_WITH = "differs"
    NOT_SHOWN = "no difference shown"
    NOT_KNOWN = "cannot be known"


@dataclass(frozen=True, kw_only=True)
class Group:
    """The drives of one value: how many, and their median level in percent of all drives'."""

    name: str
    drives: int
    percent: float


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One thing that drives have in common, or a number that each has.

    `groups` are those that were compared; of a number there is `correlation`, and
    `percent_per_unit`. `p_value` is of the level, `p_figure` of the single `figure` (its column)
    that goes farthest, both counted among all that was asked. `least` is the difference, in
    percent, or the rank correlation that would have been seen in 95 of 100 cases.
    """

    name: str
    verdict: Verdict
    why: str = ""
    drives: int = 0
    groups: tuple[Group, ...] = ()
    p_value: float | None = None
    figure: int | None = None
    p_figure: float | None = None
    arrangements: int = 0
    exact: bool = False
    least: float | None = None
    correlation: float | None = None
    percent_per_unit: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a number of each drive."""
        return self.name == TEMPERATURE


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """One question as it can be put: the drives in it, and what each has."""

    name: str
    places: tuple[int, ...]
    values: tuple[str | float, ...]
    shuffled: Shuffled | None = None
    alike: tuple[str, ...] = ()


def factors_of(drives: Sequence[Drive], levels: Sequence[float], figures: Floats) -> list[Factor]:
    """Return what goes with the drives' levels (logarithms), and with single figures.

    All questions are one family: that any of them shows a difference where there is none is a
    matter of 5 % (Holm). Two that split the drives in the same way are one question.
    """
    named: dict[str, list[str]] = {
        "host": [each.host for each in drives],
        "firmware": [each.firmware for each in drives],
        "slot": [each.slot for each in drives],
    }
    found: dict[str, Factor] = {}
    asked: list[_Asked] = []
    for name, values in named.items():
        one = _groups(name, values)
        if isinstance(one, Factor):
            found[name] = one
        else:
            _add(asked, one)
    number = _numbers([each.temperature_c for each in drives])
    if isinstance(number, Factor):
        found[TEMPERATURE] = number
    else:
        asked.append(number)
    columns = np.column_stack([np.array(levels)[:, None], figures])
    asked = [replace(each, shuffled=_shuffled(each, columns)) for each in asked]
    for factor in _judged(asked, columns):
        found[factor.name] = factor
    return [found[name] for name in (*named, TEMPERATURE) if name in found]


def _groups(name: str, values: Sequence[str]) -> _Asked | Factor:
    told = [at for at, value in enumerate(values) if value]
    if not told:
        return _not_known(name, say("no run says which {name} its drive had", name=name))
    counts = Counter(values[at] for at in told)
    if len(counts) == 1:
        only = next(iter(counts))
        return _not_known(name, say("all drives have one: {value}", value=Verbatim(only)))
    large = {value for value, count in counts.items() if count >= LEAST_PER_GROUP}
    if len(large) < 2:
        return _not_known(
            name,
            say(
                "of {groups} groups fewer than two have {least} drives",
                groups=len(counts),
                least=LEAST_PER_GROUP,
            ),
        )
    places = tuple(at for at in told if values[at] in large)
    return _Asked(name=name, places=places, values=tuple(values[at] for at in places))


def _numbers(values: Sequence[int | None]) -> _Asked | Factor:
    told = [(at, float(value)) for at, value in enumerate(values) if value is not None]
    if not told:
        return _not_known(TEMPERATURE, "no run has its drive's temperature")
    if len(told) < LEAST_DRIVES:
        return _not_known(
            TEMPERATURE,
            say(
                "{count} runs have their drive's temperature, and it takes {least}",
                count=len(told),
                least=LEAST_DRIVES,
            ),
        )
    if len({value for _, value in told}) < _TEMPERATURES_LEAST:
        return _not_known(TEMPERATURE, "all drives were about as warm")
    places, numbers = zip(*told, strict=True)
    return _Asked(name=TEMPERATURE, places=places, values=numbers)


def _not_known(name: str, why: str) -> Factor:
    return Factor(name=name, verdict=Verdict.NOT_KNOWN, why=why)


def _add(asked: list[_Asked], one: _Asked) -> None:
    """Add a question, to the one that splits the same drives in the same way, if there is one."""
    for at, other in enumerate(asked):
        if other.places == one.places and drift.split_by(other.values, one.values) == "same":
            asked[at] = replace(other, alike=(*other.alike, one.name))
            return
    asked.append(one)


def _shuffled(asked: _Asked, columns: Floats) -> Shuffled:
    own = columns[list(asked.places)]
    if asked.name == TEMPERATURE:
        return drift.by_number(own, [float(value) for value in asked.values])
    return drift.by_group(own, asked.values)


def _judged(asked: Sequence[_Asked], columns: Floats) -> list[Factor]:
    """Return every question's answer, counted among all; each has two p-values at most."""
    pairs = []
    for each in asked:
        assert each.shuffled is not None, "every question was put"
        pairs.append((each.shuffled.p_values[0], min(each.shuffled.together, default=None)))
    together = iter(holm([p for pair in pairs for p in pair if p is not None]))
    tests = sum(p is not None for pair in pairs for p in pair)
    factors: list[Factor] = []
    for each, (_, of_figures) in zip(asked, pairs, strict=True):
        p_level = next(together)
        p_figure = None if of_figures is None else next(together)
        factor = _answer(each, columns, p_level, p_figure, tests)
        factors.append(factor)
        for other in each.alike:
            factors.append(replace(factor, name=other))
    return [_told_apart(each, factors, asked, columns) for each in factors]


def _answer(
    asked: _Asked, columns: Floats, p_level: float, p_figure: float | None, tests: int
) -> Factor:
    shuffled = asked.shuffled
    assert shuffled is not None, "every question was put"
    levels = columns[list(asked.places), 0]
    differs = min(p_level, 1.0 if p_figure is None else p_figure) < 1 - CONFIDENCE
    verdict, why = (Verdict.GOES_WITH if differs else Verdict.NOT_SHOWN), ""
    if shuffled.p_least * tests >= 1 - CONFIDENCE:
        verdict = Verdict.NOT_KNOWN
        why = say(
            "so few drives would not show a difference if there were one: of {count} "
            "arrangements of them the most unlikely one comes about in {percent:.1f} %",
            count=shuffled.arrangements,
            percent=100 * shuffled.p_least,
        )
    farthest = None
    if p_figure is not None:
        farthest = int(np.argmin(shuffled.together))
    factor = Factor(
        name=asked.name,
        verdict=verdict,
        why=why,
        drives=len(asked.places),
        p_value=p_level,
        figure=farthest,
        p_figure=p_figure,
        arrangements=shuffled.arrangements,
        exact=shuffled.exact,
    )
    return _with_numbers(factor, asked, levels, tests)


def _with_numbers(factor: Factor, asked: _Asked, levels: Floats, tests: int) -> Factor:
    """Return the answer with its estimate, and with the least that would have been seen."""
    if asked.name == TEMPERATURE:
        numbers = [float(value) for value in asked.values]
        slope = drift.slope_of(levels.tolist(), numbers)
        return replace(
            factor,
            correlation=drift.rank_correlation(levels.tolist(), numbers),
            percent_per_unit=None if slope is None else percent_of(slope),
            least=drift.least_correlation(len(numbers), tests=tests),
        )
    names = list(dict.fromkeys(asked.values))
    own = {name: levels[[value == name for value in asked.values]] for name in names}
    sizes = sorted((len(each) for each in own.values()), reverse=True)
    scale = drift.scale_within(levels.tolist(), asked.values)
    return replace(
        factor,
        groups=tuple(
            Group(name=Verbatim(name), drives=len(each), percent=percent_of(float(np.median(each))))
            for name, each in sorted(own.items(), key=lambda pair: in_order(str(pair[0])))
        ),
        least=percent_of(drift.least_difference(scale, sizes[0], sizes[1], tests=tests)),
    )


def percent_of(logarithm: float) -> float:
    """Return the logarithm of a ratio in percent."""
    return math.expm1(logarithm) * 100


def _told_apart(
    factor: Factor, factors: Sequence[Factor], asked: Sequence[_Asked], columns: Floats
) -> Factor:
    """Return an answer that says so where what differs may be due to something else."""
    if factor.verdict is not Verdict.GOES_WITH:
        return factor
    own = next(each for each in asked if factor.name in (each.name, *each.alike))
    bound = [name for name in (own.name, *own.alike) if name != factor.name]
    shown = {each.name for each in factors if each.verdict is Verdict.GOES_WITH}
    for other in asked:
        if other is not own and _is_bound(own, other, columns, other.name in shown):
            bound += [other.name, *other.alike]
    if not bound:
        return factor
    return replace(
        factor,
        verdict=Verdict.NOT_KNOWN,
        why=say(
            "drives differ, but {name} and {others} go together here: it may be either",
            name=factor.name,
            others=listed(bound),
        ),
    )


def _is_bound(own: _Asked, other: _Asked, columns: Floats, shown: bool) -> bool:
    """Return whether what differs by the first may be due to the second.

    It may where each group of the second is in one of the first, so that no drive could tell the
    two apart; and where the second shows a difference too, and drives that it has alike show none
    by the first.
    """
    first, second = (dict(zip(each.places, each.values, strict=True)) for each in (own, other))
    both = [at for at in own.places if at in second]
    mine, others = [first[at] for at in both], [second[at] for at in both]
    if len(set(mine)) < 2:
        return False
    if other.name == TEMPERATURE:
        warmth = np.array(others, np.float64)[:, None]
        return shown and drift.by_group(warmth, mine).p_values[0] < 1 - CONFIDENCE
    if own.name != TEMPERATURE and drift.split_by(mine, others) == "coarser":
        return True
    p_value = drift.within_strata(
        columns[both], mine, others, numbers=own.name == TEMPERATURE
    )  # fmt: skip
    return shown and p_value >= 1 - CONFIDENCE
