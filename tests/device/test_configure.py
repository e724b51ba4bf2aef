"""A device in another configuration: swapped where it is simulated, by a hook where it is real."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from teijo.device import Device, Hook, open_target
from teijo.errors import HostError, IdentityError, PlanError, TargetError
from teijo.runner.compile import compile_load
from teijo.terms.configured import facts_in, geometry_in
from teijo.terms.step import Configure, Measure
from teijo.terms.workload import Stream, Workload
from teijo.units import MIB
from tests.device.loops import LOOP_BYTES, Loops, need, run, serial_of

SMALL = "sim:mlc-a?capacity=64MiB&dies=2"
LARGER = "sim:mlc-a?capacity=128MiB&dies=2"
SET = (("size", "large"),)


def by(*hook: str) -> Configure:
    return Configure(settings=SET, hook=hook)


def shell(command: str) -> Configure:
    return by("sh", "-c", command)


def opened(
    target: str, step: Configure, *, write: bool = True, destroy: str | None = None
) -> Device:
    """Open a target that this step's hook may configure."""
    return open_target(target, write=write, destroy=destroy, hook=Hook.of(step.hook))


def test_a_simulated_device_takes_the_place_of_another() -> None:
    with closing(open_target(SMALL, write=True)) as device:
        told = device.configure(Configure(settings=SET, device=LARGER))
        assert device.geometry.capacity_bytes == 128 * MIB
        assert device.identity.target == LARGER
        assert geometry_in(told.detail) == device.geometry
        assert facts_in(told.detail) == device.identity.facts
        assert told.elapsed_ns == 0


def test_without_another_it_is_made_anew() -> None:
    with closing(open_target(SMALL, write=True)) as device:
        device.idle(10**9, lambda: None)
        old = device.session.now_ns()
        device.configure(Configure(settings=()))
        assert device.identity.target == SMALL
        assert device.session.now_ns() < old


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (by("true"), PlanError, "configures a real target"),
        (Configure(settings=(), device="x.img?size=1MiB"), PlanError, "cannot take the place"),
        (Configure(settings=(), device="sim:nobody"), TargetError, "nobody"),
    ],
)
def test_what_a_simulated_device_cannot_become_is_told(
    step: Configure, error: type[Exception], message: str
) -> None:
    with closing(open_target(SMALL, write=True)) as device:
        with pytest.raises(error, match=message):
            device.configure(step)
        assert device.geometry.capacity_bytes == 64 * MIB


def test_a_hook_changes_a_file_that_nobody_holds_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    step = shell('flock -n "$TEIJO_TARGET" echo free')
    with closing(opened(f"{path}?size=4MiB", step)) as device:
        before = device.session
        told = device.configure(step)
        assert told.detail["hook_stdout"] == "free"
        assert told.elapsed_ns > 0
        assert device.session is not before
        device.check()


@pytest.mark.parametrize("times", range(5))
def test_a_hook_finds_the_file_system_of_the_target_free(
    loops: Loops, tmp_path: Path, times: int
) -> None:
    need("mkfs.ext4")
    node, place = loops.new(size_bytes=64 * MIB), tmp_path / "mounted"
    place.mkdir()
    run("mkfs.ext4", "-q", str(node))
    run("mount", str(node), str(place))
    step = shell(f"umount {place} && mkfs.ext4 -q -F {node} && mount {node} {place}")
    with closing(opened(f"{place}/disk?size=8MiB", step)) as device:
        drive(device)
        device.configure(step)
        assert device.geometry.capacity_bytes == 8 * MIB


def drive(device: Device) -> None:
    """Have some I/O in flight for a moment, as a measurement has."""
    stream = Stream(read_percent=0, block_size_bytes=4096, queue_depth=32)
    step = Measure(workload=Workload(streams=(stream,)), duration_ns=20_000_000)
    device.session.run(compile_load(step, device.geometry, {}, seed=1))


def test_a_file_the_hook_removed_is_laid_out_again(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    step = shell('rm "$TEIJO_TARGET"')
    with closing(opened(f"{path}?size=4MiB", step)) as device:
        device.configure(step)
        assert path.stat().st_size == 4 * MIB
        assert path.stat().st_blocks * 512 >= 4 * MIB


def test_a_hook_that_wrote_to_the_file_made_it_somebody_elses(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    step = shell('echo mine > "$TEIJO_TARGET"')
    with closing(opened(f"{path}?size=4MiB", step)) as device:
        with pytest.raises(HostError, match="could not be opened again") as caught:
            device.configure(step)
        assert "--overwrite" in caught.value.remedy or "size" in caught.value.message


def test_a_failed_hook_leaves_the_device_given_up(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    step = by("false")
    device = opened(f"{path}?size=4MiB", step)
    with pytest.raises(HostError, match="exit code 1"):
        device.configure(step)
    device.close()  # which is nothing more: the claim was given up before the hook
    with closing(open_target(str(path), write=True)):
        pass


def test_a_real_target_has_no_simulated_stand_in(tmp_path: Path) -> None:
    with (
        closing(open_target(f"{tmp_path}/disk?size=4MiB", write=True)) as device,
        pytest.raises(PlanError, match="is a real target"),
    ):
        device.configure(Configure(settings=(), device=SMALL))


def test_a_block_device_is_claimed_again_with_the_same_consent(loop: Path) -> None:
    queue = f"/sys/block/{loop.name}/queue/read_ahead_kb"
    claims = f"python3 -c \"import os; os.open('{loop}', os.O_EXCL)\""
    step = shell(f"{claims}; echo 64 > {queue}")
    with closing(opened(str(loop), step, destroy=serial_of(loop))) as device:
        device.configure(step)
        assert Path(queue).read_text().strip() == "64"
        assert device.geometry.capacity_bytes == LOOP_BYTES
        with pytest.raises(OSError, match="busy"):
            os.open(loop, os.O_RDONLY | os.O_EXCL)


def test_a_device_the_hook_put_to_use_is_not_written_and_can_be_gone_on_with(
    loop: Path, loops: Loops
) -> None:
    step = shell("losetup --find --show $TEIJO_TARGET")
    with (
        closing(opened(str(loop), step, destroy=serial_of(loop))) as device,
        pytest.raises(HostError, match="could not be opened again") as caught,
    ):
        device.configure(step)
    loops.made.append(run("losetup", "-j", str(loop)).partition(":")[0])
    assert "must not be written" in caught.value.message


def test_another_device_in_its_place_is_refused(loop: Path, loops: Loops, tmp_path: Path) -> None:
    other = loops.new("other.img", 2 * LOOP_BYTES)
    name = tmp_path / "name"
    name.symlink_to(loop)
    consent = serial_of(loop)
    step = shell(f"ln -sf {other} {name}")
    with (
        closing(opened(str(name), step, write=False)) as device,
        pytest.raises(IdentityError, match="is another device after it was configured"),
    ):
        device.configure(step)
    assert consent != serial_of(other)
