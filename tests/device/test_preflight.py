"""Preflight on real block devices: each way a device can be in use, and nothing is written."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teijo.device import checks, openers, preflight
from teijo.device.checks import CHECKS
from teijo.device.contents import signatures
from teijo.device.openers import Openers
from teijo.device.preflight import claim, confirm, examine
from teijo.errors import TargetError, UnsafeError
from tests.device.loops import LOOP_BYTES, Loops, need, run, serial_of, try_to_write

Helper = Callable[..., "subprocess.Popen[str]"]


def refusals(path: Path) -> dict[str, str]:
    """Return the checks that refuse, with their evidence, in one look without writing."""
    subject = claim(path, write=False)
    try:
        return {check.name: check.evidence for check in examine(subject).refusals}
    finally:
        os.close(subject.fd)


def test_a_free_blank_device_is_given_up_by_its_serial(loop: Path) -> None:
    assert try_to_write(loop) == ""


def test_every_check_says_what_it_saw(loop: Path) -> None:
    subject = claim(loop, write=True)
    try:
        report = examine(subject)
    finally:
        os.close(subject.fd)
    assert [check.name for check in report.checks] == list(CHECKS)
    assert {check.name for check in report.checks if check.verdict != "ok"} <= {"openers"}
    assert all(check.evidence for check in report.checks)


def test_the_claim_keeps_others_out_while_it_is_held(loop: Path) -> None:
    need("mkfs.ext4")
    subject = claim(loop, write=True)
    try:
        with pytest.raises(OSError, match="busy"):
            os.open(loop, os.O_RDWR | os.O_EXCL)
        done = subprocess.run(["mkfs.ext4", "-q", "-F", str(loop)], capture_output=True, text=True)
        assert done.returncode != 0
    finally:
        os.close(subject.fd)


def test_without_a_serial_nothing_is_given_up_and_the_words_to_type_are_told(loop: Path) -> None:
    with pytest.raises(UnsafeError, match="no --destroy names it") as caught:
        try_to_write(loop, destroy="")
    assert f"--destroy {serial_of(loop)}" in caught.value.remedy
    assert caught.value.exit_code == 3


def test_another_devices_serial_gives_nothing_up(loop: Path, loops: Loops) -> None:
    other = serial_of(loops.new("other.img"))
    with pytest.raises(UnsafeError, match="names another device"):
        try_to_write(loop, destroy=other)


def test_the_serial_of_a_loop_is_its_files_and_survives_a_new_node(loops: Loops) -> None:
    node = loops.new("my disk.img")
    inode = (loops.folder / "my disk.img").stat().st_ino
    assert serial_of(node) == f"loop-{inode}-my disk.img"
    run("losetup", "-d", str(node))
    again = loops.over(loops.folder / "my disk.img")
    assert serial_of(again) == f"loop-{inode}-my disk.img"


def test_a_device_somebody_holds_alone_is_refused(loop: Path) -> None:
    holder = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        with pytest.raises(UnsafeError, match=r"O_EXCL.*busy"):
            try_to_write(loop)
    finally:
        os.close(holder)
    assert try_to_write(loop) == ""


def test_a_device_locked_by_another_program_is_refused(
    loop: Path, monkeypatch: pytest.MonkeyPatch, helper: Helper
) -> None:
    need("flock")
    monkeypatch.setattr(preflight, "LOCK_WAIT_SECONDS", 0.0)
    helper("flock", "--exclusive", str(loop), "sh", "-c", "echo ready; cat")
    with pytest.raises(UnsafeError, match="holds its lock"):
        try_to_write(loop)


def test_a_mounted_device_is_refused_with_the_place_it_is_mounted_at(
    loop: Path, tmp_path: Path
) -> None:
    mount_ext4(loop, tmp_path / "here")
    with pytest.raises(UnsafeError, match=r"ext4 at .*here") as caught:
        try_to_write(loop)
    assert "umount" in caught.value.remedy
    assert {"claim", "mounts", "signatures"} <= set(refusals(loop))


def test_a_mount_in_another_namespace_is_found(loop: Path, tmp_path: Path, helper: Helper) -> None:
    need("mkfs.ext4", "unshare")
    run("mkfs.ext4", "-q", str(loop))
    place = tmp_path / "elsewhere"
    place.mkdir()
    helper(
        "unshare", "--mount", "sh", "-c", f"mount {loop} {place} && echo ready; cat; umount {place}"
    )
    assert str(place) not in Path("/proc/self/mountinfo").read_text()
    found = refusals(loop)
    assert str(place) in found["mounts"]
    assert "claim" in found


def test_a_lazily_unmounted_file_system_with_an_open_file_is_refused(
    loop: Path, tmp_path: Path
) -> None:
    place = mount_ext4(loop, tmp_path / "lazy")
    with (place / "open").open("w"):
        run("umount", "--lazy", str(place))
        found = refusals(loop)
        assert "claim" in found
        assert "mounts" not in found  # nothing but the claim sees this one
        with pytest.raises(UnsafeError):
            try_to_write(loop)


def test_a_device_mounted_under_another_name_is_refused(loop: Path, tmp_path: Path) -> None:
    status = loop.stat()
    alias = tmp_path / "alias"
    os.mknod(alias, 0o600 | 0o060000, status.st_rdev)
    link = tmp_path / "link"
    link.symlink_to(alias)
    mount_ext4(loop, tmp_path / "here")
    for name in (alias, link):
        assert {"claim", "mounts"} <= set(refusals(name))
        with pytest.raises(UnsafeError):
            try_to_write(name)


def test_a_swap_device_is_refused(loop: Path) -> None:
    need("mkswap", "swapon")
    run("mkswap", str(loop))
    done = subprocess.run(["swapon", str(loop)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this kernel does not swap on a loop device: {done.stderr.strip()}")
    found = refusals(loop)
    assert str(loop) in found["swap"]
    assert "claim" in found
    with pytest.raises(UnsafeError, match="swap"):
        try_to_write(loop)


def test_a_loop_on_top_of_the_device_is_found_although_the_claim_succeeds(
    loop: Path, loops: Loops, tmp_path: Path
) -> None:
    upper = loops.over(loop)
    found = refusals(loop)
    assert f"{upper.name} is a loop over {loop.name}" in found["stack"]
    assert "claim" not in found
    with pytest.raises(UnsafeError, match="stack"):
        try_to_write(loop)


def test_a_loop_over_a_mounted_device_is_refused_although_its_own_claim_succeeds(
    loop: Path, loops: Loops, tmp_path: Path
) -> None:
    mount_ext4(loop, tmp_path / "below")
    upper = loops.over(loop)
    found = refusals(upper)
    assert "below" in found["mounts"]
    assert "claim" not in found


def test_two_loops_over_one_file_are_one_device(loop: Path, loops: Loops) -> None:
    twin = loops.over(loops.folder / "disk.img")
    assert twin.name in refusals(loop)["aliases"]
    with pytest.raises(UnsafeError, match="same file"):
        try_to_write(loop)


def test_a_read_only_device_is_refused(loops: Loops, tmp_path: Path) -> None:
    run("losetup", "-d", str(loops.new()))
    read_only = loops.over(tmp_path / "disk.img", "--read-only")
    assert "writable" in refusals(read_only)
    with pytest.raises(UnsafeError, match="read-only"):
        try_to_write(read_only)


def test_a_process_that_has_the_device_open_is_named(loop: Path, helper: Helper) -> None:
    process = helper("sh", "-c", f"exec 3<{loop}; echo ready; cat")
    found = refusals(loop)
    assert f"(pid {process.pid})" in found["openers"]
    assert "claim" not in found
    with pytest.raises(UnsafeError, match=f"pid {process.pid}"):
        try_to_write(loop)


def test_who_only_looked_at_the_device_and_let_it_go_is_no_refusal(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lsblk, losetup and udev do to every device there is."""
    looks = iter([Openers(processes=("losetup (pid 4711)",), hidden=())] * 3)
    free = Openers(processes=(), hidden=())
    monkeypatch.setattr(checks, "openers", lambda **_: next(looks, free))
    monkeypatch.setattr(openers, "MOMENT_SECONDS", 60)
    assert "openers" not in refusals(loop)
    assert next(looks, None) is None


