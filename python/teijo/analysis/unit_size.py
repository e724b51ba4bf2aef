"""The unit a device works in (page, mapping unit), inferred from how long I/Os of many sizes take.

An I/O touches whole units, so its time is t = fix + unit · U(s) + s / B, U being the units
touched, and a write that covers part of a unit costs a reading of the rest besides. Each size of
unit predicts other steps; the ones that do not fit are ruled out, and where none stands out the
answer is that the data cannot tell.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.replicates import standard_error

Array = NDArray[np.float64]
Direction = Literal["read", "write"]
Kind = Literal["sizes", "alignment"]
DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")
Outcome = Literal["unit", "none", "cannot tell", "disagree"]

LARGEST_BYTES: Final = 64 * 1024
"""The largest unit that is looked for. One twice as large is compared with it, so that a still
larger one is not taken for it."""
SURE: Final = 0.95
"""The weight from which a unit is named."""
STEP_LEAST: Final[Mapping[Direction, float]] = {"read": 0.05, "write": 0.02}
"""A step smaller than this share of an I/O's time names no unit. Reads show units by transfers
alone, which overlap, and then look as if the unit were smaller; part-writes cost a reading."""
HIDDEN_MOST: Final = 0.05
"""That no unit shows is said only where one that cost more than this share would have shown."""
SIZES_MOST_BYTES: Final = 256 * 1024
"""Larger I/Os say more of transfers and queues than of units."""
CURVE_ERROR: Final = 0.10
"""How far the straight lines of the formula may be off over the sizes, as a share of an I/O's time:
dies that work side by side and transfers that overlap bend them."""
SHIFT_ERROR: Final = 0.40
"""How far a shift may cost more or less than the formula has it, as a share of that cost. Where it
has none, there is none."""
SHIFT_FLOOR: Final = 0.002
"""What two ways to place the same I/O may differ in, units or not, as a share of its time."""


@dataclass(frozen=True, kw_only=True)
class Sized:
    """The mean time in ns of an I/O on the grid of its own size, one value a repeat.

    One I/O is outstanding at a time. `alone` is whether the step had I/Os of this direction only:
    then reads meet no part-writes of others.
    """

    direction: Direction
    size_bytes: int
    time_ns: tuple[float, ...]
    alone: bool = True


@dataclass(frozen=True, kw_only=True)
class Shifted:
    """I/Os of one size on a grid of half of it, by the same on their own grid.

    A repeat measured both, one right after the other: `ratios` are the mean times' ratio, one
    value a repeat, `own_ns` the mean time on their own grid.
    """

    direction: Direction
    size_bytes: int
    own_ns: float
    ratios: tuple[float, ...]
    alone: bool = True


def shifted_of(
    direction: Direction, size_bytes: int, times_ns: Iterable[tuple[float | None, float | None]]
) -> Shifted | None:
    """Return what pairs of times say, on the I/Os' own grid and on half of it; None without one."""
    pairs = [(own, moved) for own, moved in times_ns if own and moved]
    if not pairs:
        return None
    return Shifted(
        direction=direction,
        size_bytes=size_bytes,
        own_ns=math.fsum(own for own, _ in pairs) / len(pairs),
        ratios=tuple(moved / own for own, moved in pairs),
    )


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What one direction says by its sizes, or by shifting I/Os of one size off their grid.

    `observed` is (size in bytes, share, its error): of shifts what they cost as a share of the
    I/O's time, of sizes the time as a share of the longest.
    `log_likelihood` is for every candidate, 0 meaning that no larger unit shows. `step_share` is
    what a unit, and a part of one, costs at the candidate's size as a share of the I/O's time;
    `step_limit` is the most it could be (95 %).
    """

    direction: Direction
    kind: Kind
    observed: tuple[tuple[int, float, float], ...]
    log_likelihood: Mapping[int, float]
    step_share: Mapping[int, float]
    step_limit: Mapping[int, float]

    @property
    def weights(self) -> dict[int, float]:
        """The candidates' shares of the likelihood, all taken as equally probable before."""
        return weights_of(self.log_likelihood)


