"""B14 as one list: each check before, around and after a purge has the scenario that needs it.

A scenario runs twice. With its check: refused or told, and the drive's own log has no erase. With
that one check taken out it must turn out wrong. A check without a scenario fails by its name, and
docs/safety.md has the same list.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from teijo.device import checks, kernel, open_changes, preflight
from teijo.device.block import open_block
from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.kernel import Number
from teijo.device.purging import (
    agreed,
    by_hand,
    ladder,
    nvme_sanitize,
    others,
    same_drive,
    verify,
    waiting,
)
from teijo.device.target import BlockTarget
from teijo.errors import DeviceError, IdentityError, TeijoError, UnsafeError
from tests.drives.in_process import Killed, NvmeBench
from tests.drives.nvme_host import TARGET, NvmeHost
from tests.house.tree import ROOT, text

MADE = 1 << 19
TWO = [{"size_bytes": MADE}] * 2
BOTH = "EMU0001-ns1,EMU0001-ns2"
BLOCK, FORMAT = "nvme-sanitize-block", "nvme-format"
ERASING = (0x80, 0x84)
PURGING = ROOT / "python" / "teijo" / "device" / "purging"
HERE = BlockTarget(text=TARGET, path=Path(TARGET))
Without = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What is done to which drive, and what must be said; `erases` where an erase is no fault."""

    check: str
    without: Without
    knobs: dict[str, Any]
    prepare: Callable[[NvmeHost, pytest.MonkeyPatch], None] = lambda host, patch: None
    act: Callable[[NvmeHost], object]
    raises: type[BaseException] = UnsafeError
    said: str = ""
    erases: bool = False
    after: Callable[[NvmeHost], None] = lambda host: None


def by_method(method: str, destroy: str) -> Callable[[NvmeHost], object]:
    return lambda host: by_hand.purge(TARGET, method, destroy=destroy)


def at_opening(method: str, destroy: str) -> Callable[[NvmeHost], object]:
    def act(host: NvmeHost) -> object:
        medium = open_block(HERE, write=True, destroy=destroy, purge_by=method)
        medium.release()
        return medium

    return act


def below_by_hand(method: str = BLOCK, number: int = 1) -> Callable[[NvmeHost], object]:
    """The ladder alone: what by_hand asks before it is another check of this list."""

    def act(host: NvmeHost) -> object:
        subject = host.claim(Path(f"/dev/nvme0n{number}"), write=True)
        try:
            return ladder.purge(subject, method, given=[*BOTH.split(","), "EMU0001"])
        finally:
            os.close(subject.fd)

    return act


def sanitize_check(name: str) -> Without:
    return lambda patch: patch.setitem(nvme_sanitize.CHECKS, name, lambda asked: "")


def question(name: str) -> Without:
    return lambda patch: patch.setitem(checks.CHECKS, name, lambda subject: ("ok", "", ""))


def nothing(module: object, name: str, answer: object = None) -> Without:
    return lambda patch: patch.setattr(module, name, lambda *a, **b: answer)


def attribute(number: int, name: str, value: str) -> Callable[[NvmeHost, pytest.MonkeyPatch], None]:
    def prepare(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
        path = host.on.tree.roots.sys / "devices" / "pci0" / f"nvme0n{number}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")

    return prepare


