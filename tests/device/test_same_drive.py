"""A drive that comes back from its purge as another one, or of another shape, is told apart."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device import kernel
from teijo.device.preflight import claim
from teijo.device.purging import ladder, same_drive
from teijo.errors import DeviceError, IdentityError
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SasBench, SataBench

Made = Callable[..., NvmeBench]
FORMAT = "nvme-format"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # The made-up tree has no processes and no mounts to look through.
    monkeypatch.setattr(ladder, "confirm", lambda subject: None)

    def build(**knobs: object) -> NvmeBench:
        made.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return made[-1]

    yield build
    for one in made:
        one.close()


def purge(on: NvmeBench) -> object:
    subject = on.subject()
    return ladder.purge(subject, FORMAT, given=(subject.found.token,))


def test_a_format_that_makes_another_drive_of_it_says_both(bench: Made) -> None:
    on = bench(format_makes="factory")
    with pytest.raises(IdentityError, match="another drive") as caught:
        purge(on)
    told = caught.value.message
    was, now = told.split("it was ", 1)[1].split(", and is ")
    assert "model Teijo Emulated NVMe, serial EMU0001, firmware 1.0" in was
    assert "size 4 MiB (4194304 B), logical block 512 B" in was
    assert "model SM2270, serial 1234, firmware ROM" in now
    assert "size 2 MiB (2097152 B)" in now
    assert "factory's mode" in caught.value.remedy
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("makes", "is_now"), [("smaller", "size 2 MiB"), ("blocks", "logical block 4096 B")]
)
def test_the_same_drive_in_another_shape_has_its_own_words(
    bench: Made, makes: str, is_now: str
) -> None:
    on = bench(format_makes=makes)
    with pytest.raises(IdentityError, match="in another shape") as caught:
        purge(on)
    assert is_now in caught.value.message.split(", and is ")[1]
    assert "the same drive" in caught.value.remedy


def test_the_same_drive_in_the_same_shape_is_purged(bench: Made) -> None:
    on = bench()
    assert purge(on)
    assert on.opcodes(0x80) == [0x80]


def test_a_drive_that_says_nothing_more_is_not_taken_for_the_same(bench: Made) -> None:
    on = bench()
    subject = on.subject()
    was = same_drive.who_is(subject)
    on.front.fail_at = dict.fromkeys(range(on.front.sent + 1, on.front.sent + 9), 0x4006)
    with pytest.raises(DeviceError, match=r"does not say after its purge who it is: controller"):
        same_drive.check_same(subject, was)
    on.drive.cut()
    with pytest.raises(DeviceError, match="does not say"):
        same_drive.check_same(subject, was)


@pytest.mark.parametrize("kind", [SataBench, SasBench])
def test_a_sata_and_a_sas_drive_say_who_they_are(
    kind: type[SataBench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = kind(tmp_path, monkeypatch)
    monkeypatch.setattr(kernel, "disk_sequence", lambda fd: 1)
    subject = on.subject()
    was = same_drive.who_is(subject)
    assert was.not_told == {}
    assert was.told["serial"] == on.serial
    assert set(was.told) == {"model", "firmware", "serial", "WWID", "size", "logical block"}
    same_drive.check_same(subject, was)
    other = replace(was, told=was.told | {"serial": "ANOTHER"})
    with pytest.raises(IdentityError, match=r"another drive \(serial\)"):
        same_drive.check_same(subject, other)


def test_what_is_no_drive_is_told_by_the_kernel(loop: Path) -> None:
    subject = claim(loop, write=False)
    try:
        was = same_drive.who_is(subject)
        assert was.not_told == {}
        assert set(was.told) == {"model", "serial", "WWID", "size", "logical block"}
        same_drive.check_same(subject, was)
        other = replace(was, told=was.told | {"size": "1 B"})
        with pytest.raises(IdentityError, match="in another shape"):
            same_drive.check_same(subject, other)
    finally:
        os.close(subject.fd)
