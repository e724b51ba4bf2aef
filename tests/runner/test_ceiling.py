"""What the host could do: per thread and depth, no more threads than CPUs, none in virtual time."""

import os

import pytest

from teijo.engine.session import Ceilings
from teijo.runner.ceiling import ceiling_of, described
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload

HOST = Ceilings(
    nop_ns=200.0, nop_ns_deep=40.0, loop_ns=50.0, loop_ns_deep=10.0, copy_bytes_per_second=5e9
)


def step(*shapes: tuple[int, int]) -> Measure:
    streams = tuple(
        Stream(name=f"{n}", read_percent=100, block_size_bytes=4096, threads=tc, queue_depth=qd)
        for n, (tc, qd) in enumerate(shapes)
    )
    return Measure(workload=Workload(streams=streams), duration_ns=1)


def test_a_single_io_at_a_time_pays_its_own_system_call():
    assert ceiling_of(step((1, 1)), HOST) == pytest.approx(5_000_000)
    assert ceiling_of(step((1, 32)), HOST) == pytest.approx(25_000_000)


def test_threads_beyond_the_cpus_add_nothing():
    cpus = len(os.sched_getaffinity(0))
    assert ceiling_of(step((cpus, 32)), HOST) == pytest.approx(cpus * 25_000_000)
    assert ceiling_of(step((16 * cpus, 32)), HOST) == pytest.approx(cpus * 25_000_000)


def test_what_cannot_be_had_is_unknown():
    refused = Ceilings(
        nop_ns=0.0, nop_ns_deep=0.0, loop_ns=0.0, loop_ns_deep=0.0, copy_bytes_per_second=1.0
    )
    assert ceiling_of(step((1, 1)), None) is None
    assert ceiling_of(step((1, 1)), refused) is None
    assert described(None) == {}
    assert described(refused)["ceiling ring"] == "not to be had"
    assert described(HOST)["ceiling ring"].startswith("200 ns per I/O at QD 1")
    assert described(HOST)["ceiling memory"] == "5,000 MB/s copied"