@dataclass(frozen=True, kw_only=True)
class UnitFound:
    """The answer. `unit_bytes` is the unit where the outcome is "unit", else None.

    `weights` are of all evidence together, by candidate, 0 for no larger unit than the logical
    block. `step_limit` bounds, where the outcome is "none", what a unit could cost and not show.
    """

    outcome: Outcome
    unit_bytes: int | None
    weights: Mapping[int, float]
    evidence: tuple[Evidence, ...]
    step_limit: float | None = None

    def named_by(self, direction: Direction) -> int | None:
        """Return the unit that one direction alone names, None for none."""
        return _named([one for one in self.evidence if one.direction == direction])


def candidates_of(logical_block_bytes: int) -> tuple[int, ...]:
    """Return the units that are compared: powers of two above the logical block, and one above
    the largest that may be named.
    """
    sizes = []
    size = 2 * logical_block_bytes
    while size <= 2 * LARGEST_BYTES:
        sizes.append(size)
        size *= 2
    return tuple(sizes)


def infer(
    sized: Sequence[Sized], shifted: Sequence[Shifted], logical_block_bytes: int
) -> UnitFound:
    """Return the unit that all observations together speak for, and how surely.

    A unit is named where the shifted I/Os alone give it a weight of at least 95 %, and so does
    all evidence together, where it costs at least 2 % of a write or 5 % of a read, and where no
    direction alone names another. That no larger unit shows is said where that is the likeliest,
    and shifted writes, which feel a unit most, rule out a step of more than 5 % for all candidates.
    """
    candidates = candidates_of(logical_block_bytes)
    found = [
        _evidence(_of_sizes([one for one in sized if one.direction == direction]), candidates)
        for direction in DIRECTIONS
    ]
    found += [
        _evidence(_of_shifts([one for one in shifted if one.direction == direction]), candidates)
        for direction in DIRECTIONS
    ]
    evidence = tuple(one for one in found if one is not None)
    shifts = [one for one in evidence if one.kind == "alignment"]
    weights = weights_of(_together(evidence, candidates))
    # Sizes are a weak witness: dies side by side and overlapping transfers bend their curve.
    unit = _named(shifts)
    others = {_named([one]) for one in shifts} - {None, unit}
    outcome: Outcome = "cannot tell"
    limit = _hidden_most(shifts)
    if others:
        outcome = "disagree"
    elif unit is not None and unit <= LARGEST_BYTES and weights[unit] >= SURE:
        outcome = "unit"
    elif unit is None and max(weights, key=weights.__getitem__) == 0 and limit <= HIDDEN_MOST:
        outcome = "none"
    return UnitFound(
        outcome=outcome,
        unit_bytes=unit if outcome == "unit" else None,
        weights=weights,
        evidence=evidence,
        step_limit=limit if outcome == "none" else None,
    )


def weights_of(log_likelihood: Mapping[int, float]) -> dict[int, float]:
    """Return likelihoods as shares of their sum."""
    top = max(log_likelihood.values())
    shares = {unit: math.exp(value - top) for unit, value in log_likelihood.items()}
    total = math.fsum(shares.values())
    return {unit: share / total for unit, share in shares.items()}


def units_touched(size_bytes: int, grid_bytes: int, unit_bytes: int) -> tuple[float, float]:
    """Return how many units an I/O touches, and how many it covers in part, on average over the
    offsets of the grid. All three are powers of two.
    """
    period = max(grid_bytes, unit_bytes)
    offsets = range(0, period, grid_bytes)
    touched = partly = 0
    for offset in offsets:
        end = offset + size_bytes
        first, last = offset // unit_bytes, (end - 1) // unit_bytes
        touched += last - first + 1
        partly += _partly_covered(offset, end, unit_bytes)
    return touched / len(offsets), partly / len(offsets)


def _partly_covered(begin: int, end: int, unit_bytes: int) -> int:
    """Return of how many units the bytes from begin to end cover a part."""
    first, last = begin // unit_bytes, (end - 1) // unit_bytes
    ragged = {first} if begin % unit_bytes else set()
    if end % unit_bytes:
        ragged.add(last)
    return len(ragged)


