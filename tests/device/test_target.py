"""Target texts: what each names, and each mistake answered in one line with a way out."""

import os
from pathlib import Path

import pytest

from teijo.device.target import (
    BlockTarget,
    CompositeTarget,
    FileTarget,
    SimulatedTarget,
    check_work,
    parse_target,
    split_settings,
    work_of,
)
from teijo.errors import TargetError
from teijo.units import GIB, MIB


def test_a_simulated_target_is_a_name_and_overrides() -> None:
    target = parse_target("sim:mlc-a?capacity=16GiB&seed=7")
    assert isinstance(target, SimulatedTarget)
    assert (target.name, dict(target.overrides)) == ("mlc-a", {"capacity": "16GiB", "seed": "7"})


def test_a_new_file_is_a_path_and_a_size(tmp_path: Path) -> None:
    target = parse_target(f"{tmp_path}/new?size=8GiB&direct=no&holes=allow")
    assert target == FileTarget(
        text=f"{tmp_path}/new?size=8GiB&direct=no&holes=allow",
        path=tmp_path / "new",
        size_bytes=8 * GIB,
        direct=False,
        allow_holes=True,
    )


def test_an_existing_file_needs_no_size(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(MIB))
    target = parse_target(str(tmp_path / "old"))
    assert isinstance(target, FileTarget)
    assert target.size_bytes is None
    assert target.direct


def test_a_block_device_is_known_through_a_link(loop: Path, tmp_path: Path) -> None:
    (tmp_path / "by-id").symlink_to(loop)
    assert isinstance(parse_target(str(tmp_path / "by-id")), BlockTarget)
    with pytest.raises(TargetError, match="takes no"):
        parse_target(f"{loop}?size=8GiB")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("sim:", "names no simulated device"),
        ("http://host/disk", "address on a network"),
        ("dir:HERE/none", "There is no folder"),
        ("sqlite:HERE/x.db?size=1", "no setting 'size'"),
        ("sqlite:HERE/x.db?journal=off", "no journal=off with sync=full"),
        ("concat:HERE,/dev/sdb", "is a directory"),
        ("/dev/null", "character device"),
        ("/dev/nvme99n1", "There is no device"),
        ("/dev/nvme99n1?size=8GiB", "There is no device"),
        ("HERE/pipe", "pipe or a socket"),
        ("HERE/none/file?size=8GiB", "There is no folder"),
        ("HERE/new", "no size is given"),
        ("HERE/new?size=0", "at least 1 MiB"),
        ("HERE/new?size=1000000001", "multiple of 4 KiB"),
        ("HERE/new?size=big", "is not a size"),
        ("HERE/new?szie=8GiB", "no setting 'szie'"),
        ("HERE/new?size=8GiB&size=9GiB", "twice"),
        ("HERE/new?size", "not key=value"),
        ("HERE/new?", "no size is given"),
        ("HERE/new?size=8GiB&direct=maybe", "direct=maybe is unknown"),
        ("HERE/new\0?size=8GiB", "NUL"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_made(tmp_path: Path, text: str, why: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TargetError) as caught:
        parse_target(text.replace("HERE", str(tmp_path)))
    assert why in str(caught.value)
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_typing_error_is_answered_with_the_word_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"did you mean size\?"):
        parse_target(f"{tmp_path}/new?szie=8GiB")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HERE/a?size=8MiB", "HERE/a?size=8MiB&holes=allow"),
        (
            r"stripe:HERE/a\,b?size=8MiB,HERE/c?size=8MiB&direct=no",
            r"stripe:HERE/a\,b?size=8MiB&holes=allow,HERE/c?size=8MiB&direct=no&holes=allow",
        ),
    ],
)
def test_holes_as_a_setting_go_behind_every_file(tmp_path: Path, text: str, expected: str) -> None:
    here = str(tmp_path)
    given = {"rw": "randread", "holes": "allow"}
    target, rest = split_settings(parse_target(text.replace("HERE", here)), given)
    assert rest == {"rw": "randread"}
    assert target == parse_target(expected.replace("HERE", here))
    match target:
        case FileTarget() as one:
            assert one.allow_holes
        case CompositeTarget(members=members):
            assert all(isinstance(one, FileTarget) and one.allow_holes for one in members)
        case SimulatedTarget() | BlockTarget() as other:
            pytest.fail(f"{other} is no file")
    drive = parse_target("sim:mlc-a")
    assert split_settings(drive, {"rw": "write"}) == (drive, {"rw": "write"})


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("sim:mlc-a", "allow", "holes=allow is of a file, and sim:mlc-a is none"),
        ("HERE/a?size=8MiB", "maybe", "holes=maybe is unknown"),
        ("HERE/a?size=8MiB&holes=refuse", "allow", "gives a setting twice"),
    ],
)
def test_holes_of_what_has_none_or_said_twice_are_refused(
    tmp_path: Path, text: str, value: str, why: str
) -> None:
    with pytest.raises(TargetError, match=why):
        split_settings(parse_target(text.replace("HERE", str(tmp_path))), {"holes": value})


def test_a_block_device_has_no_holes_but_a_file_beside_it_has(loop: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="is of a file"):
        split_settings(parse_target(str(loop)), {"holes": "allow"})
    several = parse_target(f"concat:{loop},{tmp_path}/a?size=8MiB")
    target, _ = split_settings(several, {"holes": "allow"})
    assert target.text == f"concat:{loop},{tmp_path}/a?size=8MiB&holes=allow"


def test_a_target_says_which_work_it_can_do(tmp_path: Path) -> None:
    works = {
        "sim:mlc-a": "blocks",
        f"{tmp_path}/new?size=8GiB": "blocks",
        f"{tmp_path}": "files",
        f"dir:{tmp_path}": "files",
        f"sqlite:{tmp_path}/x.db?journal=delete&sync=off": "sql",
    }
    for text, work in works.items():
        target = parse_target(text)
        assert work_of(target) == work, text
        check_work(target, work_of(target))
    with pytest.raises(TargetError, match="is a directory, and this method needs a file"):
        check_work(parse_target(str(tmp_path)), "blocks")
