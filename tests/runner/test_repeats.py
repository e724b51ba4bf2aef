"""Passes that repeat each other: the same offsets and contents, again and after a resume."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device import open_target
from teijo.methods.method import Steps
from teijo.runfile.proof.proving import flaws_of
from teijo.runner.again import replayed
from teijo.runner.compile import compile_load
from teijo.runner.events import unobserved
from teijo.runner.interrupt import Interrupt
from teijo.terms.geometry import Geometry
from teijo.terms.seed import repeated_seed, step_seed
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, Content, Stream, Workload
from teijo.units import KIB, MIB, NS_PER_MS
from tests.engine.plans import opened, written
from tests.runner.acts import run_paper
from tests.runner.fakes import PaperMethod

DEVICE = "sim:slc-a?capacity=256MiB"
RANDOM = Stream(read_percent=30, block_size_bytes=4096, queue_depth=4, threads=2, repeats="random")
ORDERED = Stream(
    read_percent=0,
    block_size_bytes=64 * KIB,
    access=Access.SEQUENTIAL,
    threads=2,
    thread_stride_bytes=0,
    repeats="ordered",
)


class Passes(PaperMethod):
    """Two passes of two rows, each pass of a row as the one before."""

    def steps(self, settings: object, geometry: object) -> Steps:
        for number in (1, 2):
            for stream in (RANDOM, ORDERED):
                workload = Workload(streams=(stream,))
                yield Measure(
                    workload=workload, duration_ns=200 * NS_PER_MS, round_number=number,
                    cell=stream.repeats,
                )  # fmt: skip
        return "done"


def test_passes_have_one_seed_and_a_replay_and_the_proof_agree(tmp_path: Path) -> None:
    with closing(open_target(DEVICE, write=True)) as device:
        record = run_paper(tmp_path / "run", device, method=Passes())
    assert [each.seed for each in record.steps] == [
        repeated_seed(record.run.seed, word) for word in ("random", "ordered") * 2
    ]
    assert flaws_of(record, checksummed=True) == ()
    with closing(open_target(DEVICE, write=True)) as device:
        again = replayed(record, Passes(), device, unobserved, Interrupt())
        assert list(again) == []


def test_two_passes_over_a_file_leave_the_same_bytes_and_a_pass_of_its_own_others(
    scratch: Path,
) -> None:
    path = written(scratch / "target", 2 * MIB)
    geometry = Geometry(capacity_bytes=2 * MIB, nominal_capacity_bytes=2 * MIB)

    def left_by(seed: int) -> bytes:
        stream = Stream(read_percent=0, block_size_bytes=4096, repeats="x")
        step = Precondition(workload=Workload(streams=(stream,)), total_bytes=MIB)
        written(path, 2 * MIB)
        with opened(path) as session:
            session.run(compile_load(step, geometry, {"main": 4096}, seed))
        return path.read_bytes()

    first = left_by(repeated_seed(1, "x"))
    assert left_by(repeated_seed(1, "x")) == first
    assert left_by(step_seed(1, 1, None, None)) != first


@pytest.mark.parametrize("backend", ["native", "sync"])
def test_one_block_and_counted_bytes_are_what_they_say_in_every_write(
    scratch: Path, backend: str
) -> None:
    path = written(scratch / "target", MIB)
    geometry = Geometry(capacity_bytes=MIB, nominal_capacity_bytes=MIB)

    def left_by(content: Content) -> bytes:
        stream = replace(ORDERED, threads=1, content=content, write_through=True)
        step = Precondition(workload=Workload(streams=(stream,)), total_bytes=MIB)
        with opened(path, backend) as session:
            lap = session.run(compile_load(step, geometry, {}, 5))
        assert lap.result.bytes == MIB
        return path.read_bytes()

    block = left_by(Content.ONE_BLOCK)
    assert block == block[: 64 * KIB] * 16
    assert len(set(block[: 64 * KIB])) == 256
    assert left_by(Content.COUNTING) == bytes(range(256)) * 4096
