"""A purge of an NVMe drive, killed or without power between every two of its commands, and counted.

By hand and as the step of a run. No second erase is sent, nothing outside the consent is touched,
the journal says the truth, and `--status` and `--finish` end what is left.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pytest

from teijo.device import open_changes
from teijo.device.block import open_block
from teijo.device.commands import nvme
from teijo.device.contents import signatures
from teijo.device.contents.signatures import Contents
from teijo.device.drive.nvme_drive import sanitize_status
from teijo.device.purging import by_hand, ladder
from teijo.device.real import device_on
from teijo.device.target import BlockTarget
from teijo.errors import DeviceError, TeijoError
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry
from teijo.terms.purge import DISCARD, PurgeResult, result_in
from teijo.terms.step import Purge
from tests.device import sg_purges
from tests.drives.in_process import DISCARD as BY_KERNEL
from tests.drives.in_process import Killed, NvmeBench
from tests.drives.nvme_host import TARGET, NvmeHost
from tests.drives.purge_cuts import ENUMERATED, is_there
from tests.runner.acts import resume_paper, run_paper
from tests.runner.fakes import PaperMethod

Fault = Literal["killed before", "killed after", "cut"]
FAULTS: tuple[Fault, ...] = ("killed before", "killed after", "cut")
METHODS = tuple(
    way.name for way in ladder.LADDER if way.name.startswith("nvme-") or way.name == DISCARD
)
BOTH = "EMU0001-ns1,EMU0001-ns2"
ERASING = (0x80, 0x84)
MADE = 1 << 19
HERE = BlockTarget(text=TARGET, path=Path(TARGET))
Act = Callable[["Cuts"], object]


@pytest.fixture
def cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator["Cuts"]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Nothing here is about a power cut of the host, nor about what stands on the namespaces.
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    blank = Contents(signatures=(), blank=True, readers=("built in",))
    monkeypatch.setattr(signatures, "contents", lambda fd, size: blank)
    on = NvmeBench(
        tmp_path, monkeypatch, namespaces=[{"size_bytes": MADE}] * 2, fna=0b100, duration=3.0,
        crypto_deallocates=True,
    )  # fmt: skip
    yield Cuts(host=NvmeHost(on, monkeypatch), method=request.param, folder=tmp_path)
    on.close()


class OnlyPurge(PaperMethod):
    """A run of one step."""

    def __init__(self, purge_by: str) -> None:
        super().__init__()
        self._purge_by = purge_by

    def steps(self, settings: Settings, geometry: Geometry) -> Any:
        del settings, geometry
        yield Purge(method=self._purge_by)
        return "done"


@dataclass(kw_only=True)
class Cuts:
    """One method on one drive; `point` interrupts it once and looks at what is left."""

    host: NvmeHost
    method: str
    folder: Path
    runs: int = 0

    @property
    def given(self) -> str:
        return BOTH if "sanitize" in self.method else "EMU0001-ns1"

    def by_hand(self) -> object:
        return by_hand.purge(TARGET, self.method, destroy=self.given)

    def in_a_run(self) -> object:
        self.runs += 1
        return self._begin(run_paper)

    def resumed(self) -> object:
        return self._begin(resume_paper)

    def _begin(self, act: Callable[..., object]) -> object:
        def medium() -> Any:
            return open_block(HERE, write=True, destroy=self.given, purge_by=self.method)

        device = device_on(medium, medium, engine="native", place=TARGET, hook=None)
        try:
            return act(self.run_file, device, method=OnlyPurge(self.method))
        finally:
            device.close()

    @property
    def run_file(self) -> Path:
        return self.folder / f"run{self.runs}"

    def commands(self, act: Act) -> list[int]:
        """The opcodes of a whole purge, a discard of the kernel among them."""
        on = self.host.on
        on.fill()
        first = on.front.sent
        act(self)
        return on.front.order[first:]

    def point(self, act: Act, at: int, fault: Fault) -> None:
        """Interrupt at the command of this number; what is left is true, and is ended."""
        on = self.host.on
        on.fill()
        kept, sent_before = on.image(2), len(on.sent)
        front = on.front
        if fault == "cut":
            front.cut_at = front.sent + at
        else:
            front.kill_at, front.kill_after = front.sent + at, fault == "killed after"
        try:
            act(self)
        except (TeijoError, Killed):
            pass
        else:
            # What is asked after the proof may fail: the drive's certificate.
            assert fault == "cut", "it was killed, and went on"
            assert front.cut_at == len(front.order), "it went on without a drive"
            assert open_changes.open_changes() == ()
        front.kill_at = front.cut_at = 0
        if fault != "cut":
            self.host.kill()
        erased = _erasing(on, sent_before)
        if fault == "cut":
            on.power_cycle()
            sent_before = 0
        assert len(erased) <= 1
        self._journal_is_true(erased)
        erased += self._ended()
        assert len(erased) <= 1, "looking at it and ending it sent another"
        assert self.given == BOTH or on.image(2) == kept, "beyond the consent"

    def _journal_is_true(self, erased: list[int]) -> None:
        on = self.host.on
        runs = sanitize_status(on.fds[1]).runs
        noted = [one.method for one in open_changes.open_changes()]
        assert noted in ([], [self.method])
        if runs:
            assert noted == [self.method]
        if erased and not noted and self.method != DISCARD:
            assert not any(on.image(1)), "not noted, and not erased"

    def _ended(self) -> list[int]:
        on = self.host.on
        before = len(on.sent)
        by_hand.purge_state(TARGET)
        while True:
            try:
                by_hand.finish(TARGET)
                break
            except DeviceError as error:
                if "cannot be ended" not in error.message:
                    raise
                on.clock.sleep(10)
        assert open_changes.open_changes() == ()
        assert by_hand.purge_state(TARGET).seen.unfinished == ()
        return _erasing(on, before)


def _erasing(on: NvmeBench, since: int) -> list[int]:
    return [one["opcode"] for one in on.sent[since:] if one["opcode"] in ERASING]


def _window(opcodes: list[int]) -> range:
    """From the command before the erase to the second after it."""
    place = next(at for at, one in enumerate(opcodes, 1) if one in (*ERASING, BY_KERNEL))
    return range(place - 1, min(place + 2, len(opcodes)) + 1)


@pytest.mark.parametrize("cuts", ["nvme-sanitize-block", "nvme-format", DISCARD], indirect=True)
def test_nothing_goes_wrong_wherever_a_purge_is_cut_around_its_command(cuts: Cuts) -> None:
    points = [(at, fault) for at in _window(cuts.commands(Cuts.by_hand)) for fault in FAULTS]
    for at, fault in points:
        cuts.point(Cuts.by_hand, at, fault)
    assert len(points) >= 9


# In a run the crypto methods and the overwrite differ from these by one number that is sent.
WAYS = [(name, "by hand") for name in METHODS] + [
    (name, "in a run") for name in ("nvme-sanitize-block", "nvme-format", DISCARD)
]


@pytest.mark.long
@pytest.mark.parametrize(("cuts", "way"), WAYS, indirect=["cuts"])
def test_nothing_goes_wrong_wherever_a_purge_is_cut(
    cuts: Cuts, way: str, record_property: Callable[[str, object], None]
) -> None:
    act = Cuts.by_hand if way == "by hand" else Cuts.in_a_run
    commands = cuts.commands(act)
    count = len(commands)
    around = _window(commands)
    # Away from the erase nothing on the drive tells a kill before a command from one after the
    # last: the host's own work between the two is done in both.
    points = [
        (at, fault)
        for at in range(1, count + 1)
        for fault in FAULTS
        if at in around or fault != "killed after"
    ]
    for at, fault in points:
        cuts.point(act, at, fault)
    record_property("points", len(points))
    print(f"{cuts.method} {way}: {len(points)} points")
    assert len(points) >= POINTS_LEAST[cuts.method]


POINTS_LEAST = dict.fromkeys(METHODS, 80) | {DISCARD: 40}


@pytest.mark.parametrize("cuts", ["nvme-sanitize-block", "nvme-format"], indirect=True)
def test_a_run_killed_in_its_purge_goes_on_and_records_the_one_that_ended(cuts: Cuts) -> None:
    on = cuts.host.on
    place = next(at for at, one in enumerate(cuts.commands(Cuts.in_a_run), 1) if one in ERASING)
    cuts.point(Cuts.in_a_run, place, "killed after")
    assert cuts.run_file.with_name(cuts.run_file.name + ".teijo.open").exists()
    before = len(on.sent)
    record = cuts.resumed()
    assert len(_erasing(on, before)) == 1
    assert not any(on.image(1))
    assert cuts.method in str(record)


def killed_in_its_erase(cuts: Cuts) -> None:
    """A run is killed right after the drive took its erase, which goes on to its end."""
    on = cuts.host.on
    place = next(at for at, one in enumerate(cuts.commands(Cuts.in_a_run), 1) if one in ERASING)
    on.fill()
    on.front.kill_at, on.front.kill_after = on.front.sent + place, True
    with pytest.raises(Killed):
        cuts.in_a_run()
    on.front.kill_at = 0
    cuts.host.kill()
    on.clock.sleep(10)


def purged_in(record: Any) -> PurgeResult:
    ((_, answer),) = record.taken(Purge)
    found = result_in(answer.detail)
    assert found is not None
    return found


@pytest.mark.parametrize("cuts", ["nvme-sanitize-block", "nvme-sanitize-crypto"], indirect=True)
def test_a_resume_takes_the_result_of_the_sanitize_that_a_kill_outlived(cuts: Cuts) -> None:
    on = cuts.host.on
    killed_in_its_erase(cuts)
    (left,) = open_changes.open_changes()
    before = len(on.sent)
    record = cuts.resumed()
    assert _erasing(on, before) == []
    found = purged_in(record)
    assert (found.method, found.stamps_written, found.is_proven) == (cuts.method, 64, True)
    assert found.text.endswith(
        f"taken over from the attempt begun {left.began}, which was interrupted"
    )
    assert open_changes.open_changes() == ()


def write_a_block(cuts: Cuts) -> None:
    os.pwrite(cuts.host.on.fds[1], bytes(4096), 0)


def put_a_stamp_back(cuts: Cuts) -> None:
    """A drive that says it erased all, and did not."""
    on, (left,) = cuts.host.on, open_changes.open_changes()
    kept = json.loads(left.stamps)
    held = on.image(1)[(at := kept["marks"][3]["at_bytes"]) : at + 4096]
    kept["marks"][3]["digest"] = sha256(held).hexdigest()
    open_changes.note(replace(left, stamps=json.dumps(kept)))


def keep_one_mark(cuts: Cuts) -> None:
    """A journal that would have one place stand for all of them."""
    (left,) = open_changes.open_changes()
    kept = json.loads(left.stamps)
    open_changes.note(replace(left, stamps=json.dumps(kept | {"marks": kept["marks"][:1]})))


def change(**fields: str) -> Callable[["Cuts"], None]:
    def act(cuts: Cuts) -> None:
        del cuts
        (left,) = open_changes.open_changes()
        open_changes.note(replace(left, **fields))

    return act


def sanitize_otherwise(cuts: Cuts) -> None:
    on = cuts.host.on
    nvme.sanitize(on.fds[1], nvme.CRYPTO_ERASE)
    on.clock.sleep(10)


def come_back_with_another_firmware(cuts: Cuts) -> None:
    cuts.host.on.drive.state["firmware"] = "OTHER"


@pytest.mark.parametrize("cuts", ["nvme-sanitize-block"], indirect=True)
@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        (write_a_block, "nothing was written since"),
        (put_a_stamp_back, "stamps of it are still there"),
        (keep_one_mark, "its stamps were not kept"),
        (change(stamps=""), "its stamps were not kept"),
        (change(stamps='{"who": 1, "marks": [[]]}'), "its stamps were not kept"),
        (change(method="nvme-sanitize-crypto"), "by another method"),
        (sanitize_otherwise, "that this was its last sanitize"),
        (come_back_with_another_firmware, "does not say of itself what it said then"),
    ],
)
def test_a_resume_purges_anew_and_says_why_where_the_first_end_is_not_proven(
    cuts: Cuts, meanwhile: Callable[[Cuts], None], why: str
) -> None:
    on = cuts.host.on
    killed_in_its_erase(cuts)
    meanwhile(cuts)
    before = len(on.sent)
    found = purged_in(cuts.resumed())
    assert len(_erasing(on, before)) == 1
    assert found.is_proven
    assert "purged anew, as the attempt begun " in found.text
    assert why in found.earlier
    assert open_changes.open_changes() == ()


@pytest.mark.parametrize("cuts", ["nvme-format"], indirect=True)
def test_a_format_that_a_kill_outlived_is_made_anew_for_no_log_tells_of_it(cuts: Cuts) -> None:
    on = cuts.host.on
    killed_in_its_erase(cuts)
    before = len(on.sent)
    found = purged_in(cuts.resumed())
    assert len(_erasing(on, before)) == 1
    assert "no log of the drive tells of its end" in found.earlier


def test_every_method_of_the_ladder_is_cut_between_its_commands() -> None:
    in_the_background = {name for name, test in ENUMERATED.items() if "test_waiting" in test}
    assert (set(METHODS) - set(ENUMERATED), in_the_background) == (set(), set(sg_purges.METHODS))
    without = [way.name for way in ladder.LADDER if way.name not in ENUMERATED]
    assert without == [], f"no test cuts these between their commands: {without}"
    assert [name for name, test in ENUMERATED.items() if not is_there(test)] == []
