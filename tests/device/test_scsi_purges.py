"""SCSI SANITIZE and FORMAT UNIT on an emulated drive: what is sent, what is not, how they end."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from teijo.device.commands import scsi
from teijo.device.purging import by_hand, ladder, scsi_format, scsi_sanitize, scsi_unit, waiting
from teijo.device.purging.surroundings import Surroundings
from teijo.errors import DeviceError, StuckDevice, TargetError, UnsafeError
from tests.device.sg_purges import TARGET, Made, bench, erasing, noted, purge, refusals
from tests.drives.sg_in_process import Bench

__all__ = ["bench"]

BLOCK, FORMAT = "scsi-sanitize-block", "scsi-format"
WAYS = {BLOCK: scsi_sanitize.BLOCK, FORMAT: scsi_format.UNIT}
ZEROS_BY_OVERWRITE = bytes((1, 0, 0, 4, 0, 0, 0, 0))


def sent(on: Bench) -> list[str]:
    """Return the bytes of each SANITIZE and FORMAT UNIT."""
    return [seen.raw.hex() for seen in on.disk.seen if seen.code in (0x48, 0x04) and not seen.ata]


@pytest.mark.parametrize(
    ("method", "cdb"),
    [
        (BLOCK, "48a20000000000000000"),
        ("scsi-sanitize-crypto", "48a30000000000000000"),
        ("scsi-sanitize-overwrite", "48a10000000000000800"),
        (FORMAT, "041000000000"),
    ],
)
def test_each_is_sent_once_and_waited_for(bench: Made, method: str, cdb: str) -> None:
    on = bench(method, duration=30.0)
    on.write(0, b"x" * (1 << 20))
    done = purge(on, method)
    assert sent(on) == [cdb]
    assert (done.is_proven, done.method, done.estimate_s) == (True, method, None)
    assert done.is_cryptographic is ("crypto" in method)
    assert (noted(), on.clock.now() > 30) == ([], True)
    if "crypto" not in method:
        assert on.image.read_bytes() == bytes(1 << 20)


def test_the_parameter_lists_are_one_pass_of_zeros_and_immediately(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(BLOCK)
    lists = []
    execute = scsi.execute

    def heard(fd: int, cdb: bytes, **more: object) -> scsi.Answer:
        if cdb[0] in (0x48, 0x04):
            lists.append(more["out"])
        return execute(fd, cdb, **more)

    monkeypatch.setattr(scsi, "execute", heard)
    scsi.sanitize(on.fd, scsi.OVERWRITE)
    on.clock.sleep(10)
    scsi.format_unit(on.fd)
    assert lists == [ZEROS_BY_OVERWRITE, bytes((0, 2, 0, 0))]


def test_what_each_offers(bench: Made) -> None:
    on = bench(BLOCK)
    found = {one.method: one for one in ladder.offers(on.subject())}
    assert set(found) == {
        BLOCK, "scsi-sanitize-crypto", "scsi-sanitize-overwrite", FORMAT, "discard"
    }  # fmt: skip
    told = {
        name: (one.victims, one.abortable, one.survives_power_cut, one.valid_for_pts)
        for name, one in found.items()
        if name != "discard"
    }
    assert told == {
        BLOCK: ((on.serial,), False, True, True),
        "scsi-sanitize-crypto": ((on.serial,), False, True, False),
        "scsi-sanitize-overwrite": ((on.serial,), False, True, True),
        FORMAT: ((on.serial,), False, False, True),
    }


def running(on: Bench) -> None:
    scsi.sanitize(on.fd, scsi.BLOCK_ERASE)


def formatting(on: Bench) -> None:
    scsi.format_unit(on.fd)


def failed(on: Bench) -> None:
    running(on)
    on.clock.sleep(1000)


def corrupt(on: Bench) -> None:
    formatting(on)
    on.power_cycle()


def stopped(on: Bench) -> None:
    on.disk.state["standby"] = True


def other_serial(on: Bench) -> None:
    on.knobs.serial = "ANOTHER"


def second_unit(on: Bench) -> None:
    folder = on.tree.disk("sdb", "8:16", device__wwid="naa.5000000000000001")
    (folder / "device" / "vpd_pg80").write_bytes(on._page(0x80))


def nothing(on: Bench) -> None:
    """Leave it as it was made."""


Setup = Callable[[Bench], None]
REFUSED: list[tuple[str, str, dict[str, object], Setup, str]] = [
    ("another", BLOCK, {}, other_serial, "says it is 'ANOTHER'"),
    ("alike", BLOCK, {}, second_unit, "sdb has its serial or its WWID too"),
    ("untold", BLOCK, {"operations": "untold"}, nothing, "does not say whether it has this"),
    ("untold", FORMAT, {"operations": "other"}, nothing, "does not say whether it has this"),
    ("running", BLOCK, {}, running, "a sanitize runs already"),
    ("running", FORMAT, {}, formatting, "a format runs already"),
    ("failed", FORMAT, {"mode": "fail"}, failed, "its last sanitize failed"),
    ("corrupt", BLOCK, {}, corrupt, "its last format did not end"),
    ("not ready", BLOCK, {}, stopped, r"is not ready \(sense 2/04/02\)"),
    ("protection", FORMAT, {"protection": 1}, nothing, r"protection information \(type 1\)"),
    ("other blocks", FORMAT, {"next_block": 4096}, nothing, "512 B, and would have 4096 B"),
]


@pytest.mark.parametrize(
    ("check", "method", "knobs", "setup", "why"), REFUSED, ids=[f"{c[0]}-{c[1]}" for c in REFUSED]
)
def test_what_would_keep_it_from_its_end_is_refused_before_it_and_only_by_its_check(
    bench: Made,
    monkeypatch: pytest.MonkeyPatch,
    check: str,
    method: str,
    knobs: dict[str, object],
    setup: Setup,
    why: str,
) -> None:
    on = bench(method, **{"duration": 100.0, **knobs})
    subject = on.subject()
    setup(on)
    before = len(sent(on))
    with pytest.raises(UnsafeError, match=why) as caught:
        ladder.purge(subject, method, given=(subject.found.token,))
    assert len(sent(on)) == before
    assert caught.value.remedy
    assert (caught.value.exit_code, noted()) == (3, [])
    checks = scsi_format.CHECKS if method == FORMAT else scsi_unit.CHECKS
    monkeypatch.delitem(checks, check)
    offer = WAYS[method].offer(subject)
    assert offer is not None
    assert not offer.refusal or check in {"running", "failed", "corrupt"}


def test_every_check_has_its_case() -> None:
    elsewhere = {"partition", "between"}
    assert {case[0] for case in REFUSED} | elsewhere == set(scsi_format.CHECKS)
    assert set(scsi_unit.CHECKS) < set(scsi_format.CHECKS)


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
@pytest.mark.parametrize(
    "around",
    [
        Surroundings(is_partition=False, between="a USB bridge (uas)", paths=(), alike=()),
        Surroundings(is_partition=True, between="", paths=(), alike=()),
    ],
)
def test_behind_a_bridge_and_of_a_partition_neither_is_sent(
    bench: Made, monkeypatch: pytest.MonkeyPatch, method: str, around: Surroundings
) -> None:
    on = bench(method)
    monkeypatch.setattr(scsi_unit, "surroundings_of", lambda subject: around)
    with pytest.raises(UnsafeError, match=r"between it and this host|it is a partition"):
        purge(on, method)
    assert sent(on) == []


@pytest.mark.parametrize(
    ("knobs", "method"),
    [
        ({"sanitize": ("crypto",)}, BLOCK),
        ({"sanitize": ()}, BLOCK),
        ({"operations": "none"}, BLOCK),
        ({"operations": "other"}, BLOCK),
        ({"format_unit": False}, FORMAT),
    ],
)
def test_what_a_drive_does_not_say_that_it_has_is_no_offer(
    bench: Made, knobs: dict[str, object], method: str
) -> None:
    on = bench(method, **knobs)
    with pytest.raises(TargetError, match=f"no purge by {method}"):
        purge(on, method)
    assert sent(on) == []


def test_a_drive_without_the_question_has_format_unit_for_every_disk_must(bench: Made) -> None:
    on = bench(FORMAT, operations="none")
    assert purge(on, FORMAT).is_proven


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
def test_a_sata_drive_has_neither(bench: Made, method: str) -> None:
    assert WAYS[method].offer(bench("ata-sanitize-block").subject()) is None


def test_a_second_path_is_claimed_with_it_and_what_is_in_use_there_refuses(bench: Made) -> None:
    on = bench(BLOCK)
    subject = on.subject()
    folder = on.tree.disk("sdb", "8:16", device__wwid=subject.found.identity.wwid)
    (folder / "device" / "vpd_pg80").write_bytes(on._page(0x80))
    refusals["sdb"] = "Device or resource busy"
    try:
        for method in (BLOCK, FORMAT):
            with pytest.raises(UnsafeError, match=r"/dev/sdb must not be written.*busy"):
                purge(on, method)
    finally:
        refusals.clear()
    assert sent(on) == []
    assert purge(on, BLOCK).is_proven


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
def test_a_liar_is_found_out_by_the_stamps(bench: Made, method: str) -> None:
    with pytest.raises(DeviceError, match="64 of 64 stamps are still there"):
        purge(bench(method, mode="liar"), method)


@pytest.mark.parametrize("method", [BLOCK, "scsi-sanitize-overwrite"])
def test_a_failed_sanitize_is_never_done_and_can_be_left(bench: Made, method: str) -> None:
    on = bench(method, mode="fail")
    with pytest.raises(DeviceError, match="failed, and the drive is not purged") as caught:
        purge(on, method)
    assert (noted(), caught.value.exit_code) == ([method], 5)
    with pytest.raises(UnsafeError, match="answers no reads until that is left"):
        by_hand.purge(TARGET, method, destroy=on.serial)
    (line,) = by_hand.finish(TARGET)
    assert "it is not purged" in line
    assert sent(on)[1:] == ["481f0000000000000000"]
    assert (noted(), by_hand.finish(TARGET)) == ([], ())
    on.knobs.mode = "ok"
    assert purge(on, method).is_proven


def test_a_restricted_failure_of_anothers_is_not_left_and_says_what_ends_it(bench: Made) -> None:
    on = bench(BLOCK, mode="fail")
    scsi.execute(on.fd, b"\x48\x82" + bytes(8))
    on.clock.sleep(100)
    with pytest.raises(DeviceError, match="cannot be left") as caught:
        by_hand.finish(TARGET)
    assert "sg_sanitize" in caught.value.remedy


@pytest.mark.parametrize("how", ["fails", "loses its power"])
def test_a_format_that_did_not_end_says_that_only_another_helps(bench: Made, how: str) -> None:
    on = bench(FORMAT, mode="fail" if how == "fails" else "ok")
    if how == "fails":
        with pytest.raises(DeviceError, match="did not end, and nothing but another") as caught:
            purge(on, FORMAT)
        assert (caught.value.exit_code, noted()) == (5, [FORMAT])
    else:
        corrupt(on)
    state = by_hand.purge_state(TARGET)
    assert [one.kind for one in state.seen.unfinished][:1] == ["format"]
    with pytest.raises(DeviceError, match="nothing but another format") as caught:
        by_hand.finish(TARGET)
    assert "sg_format --format --quick /dev/sda" in caught.value.remedy
    assert len(sent(on)) == 1
    # As that tool does it.
    on.knobs.mode = "ok"
    scsi.execute(on.fd, b"\x04\x10\0\0\0\0", out=bytes(4))
    by_hand.finish(TARGET)
    assert noted() == []
    assert purge(on, FORMAT).is_proven


@pytest.mark.parametrize(("method", "word"), [(BLOCK, "sanitize"), (FORMAT, "format")])
def test_one_that_stands_still_is_told_within_the_bound_and_left(
    bench: Made, monkeypatch: pytest.MonkeyPatch, method: str, word: str
) -> None:
    monkeypatch.setattr(waiting, "POLL_S", 60)
    on = bench(method, duration=1e9)
    with pytest.raises(StuckDevice, match=rf"the {word} has stood at 0\.0 %") as caught:
        purge(on, method)
    assert 600 <= on.clock.now() < 3000
    assert "--status" in caught.value.remedy
    assert ("power cut" in caught.value.remedy) is (word == "sanitize")
    assert (len(sent(on)), caught.value.exit_code, noted()) == (1, 5, [method])
    with pytest.raises(DeviceError, match=f"a {word} runs .*cannot be ended"):
        by_hand.finish(TARGET)
    with pytest.raises(DeviceError, match=f"a {word} runs"):
        by_hand.purge(TARGET, method, destroy=on.serial)
    assert len(sent(on)) == 1


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
def test_the_end_is_sense_key_0_and_not_all_of_its_progress(
    bench: Made, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    on = bench(method, duration=50.0)
    state, heard = scsi.state, []

    def hurried(fd: int) -> scsi.Sense | None:
        told = state(fd)
        if told is None or told.progress is None:
            return told
        heard.append(told.progress)
        return replace(told, progress=65535)

    monkeypatch.setattr(scsi, "state", hurried)
    assert purge(on, method).is_proven
    assert len(heard) > 5


def test_a_drive_that_becomes_ready_after_it_is_waited_for(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(FORMAT)
    state, later = scsi.state, [3]

    def starting(fd: int) -> scsi.Sense | None:
        told = state(fd)
        if told is None and sent(on) and later[0]:
            later[0] -= 1
            return scsi.Sense(key=2, code=0x04, qualifier=0x01, descriptors={})
        return told

    monkeypatch.setattr(scsi, "state", starting)
    assert purge(on, FORMAT).is_proven
    assert later == [0]


@pytest.mark.parametrize(("method", "word"), [(BLOCK, "sanitize"), (FORMAT, "format")])
def test_a_drive_that_refuses_says_so_and_leaves_nothing_open(
    bench: Made, method: str, word: str
) -> None:
    on = bench(method, refuses=True)
    with pytest.raises(DeviceError, match=rf"refused to {word}: .*7/27/00; nothing was erased"):
        purge(on, method)
    assert noted() == []


@pytest.mark.parametrize("method", [BLOCK, FORMAT])
def test_what_another_drive_left_is_not_ended_on_this_one(bench: Made, method: str) -> None:
    on = bench(method, mode="fail")
    failed(on)
    subject = on.subject()
    on.knobs.serial = "ANOTHER"
    with pytest.raises(UnsafeError, match="who answers says it is 'ANOTHER'"):
        WAYS[method].finish(subject, None)
    assert len(sent(on)) == 1
    assert erasing(on) == ["SANITIZE"]
