"""Whole runs over several targets: equal load, killed and gone on, and a member that goes away."""

import math
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from teijo import api
from teijo.analysis.validity import device_shares
from teijo.device import open_target
from teijo.errors import DeviceError, IdentityError, UnsafeError
from teijo.runfile import reader
from teijo.runner.events import Event, Progress
from teijo.terms.remark import RemarkKind
from teijo.terms.result import Gap, StepResult
from teijo.units import KIB, MIB
from tests.crash.runs import in_a_child, killed_after
from tests.device.loops import LOOP_BYTES, Loops, serial_of

SHORT = {
    "minute": "20ms",
    "block_sizes": "4KiB,64KiB",
    "mixes": "100/0,0/100",
    "rounds": "5",
    "precondition_times": "1",
}


@pytest.fixture
def pair(loops: Loops) -> tuple[Path, Path]:
    """Two free, blank loop devices."""
    return loops.new("a.img"), loops.new("b.img")


def serials(*nodes: Path) -> str:
    return ",".join(map(serial_of, nodes))


def answer_of(run: api.Run) -> StepResult:
    answer = run.record.steps[-1].answer
    assert isinstance(answer, StepResult)
    return answer


def moved(answer: StepResult, counter: str) -> int:
    return answer.health_after[counter] - answer.health_before[counter]


def files(folder: Path, *names: str, word: str = "stripe") -> str:
    return f"{word}:" + ",".join(f"{folder}/{name}?size=4MiB&direct=no" for name in names)


