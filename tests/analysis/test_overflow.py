"""Overflows: caches of known size, filled and drained in small steps by a simulation of its own."""

from dataclasses import dataclass

import numpy as np
import pytest

from teijo.analysis.overflow import (
    Overflow,
    Series,
    changes_of,
    fluid_bytes,
    overflow_of,
)

MB = 1e6
GB = 1e9


@dataclass(frozen=True, kw_only=True)
class Cache:
    """A cache of `size` bytes, filled at `source` and drained at `drain` bytes per second.

    Once full it takes nothing until it is down to `low`.
    """

    size: float
    source: float
    drain: float
    low: float | None = None

    def series(
        self, seconds: int, *, steps: int = 200, scatter: float = 0.0, seed: int = 0
    ) -> Series:
        """Return what a source gets written, walked through in small steps of time.

        `scatter` is the share by which source and drain vary from second to second.
        """
        held, closed, dt = 0.0, False, 1 / steps
        written = np.zeros(seconds)
        speeds = np.random.default_rng(seed).normal(1.0, scatter, (seconds, 2)).tolist()
        for sample, (faster, better) in enumerate(speeds):
            for _ in range(steps):
                held = max(0.0, held - self.drain * better * dt)
                if closed and held > (self.low or 0.0):
                    continue
                closed = False
                taken = min(self.source * faster * dt, self.size - held)
                held += taken
                written[sample] += taken
                closed = self.low is not None and held >= self.size - 1.0
        return Series(lengths_s=np.ones(seconds), written_bytes=written, block_size_bytes=131_072)


def noisy(series: Series, share: float, seed: int) -> Series:
    """Return the series with a normal error of this share of each sample."""
    wobble = np.random.default_rng(seed).normal(1.0, share, series.lengths_s.size)
    return Series(
        lengths_s=series.lengths_s,
        written_bytes=np.maximum(0.0, series.written_bytes * wobble),
        block_size_bytes=series.block_size_bytes,
    )


def levels(*parts: tuple[float, int], noise: float = 0.0, seed: int = 1) -> Series:
    """Return a made-up series: (MB/s, seconds) one after the other."""
    rates = np.concatenate([np.full(seconds, rate * MB) for rate, seconds in parts])
    plain = Series(lengths_s=np.ones(rates.size), written_bytes=rates, block_size_bytes=131_072)
    return noisy(plain, noise, seed) if noise else plain


def found(series: Series) -> Overflow:
    overflow = overflow_of(series)
    assert overflow is not None
    return overflow


RAM = Cache(size=25 * GB, source=110 * MB, drain=52 * MB)


def test_the_fluid_model_is_the_article_s() -> None:
    # 25 GB at 110 MB/s over 52 MB/s: 47.4 GB; 27 GB at 110 over 10: 29.7 GB.
    assert fluid_bytes(25 * GB, 110 * MB, 52 * MB) == pytest.approx(47.41 * GB, rel=1e-3)
    assert fluid_bytes(27 * GB, 110 * MB, 10 * MB) == pytest.approx(29.7 * GB, rel=1e-3)
    assert fluid_bytes(27 * GB, 100 * MB, 100 * MB) is None


def test_a_cache_without_water_marks_is_measured_to_a_thousandth() -> None:
    overflow = found(RAM.series(900))
    cliff = overflow.cliff
    assert cliff is not None
    assert cliff.at_bytes == pytest.approx(fluid_bytes(25 * GB, 110 * MB, 52 * MB), rel=1e-3)
    assert cliff.at_s == pytest.approx(25_000 / (110 - 52), rel=1e-3)
    assert cliff.held.value == pytest.approx(25 * GB, rel=2e-3)
    assert cliff.before.value == pytest.approx(110 * MB, rel=1e-3)
    assert cliff.after.value == pytest.approx(52 * MB, rel=1e-3)
    assert [phase.name for phase in overflow.phases] == ["before", "after"]
    assert not cliff.in_turns
    assert overflow.stalls == ()


def test_water_marks_make_a_stall_and_turns_and_leave_the_size_to_be_told() -> None:
    cache = Cache(size=25 * GB, source=110 * MB, drain=52 * MB, low=20 * GB)
    overflow = found(cache.series(1600))
    cliff = overflow.cliff
    assert cliff is not None
    assert cliff.in_turns
    assert cliff.at_bytes == pytest.approx(47.41 * GB, rel=3e-3)
    assert cliff.after.value == pytest.approx(52 * MB, rel=0.02)
    assert cliff.held.value == pytest.approx(25 * GB, rel=0.02)
    assert cliff.held.half_width is not None
    assert abs(cliff.held.value - 25 * GB) < cliff.held.half_width < 1 * GB
    assert overflow.stalls[0].length_s == pytest.approx(5_000 / 52, abs=1.5)
    assert len(overflow.stalls) >= 5
    assert [phase.name for phase in overflow.phases] == ["before", "stall", "after"]


@pytest.mark.parametrize(("seconds", "known"), [(750, False), (850, True), (1200, True)])
def test_a_single_turn_has_no_interval_and_two_have_one(seconds: int, known: bool) -> None:
    cache = Cache(size=25 * GB, source=110 * MB, drain=52 * MB, low=20 * GB)
    cliff = found(cache.series(seconds)).cliff
    assert cliff is not None
    assert cliff.in_turns
    assert (cliff.held.half_width is not None) == known


