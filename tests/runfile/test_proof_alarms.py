"""No run of ours contradicts itself: methods × targets, resumed, killed, open, of old versions."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teijo import api
from teijo.runfile import reader
from teijo.runfile.proof.making import depth_flaws
from teijo.runner.events import Event, RunStarted
from teijo.terms.histogram import Histogram
from teijo.terms.record import StepRecord
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload
from tests.crash.runs import DRIVE, SEED, in_a_child, kill_me, killed_after, run_iops
from tests.device.conftest import loops as loops
from tests.device.loops import Loops
from tests.runfile.forging import as_version
from tests.runfile.samples import SECOND, WITNESS, record

MOMENT = {"seconds": "30ms", "qd": "4"}
SIMULATED: dict[str, tuple[str, str, dict[str, str]]] = {
    "iops": ("pts.iops", DRIVE, {"minute": "5ms", "block_sizes": "4KiB", "mixes": "65/35,0/100"}),
    "tp": ("pts.tp", DRIVE, {"minute": "5ms"}),
    "lat": ("pts.lat", DRIVE, {"minute": "5ms"}),
    "wsat": ("pts.wsat", DRIVE, {"minute": "5ms", "max_minutes": "60"}),
    "sequential": ("workload", DRIVE, {"rw": "rw", "bs": "96KiB", "bytes": "70MiB", "qd": "3"}),
    "split": ("workload", DRIVE, {"rw": "randrw", "bs": "4KiB:70,8KiB:30", **MOMENT}),
    "rate": ("workload", DRIVE, {"rw": "randrw", "rate": "900000", **MOMENT}),
    "flushes": ("workload", DRIVE, {"rw": "write", "fsync": "8", "discard": "10%", **MOMENT}),
    "verified": ("workload", DRIVE, {"rw": "rw", "verify": "after", "bytes": "4MiB", "qd": "4"}),
    "shuffled": ("workload", DRIVE, {"rw": "randwrite", "access": "shuffled", "bytes": "80MiB"}),
    "two": ("workload", DRIVE, {"stream": "a: rw=randread; b: rw=write", "seconds": "30ms"}),
    "failing": ("workload", "sim:faulty(mlc-a)?eio_percent=5", {"rw": "rw", **MOMENT}),
    "tier": (
        "tier",
        "sim:isrt-enhanced?scale=240",
        {"patterns": "randread", "bs": "1MiB", "sets": "8GB,512GB", "refine": "0", "slice": "20ms"},
    ),
    "overflow": (
        "cache-overflow",
        "sim:isrt-maximised?scale=240",
        {"volume": "40GB", "flat": "30s", "sample": "2s"},
    ),
    "configuration": (
        "configuration",
        "sim:mlc-a",
        {"workloads": "seq-write", "seconds": "10ms", "repeats": "2"},
    ),
    "quick": ("quick", DRIVE, {"seconds": "5ms"}),
    "raid": ("workload", "sim:raid5(4×hdd-7200)?chunk=64KiB", {"rw": "randrw", "bytes": "1MiB"}),
}  # fmt: skip
FILES: dict[str, tuple[str, dict[str, str]]] = {
    "mixed": ("disk.img?size=8MiB", {"rw": "randrw", "qd": "8", "bytes": "8MiB"}),
    "sequential": ("disk.img?size=8MiB", {"rw": "rw", "bs": "96KiB", "bytes": "20MiB", "qd": "3"}),
    "verified": ("disk.img?size=8MiB", {"rw": "randrw", "verify": "after", "bytes": "4MiB"}),
    "flushes": ("disk.img?size=8MiB", {"rw": "randwrite", "fsync": "8", "bytes": "2MiB"}),
}


def proved(path: Path | str) -> None:
    """Look at all of it, and carry out again what is simulated."""
    simulated = reader.read(path).identity.kind == "simulated"
    found = api.verify(path, replay=simulated)
    assert (found.flaws, found.unknown) == ((), ())
    assert found.holds or not found.sealed


@pytest.mark.parametrize("run", SIMULATED)
def test_no_simulated_run_contradicts_itself(tmp_path: Path, run: str) -> None:
    method, target, settings = SIMULATED[run]
    proved(api.run(method, target, output=tmp_path / "run", settings=settings, seed=SEED).path)


@pytest.mark.parametrize(
    ("run", "engine"),
    [*((run, "native") for run in FILES), ("mixed", "fio"), ("sequential", "fio")],
)
def test_no_run_on_a_file_contradicts_itself(tmp_path: Path, run: str, engine: Any) -> None:
    target, settings = FILES[run]
    where = str(tmp_path / target)
    done = api.run(
        "workload", where, output=tmp_path / "run", settings=settings, seed=SEED, engine=engine
    )
    proved(done.path)


def test_no_run_over_several_files_contradicts_itself(tmp_path: Path) -> None:
    target = f"stripe?chunk=64KiB:{tmp_path}/a.img?size=4MiB,{tmp_path}/b.img?size=4MiB"
    settings = {"rw": "randrw", "qd": "8", "bytes": "8MiB"}
    proved(api.run("workload", target, output=tmp_path / "run", settings=settings, seed=SEED).path)


def test_no_run_on_a_loop_device_contradicts_itself(tmp_path: Path, loops: Loops) -> None:
    settings = {"rw": "randread", "qd": "8", "bytes": "8MiB"}
    target = str(loops.new())
    proved(api.run("workload", target, output=tmp_path / "run", settings=settings, seed=SEED).path)


@pytest.mark.parametrize("seq", [1, 9])
def test_no_killed_run_contradicts_itself_nor_one_that_goes_on(tmp_path: Path, seq: int) -> None:
    assert in_a_child(lambda: run_iops(tmp_path / "run", observer=killed_after(seq))) == -9
    left = tmp_path / "run.teijo.open"
    proved(left)
    proved(api.resume(left).path)


def test_no_run_that_was_killed_before_its_first_step_contradicts_itself(tmp_path: Path) -> None:
    def die(event: Event) -> None:
        if isinstance(event, RunStarted):
            kill_me()

    assert in_a_child(lambda: run_iops(tmp_path / "run", observer=die)) == -9
    left = tmp_path / "run.teijo.open"
    assert reader.read(left).steps == ()
    proved(left)
    proved(api.resume(left).path)


def test_no_run_on_a_file_that_was_killed_contradicts_itself(tmp_path: Path) -> None:
    target, settings = FILES["verified"]

    def run(observer: Callable[..., None]) -> None:
        where = str(tmp_path / target)
        api.run("workload", where, output=tmp_path / "run", settings=settings, observer=observer)

    assert in_a_child(lambda: run(killed_after(1))) == -9
    left = tmp_path / "run.teijo.open"
    proved(left)
    done = api.resume(left, overwrite=True)
    assert "resumed" in [remark.kind.value for remark in done.remarks]
    proved(done.path)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("run", ["iops", "wsat", "sequential"])
def test_no_run_of_an_old_version_contradicts_itself(
    tmp_path: Path, version: int, run: str
) -> None:
    method, target, settings = SIMULATED[run]
    whole = api.run(method, target, output=tmp_path / "run", settings=settings, seed=SEED).path
    path = as_version(whole, tmp_path / "old.teijo", version)
    assert reader.prove(path).version == version
    proved(path)


HOST_TIMES = ("worker_delay_ns", "turn_gap_ns_max", "made_ns", "judged_ns")


def flaws_of_depth(latency_ns: int, **witness: Any) -> int:
    """Return how many flaws a second at a depth of 8 has, with 4·10⁹ ns in flight by one account.

    Two threads hold four I/Os each.
    """
    load = Workload(
        streams=(
            Stream(name="a", read_percent=100, block_size_bytes=4096, threads=2, queue_depth=4),
        )
    )
    account = replace(
        WITNESS,
        **(dict.fromkeys(HOST_TIMES, 0) | {"wall_ns": SECOND} | witness),
        in_flight_mean=4.0,
        in_flight_asked=8,
    )
    latency = Histogram((np.array([1]), np.array([1])), sum_ns=latency_ns, min_ns=1, max_ns=1)
    answer = StepResult(
        started_ns=0,
        elapsed_ns=account.wall_ns,
        results=(
            OperationResult(
                stream="a", operation="read", count=1, bytes=4096, errors={}, latency=latency
            ),
        ),
        witness=account,
    )
    step = Measure(workload=load, duration_ns=SECOND, round_number=1, cell="a")
    only = StepRecord(seq=1, step=step, seed=1, answer=answer)
    return len(list(depth_flaws(replace(record(), steps=(only,)))))


def test_what_a_thread_waited_for_a_processor_is_in_one_account_of_the_depth_alone() -> None:
    off_ns = 8 * 120_000_000 + 100_000_000  # of the share of 3 % that is always left open: 0.12e9
    assert flaws_of_depth(4 * SECOND + off_ns) == 1
    assert flaws_of_depth(4 * SECOND + off_ns, worker_delay_ns=120_000_000) == 0
    assert flaws_of_depth(4 * SECOND - off_ns, worker_delay_ns=120_000_000) == 0
    assert flaws_of_depth(4 * SECOND + off_ns, worker_delay_ns=110_000_000) == 1


def test_the_last_ios_are_waited_for_after_the_time_that_the_mean_depth_is_of() -> None:
    late_ns = 100_000_000
    most_ns = 4 * SECOND + 8 * late_ns
    assert flaws_of_depth(most_ns) == 1
    assert flaws_of_depth(most_ns, wall_ns=SECOND + late_ns) == 0
    assert flaws_of_depth(4 * SECOND, wall_ns=SECOND + late_ns) == 0