def _named(evidence: Sequence[Evidence]) -> int | None:
    """Return the unit that some evidence names: sure, and with a step that matters."""
    if not evidence:
        return None
    weights = weights_of(_together(evidence, tuple(evidence[0].step_share)))
    unit = max(weights, key=weights.__getitem__)
    if not unit or weights[unit] < SURE:
        return None
    matters = any(one.step_share[unit] >= STEP_LEAST[one.direction] for one in evidence)
    return unit if matters else None


def _hidden_most(shifts: Sequence[Evidence]) -> float:
    """Return what a unit could cost, as a share of a write, and shifted writes not show it."""
    limits = [max(one.step_limit.values()) for one in shifts if one.direction == "write"]
    return max(limits, default=math.inf)


def _together(evidence: Sequence[Evidence], candidates: Sequence[int]) -> dict[int, float]:
    return {
        unit: math.fsum(one.log_likelihood[unit] for one in evidence) for unit in (0, *candidates)
    }


@dataclass(frozen=True, kw_only=True)
class _Data:
    """Times, or what shifts cost, in ns, each with its error, and the I/O's time on its own grid.

    `parts` is whether part-writes may matter. `levels` and `sizes` go with `times`.
    """

    direction: Direction
    kind: Kind
    parts: bool
    sizes: Array
    levels: Array
    times: Array
    errors: Array

    @property
    def observed(self) -> tuple[tuple[int, float, float], ...]:
        """Sizes in bytes, with times and errors as shares."""
        by = (
            self.levels
            if self.kind == "alignment"
            else np.full_like(self.levels, self.levels.max())
        )
        columns = (self.sizes.astype(int), self.times / by, self.errors / by)
        return tuple(
            (int(size), float(time), float(error))
            for size, time, error in zip(*columns, strict=True)
        )

    @property
    def common(self) -> int:
        """Columns that every candidate has: the fixed time and the rate of a transfer."""
        # A shift leaves both as they were, so what it costs has neither.
        return 2 if self.kind == "sizes" else 0

    def design(self, unit: int) -> Array:
        """Return the columns of the formula for one unit; 0 is that there is none."""
        columns = [np.ones_like(self.sizes), self.sizes][: self.common]
        if unit:
            own = np.array([units_touched(int(s), int(s), unit) for s in self.sizes])
            if self.kind == "alignment":
                half = np.array([units_touched(int(s), int(s) // 2, unit) for s in self.sizes])
                own = half - own
            columns += [own[:, 0], own[:, 1]] if self.parts else [own[:, 0]]
        return np.stack(columns, axis=1) if columns else np.zeros((self.times.size, 0))

    def allowed(self, predicted: Array) -> Array:
        """Return the errors, with what the formula itself may be off."""
        match self.kind:
            case "sizes":
                return np.asarray(np.hypot(self.errors, CURVE_ERROR * self.levels))
            case "alignment":
                floor = np.hypot(self.errors, SHIFT_FLOOR * self.levels)
                return np.asarray(np.hypot(floor, SHIFT_ERROR * predicted))

    def level(self, unit: int) -> float:
        """Return the time in ns of an I/O of the unit's size, or of the size next to it."""
        return float(self.levels[np.argmin(np.abs(np.log(self.sizes / unit)))])


@dataclass(frozen=True, kw_only=True)
class _Fit:
    factors: Array
    log_likelihood: float


def _evidence(data: _Data | None, candidates: Sequence[int]) -> Evidence | None:
    """Return what data say of the candidates, None where there are none."""
    if data is None:
        return None
    fits = {unit: _fit(data, unit) for unit in (0, *candidates)}
    shares = {
        unit: float(fits[unit].factors[data.common :].sum()) / data.level(unit)
        for unit in candidates
    }
    return Evidence(
        direction=data.direction,
        kind=data.kind,
        observed=data.observed,
        log_likelihood={unit: fit.log_likelihood for unit, fit in fits.items()},
        step_share=shares,
        step_limit={unit: shares[unit] + 2 * _share_error(data, unit) for unit in candidates},
    )


def _fit(data: _Data, unit: int) -> _Fit:
    """Return the likeliest factors, none below zero; a factor is paid for as BIC has it.

    What the formula may be off depends on what it predicts, so it is fitted twice.
    """
    design = data.design(unit)
    factors = _least_squares(design, data.times, data.allowed(np.zeros_like(data.times)))
    factors = _least_squares(design, data.times, data.allowed(design @ factors))
    errors = data.allowed(design @ factors)
    residuals = (data.times - design @ factors) / errors
    paid = design.shape[1] * math.log(data.times.size)
    likelihood = -float(residuals @ residuals + 2 * np.log(errors).sum() + paid) / 2
    return _Fit(factors=factors, log_likelihood=likelihood)


def _least_squares(design: Array, times: Array, errors: Array) -> Array:
    """Return the weighted least squares with no factor below zero.

    Every subset of the few columns is tried, which is exact (Lawson and Hanson, chapter 23, pick
    one of them more cleverly).
    """
    width = design.shape[1]
    scaled, target = design / errors[:, None], times / errors
    best, misfit = np.zeros(width), float(target @ target)
    for count in range(1, width + 1):
        for subset in itertools.combinations(range(width), count):
            chosen = scaled[:, subset]
            factors, *_ = np.linalg.lstsq(chosen, target, rcond=None)
            residual = target - chosen @ factors
            if np.all(factors >= 0) and float(residual @ residual) < misfit:
                best, misfit = np.zeros(width), float(residual @ residual)
                best[list(subset)] = factors
    return best


def _share_error(data: _Data, unit: int) -> float:
    """Return the error of the share that a unit costs, from the errors of the times alone."""
    floor = data.allowed(np.zeros_like(data.times))
    design = data.design(unit) / floor[:, None]
    pick = np.zeros(design.shape[1])
    pick[data.common :] = 1.0
    variance = float(pick @ np.linalg.pinv(design.T @ design) @ pick)
    return math.sqrt(max(0.0, variance)) / data.level(unit)


def _of_sizes(own: Sequence[Sized]) -> _Data | None:
    """Return the times over the sizes, None for fewer than the formula has factors to fit."""
    kept = [one for one in own if one.size_bytes <= SIZES_MOST_BYTES and len(one.time_ns) >= 2]
    if len(kept) < 6:
        return None
    times = np.array([math.fsum(one.time_ns) / len(one.time_ns) for one in kept])
    shares = np.array([standard_error(one.time_ns) for one in kept]) / times
    return _Data(
        direction=kept[0].direction,
        kind="sizes",
        parts=kept[0].direction == "write" or not kept[0].alone,
        sizes=np.array([float(one.size_bytes) for one in kept]),
        levels=times,
        times=times,
        errors=_at_least_typical(shares) * times,
    )


def _of_shifts(own: Sequence[Shifted]) -> _Data | None:
    """Return what shifts cost, None for fewer than three sizes."""
    kept = [one for one in own if len(one.ratios) >= 2 and min(one.ratios) > 0]
    if len(kept) < 3:
        return None
    logs = [[math.log(ratio) for ratio in one.ratios] for one in kept]
    ratios = np.array([math.exp(math.fsum(each) / len(each)) for each in logs])
    levels = np.array([one.own_ns for one in kept])
    errors = _at_least_typical(np.array([standard_error(each) for each in logs]))
    return _Data(
        direction=kept[0].direction,
        kind="alignment",
        parts=kept[0].direction == "write" or not kept[0].alone,
        sizes=np.array([float(one.size_bytes) for one in kept]),
        levels=levels,
        times=(ratios - 1) * levels,
        errors=errors * ratios * levels,
    )


def _at_least_typical(errors: Array) -> Array:
    """Return each error, or the typical one where that is larger.

    A few repeats that happen to lie close together are not as sure as they look.
    """
    return np.asarray(np.maximum(errors, np.median(errors)), np.float64)
