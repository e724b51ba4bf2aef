"""What a fleet's runs show together: distributions over drives, which drives differ, what they
have in common, and how they stand to limits. No text is made here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.bottleneck import Bottlenecks
from teijo.analysis.distribution import Distribution, distribution_of
from teijo.analysis.outliers import LEAST_DRIVES, Outlier, Outliers, outliers_of
from teijo.analysis.quantities import IOPS, LATENCY_MAX, THROUGHPUT
from teijo.compare.fleet.chosen import Chosen
from teijo.compare.fleet.drive import Drive, Key
from teijo.compare.fleet.factors import Factor, factors_of, percent_of
from teijo.compare.limit import Judged, exit_code
from teijo.document.grid import Figure

Floats = NDArray[np.float64]
KEY_FIGURES_MOST: Final = 6
_PRINTED_SHARE: Final = 5e-5
"""What rounds to 0.00 % is no difference, however little the drives scatter."""
UNREADABLE: Final = "its run file cannot be read"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One figure over the fleet; `worst` is the drive at its slow end."""

    key: Key
    distribution: Distribution
    worst: Drive
    worst_value: float


@dataclass(frozen=True, kw_only=True)
class Named:
    """A drive that differs from the others, in all figures together where `key` is None.

    `percent` is how far it is off the middle of the others: less than 0 is a smaller figure, and
    slower of all figures together.
    """

    drive: Drive
    key: Key | None
    percent: float
    slower: bool
    outlier: Outlier


@dataclass(frozen=True, kw_only=True)
class Limited:
    """One limit, and what became of it in each run that was asked for it."""

    text: str
    met: int
    missed: tuple[tuple[Drive, Judged], ...]
    unknown: tuple[tuple[Drive, Judged], ...]


