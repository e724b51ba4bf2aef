"""ATA Sanitize on an emulated drive: what is sent, what keeps it from being sent, how it ends."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.device.commands import ata
from teijo.device.purging import ata_sanitize, by_hand, ladder, waiting
from teijo.device.purging.surroundings import Surroundings
from teijo.errors import DeviceError, StuckDevice, TargetError, UnsafeError
from tests.device.sg_purges import (
    TARGET,
    Made,
    bench,
    erasing,
    noted,
    purge,
    refusals,
)
from tests.drives.sg_in_process import Bench

__all__ = ["bench"]

BLOCK = "ata-sanitize-block"
SANITIZE = 0xB4


def sent(on: Bench) -> list[bytes]:
    """Return the CDB of each sanitize that is no question."""
    found = [seen.raw for seen in on.disk.seen if seen.code == SANITIZE and seen.ata]
    return [raw for raw in found if raw[3:5] != bytes(2)]


@pytest.mark.parametrize(
    ("method", "feature", "count", "lba"),
    [
        (BLOCK, 0x12, 0x10, 0x426B4572),
        ("ata-sanitize-crypto", 0x11, 0x10, 0x43727970),
        ("ata-sanitize-overwrite", 0x14, 0x11, 0x4F57_00000000),
    ],
)
def test_each_action_is_sent_once_with_its_key_and_certified(
    bench: Made, method: str, feature: int, count: int, lba: int
) -> None:
    on = bench(method, duration=30.0)
    on.write(0, b"x" * (1 << 20))
    done = purge(on, method)
    (raw,) = sent(on)
    # ATA PASS-THROUGH 16: the high byte of each register stands before its low byte.
    told = raw[8] | raw[10] << 8 | raw[12] << 16 | raw[7] << 24 | raw[9] << 32 | raw[11] << 40
    assert (raw[3] << 8 | raw[4], raw[5] << 8 | raw[6], told) == (feature, count, lba)
    assert (done.is_proven, done.method, done.estimate_s) == (True, method, None)
    assert "completed without error" in done.text
    assert done.is_cryptographic is ("crypto" in method)
    assert noted() == []
    if "crypto" not in method:
        assert on.image.read_bytes() == bytes(1 << 20)


def frozen(on: Bench) -> None:
    on.disk.state["sanitize_frozen"] = True


def running(on: Bench) -> None:
    ata.sanitize(on.fd, ata.BLOCK_ERASE)


def failed(on: Bench) -> None:
    running(on)
    on.clock.sleep(1000)


def shifted(on: Bench) -> None:
    on.knobs.serial = "ANOTHER"


def second_unit(on: Bench) -> None:
    on.subject()
    folder = on.tree.disk("sdb", "8:16", device__wwid="naa.5000000000000001")
    (folder / "device" / "vpd_pg80").write_bytes(on._page(0x80))


def nothing(on: Bench) -> None:
    """Leave it as it was made."""


Setup = Callable[[Bench], None]
REFUSED: list[tuple[str, dict[str, object], Setup, str]] = [
    ("damaged", {"damaged": True}, nothing, "damaged"),
    ("another", {}, shifted, "says it is 'ANOTHER'"),
    ("alike", {}, second_unit, "sdb has its serial or its WWID too"),
    ("locked", {"password": "theirs"}, nothing, "is locked by a password"),
    ("enabled", {"password": "theirs", "unlocked": True}, nothing, "has a password already"),
    ("registers", {"task_file": False}, nothing, "does not come through"),
    ("running", {}, running, "runs already"),
    ("failed", {"mode": "fail"}, failed, "its last sanitize failed"),
    ("frozen", {}, frozen, "FREEZE LOCK"),
]


@pytest.mark.parametrize(("check", "knobs", "setup", "why"), REFUSED, ids=[c[0] for c in REFUSED])
def test_what_would_keep_it_from_its_end_is_refused_before_it_and_only_by_its_check(
    bench: Made,
    monkeypatch: pytest.MonkeyPatch,
    check: str,
    knobs: dict[str, object],
    setup: Setup,
    why: str,
) -> None:
    on = bench(BLOCK, **{"duration": 100.0, **knobs})
    subject = on.subject()
    setup(on)
    before = len(sent(on))
    with pytest.raises(UnsafeError, match=why) as caught:
        ladder.purge(subject, BLOCK, given=(subject.found.token,))
    assert len(sent(on)) == before
    assert caught.value.remedy
    assert caught.value.exit_code == 3
    assert noted() == []
    monkeypatch.delitem(ata_sanitize.CHECKS, check)
    offer = ata_sanitize.BLOCK.offer(subject)
    assert offer is not None
    assert why not in offer.refusal


def test_every_check_has_its_case() -> None:
    elsewhere = {"partition", "between"}
    assert {case[0] for case in REFUSED} | elsewhere == set(ata_sanitize.CHECKS)


def test_the_ways_out_of_frozen_are_told_and_none_is_taken(bench: Made) -> None:
    on = bench(BLOCK)
    frozen(on)
    with pytest.raises(UnsafeError) as caught:
        purge(on, BLOCK)
    assert "suspend this machine" in caught.value.remedy
    assert erasing(on) == []


@pytest.mark.parametrize(
    "around",
    [
        Surroundings(is_partition=False, between="a USB bridge (uas)", paths=(), alike=()),
        Surroundings(is_partition=False, between="megaraid_sas says raid1", paths=(), alike=()),
        Surroundings(is_partition=True, between="", paths=(), alike=()),
    ],
)
def test_behind_a_bridge_or_as_a_partition_not_even_its_state_is_asked(
    bench: Made, monkeypatch: pytest.MonkeyPatch, around: Surroundings
) -> None:
    on = bench(BLOCK)
    monkeypatch.setattr(ata_sanitize, "surroundings_of", lambda subject: around)
    with pytest.raises(UnsafeError, match=r"between it and this host|it is a partition"):
        purge(on, BLOCK)
    if around.between:
        assert on.disk.saw(SANITIZE, ata=True) == 0
    assert sent(on) == []


@pytest.mark.parametrize(
    ("able", "method"),
    [
        (("block", "overwrite"), "ata-sanitize-crypto"),
        (("crypto", "overwrite"), BLOCK),
        (("crypto", "block"), "ata-sanitize-overwrite"),
        ((), BLOCK),
    ],
)
def test_what_word_59_does_not_have_is_no_offer(
    bench: Made, able: tuple[str, ...], method: str
) -> None:
    on = bench(BLOCK, sanitize=able)
    with pytest.raises(TargetError, match=f"no purge by {method}"):
        purge(on, method)
    assert sent(on) == []


@pytest.mark.parametrize(
    ("method", "knobs"), [("scsi-format", {}), (BLOCK, {"pass_through": False})]
)
def test_a_sas_drive_and_one_that_passes_no_ata_commands_have_none(
    bench: Made, method: str, knobs: dict[str, object]
) -> None:
    assert ata_sanitize.BLOCK.offer(bench(method, **knobs).subject()) is None


def test_a_second_path_is_claimed_with_it_and_what_is_in_use_there_refuses(bench: Made) -> None:
    on = bench(BLOCK)
    subject = on.subject()
    folder = on.tree.disk("sdb", "8:16", device__wwid=subject.found.identity.wwid)
    (folder / "device" / "vpd_pg80").write_bytes(on._page(0x80))
    offer = ata_sanitize.BLOCK.offer(subject)
    assert offer is not None
    assert (offer.victims, offer.others, offer.refusal) == ((on.serial,), ("sdb",), "")
    refusals["sdb"] = "Device or resource busy"
    try:
        with pytest.raises(UnsafeError, match=r"/dev/sdb must not be written.*busy"):
            purge(on, BLOCK)
    finally:
        refusals.clear()
    assert sent(on) == []
    assert purge(on, BLOCK).is_proven


def test_a_liar_is_found_out_by_the_stamps(bench: Made) -> None:
    with pytest.raises(DeviceError, match="64 of 64 stamps are still there"):
        purge(bench(BLOCK, mode="liar"), BLOCK)


@pytest.mark.parametrize("method", [BLOCK, "ata-sanitize-overwrite"])
def test_a_failure_is_never_done_and_can_be_left(bench: Made, method: str) -> None:
    on = bench(method, mode="fail")
    with pytest.raises(DeviceError, match="failed, and the drive is not purged") as caught:
        purge(on, method)
    assert caught.value.remedy.endswith("--finish")
    assert (noted(), caught.value.exit_code) == ([method], 5)
    with pytest.raises(UnsafeError, match="answers no reads until that is left"):
        by_hand.purge(TARGET, method, destroy=on.serial)
    assert len(sent(on)) == 1
    (line,) = by_hand.finish(TARGET)
    assert "it is not purged" in line
    assert (noted(), by_hand.finish(TARGET)) == ([], ())
    on.knobs.mode = "ok"
    assert purge(on, method).is_proven


def test_a_failure_of_anothers_that_cannot_be_left_says_what_ends_it(bench: Made) -> None:
    on = bench(BLOCK, mode="fail")
    ata.execute(on.fd, SANITIZE, feature=0x12, lba=0x426B4572)
    on.clock.sleep(100)
    with pytest.raises(DeviceError, match="cannot be left") as caught:
        by_hand.finish(TARGET)
    assert "hdparm" in caught.value.remedy
    assert len(sent(on)) == 1


def test_one_that_stands_still_is_told_within_the_bound_and_left(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "POLL_S", 60)
    on = bench(BLOCK, duration=1e9)
    with pytest.raises(StuckDevice, match=r"has stood at 0\.0 %") as caught:
        purge(on, BLOCK)
    assert 600 <= on.clock.now() < 2000
    assert caught.value.remedy.endswith("--status")
    assert (len(sent(on)), caught.value.exit_code, noted()) == (1, 5, [BLOCK])
    with pytest.raises(DeviceError, match="cannot be ended"):
        by_hand.finish(TARGET)
    with pytest.raises(DeviceError, match="a sanitize runs"):
        by_hand.purge(TARGET, BLOCK, destroy=on.serial)
    assert len(sent(on)) == 1


def test_one_that_moves_slowly_is_waited_for(bench: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "POLL_S", 60)
    on = bench(BLOCK, duration=5000.0)
    heard: list[int] = []
    done = purge(
        on,
        BLOCK,
        moved=lambda done, total, allow_ns=0: heard.append(done) if total == 65536 else None,
    )
    assert done.is_proven
    assert heard == sorted(heard)
    assert len(set(heard)) > 50


def test_a_drive_that_refuses_says_so_and_leaves_nothing_open(bench: Made) -> None:
    on = bench(BLOCK, refuses=True)
    with pytest.raises(DeviceError, match=r"refused to sanitize.*nothing was erased"):
        purge(on, BLOCK)
    assert noted() == []


def test_a_refusal_that_is_none_is_left_to_itself(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(BLOCK, duration=100.0)
    send = ata.sanitize

    def taken_and_refused(fd: int, action: int, **more: int) -> None:
        send(fd, action, **more)
        raise ata.AtaError(SANITIZE, None)

    monkeypatch.setattr(ata, "sanitize", taken_and_refused)
    with pytest.raises(DeviceError, match="and a sanitize runs; it was left to itself"):
        purge(on, BLOCK)
    assert noted() == [BLOCK]


def test_a_drive_that_says_nothing_of_the_end_is_not_purged(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(BLOCK)
    status = ata_sanitize.sanitize_status
    monkeypatch.setattr(
        ata_sanitize, "sanitize_status", lambda fd: replace(status(fd), completed=False)
    )
    with pytest.raises(DeviceError, match="says nothing of its end"):
        purge(on, BLOCK)


def test_what_another_drive_left_is_not_ended_on_this_one(bench: Made) -> None:
    on = bench(BLOCK, mode="fail")
    failed(on)
    subject = on.subject()
    on.knobs.serial = "ANOTHER"
    with pytest.raises(UnsafeError, match="who answers says it is 'ANOTHER'"):
        ata_sanitize.BLOCK.finish(subject, None)
    assert on.disk.progress("sanitize").failed
