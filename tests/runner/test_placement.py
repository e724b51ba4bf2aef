"""The run file may not lie on the device it is about."""

import os
from pathlib import Path

import pytest

from teijo.runner import placement
from teijo.runner.placement import lies_on
from teijo.terms.geometry import Identity


def mounted_from() -> Path:
    """Return the block device the working folder lies on."""
    number = Path(__file__).stat().st_dev
    node = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    device = Path("/dev") / node.resolve().name
    if not node.exists() or not device.exists():
        pytest.skip("the tests do not lie on a block device that can be seen here")
    return device


def test_a_folder_on_the_device_is_noticed() -> None:
    device = mounted_from()
    assert lies_on(Identity(kind="block", target=str(device)), Path(__file__).parent)


def test_a_folder_on_a_member_of_several_is_noticed() -> None:
    for text in (f"stripe:/dev/none,{mounted_from()}", f"concat:{mounted_from()},/dev/none"):
        assert lies_on(Identity(kind="block", target=text), Path(__file__).parent)


def test_another_device_is_no_obstacle() -> None:
    assert not lies_on(Identity(kind="block", target="/dev/null"), Path(__file__).parent)
    assert not lies_on(Identity(kind="block", target="/dev/none"), Path(__file__).parent)


def test_files_and_simulated_devices_carry_no_run_file() -> None:
    for kind in ("file", "simulated"):
        identity = Identity(kind=kind, target=str(mounted_from()))  # type: ignore[arg-type]
        assert not lies_on(identity, Path(__file__).parent)


def test_a_folder_on_a_partition_or_on_what_is_stacked_on_it_lies_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk 8:0 with a partition 8:1, and a mapping 253:0 over that."""
    disk, mapping, blocks = tmp_path / "sda", tmp_path / "dm-0", tmp_path / "block"
    for folder in (disk / "sda1", mapping / "slaves", blocks):
        folder.mkdir(parents=True)
    (disk / "dev").write_text("8:0\n")
    (disk / "sda1" / "dev").write_text("8:1\n")
    (disk / "sda1" / "partition").write_text("1\n")
    (mapping / "slaves" / "sda1").symlink_to(disk / "sda1")
    for number, folder in (("8:0", disk), ("8:1", disk / "sda1"), ("253:0", mapping)):
        (blocks / number).symlink_to(folder)
    monkeypatch.setattr(placement, "_BLOCKS", blocks)
    sda, sda1, dm = os.makedev(8, 0), os.makedev(8, 1), os.makedev(253, 0)
    assert placement._beneath(dm, set()) == {dm, sda1, sda}
    assert placement._beneath(sda1, set()) == {sda1, sda}
    assert placement._beneath(sda, set()) == {sda}
