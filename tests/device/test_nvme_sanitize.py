"""NVMe Sanitize on an emulated drive: what it takes, what keeps it from being sent, its ends."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device import open_changes
from teijo.device.checks import Subject, ask
from teijo.device.commands import nvme
from teijo.device.drive.nvme_drive import sanitize_status
from teijo.device.preflight import Preflight
from teijo.device.purging import ladder, nvme_sanitize, others, waiting
from teijo.errors import DeviceError, StuckDevice, TargetError, TeijoError, UnsafeError
from teijo.terms.purge import PurgeResult
from tests.drives.in_process import Killed, NvmeBench

SANITIZE = 0x84
TWO = [{"size_bytes": 1 << 20}, {"size_bytes": 1 << 20}]
BLOCK = "nvme-sanitize-block"
Made = Callable[..., NvmeBench]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # No power cut of the host is tried here, and hundreds of looks at a log save the drive's state.
    monkeypatch.setattr(os, "fsync", lambda fd: None)

    def build(**knobs: object) -> NvmeBench:
        on = NvmeBench(tmp_path, monkeypatch, **knobs)
        monkeypatch.setattr(waiting, "rest", lambda ns, look: on.clock.sleep(ns / 1e9))
        # The made-up tree has no processes and no mounts to look through.
        monkeypatch.setattr(ladder, "confirm", lambda subject: None)
        monkeypatch.setattr(others, "examine", examined)

        def claim(path: Path, **_: object) -> Subject:
            number = int(path.name.rpartition("n")[2])
            subject = on.subject(number)
            copy = os.dup(subject.fd)
            on.numbers[copy] = number
            return replace(subject, fd=copy, refusal=refusals.get(number, ""))

        monkeypatch.setattr(others, "claim", claim)
        made.append(on)
        return on

    yield build
    refusals.clear()
    for one in made:
        one.close()


refusals: dict[int, str] = {}
"""Why a namespace cannot be had alone, by its number."""


def examined(subject: Subject, names: object = ()) -> Preflight:
    del names
    return Preflight(checks=(ask("claim", subject),))


def purge(on: NvmeBench, method: str = BLOCK, *given: str) -> PurgeResult:
    subject = on.subject()
    done = ladder.purge(subject, method, given=given or (subject.found.token,))
    assert done is not None
    return done


def sent(on: NvmeBench) -> list[int]:
    """Return CDW10 of every sanitize that the drive was sent."""
    return [one["cdw"][0] for one in on.sent if one["opcode"] == SANITIZE]


@pytest.mark.parametrize(
    ("method", "cdw10"),
    [(BLOCK, 0x0A), ("nvme-sanitize-crypto", 0x0C), ("nvme-sanitize-overwrite", 0x1B)],
)
def test_each_action_is_sent_once_and_certified(bench: Made, method: str, cdw10: int) -> None:
    on = bench(duration=30.0)
    on.fill()
    done = purge(on, method)
    assert sent(on) == [cdw10]
    assert (done.is_proven, done.estimate_s, done.method) == (True, 30, method)
    assert "Global Data Erased" in done.certificate
    assert "Global Data Erased" in done.text
    assert done.is_cryptographic is ("crypto" in method)
    assert open_changes.open_changes() == ()


def test_every_namespace_is_a_victim_and_must_be_given_up(bench: Made) -> None:
    on = bench(namespaces=[*TWO, {"size_bytes": 1 << 20, "attached": False}])
    on.fill()
    before = [on.image(number) for number in (1, 2)]
    (offer, *_) = ladder.offers(on.subject())
    assert offer.victims == ("EMU0001-ns1", "EMU0001-ns2", "EMU0001-ns3")
    assert offer.others == ("nvme0n2",)
    with pytest.raises(UnsafeError, match="would lose EMU0001-ns2, EMU0001-ns3 too"):
        purge(on)
    assert sent(on) == []
    assert [on.image(number) for number in (1, 2)] == before
    purge(on, BLOCK, *offer.victims)
    assert not any(on.image(1))
    assert not any(on.image(2))


def test_a_namespace_in_use_anywhere_refuses_all(bench: Made) -> None:
    on = bench(namespaces=TWO)
    on.fill()
    before = on.image(1)
    refusals[2] = "Device or resource busy"
    with pytest.raises(UnsafeError, match=r"nvme0n2 must not be written.*busy"):
        purge(on, BLOCK, "EMU0001-ns1", "EMU0001-ns2")
    assert (sent(on), on.image(1)) == ([], before)


def test_a_namespace_of_another_drive_is_not_taken_with_it(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(namespaces=TWO)
    claim = others.claim

    def other(path: Path, **options: object) -> Subject:
        subject = claim(path, **options)
        return replace(subject, found=replace(subject.found, own_serial="ANOTHER"))

    monkeypatch.setattr(others, "claim", other)
    with pytest.raises(UnsafeError, match="is not of the drive"):
        purge(on, BLOCK, "EMU0001-ns1", "EMU0001-ns2")
    assert sent(on) == []


def test_a_namespace_that_nobody_here_can_see_in_use_refuses(bench: Made) -> None:
    on = bench(namespaces=TWO)
    folder = on.tree.roots.sys / "block" / "nvme0n2"
    folder.unlink()
    with pytest.raises(UnsafeError, match="namespace 2 is in use cannot be seen"):
        purge(on, BLOCK, "EMU0001", "EMU0001-ns2")
    assert sent(on) == []


@pytest.mark.parametrize(
    ("knobs", "why"),
    [
        ({"model": "INTEL SSDPEKNW512G8"}, "stood still"),
        ({"critical_warning": 8}, "read-only"),
    ],
)
def test_what_would_not_end_is_not_begun(bench: Made, knobs: dict[str, object], why: str) -> None:
    on = bench(**knobs)
    with pytest.raises(UnsafeError, match=why):
        purge(on)
    assert sent(on) == []


def test_a_drive_without_its_log_is_not_sanitized(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench()

    def silent(fd: int) -> None:
        raise OSError(5, "no log")

    monkeypatch.setattr(nvme_sanitize, "sanitize_status", silent)
    with pytest.raises(UnsafeError, match="81h"):
        purge(on)
    assert sent(on) == []


@pytest.mark.parametrize(
    ("sanicap", "method"),
    [
        (0b110, "nvme-sanitize-crypto"),
        (0b101, BLOCK),
        (0b011, "nvme-sanitize-overwrite"),
        (0, BLOCK),
    ],
)
def test_what_the_drive_cannot_is_no_offer(bench: Made, sanicap: int, method: str) -> None:
    on = bench(sanicap=sanicap)
    with pytest.raises(TargetError, match=f"no purge by {method}"):
        purge(on, method)
    assert sent(on) == []


def test_a_partition_and_another_controller_have_no_sanitize(bench: Made) -> None:
    on = bench()
    subject = on.subject()
    other = replace(subject, found=replace(subject.found, own_serial="ANOTHER"))
    with pytest.raises(UnsafeError, match="nothing was sent"):
        nvme_sanitize.BLOCK.offer(other)
    (subject.found.node.folder / "partition").write_text("1")
    assert nvme_sanitize.BLOCK.offer(subject) is None


def test_a_liar_is_found_out_by_the_stamps(bench: Made) -> None:
    on = bench(mode="liar")
    with pytest.raises(DeviceError, match="64 of 64 stamps are still there"):
        purge(on)


def test_a_forced_deallocation_is_a_success(bench: Made) -> None:
    on = bench(mode="forced")
    done = purge(on)
    assert done.is_proven
    assert "(completed, deallocated although it was asked not to)" in done.text
    assert sanitize_status(on.fds[1]).code == 4


def test_each_end_of_a_sanitize_has_its_own_words(bench: Made) -> None:
    ends = {
        "ok": {}, "forced": {"mode": "forced"}, "failure": {"mode": "fail"},
        "stall": {"mode": "stuck"}, "firmware": {"firmware_pending": True},
        "read-only": {"critical_warning": 8}, "liar": {"mode": "liar"},
    }  # fmt: skip
    usual = {"mode": "ok", "firmware_pending": False, "critical_warning": 0}
    told: dict[str, tuple[str, int]] = {}
    on = bench()
    for name, knobs in ends.items():
        on.drive.control(**(usual | knobs))
        try:
            told[name] = (purge(on).words, 0)
        except TeijoError as error:
            told[name] = (error.message, error.exit_code)
        if name in ("failure", "stall"):
            on.drive.state["sanitize"] = None  # another drive, in the state it was made in
            (left,) = open_changes.open_changes()
            open_changes.close(left)
        assert open_changes.open_changes() == (), name
    assert {name: code for name, (_, code) in told.items()} == {
        "ok": 0, "forced": 0, "failure": 5, "stall": 5, "firmware": 5, "read-only": 3, "liar": 5,
    }  # fmt: skip
    words = {
        "ok": "NVMe Sanitize, block erase", "forced": "although it was asked not to",
        "failure": "the sanitize failed, and the drive is not purged",
        "stall": "it is unfinished and was left to itself",
        "firmware": "a firmware waits for a reset; nothing was erased",
        "read-only": "it says that it is read-only", "liar": "64 of 64 stamps are still there",
    }  # fmt: skip
    for name, (text, _) in told.items():
        assert words[name] in text
        others = [one for one in words if one not in (name, "ok")]
        assert not [one for one in others if words[one] in text], (name, text)


@pytest.mark.parametrize("clears", [False, True])
def test_a_failure_is_never_done_and_can_be_left(bench: Made, clears: bool) -> None:
    on = bench(mode="fail", exit_clears_status=clears)
    with pytest.raises(DeviceError, match="failed, and the drive is not purged") as caught:
        purge(on)
    assert caught.value.remedy.endswith("--finish")
    assert [one.kind for one in open_changes.open_changes()] == ["purge"]
    with pytest.raises(UnsafeError, match="answers no reads until that is left") as refused:
        purge(on)
    assert refused.value.remedy == "Leave that first: teijo purge /dev/nvme0n1 --finish"
    assert "answers again; it is not purged" in nvme_sanitize.finish(on.subject())
    assert purge(on).is_proven
    assert sent(on) == [0x0A, 0x01, 0x0A]


def test_a_failure_in_restricted_mode_is_not_left(bench: Made) -> None:
    on = bench(mode="fail")
    nvme.admin(on.fds[1], opcode=SANITIZE, number=0, cdw10=nvme.BLOCK_ERASE)
    on.clock.sleep(5)
    with pytest.raises(DeviceError, match="cannot be left"):
        nvme_sanitize.finish(on.subject())


@pytest.mark.parametrize(("estimate", "bound"), [(4.0, 600), (1000.0, 2000)])
def test_one_that_stands_still_is_told_within_the_bound_and_left(
    bench: Made, estimate: float, bound: int
) -> None:
    on = bench(mode="stuck", duration=estimate)
    with pytest.raises(StuckDevice, match=r"has stood at 1\.0 %") as caught:
        purge(on)
    assert bound <= on.clock.now < 1.2 * bound
    assert caught.value.remedy.endswith("--status")
    assert (sent(on), caught.value.exit_code) == ([0x0A], 5)
    with pytest.raises(DeviceError, match="cannot be ended"):
        nvme_sanitize.finish(on.subject())


def test_one_that_moves_slowly_is_waited_for(bench: Made) -> None:
    on = bench(duration=700.0, estimates=False)
    assert purge(on).is_proven
    assert on.clock.now >= 700


def test_progress_is_heard(bench: Made) -> None:
    on = bench(duration=10.0)
    heard: list[tuple[int, int]] = []
    subject = on.subject()
    ladder.purge(
        subject,
        BLOCK,
        given=(subject.found.token,),
        moved=lambda done, total, allow_ns=0: heard.append((done, total)),
    )
    shares = [done for done, total in heard if total == 65536]
    assert shares == sorted(shares)
    assert len(set(shares)) > 5


def test_a_drive_that_refuses_says_why_and_leaves_nothing_open(bench: Made) -> None:
    on = bench(firmware_pending=True)
    with pytest.raises(DeviceError, match="a firmware waits for a reset; nothing was erased"):
        purge(on)
    assert open_changes.open_changes() == ()


def test_a_power_cut_of_the_drive_on_the_way_changes_nothing(
    bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(duration=10.0)
    on.fill()
    cuts, seen = [6], list[int]()

    def pause(ns: int, look: object) -> None:
        on.clock.sleep(ns / 1e9)
        if on.clock.now > cuts[0]:
            seen.extend(sent(on))
            cuts[0] = 10**9
            on.power_cycle()

    monkeypatch.setattr(waiting, "rest", pause)
    assert purge(on).is_proven
    assert (seen, sent(on)) == ([0x0A], [])


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_command_never_leads_to_a_second_sanitize(
    tmp_path: Path, bench: Made, after: bool
) -> None:
    on = bench(duration=3.0)
    commands, ran = 0, 0
    while True:
        commands += 1
        before = len(sent(on))
        on.front.kill_at, on.front.kill_after = on.front.sent + commands, after
        try:
            purge(on)
        except Killed:
            on.front.kill_at = 0
        else:
            break
        was_sent = len(sent(on)) - before
        log = sanitize_status(on.fds[1])
        noted = open_changes.open_changes()
        assert was_sent <= 1
        if log.runs:
            ran += 1
            assert [one.method for one in noted] == [BLOCK]
            with pytest.raises(UnsafeError, match="a sanitize runs already"):
                purge(on)
            assert len(sent(on)) - before == 1
            on.clock.sleep(10)
        assert "completed" in nvme_sanitize.finish(on.subject()) or not was_sent
        for one in noted:
            open_changes.close(one)
    assert commands > 10
    assert ran >= 1
