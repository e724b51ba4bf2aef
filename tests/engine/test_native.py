"""The native engine alone: laps without a gap, backends and refusals."""

import os
import shutil
import threading
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teijo.engine import Progress, _native, open_descriptor
from teijo.engine.plan import VerifyPlan
from teijo.errors import DeviceError, HostError, PlanError
from teijo.terms.verification import Fault
from tests.engine.plans import (
    LONG_NS,
    MIB,
    SECOND_NS,
    for_bytes,
    for_time,
    opened,
    stream,
    totals,
    written,
)

SIZE = 8 * MIB
MOMENT_NS = SECOND_NS // 5


@pytest.fixture
def target(scratch: Path) -> Path:
    return written(scratch / "target", SIZE)


def test_laps_that_go_on_follow_each_other_without_a_gap(target: Path) -> None:
    with opened(target) as session:
        main = stream(SIZE)
        laps = [
            session.run(for_time(MOMENT_NS, main, open_ended=True)),
            session.run(for_time(MOMENT_NS, main, open_ended=True, continues=True)),
            session.run(for_time(MOMENT_NS, main, continues=True)),
        ]
        session.finish()
    for before, after in pairwise(laps):
        ended_ns = before.result.started_ns + before.result.elapsed_ns
        assert after.result.started_ns == ended_ns
    assert sum(totals(lap)[0] for lap in laps) > 0


def test_a_layout_of_no_known_kind_is_refused_and_not_taken_for_a_single_target() -> None:
    odd: Any = SimpleNamespace(kind="sideways", member_bytes=(SIZE,), chunk_bytes=0)
    with pytest.raises(ValueError, match='no layout "sideways"'):
        _native.NativeSession([], "null", odd)


@pytest.mark.parametrize(
    "changes",
    [
        {"block_mix": ((4096, 70), (16384, 30)), "block_size_bytes": 16384},
        {"access": "shuffled"},
        {"access": "zipf", "skew": 1.1},
        {"access": "pareto", "skew": 0.2},
        {"access": "zoned", "zones": ((50.0, 5.0), (30.0, 15.0), (20.0, 80.0))},
        {"content": "refill", "flush_every_writes": 8},
        {"content": "compressible", "content_percent": 40},
        {"content": "dedupable", "content_percent": 30},
    ],
)
def test_every_pattern_and_content_moves_its_bytes(
    target: Path, changes: dict[str, object]
) -> None:
    with opened(target) as session:
        lap = session.run(for_bytes(2 * MIB, stream(SIZE, read_percent=50, **changes)))
    assert totals(lap)[1] == 2 * MIB
    assert not lap.failure


@pytest.mark.parametrize(
    "changes",
    [
        {"access": "zipf", "skew": 0.0},
        {"access": "zoned", "zones": ((1.0, 0.0),)},
        {"content": "zero", "verify": VerifyPlan(run=1, generation=1)},
    ],
)
def test_a_pattern_without_meaning_is_a_named_error(
    target: Path, changes: dict[str, object]
) -> None:
    with opened(target) as session, pytest.raises(PlanError, match="The plan cannot be run"):
        session.run(for_bytes(MIB, stream(SIZE, **changes)))


def test_verified_reads_find_what_another_hand_wrote_and_nothing_else(target: Path) -> None:
    verify = VerifyPlan(run=5, generation=1)
    mixed = stream(MIB, read_percent=50, verify=verify)
    with opened(target) as session:
        clean = session.run(for_bytes(64 * MIB, mixed)).result.verification
    assert clean is not None
    assert clean.sectors > 0
    assert not clean.faults

    spoilt_at: list[int] = []

    def spoil(look: Progress) -> bool:
        if not spoilt_at:
            with target.open("r+b") as file:
                file.write(bytes(MIB))
            spoilt_at.append(look.ios)
        # Every sector was written by then, and most are read before they are written again.
        return look.ios < spoilt_at[0] + 10_000

    with opened(target) as session:
        spoilt = session.run(for_time(LONG_NS, mixed), spoil)
    assert spoilt.result.verification is not None
    assert Fault.ZERO in [each.fault for each in spoilt.result.verification.faults]
    assert not spoilt.failure, "the lap was carried out; what it found is in its findings"
    assert totals(spoilt)[0] > 0


