"""The program killed, and the drive without power, before and after every command of a purge.

Counted over all points: at most one command that erases was ever sent, what was not erased is as it
was, and afterwards `teijo purge --status` and `--finish` say what is true of the drive.
"""

from collections import Counter
from pathlib import Path

import pytest

from teijo.device.purging import by_hand, verify
from teijo.errors import TeijoError
from tests.device.sg_purges import METHODS, TARGET, Made, bench, erasing, noted, purge
from tests.drives.sg_in_process import Bench, Fault, Killed

__all__ = ["bench"]

FAULTS: tuple[Fault, ...] = ("killed before", "killed after", "cut before", "cut after")
SIZE = 1 << 20
BEFORE = b"\xa5" * SIZE
FEW_STAMPS = 4
LASTS = 20.0


def point(bench: Made, folder: Path, method: str, at: int, fault: Fault) -> str:
    """Purge with a fault at a command; return what became of the drive, "" where it was purged."""
    on = bench(method, folder, duration=LASTS)
    on.write(0, BEFORE)
    on.front.faults[at] = fault
    try:
        purge(on, method)
    except (Killed, TeijoError):
        pass
    else:
        return "" if at > on.front.count else "purged"
    if fault.startswith("cut"):
        on.power_cycle()
    on.front.faults.clear()
    on.clock.step = 0.0  # what is asked now takes no time of the drive's
    return told(on, method)


def told(on: Bench, method: str) -> str:
    """Hold what is said of the drive against what it is; return that."""
    assert len(erasing(on)) <= 1
    if on.disk.state.get("corrupt"):
        assert "format: its last format did not end" in said(on)
        end(on, ends=False)
        again(on, method)
        return "corrupt"
    if not (erasing(on) and on.disk.state["jobs"]):
        # No command that erases took effect: all but the stamps is as it was.
        assert untouched(on)
        assert said(on) == ""
        end(on, ends=True)
        return "nothing sent"
    (job,) = on.disk.state["jobs"]
    if on.disk.progress(job).running:
        assert f"{job}: a {job} runs" in said(on)
        assert noted() == [method]
        end(on, ends=False)
        again(on, method)
        on.clock.sleep(2 * LASTS)
        assert not on.disk.progress(job).running
    assert on.image.read_bytes() != BEFORE
    lines = end(on, ends=True)
    words = "completed" if method.startswith("ata") else "no sanitize and no format"
    assert all(words in one for one in lines)
    return "began"


def said(on: Bench) -> str:
    """Return what `--status` says is unfinished of the drive, a line each."""
    found = by_hand.purge_state(TARGET).seen.unfinished
    return "\n".join(f"{one.kind}: {one.text}" for one in found if one.kind != "change")


def end(on: Bench, *, ends: bool) -> tuple[str, ...]:
    """Run `--finish`, which either ends it and empties the journal, or says that it cannot."""
    was = noted()
    if ends:
        lines = by_hand.finish(TARGET)
        assert noted() == []
        return lines
    with pytest.raises(TeijoError, match=r"cannot be ended|nothing but another format"):
        by_hand.finish(TARGET)
    assert noted() == was
    return ()


def again(on: Bench, method: str) -> None:
    """Ask for the same purge once more, which is refused as long as the drive is at it."""
    count = len(erasing(on))
    with pytest.raises(TeijoError):
        by_hand.purge(TARGET, method, destroy=on.serial)
    assert len(erasing(on)) == count


def untouched(on: Bench) -> bool:
    """Return whether at most the stamps were written."""
    now = on.image.read_bytes()
    changed = sum(now[at : at + 4096] != BEFORE[at : at + 4096] for at in range(0, SIZE, 4096))
    return changed <= FEW_STAMPS


def every_point(bench: Made, tmp_path: Path, method: str, fault: Fault) -> Counter[str]:
    """Go through all commands of a purge; return how often each thing came of it."""
    found: Counter[str] = Counter()
    at = 0
    while True:
        at += 1
        became = point(bench, tmp_path / f"{method} {fault} {at}", method, at, fault)
        if not became:
            return found
        found[became] += 1


@pytest.mark.parametrize("method", ["ata-sanitize-block", "scsi-format"])
def test_a_kill_at_any_command_leads_to_no_second_one_and_is_told(
    bench: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(verify, "STAMPS", FEW_STAMPS)
    found = every_point(bench, tmp_path, method, "killed after")
    assert found["began"] > 3
    assert found["nothing sent"] > 5
    assert set(found) == {"began", "nothing sent"}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", METHODS)
def test_a_kill_and_a_cut_before_and_after_any_command_lead_to_no_second_one_and_are_told(
    bench: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, fault: Fault
) -> None:
    monkeypatch.setattr(verify, "STAMPS", FEW_STAMPS)
    found = every_point(bench, tmp_path, method, fault)
    print(method, fault, dict(found))
    assert found["began"] + found["corrupt"] > 3
    assert found["nothing sent"] > 5
    assert (found["corrupt"] > 0) is (method == "scsi-format" and fault.startswith("cut"))