def begun(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    nvme.sanitize(host.on.fds[1], nvme.BLOCK_ERASE)
    host.on.drive.commands.clear()


def failed(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    begun(host, patch)
    host.on.clock.sleep(10)
    host.on.drive.control(mode="ok")


def silent_log(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    def silent(fd: int) -> None:
        raise OSError(5, "no log")

    patch.setattr(nvme_sanitize, "sanitize_status", silent)


def unseen(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    (host.on.tree.roots.sys / "block" / "nvme0n2").unlink()


def opened_elsewhere(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    host.claim(Path("/dev/nvme0n2"), write=True)


def held_by_another(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    folder = host.on.tree.disk("dm-0", "253:0")
    host.on.tree.hold(host.on.tree.roots.sys / "devices" / "pci0" / "nvme0n2", folder)


def mounted(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    host.mount(Number(259, 1))


def swapped(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    name = host.on.tree.roots.sys / "class" / "block" / "nvme0n2"
    name.mkdir(parents=True)
    (name / "dev").write_text("259:1\n")
    (host.on.tree.roots.proc / "swaps").write_text("Filename Type\n/dev/nvme0n2 partition 1 0 -2\n")


def signed(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    page = bytearray(4096)
    page[4086:4096] = b"SWAPSPACE2"
    os.pwrite(host.on.fds[2], bytes(page), 0)


def twin(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    host.twin(2, "nvme1n2")


def read_only(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kernel, "is_read_only", lambda fd: host.on.numbers.get(fd) == 2)


def replaced(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    """Another disk takes the node's place once the stamps are written."""
    stamp, sequence = verify.stamp, kernel.disk_sequence

    def stamps(*told: Any) -> Any:
        done = stamp(*told)
        patch.setattr(kernel, "disk_sequence", lambda fd: sequence(fd) + 1)
        return done

    patch.setattr(verify, "stamp", stamps)


def unplugged_between(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    """The second namespace is another disk than when it was claimed."""
    sequence, asked = kernel.disk_sequence, list[int]()

    def told(fd: int) -> int | None:
        if host.on.numbers.get(fd) == 2:
            asked.append(fd)
        return (sequence(fd) or 0) + len(asked)

    patch.setattr(kernel, "disk_sequence", told)


def other_serial(host: NvmeHost, patch: pytest.MonkeyPatch) -> None:
    claim = others.claim

    def claimed(path: Path, **options: Any) -> Subject:
        subject = claim(path, **options)
        return replace(subject, found=replace(subject.found, own_serial="ANOTHER"))

    patch.setattr(others, "claim", claimed)


def killed_after_it(host: NvmeHost) -> object:
    front = host.on.front
    seen = front.end

    def end() -> None:
        seen()
        if front.order[-1] == 0x84:
            raise Killed

    front.end = end  # type: ignore[method-assign]
    return by_hand.purge(TARGET, BLOCK, destroy=BOTH)


def is_noted(host: NvmeHost) -> None:
    assert [one.method for one in open_changes.open_changes()] == [BLOCK]


def never_more_than_the_target(host: NvmeHost) -> object:
    done = by_hand.purge(TARGET, "auto", destroy="EMU0001-ns1")
    raise UnsafeError(f"auto took {done.method}")


SCENARIOS = tuple(
    Scenario(check=f"{place}: {name}", **rest)
    for place, name, rest in (
        ("sanitize", "never ending", {
            "without": sanitize_check("never ending"), "knobs": {"model": "INTEL SSDPEKNW512G8"},
            "act": by_method(BLOCK, "EMU0001"), "said": "stood still"}),
        ("sanitize", "log", {
            "without": sanitize_check("log"), "knobs": {}, "prepare": silent_log,
            "act": by_method(BLOCK, "EMU0001"), "said": "81h"}),
        ("sanitize", "running", {
            "without": sanitize_check("running"), "knobs": {"duration": 1e6}, "prepare": begun,
            "act": below_by_hand(), "said": "a sanitize runs already"}),
        ("sanitize", "failed", {
            "without": sanitize_check("failed"), "knobs": {"mode": "fail"}, "prepare": failed,
            "act": by_method(BLOCK, "EMU0001"), "said": "answers no reads until that is left"}),
        ("sanitize", "read-only", {
            "without": sanitize_check("read-only"), "knobs": {"critical_warning": 8},
            "act": by_method(BLOCK, "EMU0001"), "said": "read-only"}),
        ("sanitize", "unseen", {
            "without": sanitize_check("unseen"), "knobs": {"namespaces": TWO}, "prepare": unseen,
            "act": by_method(BLOCK, "EMU0001,EMU0001-ns2"), "said": "cannot be seen here"}),
        *(("preflight", name, {
            "without": question(name), "knobs": {"namespaces": TWO}, "prepare": prepare,
            "act": by_method(BLOCK, BOTH), "said": said})
          for name, prepare, said in (
            ("claim", opened_elsewhere, "nvme0n2 must not be written.*busy"),
            ("zones", attribute(2, "queue/zoned", "host-managed"), "nvme0n2.*zoned"),
            ("writable", read_only, "nvme0n2 must not.*read-only"),
            ("identity", unplugged_between, "another device than a moment ago"),
            ("aliases", twin, "has the same identity"),
            ("stack", held_by_another, "nvme0n2 must not.*dm-0"),
            ("mounts", mounted, "nvme0n2 must not.*ext4 at /data"),
            ("swap", swapped, "in use as swap"),
            ("signatures", signed, "nvme0n2 must not.*it holds.*swap"),
        )),
        ("consent", "every victim is named", {
            "without": nothing(ladder, "check_given"), "knobs": {"namespaces": TWO},
            "act": by_method(BLOCK, "EMU0001-ns1"), "said": "would lose EMU0001-ns2"}),
        ("consent", "a run names them before its file is made", {
            "without": nothing(ladder, "check_given"), "knobs": {"namespaces": TWO},
            "act": at_opening(BLOCK, "EMU0001-ns1"), "said": "would lose EMU0001-ns2"}),
        ("consent", "what a run's purge reaches is unused", {
            "without": lambda patch: patch.setattr(agreed.others, "held", _held_nothing),
            "knobs": {"namespaces": TWO}, "prepare": mounted,
            "act": at_opening(BLOCK, BOTH), "said": "ext4 at /data"}),
        ("consent", "members of one drive are told apart", {
            "without": nothing(agreed, "_tell_apart"), "knobs": {"namespaces": TWO},
            "act": lambda host: agreed.consent_to_run(
                [host.claim(Path(f"/dev/nvme0n{n}"), write=True) for n in (1, 2)], BOTH, BLOCK),
            "said": "is of the same drive and of the same target"}),
        ("consent", "nothing is named that is no victim", {
            "without": lambda patch: patch.setattr(
                preflight.serial, "named", lambda text: ("EMU0001-ns1",)),
            "knobs": {"namespaces": TWO}, "act": at_opening("discard", BOTH),
            "said": "names EMU0001-ns2, and that is none"}),
        ("reach", "the others are of this drive", {
            "without": nothing(others, "check_of_one_drive"), "knobs": {"namespaces": TWO},
            "prepare": other_serial, "act": by_method(BLOCK, BOTH), "said": "is not of the drive"}),
        ("reach", "what a format keeps is unused", {
            "without": lambda patch: patch.setattr(others, "IN_USE", ()),
            "knobs": {"namespaces": TWO}, "prepare": mounted,
            "act": by_method(FORMAT, "EMU0001-ns1"), "said": "nvme0n2 must not.*ext4"}),
        ("reach", "auto takes the target alone", {
            "without": nothing(ladder, "reaches_further", False), "knobs": {"namespaces": TWO},
            "act": never_more_than_the_target, "said": "auto took discard"}),
        ("order", "unfinished first", {
            "without": nothing(by_hand, "refuse_unfinished"), "knobs": {"duration": 1e6},
            "prepare": begun, "act": by_method(FORMAT, "EMU0001"),
            "raises": DeviceError, "said": "a sanitize runs"}),
        ("order", "still the same device right before it is sent", {
            "without": nothing(waiting, "check_present"), "knobs": {}, "prepare": replaced,
            "act": by_method(BLOCK, "EMU0001"), "raises": IdentityError,
            "said": "Another device took the place"}),
        ("order", "in the journal before it is sent", {
            "without": lambda patch: patch.setattr(waiting, "note", lambda change: change),
            "knobs": {"namespaces": TWO}, "act": killed_after_it, "raises": Killed,
            "erases": True, "after": is_noted}),
        ("proof", "the stamps are gone", {
            "without": lambda patch: patch.setattr(verify, "look", _all_gone),
            "knobs": {"mode": "liar"}, "act": by_method(BLOCK, "EMU0001"), "raises": DeviceError,
            "said": "64 of 64 stamps are still there", "erases": True}),
        ("proof", "the same drive comes back", {
            "without": nothing(same_drive, "check_same"), "knobs": {"format_makes": "factory"},
            "act": by_method(FORMAT, "EMU0001"), "raises": IdentityError,
            "said": "another drive", "erases": True}),
        ("proof", "what a format keeps reads as before", {
            "without": nothing(ladder, "_check_kept"),
            "knobs": {"namespaces": TWO, "format_reaches_all": True}, "prepare":
            lambda host, patch: host.on.fill(), "act": by_method(FORMAT, "EMU0001-ns1"),
            "raises": DeviceError, "said": "reached /dev/nvme0n2 too", "erases": True}),
    )
)  # fmt: skip

ELSEWHERE = {
    "preflight: openers": "tests/device/test_preflight.py",
    "preflight: protected": "tests/device/test_preflight.py",
    "security: *": "tests/device/test_ata_security.py::test_each_check_is_what_refuses",
    "ATA sanitize: *": "tests/device/test_ata_sanitize.py::test_every_check_has_its_case",
    "SCSI: *": "tests/device/test_scsi_purges.py::test_every_check_has_its_case",
    "cache: journal before the switch":
        "tests/device/test_write_cache.py::test_without_a_journal_nothing_is_switched",
}  # fmt: skip
"""Checks whose scenario is beside what it needs."""


def _held_nothing(*told: Any) -> Any:
    from contextlib import nullcontext

    return nullcontext(())


def _all_gone(subject: Subject, stamps: tuple[Any, ...], moved: object) -> verify.Looked:
    gone = len(stamps) if moved is not None and _erased(stamps) else 0
    return verify.Looked(gone=gone, zeros=gone, ones=0)


_calls: list[int] = []


def _erased(stamps: tuple[Any, ...]) -> bool:
    """The first look is right after the stamps were written, the second after the purge."""
    _calls.append(len(stamps))
    return len(_calls) % 2 == 0


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., NvmeHost]]:
    benches: list[NvmeBench] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    _calls.clear()

    def build(**knobs: Any) -> NvmeHost:
        benches.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return NvmeHost(benches[-1], monkeypatch)

    yield build
    for one in benches:
        one.close()


def play(scenario: Scenario, host: NvmeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a scenario come out right.

    Raises:
        AssertionError: it came out wrong.
    """
    scenario.prepare(host, monkeypatch)
    before = len(host.on.sent)
    try:
        scenario.act(host)
    except scenario.raises as error:
        told = error.message if isinstance(error, TeijoError) else ""
        assert re.search(scenario.said, told), told
    except (TeijoError, Killed) as error:
        raise AssertionError(f"it was told otherwise: {error}") from error
    else:
        raise AssertionError("it was neither refused nor told")
    erased = [one["opcode"] for one in host.on.sent[before:] if one["opcode"] in ERASING]
    assert scenario.erases or not erased
    scenario.after(host)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.check)
def test_with_its_check_a_scenario_comes_out_right(
    scenario: Scenario, made: Callable[..., NvmeHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(scenario, made(**scenario.knobs), monkeypatch)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.check)
def test_without_its_check_it_comes_out_wrong(
    scenario: Scenario, made: Callable[..., NvmeHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.without(monkeypatch)
    with pytest.raises(AssertionError):
        play(scenario, made(**scenario.knobs), monkeypatch)


def test_every_check_has_a_scenario() -> None:
    """By the names that the code has."""
    known = {one.check for one in SCENARIOS} | set(ELSEWHERE)
    named = {f"sanitize: {name}" for name in nvme_sanitize.CHECKS}
    named |= {f"preflight: {name}" for name in checks.CHECKS}
    # A module of purging with checks of its own has them here, or a test that names each of them.
    modules = {path.stem for path in PURGING.glob("*.py") if "\nCHECKS: Final[" in text(path)}
    assert modules == {
        "nvme_sanitize", "ata_security_checks", "ata_sanitize", "scsi_unit", "scsi_format",
    }  # fmt: skip
    assert named - known == set(), "without a scenario"
    assert len(known) == len(SCENARIOS) + len(ELSEWHERE)
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}" in text(ROOT / file)


def test_the_page_has_the_same_list() -> None:
    page = text(ROOT / "docs" / "safety.md")
    (part,) = re.findall(r"## Which check is needed for what\n(.*?)(?=\n## |\Z)", page, re.DOTALL)
    rows = re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE)
    assert rows == [one.check for one in SCENARIOS] + list(ELSEWHERE)