def test_a_process_that_has_the_backing_file_open_is_named(
    loop: Path, loops: Loops, helper: Helper
) -> None:
    process = helper("sh", "-c", f"exec 3<{loops.folder / 'disk.img'}; echo ready; cat")
    assert f"(pid {process.pid})" in refusals(loop)["openers"]


def test_the_disk_of_the_results_is_protected(loop: Path, tmp_path: Path) -> None:
    place = mount_ext4(loop, tmp_path / "here")
    subject = claim(loop, write=False, results=(place,))
    try:
        found = {check.name: check.evidence for check in examine(subject).refusals}
    finally:
        os.close(subject.fd)
    assert f"{place} lies on it" in found["protected"]


def test_the_disk_of_the_system_is_protected(
    loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = mount_ext4(loop, tmp_path / "usr")
    monkeypatch.setattr(checks, "PROTECTED", (str(place),))
    assert f"{place} lies on it" in refusals(loop)["protected"]


def test_the_disk_under_a_loop_the_system_lies_on_is_protected(
    loop: Path, loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = mount_ext4(loops.over(loop), tmp_path / "usr")
    monkeypatch.setattr(checks, "PROTECTED", (str(place),))
    assert "lies on it" in refusals(loop)["protected"]


def test_a_probe_that_fails_is_a_refusal(loop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int, size_bytes: int) -> signatures.Contents:
        raise signatures.ProbeError("wipefs failed: exit code 1")

    monkeypatch.setattr(signatures, "contents", fail)
    with pytest.raises(UnsafeError, match=r"cannot prove it safe.*wipefs failed"):
        try_to_write(loop)


def test_a_device_that_may_not_even_be_looked_at_is_refused_as_unsafe_to_write(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(path: Path, flags: int) -> int:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(os, "open", forbid)
    with pytest.raises(UnsafeError, match="cannot be proved safe"):
        claim(loop, write=True)
    with pytest.raises(TargetError, match="Operation not permitted"):
        claim(loop, write=False)


@pytest.mark.parametrize(("all_rights", "verdict"), [(False, "refused"), (True, "unknown")])
def test_a_hidden_process_is_a_refusal_unless_nobody_may_see_it(
    loop: Path, monkeypatch: pytest.MonkeyPatch, all_rights: bool, verdict: str
) -> None:
    real = Path.iterdir

    def hide(self: Path) -> Iterator[Path]:
        if str(self) == f"/proc/{os.getpid()}/fd":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "iterdir", hide)
    monkeypatch.setattr(checks, "may_see_all", lambda roots: all_rights)
    subject = claim(loop, write=False)
    try:
        answer = next(check for check in examine(subject).checks if check.name == "openers")
    finally:
        os.close(subject.fd)
    assert answer.verdict == verdict
    assert f"pid {os.getpid()}" in answer.evidence


def test_a_device_that_is_in_use_by_the_time_of_the_first_write_is_refused(
    loop: Path, loops: Loops
) -> None:
    subject = claim(loop, write=True)
    try:
        assert not examine(subject).refusals
        loops.over(loop)
        with pytest.raises(UnsafeError, match="stack"):
            confirm(subject)
    finally:
        os.close(subject.fd)


def test_consent_asks_once_more_after_the_serial_was_compared(
    loop: Path, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    def examine_and_lose(subject: checks.Subject) -> preflight.Preflight:
        report = examine(subject)
        loops.over(loop)
        return report

    monkeypatch.setattr(preflight, "examine", examine_and_lose)
    with pytest.raises(UnsafeError, match="stack"):
        try_to_write(loop)


def test_a_device_that_changed_by_the_time_of_the_first_write_is_refused(
    loop: Path, loops: Loops
) -> None:
    subject = claim(loop, write=True)
    try:
        os.truncate(loops.folder / "disk.img", LOOP_BYTES * 2)
        run("losetup", "--set-capacity", str(loop))
        with pytest.raises(UnsafeError, match="another device than a moment ago"):
            confirm(subject)
        assert "identity" in {check.name for check in examine(subject).refusals}
    finally:
        os.close(subject.fd)


def test_a_device_without_capacity_is_no_target(loops: Loops) -> None:
    node = loops.new()
    run("losetup", "-d", str(node))
    with pytest.raises(TargetError, match=r"no capacity|cannot be opened"):
        claim(node, write=True)


def test_nothing_is_written_by_a_refused_or_an_allowed_preflight(loop: Path, loops: Loops) -> None:
    before = (loops.folder / "disk.img").read_bytes()
    try_to_write(loop)
    with pytest.raises(UnsafeError):
        try_to_write(loop, destroy="wrong")
    assert (loops.folder / "disk.img").read_bytes() == before == bytes(LOOP_BYTES)


def mount_ext4(device: Path, place: Path) -> Path:
    """Put a file system on a device and mount it."""
    need("mkfs.ext4")
    run("mkfs.ext4", "-q", str(device))
    place.mkdir()
    run("mount", str(device), str(place))
    return place
