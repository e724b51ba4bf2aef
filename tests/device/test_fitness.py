"""Fitness: a drive that says it fails is refused, accepted by name, and remarked in every case."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.device import inspect_target, open_target
from teijo.device.asking import NoAnswer
from teijo.device.commands import nvme
from teijo.device.health import asked as health
from teijo.device.health.tiers import OpeningCondition
from teijo.errors import Interrupted, UnsafeError, UsageError
from teijo.runner.events import StepDone
from teijo.terms.drive_warning import COUNTER, named_in_bits
from teijo.terms.remark import Remark, RemarkKind
from tests.device.loops import Loops, serial_of
from tests.device.test_smart import ATA, NVME, nvme_with
from tests.device.test_stack import Tree

Says = Callable[..., None]
SPARE, HOT, DEGRADED, READ_ONLY = 1, 2, 4, 8
SHORT = {"rw": "randread", "bs": "4KiB", "qd": "1", "seconds": "0.2"}


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Let every drive answer its looks in this order, the last for ever; None is no answer."""

    def script(*answers: int | None) -> None:
        left = list(answers)

        def look(fd: int, roots: object) -> tuple[dict[str, int], OpeningCondition]:
            os.fstat(fd)
            bits = left.pop(0) if len(left) > 1 else left[0]
            if bits is None:
                return {}, OpeningCondition(warnings=None, told_by="smartctl is not installed")
            return {COUNTER: bits}, OpeningCondition(warnings=named_in_bits(bits), told_by="a test")

        monkeypatch.setattr(health, "_look", look)

    return script


def read(loop: Path, tmp_path: Path, **more: Any) -> api.Run:
    return api.run("workload", str(loop), output=tmp_path / "run", settings=SHORT, **more)


def warned(remarks: tuple[Remark, ...]) -> list[tuple[str, int | None]]:
    return [(one.text, one.step) for one in remarks if one.kind is RemarkKind.DRIVE_WARNS]


@pytest.mark.parametrize(
    ("bits", "named"), [(DEGRADED, "reliability-degraded"), (READ_ONLY, "read-only")]
)
@pytest.mark.parametrize("write", [False, True], ids=["read", "written"])
def test_a_drive_that_says_it_fails_is_refused_with_exit_code_3(
    loop: Path, says: Says, bits: int, named: str, write: bool
) -> None:
    says(bits)
    with pytest.raises(UnsafeError, match=named) as caught:
        open_target(str(loop), write=write, destroy=serial_of(loop) if write else None)
    assert caught.value.exit_code == 3
    assert f"--accept-warning {named}" in caught.value.remedy
    os.close(os.open(loop, os.O_RDWR | os.O_EXCL))  # the claim was given back


def test_both_warnings_must_be_accepted_and_then_the_run_goes_on_with_remarks(
    loop: Path, says: Says, tmp_path: Path
) -> None:
    says(DEGRADED | READ_ONLY | HOT)
    with pytest.raises(UnsafeError, match="reliability-degraded"):
        read(loop, tmp_path, accept_warnings=["read-only"])
    assert not list(tmp_path.glob("run*")), "a refused run leaves nothing"
    run = read(loop, tmp_path, accept_warnings=["read-only,reliability-degraded"])
    said = warned(run.remarks)
    assert [step for _, step in said] == [None, None, None]
    for name in ("temperature", "reliability-degraded", "read-only"):
        assert any(f"says {name} before the run" in text for text, _ in said)
    assert run.record.identity.facts["health"].startswith("warns: temperature, reliability")


@pytest.mark.parametrize("bits", [SPARE, HOT, 16, 32, 64])
def test_any_other_warning_is_remarked_and_refuses_nothing(
    loop: Path, says: Says, tmp_path: Path, bits: int
) -> None:
    says(bits)
    assert len(warned(read(loop, tmp_path).remarks)) == 1


def test_health_that_cannot_be_read_is_unknown_refuses_nothing_and_is_recorded(
    loop: Path, says: Says, tmp_path: Path
) -> None:
    says(None)
    run = read(loop, tmp_path)
    assert warned(run.remarks) == []
    assert run.record.identity.facts["health"] == "unknown: smartctl is not installed"


def test_an_accepted_warning_that_is_not_given_is_said_and_no_error(
    loop: Path, says: Says, tmp_path: Path
) -> None:
    says(0)
    run = read(loop, tmp_path, accept_warnings=["read-only"])
    assert run.record.identity.facts["accepted, and the drive does not say so"] == "read-only"
    assert run.record.identity.facts["health"] == "no warning (a test)"
    assert warned(run.remarks) == []


def test_a_wrong_name_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'read-only'"):
        read(tmp_path / "nothing", tmp_path, accept_warnings=["readonly"])