@dataclass(frozen=True, eq=False)
class Judging:
    """What drives are judged by: a row each, a column a figure, as `outliers_of` takes them."""

    values: Floats
    floors: tuple[float, ...]
    in_level: tuple[bool, ...]
    tested: tuple[bool, ...]

    @property
    def outliers(self) -> Outliers:
        """Which drives differ, by their place and the figure's."""
        return outliers_of(
            self.values, floors=self.floors, in_level=self.in_level, tested=self.tested
        )


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """All that is known of a fleet. Rows of `table` are drives, its columns are `keys`.

    `sharing` is what reading its drives together has shown, where that was done.
    """

    chosen: Chosen
    sharing: tuple[Bottlenecks, ...] = ()

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The drives that are compared."""
        return self.chosen.drives

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Every figure that a drive has, in the order of the method's report."""
        return tuple(dict.fromkeys(key for each in self.drives for key in each.values))

    @cached_property
    def key_figures(self) -> tuple[Key, ...]:
        """The few figures that are shown of each drive: those of the method's own summary."""
        names = {name for each in self.drives for name in each.headlines}
        chosen = [
            key
            for key in self.keys
            if key.figure is not LATENCY_MAX and any(n.startswith(str(key.place)) for n in names)
        ]
        return tuple((chosen or list(self.level_keys) or list(self.keys))[:KEY_FIGURES_MOST])

    @cached_property
    def level_keys(self) -> tuple[Key, ...]:
        """The figures whose mean is a drive's level: one figure of each test, at all places."""
        by_round = {
            key for each in self.drives for key, value in each.values.items() if value.by_round
        }
        first: dict[str, Figure] = {}
        for key in sorted(self.keys, key=lambda key: key not in by_round):
            if key.figure is not LATENCY_MAX:
                first.setdefault(key.test, key.figure)
        return tuple(key for key in self.keys if first.get(key.test) == key.figure)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """How each figure is distributed over the drives."""
        found = []
        for key in self.keys:
            distribution = distribution_of(self.column(key))
            if distribution is None:
                continue
            slow = key.figure.more_is_faster
            at = distribution.at_least if slow else distribution.at_most
            found.append(
                Spread(
                    key=key,
                    distribution=distribution,
                    worst=self.drives[at],
                    worst_value=distribution.least if slow else distribution.most,
                )
            )
        return tuple(found)

    def column(self, key: Key) -> list[float | None]:
        """Return each drive's value of a figure."""
        return [value_of(each, key) for each in self.drives]

    @cached_property
    def logarithms(self) -> Floats:
        """(drives, figures), more being faster in all of them; NaN where there is none."""
        found = np.full((len(self.drives), len(self.keys)), np.nan)
        for column, key in enumerate(self.keys):
            sign = 1 if key.figure.more_is_faster else -1
            for row, value in enumerate(self.column(key)):
                if value is not None and value > 0:
                    found[row, column] = sign * math.log(value)
        return found

    @property
    def incomplete(self) -> tuple[Drive, ...]:
        """The drives that lack a value above zero in a figure that others have."""
        whole = [bool(np.isfinite(row).all()) for row in self.logarithms]
        return tuple(each for each, has in zip(self.drives, whole, strict=True) if not has)

    @property
    def judging(self) -> Judging:
        """What the drives are judged by."""
        return Judging(
            values=self.logarithms,
            floors=tuple(self._floor(key) for key in self.keys),
            in_level=tuple(key in self.level_keys for key in self.keys),
            tested=tuple(self._is_tested(key) for key in self.keys),
        )

    @cached_property
    def outliers(self) -> Outliers:
        """Which drives differ, by their place and the figure's."""
        return self.judging.outliers

    @cached_property
    def named(self) -> tuple[Named, ...]:
        """The drives that differ, the farthest beyond chance first."""
        return tuple(self._named(each) for each in self.outliers.found)

    @property
    def named_drives(self) -> tuple[Drive, ...]:
        """Each drive that differs in anything, once."""
        return tuple({each.drive.run_id: each.drive for each in self.named}.values())

    @property
    def is_judged(self) -> bool:
        """Whether there are enough drives to know how they scatter."""
        return self.outliers.level is not None or self.outliers.judged > 0

    @property
    def level_percents(self) -> list[float]:
        """How far each drive is above the fleet's middle, all figures together, in percent."""
        level = self.outliers.level
        middle = 0.0 if level is None else level.centre
        return [percent_of(each - middle) for each in self.outliers.levels]

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """What drives have in common, and whether they differ by it."""
        if len(self.drives) < LEAST_DRIVES:
            return ()
        return tuple(factors_of(self.drives, self.outliers.levels, self._whole_columns))

    @cached_property
    def factor_keys(self) -> tuple[Key, ...]:
        """The single figures that are judged by what drives have in common: all drives' own."""
        whole = [bool(np.isfinite(each).all()) for each in self.logarithms.T]
        return tuple(
            key for key, has in zip(self.keys, whole, strict=True) if has and self._is_tested(key)
        )

    @property
    def _whole_columns(self) -> Floats:
        places = [self.keys.index(key) for key in self.factor_keys]
        return self.logarithms[:, places]

    @cached_property
    def limits(self) -> tuple[Limited, ...]:
        """Each limit that was asked of a run, over all runs of the fleet, unfinished ones too."""
        runs = (*self.drives, *self.chosen.unfinished)
        texts = dict.fromkeys(one.text for each in runs for one in each.limits)
        return tuple(self._limited(text, runs) for text in texts)

    @property
    def exit_code(self) -> int:
        """What the limits come to: 0, 9 where one is not met, 11 where one cannot be known.

        A run file that cannot be read leaves every limit of its drive unknown.
        """
        runs = (*self.drives, *self.chosen.unfinished)
        judged = [one for each in runs for one in each.limits]
        if judged and any(each.unreadable for each in self.chosen.left_out):
            judged.append(Judged(text="", verdict="not known", why=UNREADABLE))
        return exit_code(judged)

    @staticmethod
    def _limited(text: str, runs: Sequence[Drive]) -> Limited:
        asked = [(each, one) for each in runs for one in each.limits if one.text == text]
        return Limited(
            text=text,
            met=sum(one.verdict == "met" for _, one in asked),
            missed=tuple(pair for pair in asked if pair[1].verdict == "not met"),
            unknown=tuple(pair for pair in asked if pair[1].verdict == "not known"),
        )

    def _floor(self, key: Key) -> float:
        """Return how far two values may be apart and still be equal, as a logarithm."""
        resolutions = [each.values[key].resolution for each in self.drives if key in each.values]
        return max(_PRINTED_SHARE, *resolutions)

    def _is_tested(self, key: Key) -> bool:
        """Return whether a figure is judged by itself: a maximum is decided by single I/Os, and
        the throughput of one block size is its IOPS.
        """
        if key.figure is LATENCY_MAX:
            return False
        beside = Key(test=key.test, place=key.place, figure=IOPS)
        return key.figure is not THROUGHPUT or beside not in self.keys

    def _named(self, outlier: Outlier) -> Named:
        key = None if outlier.column is None else self.keys[outlier.column]
        sign = 1 if key is None or key.figure.more_is_faster else -1
        return Named(
            drive=self.drives[outlier.drive],
            key=key,
            percent=percent_of(sign * outlier.deviation),
            slower=outlier.deviation < 0,
            outlier=outlier,
        )


def value_of(drive: Drive, key: Key) -> float | None:
    """Return a drive's value of a figure, None where it has none."""
    found = drive.values.get(key)
    return None if found is None or not math.isfinite(found.value) else found.value
