"""How many more rounds until steady state, as a probability: forecast from the rounds so far.

A tracking variable is read as a level that is approached exponentially, with a slow drift and
noise. All values of these that explain the rounds are carried on, each as far as it explains
them, and every such future is judged as the run will be. docs/forecast.md has the model.
"""

import hashlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.terms.finding import SteadyState
from teijo.terms.watch import RoundsLeft

ROUNDS_LEAST: Final = 3
"""A level, a decay and a noise need as many rounds: before them nothing is said."""
CONFIDENCE: Final = 0.9
FUTURES: Final = 1000

_DECAY_ROUNDS: Final = np.geomspace(0.4, 25, 12)
_NOISES: Final = np.geomspace(0.002, 0.12, 10)
_AMPLITUDES: Final = np.array([0.02, 0.3, 2.0])
_NOISE_USUAL: Final = 0.025
_NOISE_SPREAD: Final = 0.8
_LEVEL_SPREAD: Final = 1.0
_DRIFT_SPREAD: Final = 0.004
"""What is thought before the first round, relative to the last: see docs/forecast.md."""

Floats = NDArray[np.float64]


def rounds_left(states: Sequence[SteadyState], *, limit_rounds: int) -> RoundsLeft | None:
    """Return how many more rounds there will be, with 90 % confidence.

    `states` is the determination of every tracking variable over the unbroken rounds, of which
    `limit_rounds` are the most. None before the third round, once steady, at the limit, and where
    a round measured nothing. The same values give the same forecast.
    """
    values = tuple(state.values for state in states)
    done = len(values[0]) if values else 0
    if not ROUNDS_LEAST <= done < limit_rounds or limit_rounds < WINDOW_ROUNDS:
        return None
    if any(state.reached is not None for state in states):
        return None
    if any(value <= 0 for series in values for value in series):
        return None
    return _forecast(values, limit_rounds)


@lru_cache(maxsize=64)
def _forecast(values: tuple[tuple[float, ...], ...], limit_rounds: int) -> RoundsLeft:
    # Called after every cell, and the rounds change only after the last cell of one.
    done = len(values[0])
    draw = np.random.default_rng(_seed(values))
    # A window ends with each round that is still to come, from the fifth on.
    steady = np.ones((FUTURES, limit_rounds - max(done, WINDOW_ROUNDS - 1)), np.bool_)
    for series in values:
        past = np.array(series)
        ahead = futures(past, limit_rounds - done, draw)
        whole = np.concatenate([np.broadcast_to(past, (FUTURES, done)), ahead], axis=1)
        steady &= steady_windows(whole[:, max(0, done + 1 - WINDOW_ROUNDS) :])
    at_all = steady.any(axis=1)
    # A run that is never steady goes on to the limit of rounds.
    first = np.where(at_all, steady.argmax(axis=1), steady.shape[1] - 1)
    left = first + 1 + max(0, WINDOW_ROUNDS - 1 - done)
    low, high = _shortest(left, CONFIDENCE)
    return RoundsLeft(
        low=low,
        # The shortest range need not hold the median.
        median=min(max(int(np.median(left)), low), high),
        high=high,
        confidence=CONFIDENCE,
        never=float(1 - at_all.mean()),
    )


def steady_windows(values: Floats) -> NDArray[np.bool_]:
    """Return which windows of five rounds are steady, as `steady_state.window_of` judges them.

    `values` is (series, rounds), the result (series, rounds − 4).
    """
    windows = np.lib.stride_tricks.sliding_window_view(values, WINDOW_ROUNDS, axis=1)
    average = windows.mean(axis=2)
    spread = windows.max(axis=2) - windows.min(axis=2)
    centred = np.arange(WINDOW_ROUNDS) - (WINDOW_ROUNDS - 1) / 2
    rise = np.abs(windows @ centred) / (centred @ centred) * (WINDOW_ROUNDS - 1)
    steady: NDArray[np.bool_] = (average > 0) & (spread <= average / 5) & (rise <= average / 10)
    return steady


