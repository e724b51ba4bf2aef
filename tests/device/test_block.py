"""An open block device: identity watched, purged, read without consent, given up at the end."""

import fcntl
import os
from contextlib import closing
from pathlib import Path

import pytest

from teijo.device import (
    inspect_target,
    kernel,
    list_devices,
    open_target,
    survey,
)
from teijo.device.checks import Subject
from teijo.device.health import asked
from teijo.device.health.tiers import OpeningCondition
from teijo.device.preflight import claim
from teijo.device.purging import discard as discarding
from teijo.device.purging import ladder
from teijo.device.purging.offer import Offer
from teijo.device.real import RealDevice
from teijo.device.watched import Moved
from teijo.errors import DeviceError, IdentityError, TargetError, UnsafeError
from teijo.terms.purge import METHODS
from teijo.terms.remark import RemarkKind
from teijo.units import MIB
from tests.device.loops import LOOP_BYTES, Loops, run, serial_of

LOOP_CHANGE_FD = 0x4C06


def open_to_destroy(loop: Path) -> RealDevice:
    device = open_target(str(loop), write=True, destroy=serial_of(loop))
    assert isinstance(device, RealDevice)
    return device


def test_what_teijo_device_says_to_type_is_what_opens_it(loop: Path) -> None:
    seen = inspect_target(str(loop))
    assert seen.geometry.capacity_bytes == LOOP_BYTES
    assert seen.preflight.refusals == ()
    device = open_target(str(loop), write=True, destroy=seen.destroy)
    try:
        assert device.identity.serial == seen.destroy
        assert device.identity.kind == "block"
        assert "mounts" in device.identity.facts["preflight"]
        assert device.identity.write_cache in {"write back", "write through"}
    finally:
        device.close()


def test_a_device_in_use_has_nothing_to_type(loop: Path, loops: Loops) -> None:
    loops.over(loop)
    seen = inspect_target(str(loop))
    assert seen.destroy == ""
    assert [check.name for check in seen.preflight.refusals] == ["stack"]


def test_the_claim_is_held_until_close(loop: Path) -> None:
    device = open_to_destroy(loop)
    with pytest.raises(OSError, match="busy"):
        os.open(loop, os.O_RDONLY | os.O_EXCL)
    device.close()
    subject = claim(loop, write=True)
    os.close(subject.fd)
    assert subject.refusal == ""


def test_a_refusal_gives_the_claim_up(loop: Path) -> None:
    with pytest.raises(UnsafeError):
        open_target(str(loop), write=True, destroy="wrong")
    os.close(os.open(loop, os.O_RDONLY | os.O_EXCL))


def test_reading_needs_no_consent_and_cannot_write(loop: Path) -> None:
    device = open_target(str(loop), write=False)
    try:
        device.check()
        with pytest.raises(UnsafeError, match="opened for reading"):
            device.purge()
    finally:
        device.close()


def test_reading_a_device_in_use_is_remarked(loop: Path, loops: Loops) -> None:
    upper = loops.over(loop)
    device = open_target(str(loop), write=False)
    try:
        found = [r.text for r in device.remarks() if r.kind is RemarkKind.FOREIGN_IO]
    finally:
        device.close()
    assert any(upper.name in text for text in found)


def test_a_loop_through_the_page_cache_is_not_direct(loops: Loops) -> None:
    run("losetup", "-d", str(loops.new()))
    for option, buffered in (("off", True), ("on", False)):
        node = loops.over(loops.folder / "disk.img", f"--direct-io={option}")
        device = open_target(str(node), write=False)
        found = {remark.kind for remark in device.remarks()}
        device.close()
        run("losetup", "-d", str(node))
        assert (RemarkKind.BUFFERED in found) is buffered


def test_a_purge_discards_everything_and_says_that_it_is_only_claimed(
    loop: Path, loops: Loops
) -> None:
    file = loops.folder / "disk.img"
    file.write_bytes(b"\xa5" * LOOP_BYTES)
    device = open_to_destroy(loop)
    try:
        assert not [r for r in device.remarks() if r.kind is RemarkKind.PURGE_CLAIMED]
        done = device.purge()
        assert done is not None
        assert (done.method, done.words) == ("discard", "block discard (equivalent claimed)")
        assert (done.claimed, done.zeros, done.stamps_written, done.stamps_gone) == (
            True, 64, 64, 64
        )  # fmt: skip
        assert done.text == f"{done.words}; 64 of 64 stamps are gone, 64 read as zeros"
        assert [r for r in device.remarks() if r.kind is RemarkKind.PURGE_CLAIMED]
    finally:
        device.close()
    assert not any(file.read_bytes())