def test_going_on_with_nothing_is_a_named_error(target: Path) -> None:
    with opened(target) as session, pytest.raises(PlanError, match="No open-ended stimulus"):
        session.run(for_time(MOMENT_NS, stream(SIZE), continues=True))


def test_closing_ends_an_open_ended_stimulus(target: Path) -> None:
    with opened(target) as session:
        session.run(for_time(MOMENT_NS, stream(SIZE), open_ended=True))
    with opened(target) as session:
        assert totals(session.run(for_bytes(MIB, stream(SIZE))))[1] == MIB


def test_the_observer_is_shown_every_finished_interval_once(target: Path) -> None:
    seen: list[int] = []

    def observe(progress: Progress) -> bool:
        for name, direction, columns in progress.finished:
            assert (name, direction) == ("main", "read")
            seen.extend(columns.index.tolist())
        return len(seen) < 3

    plan = for_time(LONG_NS, stream(SIZE), interval_ns=SECOND_NS // 50)
    with opened(target) as session:
        lap = session.run(plan, observe)
    assert seen == list(range(len(seen)))
    (read,) = lap.result.results
    assert 3 <= len(seen) <= len(read.intervals.index)


def test_other_python_threads_run_while_a_lap_does(target: Path) -> None:
    ran = threading.Event()
    with opened(target) as session:
        threading.Timer(0.05, ran.set).start()
        session.run(for_time(LONG_NS, stream(SIZE)), lambda _: not ran.is_set())
    assert ran.is_set()


@pytest.mark.parametrize("engine", ["native", "fio"])
def test_the_clock_is_read_while_a_lap_runs(target: Path, engine: str) -> None:
    if engine == "fio" and shutil.which("fio") is None:
        pytest.skip("needs the program fio")
    looks: list[int] = []
    with opened(target, engine) as session:

        def look(now: object) -> bool:
            del now
            looks.append(session.now_ns())
            return len(looks) < 2

        before = session.now_ns()
        session.run(for_time(LONG_NS, stream(SIZE)), look)
        after = session.now_ns()
    assert len(looks) >= 2
    assert before <= looks[0] <= looks[1] <= after


def test_the_null_backend_moves_no_data_and_counts_all_the_same(target: Path) -> None:
    before = target.read_bytes()
    with opened(target, "null") as session:
        assert session.backend == "null"
        lap = session.run(for_bytes(1 << 30, stream(SIZE, read_percent=0, threads=2)))
    assert totals(lap) == ((1 << 30) // 4096, 1 << 30)
    assert target.read_bytes() == before


def test_a_backend_says_its_name(target: Path) -> None:
    with opened(target, "sync") as session:
        assert session.backend == "sync"
    with opened(target) as session:
        assert session.backend in ("io_uring", "sync")


def test_a_lap_says_which_backend_served_it(target: Path) -> None:
    with opened(target) as session:
        for queue_depth, backend in ((4, session.backend), (1, "sync"), (4, session.backend)):
            plan = for_bytes(1 << 20, stream(SIZE, queue_depth=queue_depth))
            witness = session.run(plan).result.witness
            assert witness is not None
            assert witness.backend == backend
            assert witness.stream_in_flight_asked == (queue_depth,)
            assert witness.stream_in_flight_mean == (witness.in_flight_mean,)


def test_a_block_that_direct_io_refuses_is_a_named_error(target: Path) -> None:
    plan = for_bytes(100_000, stream(1_000_000, block_size_bytes=1000))
    with opened(target, logical_block_bytes=1000) as session:
        with pytest.raises(DeviceError, match="refuses direct I/O of 1000 B") as refused:
            session.run(plan)
        assert "multiple of the logical block size" in refused.value.remedy


def test_a_descriptor_that_is_not_open_is_a_named_error(target: Path) -> None:
    descriptor = os.open(target, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(HostError, match="cannot be used: Bad file descriptor"):
        open_descriptor(descriptor, capacity_bytes=SIZE)


def test_a_plan_without_meaning_is_a_named_error(target: Path) -> None:
    with opened(target) as session, pytest.raises(PlanError, match="The plan cannot be run"):
        session.run(for_time(MOMENT_NS, stream(SIZE, segments=0)))


def test_a_closed_session_says_so(target: Path) -> None:
    with opened(target) as session:
        session.close()
        with pytest.raises(RuntimeError, match="closed"):
            session.run(for_time(MOMENT_NS, stream(SIZE)))