def futures(past: Floats, rounds: int, draw: "np.random.Generator") -> Floats:
    """Return `FUTURES` continuations of a series by so many rounds, (futures, rounds).

    Level, amplitude and drift of a decay are drawn from their posterior, a normal distribution
    for each decay time, noise and size of amplitude; these are drawn by how well they explain
    the past (a grid in place of a Markov chain: no tuning, and the same answer always). Noise is
    relative to the value: a round of half the rate scatters by half as much.
    """
    scale = past[-1]
    means, roots, weights, grid = _posterior(past / scale)
    chosen = draw.choice(len(weights), FUTURES, p=weights)
    shock = draw.standard_normal((FUTURES, 3))
    parts = means[chosen] + np.einsum("fij,fj->fi", roots[chosen], shock)
    ahead = np.arange(len(past), len(past) + rounds)
    decay, noise = grid[chosen, 0], grid[chosen, 1]
    line = (
        parts[:, :1]
        + parts[:, 1:2] * np.exp(-ahead[None, :] / decay[:, None])
        + parts[:, 2:] * (ahead - len(past) + 1)
    )
    scatter = 1 + noise[:, None] * draw.standard_normal((FUTURES, rounds))
    ahead_values: Floats = np.maximum(line, 0) * scatter * scale
    return ahead_values


def _posterior(past: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return per place of the grid: means, roots of the covariances, weight, (decay, noise)."""
    mesh = np.meshgrid(_DECAY_ROUNDS, _NOISES, _AMPLITUDES, indexing="ij")
    decay, noise, amplitude = (each.ravel() for each in mesh)
    place = np.arange(len(past))
    curve = np.exp(-place[None, :] / decay[:, None])
    ones = np.ones_like(curve)
    # Counted from the last round, since the prior of the level is relative to its value.
    drift = np.broadcast_to(place - len(past) + 1.0, curve.shape)
    # A row divided by its value has errors of one size: relative noise becomes plain noise.
    rows = np.stack([ones, curve, drift], axis=2) / past[None, :, None]
    prior = np.stack(
        [
            np.full_like(noise, _LEVEL_SPREAD**-2),
            amplitude**-2,
            np.full_like(noise, _DRIFT_SPREAD**-2),
        ],
        axis=1,
    )
    middle = np.array([1.0, 0.0, 0.0])
    residual = 1 - rows @ middle
    precision = rows.transpose(0, 2, 1) @ rows / (noise**2)[:, None, None]
    precision += prior[:, :, None] * np.eye(3)
    pull = np.einsum("gni,gn->gi", rows, residual) / (noise**2)[:, None]
    covariance = np.linalg.inv(precision)
    shift = np.einsum("gij,gj->gi", covariance, pull)
    fit = (residual**2).sum(axis=1) / noise**2 - (shift * pull).sum(axis=1)
    evidence = -0.5 * (
        (np.log(noise / _NOISE_USUAL) / _NOISE_SPREAD) ** 2
        + fit
        + 2 * len(past) * np.log(noise)
        - np.log(prior).sum(axis=1)
        + np.linalg.slogdet(precision)[1]
    )
    weights = np.exp(evidence - evidence.max())  # else all may be 0 in doubles
    grid = np.stack([decay, noise], axis=1)
    return middle + shift, np.linalg.cholesky(covariance), weights / weights.sum(), grid


def _shortest(counts: NDArray[np.int64], share: float) -> tuple[int, int]:
    """Return the shortest range of whole numbers that holds this share of the counts."""
    ordered = np.sort(counts)
    held = int(np.ceil(share * len(ordered)))
    widths = ordered[held - 1 :] - ordered[: len(ordered) - held + 1]
    place = int(widths.argmin())
    return int(ordered[place]), int(ordered[place + held - 1])


def _seed(values: tuple[tuple[float, ...], ...]) -> int:
    packed = b"".join(struct.pack(f"<{len(series)}d", *series) for series in values)
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest())