def test_a_purge_goes_no_further_on_a_device_that_came_in_the_middle_of_it(
    loop: Path, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = loops.folder / "disk.img"
    file.write_bytes(b"\xa5" * LOOP_BYTES)
    piece, sequence, discard = LOOP_BYTES // 4, kernel.disk_sequence, kernel.discard
    done: list[int] = []

    def discard_and_swap(fd: int, start: int, length: int, *, secure: bool) -> None:
        discard(fd, start, length, secure=secure)
        done.append(start)

    device = open_to_destroy(loop)
    monkeypatch.setattr(discarding, "PIECE_BYTES", piece)
    monkeypatch.setattr(kernel, "discard", discard_and_swap)
    monkeypatch.setattr(kernel, "disk_sequence", lambda fd: (sequence(fd) or 0) + bool(done))
    try:
        with pytest.raises(IdentityError, match="Another device took the place"):
            device.purge()
    finally:
        device.close()
    assert done == [0]
    left = file.read_bytes()
    assert left[:piece] == bytes(piece)
    # The stamps before the purge are all that was written of the rest.
    assert left[piece:].count(0xA5) > LOOP_BYTES - piece - 64 * 4096


def test_a_discard_that_the_device_ignores_is_no_purge(
    loop: Path, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    (loops.folder / "disk.img").write_bytes(b"\xa5" * LOOP_BYTES)
    monkeypatch.setattr(kernel, "discard", lambda *_, **__: None)
    device = open_to_destroy(loop)
    assert device.purge() is None
    device.close()


class Liar:
    """A format that returns without error and erases nothing."""

    name = "nvme-format"

    def offer(self, subject: Subject) -> Offer:
        return Offer(method=self.name, title="a lie", victims=(subject.found.token,))

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        del subject, moved
        return "NVMe Format"


@pytest.mark.parametrize("before", [b"\xa5", b"\0"])
def test_a_format_that_left_the_data_is_an_error(
    loop: Path, loops: Loops, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    (loops.folder / "disk.img").write_bytes(before * LOOP_BYTES)
    monkeypatch.setattr(ladder, "LADDER", (Liar(),))
    device = open_to_destroy(loop)
    try:
        with pytest.raises(DeviceError, match="64 of 64 stamps are still there"):
            device.purge()
    finally:
        device.close()


def test_a_device_that_cannot_discard_is_not_purged(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(kernel, "discard", refuse)
    device = open_to_destroy(loop)
    assert device.purge() is None
    device.close()


def test_a_purge_of_a_device_that_came_into_use_is_refused(loop: Path, loops: Loops) -> None:
    (loops.folder / "disk.img").write_bytes(b"\xa5" * LOOP_BYTES)
    device = open_to_destroy(loop)
    loops.over(loop)
    try:
        with pytest.raises(UnsafeError, match="stack"):
            device.purge()
    finally:
        device.close()
    assert set((loops.folder / "disk.img").read_bytes()) == {0xA5}


def test_a_device_that_changes_its_size_is_another_one(loop: Path, loops: Loops) -> None:
    device = open_to_destroy(loop)
    try:
        device.check()
        os.truncate(loops.folder / "disk.img", LOOP_BYTES // 2)
        run("losetup", "--set-capacity", str(loop))
        with pytest.raises(IdentityError, match="bytes large") as caught:
            device.check()
        assert caught.value.exit_code == 4
    finally:
        device.close()


def test_a_medium_swapped_under_the_open_device_is_noticed(loops: Loops) -> None:
    run("losetup", "-d", str(loops.new("first.img")))
    run("losetup", "-d", str(loops.new("second.img")))
    node = loops.over(loops.folder / "first.img", "--read-only")
    device = open_target(str(node), write=False)
    second = os.open(loops.folder / "second.img", os.O_RDONLY)
    control = os.open(node, os.O_RDONLY)
    try:
        device.check()
        fcntl.ioctl(control, LOOP_CHANGE_FD, second)
        with pytest.raises(IdentityError, match="Another device took the place"):
            device.check()
    finally:
        os.close(control)
        os.close(second)
        device.close()


def test_a_device_that_is_gone_is_a_device_error(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(fd: int) -> int:
        raise OSError(6, "No such device or address")

    device = open_to_destroy(loop)
    monkeypatch.setattr(kernel, "disk_sequence", gone)
    try:
        with pytest.raises(DeviceError, match="is gone"):
            device.check()
    finally:
        device.close()


def test_the_kernels_counters_count_what_was_written(loop: Path) -> None:
    device = open_to_destroy(loop)
    try:
        before = device.free_counters().counts["kernel_write_bytes"]
        fd = os.open(loop, os.O_RDWR)
        os.pwrite(fd, b"x" * MIB, 0)
        os.fsync(fd)
        os.close(fd)
        assert device.free_counters().counts["kernel_write_bytes"] - before == MIB
    finally:
        device.close()


def test_a_loop_that_is_in_use_is_listed_with_its_use(loop: Path, loops: Loops) -> None:
    upper = loops.over(loop)
    found = {device.kernel_name: device for device in list_devices()}
    assert f"{upper.name} is a loop over {loop.name}" in found[loop.name].use
    assert found[loop.name].capacity_bytes == LOOP_BYTES
    assert found[upper.name].use == ""


def test_a_serial_for_another_kind_of_target_is_a_mistake(tmp_path: Path) -> None:
    for text in ("sim:mlc-a", f"{tmp_path}/new?size=8MiB"):
        with pytest.raises(TargetError, match="--destroy names"):
            open_target(text, write=True, destroy="S1")
    with pytest.raises(TargetError, match="no block device"):
        inspect_target("sim:mlc-a")


def test_a_drive_can_be_asked_for_its_counters_before_it_is_opened(
    loop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert survey(str(loop)).asked_counters().counts == {}  # a loop has nobody to ask
    worn = ({"percentage_used": 3}, OpeningCondition(warnings=(), told_by="a test"))
    monkeypatch.setattr(asked, "_look", lambda fd, roots: worn)
    assert survey(str(loop)).asked_counters().counts == {"percentage_used": 3}


def test_only_a_simulated_device_costs_nothing_to_try(loop: Path) -> None:
    assert survey(str(loop)).simulated is None
    seen = survey("sim:mlc-a?capacity=64MiB&dies=2")
    assert seen.asked_counters().counts == {}
    assert seen.simulated is not None
    assert seen.simulated.replayable
    seen.close()


def test_a_survey_of_a_block_device_sizes_it_as_its_opening_does(loop: Path) -> None:
    with closing(open_target(str(loop), write=False)) as device:
        assert survey(str(loop)).geometry == device.geometry


class TwoNamespaces(Liar):
    """A method that would take a second namespace with it."""

    def offer(self, subject: Subject) -> Offer:
        victims = (subject.found.token, "S-ns2")
        return Offer(method=self.name, title="Sanitize", victims=victims)


def test_a_victim_that_nobody_gave_up_is_named_and_nothing_is_written(
    loop: Path, loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    (loops.folder / "disk.img").write_bytes(b"\xa5" * LOOP_BYTES)
    monkeypatch.setattr(ladder, "LADDER", (TwoNamespaces(),))
    device = open_to_destroy(loop)
    try:
        with pytest.raises(UnsafeError, match="would lose S-ns2 too") as caught:
            device.purge("nvme-format")
    finally:
        device.close()
    assert caught.value.remedy.endswith(",S-ns2")
    assert set((loops.folder / "disk.img").read_bytes()) == {0xA5}


def test_a_method_that_the_device_does_not_have_is_refused_by_name(
    loop: Path, loops: Loops
) -> None:
    (loops.folder / "disk.img").write_bytes(b"\xa5" * LOOP_BYTES)
    device = open_to_destroy(loop)
    try:
        with pytest.raises(TargetError, match="no purge by nvme-format-crypto"):
            device.purge("nvme-format-crypto")
        assert device.purge("none") is None
    finally:
        device.close()
    assert set((loops.folder / "disk.img").read_bytes()) == {0xA5}


def test_every_name_that_a_setting_takes_is_a_method_of_the_ladder() -> None:
    assert [way.name for way in ladder.LADDER] == list(METHODS)


def test_offers_tell_what_is_lost_before_anything_is_written(loop: Path) -> None:
    subject = claim(loop, write=True)
    try:
        offers = ladder.offers(subject)
    finally:
        os.close(subject.fd)
    assert [(one.method, one.victims, one.valid_for_pts) for one in offers] == [
        ("discard", (serial_of(loop),), False)
    ]
