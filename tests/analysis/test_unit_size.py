"""The unit of a device, from times that a formula of its own makes: known units, and none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.analysis.unit_size import (
    LARGEST_BYTES,
    Direction,
    Shifted,
    Sized,
    candidates_of,
    infer,
    units_touched,
    weights_of,
)

SIZES = [512 << power for power in range(12)]
PROBES = [1024 << power for power in range(8)]
Made = tuple[list[Sized], list[Shifted]]


def made(
    unit: int,
    *,
    seed: int,
    noise: float = 0.01,
    unit_ns: float = 15_000,
    part_ns: float = 25_000,
    directions: tuple[Direction, ...] = ("read", "write"),
) -> Made:
    """Return the times of a device with this unit: 40 µs, so much a unit and a part, 500 MB/s."""
    draw = np.random.default_rng(seed)

    def mean_ns(direction: Direction, size: int, grid: int) -> float:
        begin = draw.integers(0, 1 << 16, 400) * grid
        end = begin + size
        first, last = begin // unit, (end - 1) // unit
        whole = np.maximum(end // unit - -(-begin // unit), 0)
        touched = last - first + 1
        times = 40_000 + unit_ns * touched + 2.0 * size
        if direction == "write":
            times = times + part_ns * (touched - whole)
        return float(times.mean() * draw.normal(1, noise))

    sized = [
        Sized(
            direction=direction,
            size_bytes=size,
            time_ns=tuple(mean_ns(direction, size, size) for _ in range(5)),
        )
        for direction in directions
        for size in SIZES
    ]
    shifted = []
    for direction in directions:
        for size in PROBES:
            own = [mean_ns(direction, size, size) for _ in range(5)]
            half = [mean_ns(direction, size, size // 2) for _ in range(5)]
            shifted.append(
                Shifted(
                    direction=direction,
                    size_bytes=size,
                    own_ns=float(np.mean(own)),
                    ratios=tuple(b / a for a, b in zip(own, half, strict=True)),
                )
            )
    return sized, shifted


@pytest.mark.parametrize("unit", [1024, 2048, 4096, 8192, 16384, 32768, 65536])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_unit_that_times_were_made_with_is_named(unit: int, seed: int) -> None:
    found = infer(*made(unit, seed=seed), 512)
    assert (found.outcome, found.unit_bytes) == ("unit", unit)
    assert found.weights[unit] >= 0.95
    assert sum(found.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_no_unit_is_named_where_there_is_none(seed: int) -> None:
    found = infer(*made(512, seed=seed, noise=0.02), 512)
    assert found.outcome in ("none", "cannot tell")
    assert found.unit_bytes is None


def test_that_none_shows_is_said_of_quiet_writes_with_what_could_be_hidden() -> None:
    found = infer(*made(512, seed=1, noise=0.001), 512)
    assert found.outcome == "none"
    assert found.step_limit is not None
    assert found.step_limit < 0.05
    reads_alone = infer(*made(512, seed=1, noise=0.001, directions=("read",)), 512)
    assert reads_alone.outcome == "cannot tell"


def test_noise_that_drowns_the_step_leaves_it_untold() -> None:
    outcomes = {infer(*made(4096, seed=seed, noise=0.5), 512).outcome for seed in range(10)}
    assert outcomes <= {"cannot tell", "unit"}
    wrong = sum(
        found.unit_bytes not in (None, 4096)
        for seed in range(40)
        if (found := infer(*made(4096, seed=seed, noise=0.3), 512))
    )
    assert wrong <= 2


def test_a_unit_above_the_largest_is_not_taken_for_the_largest() -> None:
    found = infer(*made(4 * LARGEST_BYTES, seed=1), 512)
    assert found.unit_bytes is None
    assert found.outcome == "cannot tell"


def test_reads_and_writes_that_speak_for_different_units_are_not_averaged() -> None:
    small, large = (
        made(4096, seed=1, directions=("read",)),
        made(16384, seed=1, directions=("write",)),
    )
    found = infer([*small[0], *large[0]], [*small[1], *large[1]], 512)
    assert found.outcome == "disagree"
    assert (found.named_by("read"), found.named_by("write")) == (4096, 16384)


def test_sizes_without_shifts_name_nothing() -> None:
    sized, _ = made(4096, seed=1)
    found = infer(sized, [], 512)
    assert found.outcome == "cannot tell"
    assert max(found.weights, key=found.weights.__getitem__) == 4096


def test_nothing_measured_is_nothing_told() -> None:
    found = infer([], [], 512)
    assert (found.outcome, found.evidence) == ("cannot tell", ())


def test_candidates_lie_above_the_logical_block() -> None:
    assert candidates_of(512) == tuple(1024 << power for power in range(8))
    assert candidates_of(4096)[0] == 8192
    assert candidates_of(4096)[-1] == 2 * LARGEST_BYTES


@pytest.mark.parametrize(
    ("size", "grid", "unit", "expected"),
    [
        (4096, 4096, 4096, (1, 0)),
        (4096, 2048, 4096, (1.5, 1)),
        (2048, 2048, 4096, (1, 1)),
        (2048, 1024, 4096, (1.25, 1.25)),
        (8192, 4096, 4096, (2, 0)),
        (512, 512, 512, (1, 0)),
    ],
)
def test_units_touched_are_counted_by_hand(
    size: int, grid: int, unit: int, expected: tuple[float, float]
) -> None:
    assert units_touched(size, grid, unit) == expected


@given(
    size=st.integers(0, 8).map(lambda power: 512 << power),
    shift=st.booleans(),
    unit=st.integers(0, 8).map(lambda power: 512 << power),
)
def test_units_touched_are_those_of_every_sector(size: int, shift: bool, unit: int) -> None:
    grid = size // 2 if shift and size > 512 else size
    period = max(grid, unit, size)
    touched = parts = count = 0
    for offset in range(0, 2 * period, grid):
        sectors = [place // unit for place in range(offset, offset + size, 512)]
        each = {one: sectors.count(one) for one in sectors}
        touched += len(each)
        parts += sum(many * 512 < unit for many in each.values())
        count += 1
    assert units_touched(size, grid, unit) == (touched / count, parts / count)


def test_weights_are_shares_of_the_likelihood() -> None:
    found = weights_of({0: 0.0, 1024: np.log(3.0), 2048: -2000.0})
    assert found[0] == pytest.approx(0.25)
    assert found[1024] == pytest.approx(0.75)
    assert found[2048] == 0