def test_the_interval_of_turns_has_students_t_of_the_tables() -> None:
    turns = [(0, 10), (110, 10), (0, 10), (110, 14)]  # of 55 MB/s, and of 110 · 14 / 24
    cliff = found(levels((110, 200), *turns, (0, 10))).cliff
    assert cliff is not None
    assert cliff.after.value == pytest.approx(60 * MB)
    error = np.std([55 * MB, 110 * MB * 14 / 24], ddof=1) / 2**0.5
    assert cliff.after.half_width == pytest.approx(12.7062 * error)  # t(0.975, 1)


def test_a_stall_before_a_plateau_is_a_phase_of_its_own() -> None:
    overflow = found(levels((110, 450), (0, 12), (50, 300), noise=0.02))
    assert [phase.name for phase in overflow.phases] == ["before", "stall", "after"]
    assert overflow.cliff is not None
    assert overflow.cliff.at_bytes == pytest.approx(49.5 * GB, rel=0.01)
    assert overflow.cliff.after.value == pytest.approx(50 * MB, rel=0.01)
    (stall,) = overflow.stalls
    assert stall.length_s == 12
    assert stall.first_s == 450


def test_the_size_s_interval_holds_the_truth_in_nine_of_ten_noisy_series() -> None:
    held = 0
    for seed in range(40):
        cliff = found(RAM.series(900, steps=20, scatter=0.15, seed=seed)).cliff
        assert cliff is not None
        assert cliff.held.half_width is not None
        assert cliff.held.half_width < 2.0 * GB
        held += abs(cliff.held.value - 25 * GB) <= cliff.held.half_width
    assert held >= 36


@pytest.mark.parametrize("into", [0.0, 0.2, 0.5, 0.8])
def test_the_place_of_a_cliff_is_finer_than_a_sample(into: float) -> None:
    size = (300 + into) * (100 - 20) * MB
    cliff = found(Cache(size=size, source=100 * MB, drain=20 * MB).series(500)).cliff
    assert cliff is not None
    assert cliff.at_s == pytest.approx(300 + into, abs=0.05)


def test_few_blocks_in_a_sample_make_no_stalls() -> None:
    rng = np.random.default_rng(3)
    blocks = np.concatenate((np.full(270, 28), rng.poisson(2.5, 300)))
    series = Series(
        lengths_s=np.ones(570), written_bytes=blocks * 4e6, block_size_bytes=4e6
    )  # as at a scale of 1:30
    overflow = found(series)
    assert overflow.cliff is not None
    assert overflow.cliff.at_s == pytest.approx(270, abs=2)
    assert overflow.stalls == ()


@pytest.mark.parametrize(
    "series",
    [
        levels((480, 600), noise=0.05),
        levels((300, 20), (480, 600), noise=0.03),
        levels((480, 300), (20, 5), (480, 300), noise=0.03),
        levels((480, 300), (430, 300), noise=0.02),
        levels((480, 2)),
        levels(*((150 - 75 * step / 3600, 1) for step in range(3600)), noise=0.02),
    ],
    ids=["flat", "warm-up", "a dip", "a small fall", "too short", "zones of a disk"],
)
def test_where_there_is_no_cliff_none_is_found(series: Series) -> None:
    overflow = found(series)
    assert overflow.cliffs == ()
    assert overflow.cliff is None
    assert [phase.name for phase in overflow.phases] == ["whole"]


def test_plain_noise_has_no_cliff_in_two_hundred_series() -> None:
    for seed in range(200):
        assert found(levels((100, 240), noise=0.15, seed=seed)).cliff is None


def test_two_caches_in_a_row_are_two_cliffs_and_the_deepest_is_the_main_one() -> None:
    overflow = found(levels((2000, 20), (1500, 100), (300, 400), noise=0.02))
    assert [round(cliff.at_s) for cliff in overflow.cliffs] == [20, 120]
    assert overflow.main == 1
    first, second = overflow.cliffs
    assert first.at_bytes == pytest.approx(40 * GB, rel=0.02)
    assert first.after.value == pytest.approx(1500 * MB, rel=0.02)
    assert second.at_bytes == pytest.approx(190 * GB, rel=0.02)
    assert second.held.value == pytest.approx((190 - 0.3 * 120) * GB, rel=0.03)


def test_the_first_turn_is_the_cliff_even_where_a_later_one_parts_better() -> None:
    turns = [(110, 40), (0, 10)] * 2 + [(110, 20), (0, 40)] * 8
    overflow = found(levels(*turns, noise=0.02))
    assert overflow.cliff is not None
    assert len(overflow.cliffs) == 1


def test_a_series_of_a_day_is_looked_at_in_longer_samples() -> None:
    overflow = found(levels((110, 40_000), (10, 46_400), noise=0.05))
    assert overflow.cliff is not None
    assert overflow.cliff.at_s == pytest.approx(40_000, abs=12)
    assert overflow.seconds == 86_400


def test_no_samples_show_nothing() -> None:
    empty = np.zeros(0)
    assert overflow_of(Series(lengths_s=empty, written_bytes=empty, block_size_bytes=1)) is None


def test_changes_smaller_than_an_io_are_none() -> None:
    rates = np.tile((27 * 4e6, 28 * 4e6), 100) + np.repeat((0.0, 1e6), 100)
    series = Series(lengths_s=np.ones(200), written_bytes=rates, block_size_bytes=4e6)
    assert changes_of(series) == ()