def test_a_workload_over_a_stripe_loads_both_members_alike(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    a, b = pair
    run = api.run(
        "workload",
        f"stripe?chunk=64KiB:{a},{b}",
        output=tmp_path / "run",
        settings={"rw": "randwrite", "bs": "4KiB", "qd": "4", "bytes": "32MiB"},
        destroy=serials(a, b),
        seed=5,
    )
    answer = answer_of(run)
    each = [moved(answer, f"kernel_write_bytes_member_{number}") for number in (1, 2)]
    assert moved(answer, "kernel_write_bytes") == sum(each) == answer.bytes
    assert abs(each[0] - each[1]) <= 5 * math.sqrt(answer.ios) * 4 * KIB
    assert device_shares(answer).bytes_share == 1.0
    assert not {one.kind for one in answer.remarks} & {RemarkKind.FOREIGN_IO, RemarkKind.IO_SPLIT}
    assert run.record.identity.model.startswith("striped over 2: Loop device over ")
    assert run.record.geometry.capacity_bytes == 2 * LOOP_BYTES


def test_a_sequential_pass_takes_the_members_in_turn(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    api.run(
        "workload",
        f"stripe?chunk=64KiB:{a},{b}",
        output=tmp_path / "run",
        settings={"rw": "write", "bs": "64KiB", "qd": "1", "bytes": "16MiB"},
        destroy=serials(a, b),
    )
    used = 8 * MIB
    for name in ("a.img", "b.img"):
        content = (loops.folder / name).read_bytes()
        chunks = range(0, used, 64 * KIB)
        assert all(any(content[start : start + 64 * KIB]) for start in chunks)
        assert not any(content[used:])


def test_a_concatenation_begins_with_its_first_member(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    api.run(
        "workload",
        f"concat:{b},{a}",
        output=tmp_path / "run",
        settings={"rw": "write", "bs": "64KiB", "qd": "2", "bytes": "32MiB"},
        destroy=serials(a, b),
    )
    assert not any((loops.folder / "a.img").read_bytes())
    assert any((loops.folder / "b.img").read_bytes()[-64 * KIB :])


def test_reading_a_stripe_of_files_needs_no_consent(tmp_path: Path) -> None:
    text = files(tmp_path, "a", "b")
    run = api.run(
        "workload",
        text,
        output=tmp_path / "run",
        settings={"rw": "randread", "bs": "4KiB", "qd": "2", "bytes": "4MiB"},
    )
    assert answer_of(run).ios > 0
    assert run.record.identity.kind == "file"
    assert (tmp_path / "a").stat().st_size == (tmp_path / "b").stat().st_size == 4 * MIB


def test_a_preview_of_several_knows_their_size(tmp_path: Path) -> None:
    seen = api.preview("iops", files(tmp_path, "a", "b", word="concat"))
    assert seen.capacity_bytes == 8 * MIB
    assert list(tmp_path.iterdir()) == []


def test_consent_for_one_member_writes_to_none(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    with pytest.raises(UnsafeError, match=f"{b} .*is not given up"):
        api.run(
            "workload",
            f"stripe:{a},{b}",
            output=tmp_path / "run",
            settings={"rw": "randwrite", "seconds": "1"},
            destroy=serial_of(a),
        )
    assert not any((loops.folder / "a.img").read_bytes())
    assert not list(tmp_path.glob("run*"))


def run_iops(path: Path, target: str, destroy: str, seq: int) -> int:
    """Run PTS IOPS over a target and die after a step; return how the child ended."""
    return in_a_child(
        lambda: api.run(
            "pts.iops",
            target,
            output=path,
            settings=SHORT,
            destroy=destroy,
            seed=3,
            observer=killed_after(seq),
        )
    )


def test_a_run_over_several_that_was_killed_goes_on(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    a, b = pair
    path, text = tmp_path / "run.teijo", f"stripe?chunk=64KiB:{a},{b}"
    assert run_iops(path, text, serials(a, b), seq=4) == -9
    with pytest.raises(UnsafeError, match="is not given up"):
        api.resume(path)
    resumed = api.resume(path, destroy=serials(a, b))
    steps = resumed.record.steps
    assert [step.seq for step in steps if isinstance(step.answer, Gap)] == [5]
    assert len(steps) > 5
    assert RemarkKind.RESUMED in [remark.kind for remark in resumed.remarks]


def test_a_run_does_not_go_on_with_another_member_in_the_place_of_one(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    path, text = tmp_path / "run.teijo", f"stripe?chunk=64KiB:{a},{b}"
    assert run_iops(path, text, serials(a, b), seq=4) == -9
    (loops.folder / "c.img").write_bytes(bytes(LOOP_BYTES))
    loops.exchange(b, loops.folder / "c.img")
    with pytest.raises(IdentityError, match=r"serial: .*b\.img.* then, .*c\.img.* now") as caught:
        api.resume(path, destroy=serials(a, b))
    assert caught.value.exit_code == 4
    assert not any((loops.folder / "c.img").read_bytes())


def once_it_runs(act: Callable[[], None]) -> Callable[[Event], None]:
    """Return an observer that acts at the first look at a running lap."""
    left = [act]
    return lambda event: left.pop()() if left and isinstance(event, Progress) else None


def test_a_member_that_goes_away_ends_the_run_with_a_device_error_and_the_file_opens(
    pair: tuple[Path, Path], loops: Loops, tmp_path: Path
) -> None:
    a, b = pair
    path = tmp_path / "run.teijo"
    with pytest.raises(DeviceError) as caught:
        api.run(
            "workload",
            f"stripe?chunk=64KiB:{a},{b}",
            output=path,
            settings={"rw": "randread", "bs": "4KiB", "qd": "4", "seconds": "1h"},
            observer=once_it_runs(lambda: os.truncate(loops.folder / "b.img", 0)),
        )
    assert caught.value.exit_code == 5
    record = reader.read(path)
    assert record.run.ending == "failed"
    answer = record.steps[-1].answer
    assert isinstance(answer, StepResult)
    assert answer.ios > 0
    assert sum(answer.results[0].errors.values()) > 0


def test_an_open_composite_is_a_device_like_any_other(tmp_path: Path) -> None:
    with closing(open_target(files(tmp_path, "a", "b"), write=True)) as device:
        assert not device.replayable
        assert device.identity.kind == "file"
        assert device.purge() is None
        device.check()
        device.idle(1, lambda: None)
