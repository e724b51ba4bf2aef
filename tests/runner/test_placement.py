"""The run file may not lie on the device it is about."""

import os
from pathlib import Path

import pytest

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


def test_another_device_is_no_obstacle() -> None:
    assert not lies_on(Identity(kind="block", target="/dev/null"), Path(__file__).parent)
    assert not lies_on(Identity(kind="block", target="/dev/none"), Path(__file__).parent)


def test_files_and_simulated_devices_carry_no_run_file() -> None:
    for kind in ("file", "simulated"):
        identity = Identity(kind=kind, target=str(mounted_from()))  # type: ignore[arg-type]
        assert not lies_on(identity, Path(__file__).parent)
