"""Any workload becomes a plan that the engine runs, or is refused by name: nothing else happens."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from teijo.engine.native import NativeSession
from teijo.engine.plan import VerifyPlan
from teijo.engine.session import Lap
from teijo.errors import PlanError
from teijo.runner.compile import compile_load
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure
from teijo.terms.workload import (
    Access,
    ActiveRange,
    Content,
    Rate,
    Schedule,
    Stream,
    Workload,
)
from teijo.units import KIB, MIB

SHARES = st.sampled_from([0, 1, 30, 50, 99, 100])
SIZES = st.integers(1, 256).map(lambda sectors: sectors * 512) | st.integers(1, 2**33)
FIGURES = st.floats(0, 1) | st.floats()


@st.composite
def streams(draw: st.DrawFn, name: str) -> Stream:
    """Make a stream that the terms allow; most of its numbers are near those a person gives."""
    access = draw(st.sampled_from(Access))
    mix = tuple(draw(st.lists(st.tuples(SIZES, st.integers(0, 2**33)), max_size=4)))
    zones = tuple(draw(st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=4)))
    amount = draw(st.none() | st.integers(0, 2**50))
    largest = max(size for size, _ in mix) if mix else draw(SIZES)
    rate = st.builds(
        Rate, ios_per_second=st.floats(1, 1e6) | FIGURES, schedule=st.sampled_from(Schedule)
    )
    return Stream(
        name=name,
        read_percent=draw(SHARES),
        discard_percent=draw(st.just(0) | SHARES),
        block_size_bytes=largest,
        alignment_bytes=draw(st.just(0) | st.integers(0, largest) | st.just(largest // 2)),
        block_mix=mix,
        access=access,
        threads=draw(st.integers(1, 3) | st.sampled_from([4097, 2**31, 2**32])),
        queue_depth=draw(st.integers(1, 64) | st.sampled_from([32_769, 65_536, 2**32])),
        active_range=ActiveRange(
            share_percent=draw(st.integers(1, 100)),
            amount_bytes=amount,
            segments=1 if amount is None else draw(st.integers(1, 5000)),
        ),
        content=draw(st.sampled_from(Content)),
        rate=draw(st.none() | rate),
        skew=draw(FIGURES),
        zones=zones if access is Access.ZONED else (),
        content_percent=draw(st.integers(0, 300)),
        flush_every_writes=draw(st.integers(0, 10) | st.just(2**32)),
        verified=draw(st.booleans()),
    )


WORKLOADS = st.integers(1, 2).flatmap(
    lambda count: st.builds(
        Workload, streams=st.tuples(*(streams(f"stream {number}") for number in range(count)))
    )
)
GEOMETRIES = st.builds(
    Geometry,
    capacity_bytes=(capacity := st.shared(st.integers(8, 2**38).map(lambda one: one * 4096))),
    nominal_capacity_bytes=capacity,
    logical_block_bytes=st.sampled_from([512, 4096]),
)


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    number = os.open(tmp_path / "nothing", os.O_RDWR | os.O_CREAT)
    yield number
    os.close(number)


def run(descriptor: int, workload: Workload, geometry: Geometry) -> Lap | PlanError:
    """Run a microsecond of the workload over the null backend."""
    step = Measure(workload=workload, duration_ns=1000)
    cursors = dict.fromkeys((stream.name for stream in workload.streams), 3 * 4096)
    session = NativeSession(
        descriptor,
        capacity_bytes=geometry.capacity_bytes,
        logical_block_bytes=geometry.logical_block_bytes,
        backend="null",
    )
    try:
        return session.run(compile_load(step, geometry, cursors, 7, STAMPS))
    except PlanError as refusal:
        return refusal
    finally:
        session.close()


STAMPS = VerifyPlan(run=7, generation=1)
DRIVE = Geometry(capacity_bytes=64 * MIB, nominal_capacity_bytes=64 * MIB)
RARE = Stream(read_percent=0, block_size_bytes=4 * KIB, rate=Rate(ios_per_second=1e-300))
WIDE = Stream(read_percent=0, block_size_bytes=4 * KIB, flush_every_writes=2**32)


@given(workload=WORKLOADS, geometry=GEOMETRIES)
@example(Workload(streams=(RARE,)), DRIVE)
@example(Workload(streams=(WIDE,)), DRIVE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_workload_runs_or_is_refused_by_name(
    descriptor: int, workload: Workload, geometry: Geometry
) -> None:
    answer = run(descriptor, workload, geometry)
    assert isinstance(answer, Lap) or str(answer)


@pytest.mark.parametrize("access", Access)
def test_the_strategy_reaches_laps_of_every_access(descriptor: int, access: Access) -> None:
    zones = ((0.5, 0.1), (0.5, 0.9)) if access is Access.ZONED else ()
    stream = Stream(read_percent=50, block_size_bytes=4 * KIB, access=access, skew=0.2, zones=zones)
    answer = run(descriptor, Workload(streams=(stream,)), DRIVE)
    assert isinstance(answer, Lap), answer
