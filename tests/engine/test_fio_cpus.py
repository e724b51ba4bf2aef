"""Processors of fio's threads: one each, in the order they were named, over all streams."""

import re

from teijo.engine.fio.job import job_file
from teijo.engine.plan import Plan, StreamPlan
from tests.engine import plans

MIB = 1 << 20
SIZE = 64 * MIB


def stream(name: str, threads: int, access: str, cursor_bytes: int = 0) -> StreamPlan:
    return plans.stream(
        SIZE, name=name, threads=threads, queue_depth=1, access=access, cursor_bytes=cursor_bytes
    )


def test_each_thread_is_kept_on_its_processor_and_stays_there_for_its_second_leg() -> None:
    streams = (stream("one", 2, "random"), stream("two", 3, "sequential", 5 * MIB))
    plan = Plan(streams=streams, duration_ns=10**9)
    job = job_file(plan, engine="io_uring", path="/target", device_bytes=SIZE, cpus=(7, 2, 4))
    found = re.findall(r"\[(s\dl\dt\d)\][^\[]*?cpus_allowed=(\d+)", job.text)
    of_thread = {"s0t0": 7, "s0t1": 2, "s1t0": 4, "s1t1": 7, "s1t2": 2}
    assert found
    assert {name: int(cpu) for name, cpu in found} == {
        name: of_thread[name[:2] + name[4:]] for name, _ in found
    }
    assert len(found) == job.text.count("[s")


def test_without_processors_the_kernel_chooses() -> None:
    plan = Plan(streams=(stream("one", 2, "random"),), duration_ns=10**9)
    job = job_file(plan, engine="io_uring", path="/target", device_bytes=SIZE)
    assert "cpus" not in job.text