@pytest.mark.parametrize(
    ("looks", "step"),
    [
        ((HOT, HOT | READ_ONLY), 1),  # after it was opened
        ((HOT, HOT, HOT | READ_ONLY), 2),  # in the run, which asks again at its end only
    ],
)
def test_a_warning_that_appears_in_a_run_is_remarked_once_at_its_step_and_the_run_goes_on(
    loop: Path, says: Says, tmp_path: Path, looks: tuple[int, ...], step: int
) -> None:
    says(*looks)
    run = api.run(
        "workload",
        str(loop),
        output=tmp_path / "run",
        settings={"rw": "write", "bs": "64KiB", "qd": "1", "seconds": "0.1", "verify": "after"},
        destroy=serial_of(loop),
    )
    assert run.record.run.ending == "done"
    assert len(run.record.steps) == 2
    said = warned(run.remarks)
    assert [where for text, where in said if "temperature before the run" in text] == [None]
    assert [where for text, where in said if "read-only since this step" in text] == [step]
    assert len(said) == 2


def test_a_resume_asks_again_and_remarks_what_is_new(
    loop: Path, says: Says, tmp_path: Path
) -> None:
    says(0)

    def stop(event: object) -> None:
        if isinstance(event, StepDone):
            raise KeyboardInterrupt

    with pytest.raises((Interrupted, KeyboardInterrupt)):
        read(loop, tmp_path, observer=stop)
    left = tmp_path / "run.teijo.open"
    says(READ_ONLY)
    with pytest.raises(UnsafeError, match="read-only"):
        api.resume(left)
    run = api.resume(left, accept_warnings=["read-only"])
    assert any("read-only before the run" in text for text, _ in warned(run.remarks))


def test_of_several_the_failing_member_refuses_all_and_is_named(loops: Loops, says: Says) -> None:
    one, two = loops.new("one.img"), loops.new("two.img")
    text = f"stripe?chunk=64KiB:{one},{two}"
    serials = f"{serial_of(one)},{serial_of(two)}"
    says(0, DEGRADED)
    with pytest.raises(UnsafeError, match=f"{two} says of itself: reliability-degraded"):
        open_target(text, write=True, destroy=serials)
    for node in (one, two):
        os.close(os.open(node, os.O_RDWR | os.O_EXCL))


def test_an_inspection_names_the_warnings_and_does_not_refuse_to_look(
    loop: Path, says: Says
) -> None:
    says(READ_ONLY)
    seen = inspect_target(str(loop))
    assert seen.condition == OpeningCondition(warnings=named_in_bits(READ_ONLY), told_by="a test")
    says(None)
    assert inspect_target(str(loop)).identity.facts["health"].startswith("unknown")


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OpeningCondition]:
    """Return a function that looks at a disk of a name; smartctl and the drive answer as told."""
    tree = Tree(tmp_path)
    nodes = {"sda": tree.disk("sda", "8:0"), "nvme0n1": tree.disk("nvme0n1", "259:0")}

    def look(name: str, answer: object, bits: int | None) -> OpeningCondition:
        node = tree.node(nodes[name])
        monkeypatch.setattr(health, "number_of", lambda fd: node.number)

        def smartctl(*_: object) -> dict[str, int]:
            if isinstance(answer, str):
                raise NoAnswer(answer)
            found = health.answer_of(json.dumps(answer).encode())
            assert found is not None
            return health.smart_counters(found)

        def own_log(fd: int) -> int:
            if bits is None:
                raise OSError(25, "no such command")
            return bits

        monkeypatch.setattr(health, "_smartctl", smartctl)
        monkeypatch.setattr(nvme, "critical_warning", own_log)
        return health.opening_condition(3, tree.roots)

    return look


def test_an_nvme_drive_is_asked_itself_whatever_is_installed(
    disk: Callable[..., OpeningCondition],
) -> None:
    assert disk("nvme0n1", "smartctl is not installed", 4).text == (
        "warns: reliability-degraded (NVMe SMART log)"
    )
    assert disk("nvme0n1", NVME, 8).text == "warns: read-only (NVMe SMART log)"
    assert disk("nvme0n1", nvme_with(4), None).text == "warns: reliability-degraded (smartctl)"


def test_a_disk_is_asked_by_smartctl_and_is_unknown_without(
    disk: Callable[..., OpeningCondition],
) -> None:
    assert disk("sda", ATA, None).text == "no warning (smartctl)"
    assert disk("sda", "did not answer within 20 s", None).text == (
        "unknown: did not answer within 20 s"
    )
    assert disk("sda", {}, None).text == "unknown: smartctl tells no health of it"


def test_what_is_no_drive_is_unknown(loop: Path) -> None:
    assert inspect_target(str(loop)).identity.facts["health"] == (
        f"unknown: {loop.name} is no drive that tells its health"
    )
