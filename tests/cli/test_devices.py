"""The verbs `devices`, `device` and `preview`: looking writes nothing and says what to type."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo


def test_devices_lists_block_devices_and_every_simulated_one(teijo: Teijo) -> None:
    code, out, err = teijo("devices")
    assert (code, err) == (0, "")
    listed = json.loads(teijo("devices", "--json")[1])
    assert {"mlc-a", "mlc-b", "slc-a", "s3700"} <= {one["name"] for one in listed["simulated"]}
    for one in listed["simulated"]:
        assert f"sim:{one['name']}" in out
    for one in listed["block"]:
        assert one["target"] in out


def test_a_simulated_device_says_so(teijo: Teijo) -> None:
    code, out, _ = teijo("device", "sim:slc-a?seed=7")
    assert code == 0
    assert "remark: simulated" in out
    shown = json.loads(teijo("device", "sim:slc-a", "--json")[1])
    assert shown["identity"]["kind"] == "simulated"
    assert shown["geometry"]["nominal_capacity_bytes"] == 100_000_000_000


def test_looking_at_a_file_does_not_make_it(teijo: Teijo, tmp_path: Path) -> None:
    path = tmp_path / "f.img"
    for verb in (("device",), ("preview", "iops")):
        code, out, _ = teijo(*verb, f"{path}?size=64MiB")
        assert code == 0
        assert out
    assert not path.exists()


@pytest.mark.parametrize("verb", ["health", "device", "purge"])
def test_a_path_without_anything_is_looked_for_and_not_made(
    teijo: Teijo, tmp_path: Path, verb: str
) -> None:
    (tmp_path / "drive1").touch()
    code, out, err = teijo(verb, f"{tmp_path}/drive2")
    assert (code, out) == (2, "")
    told = f"There is no file and no device {tmp_path}/drive2; did you mean {tmp_path}/drive1?"
    assert told in err
    assert "size" not in err
    assert "Check the path; `teijo devices` lists" in err


@pytest.mark.parametrize("verb", ["health", "purge"])
def test_what_asks_a_drive_makes_no_file_of_a_size_either(
    teijo: Teijo, scratch: Path, verb: str
) -> None:
    code, _, err = teijo(verb, f"{scratch}/new?size=8MiB")
    assert code == 2
    assert f"There is no file and no device {scratch}/new" in err


def test_a_loop_device_shows_every_check_and_what_to_type(teijo: Teijo, loop_device: Path) -> None:
    code, out, _ = teijo("device", loop_device)
    shown = json.loads(teijo("device", loop_device, "--json")[1])
    assert code == 0
    for check in shown["preflight"]:
        assert check["name"] in out
        assert check["evidence"] in out
    assert shown["destroy"] == shown["identity"]["serial"]
    assert f"teijo run pts.iops {loop_device} --destroy {shown['destroy']}" in out


def test_a_preview_has_a_least_and_a_most_and_its_assumption(teijo: Teijo) -> None:
    code, out, err = teijo("preview", "iops", "sim:mlc-a", "rounds=9")
    shown = json.loads(teijo("preview", "iops", "sim:mlc-a", "rounds=9", "--json")[1])
    assert (code, err) == (0, "")
    assert shown["least"]["duration_ns"] < shown["most"]["duration_ns"]
    assert shown["most"]["steps"] == 2 + 9 * 56
    assert shown["assumed"] in out
    assert "drive writes" in out


def test_several_as_one_show_each_member_and_what_gives_all_up(
    teijo: Teijo, loop_device: Path, scratch: Path
) -> None:
    target = f"concat:{loop_device},{scratch}/new.img?size=4MiB"
    code, out, _ = teijo("device", target)
    shown = json.loads(teijo("device", target, "--json")[1])
    block, file = shown["members"]
    assert code == 0
    assert shown["geometry"]["capacity_bytes"] == (64 + 4) << 20
    assert (shown["destroy"], file["preflight"]) == (block["destroy"], [])
    for check in block["preflight"]:
        assert check["evidence"] in out
    assert f"preflight: may {loop_device} be destroyed?" in out
    assert f"teijo run pts.iops '{target}' --destroy {block['destroy']}" in out
    assert not (scratch / "new.img").exists()


def test_several_as_one_are_not_given_up_while_one_is_in_use(
    teijo: Teijo, loop_device: Path, scratch: Path
) -> None:
    descriptor = os.open(loop_device, os.O_RDONLY | os.O_EXCL)
    try:
        target = f"stripe:{loop_device},{scratch}/new.img?size=4MiB"
        code, out, _ = teijo("device", target)
    finally:
        os.close(descriptor)
    assert code == 0
    assert f"It must not be written, for {loop_device} must not" in out
    assert "--destroy" not in out


def test_several_as_one_have_a_preview(teijo: Teijo, scratch: Path) -> None:
    target = f"stripe:{scratch}/a.img?size=64MiB,{scratch}/b.img?size=64MiB"
    code, out, err = teijo("preview", "iops", target)
    assert (code, err) == (0, "")
    assert "drive writes" in out
    assert list(scratch.iterdir()) == []
