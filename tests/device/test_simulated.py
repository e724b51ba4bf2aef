"""A simulated device behind the same face as a real one."""

import pytest

from teijo.device import open_target
from teijo.errors import PlanError, TargetError
from teijo.terms.remark import RemarkKind


def test_a_simulated_device_says_what_it_is() -> None:
    device = open_target("sim:mlc-a?capacity=1GiB&seed=7", write=True)
    try:
        assert device.replayable
        assert device.identity.kind == "simulated"
        assert device.geometry.capacity_bytes <= 2**30
        kinds = [remark.kind for remark in device.remarks()]
        assert kinds == [RemarkKind.SIMULATED, RemarkKind.CAPACITY_SCALED]
        assert device.identity.facts["seed"] == "7"
        assert device.identity.write_cache == "simulated write buffer"
    finally:
        device.close()


def test_a_scaled_device_says_so_to_every_method_and_one_at_full_size_does_not() -> None:
    kinds = {}
    for scale in ("", "?scale=60", "?scale=1"):
        device = open_target(f"sim:mlc-a{scale}", write=True)
        try:
            kinds[scale] = {remark.kind: remark.text for remark in device.remarks()}
        finally:
            device.close()
    scaled = RemarkKind.CAPACITY_SCALED
    assert "divided by 30" in kinds[""][scaled]
    assert "divided by 60" in kinds["?scale=60"][scaled]
    assert "stand for 256 GB" in kinds[""][scaled]
    assert scaled not in kinds["?scale=1"]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("sim:cache(s3700)?size=1GB", ["divided by 30", "divided too: size=1GB"]),
        ("sim:cache(hdd-7200)?size=1GB", []),
        ("sim:s3700?slc_region=1GB", ["divided by 30", "divided too: slc_region=1GB"]),
        (
            "sim:raid0(hdd-7200?scale=2, slc-a)?scale=60",
            ["divided by", "scales of their own (2, 60)"],
        ),
        ("sim:raid0(2×s3700?capacity=1GiB)", ["divided by 186.3"]),
    ],
)
def test_what_a_scale_divides_inside_a_device_is_told(target: str, told: list[str]) -> None:
    device = open_target(target, write=True)
    try:
        kind = RemarkKind.CAPACITY_SCALED
        texts = [str(remark.text) for remark in device.remarks() if remark.kind is kind]
    finally:
        device.close()
    assert len(texts) == len(told), texts
    for text, part in zip(texts, told, strict=True):
        assert part in text


@pytest.mark.parametrize("name", ["slc-a", "s3700-100", "intel-330"])
def test_a_drive_of_an_uneven_capacity_is_one_at_full_size(name: str) -> None:
    device = open_target(f"sim:{name}?scale=1", write=True)
    try:
        assert device.geometry.scale == 1
        assert RemarkKind.CAPACITY_SCALED not in {one.kind for one in device.remarks()}
    finally:
        device.close()


def test_it_rests_in_virtual_time_and_can_be_purged() -> None:
    device = open_target("sim:mlc-a?capacity=1GiB", write=True)
    try:
        before = device.session.now_ns()
        device.idle(3_600_000_000_000, lambda: None)
        assert device.session.now_ns() - before == 3_600_000_000_000
        assert device.purge()
        assert device.free_counters().counts["host_writes_bytes"] == 0
        device.check()
    finally:
        device.close()


def test_an_array_is_one_device_with_the_facts_of_its_parts() -> None:
    text = "sim:raid5(4×hdd-7200?write_cache=0)?chunk=64KiB&seed=3"
    device = open_target(text, write=True)
    try:
        assert device.identity.target == text
        assert device.identity.model == "Simulated RAID5(4×HDD-7200)"
        assert device.identity.facts["chunk"] == "64KiB"
        assert device.identity.facts["0-3.write_cache"] == "0 bytes"
        assert device.identity.facts["0-3.seed"] == "3"
        assert device.identity.write_cache == "none"
        assert "nand_writes_bytes" not in device.free_counters().counts
    finally:
        device.close()


def test_mistakes_in_its_name_are_told() -> None:
    with pytest.raises(TargetError):
        open_target("sim:none", write=True)
    with pytest.raises(PlanError):
        open_target("sim:mlc-a?wings=2", write=True)
    with pytest.raises(TargetError, match="At character 9"):
        open_target("sim:raid5(4×none)?chunk=64KiB", write=True)
    with pytest.raises(TargetError, match="real devices only"):
        open_target("sim:mlc-a", write=True, engine="fio")
