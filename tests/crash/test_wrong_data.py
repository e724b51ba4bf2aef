"""Planted faults: every one is found and rightly named, on a file and on a loop device, to the end
of a run that was resumed, and in what the command line says.
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from teijo import api
from teijo.api import acting
from teijo.cli import app
from teijo.device import inspect_target, open_target
from teijo.document.model import Table, Verdict
from teijo.errors import Interrupted, InvalidMeasurement
from teijo.methods.method import Steps
from teijo.methods.phrases import insist
from teijo.methods.settings import Settings
from teijo.methods.workload.read_back import read_back
from teijo.runfile import reader
from teijo.runner.events import Event, StepDone, StepStarted
from teijo.runner.interrupt import Interrupt
from teijo.runner.run import Order
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Precondition
from teijo.terms.verification import Fault, Verification, joined
from teijo.terms.workload import Access, Stream, Workload
from tests.runner.acts import resume_paper, run_paper
from tests.runner.fakes import PaperMethod

SIZE = 4 * 1024 * 1024
BLOCK = 4096
SECTOR = 512
SECTORS = SIZE // SECTOR
BLOCKS_OF_8 = BLOCK // SECTOR
Counts = dict[Fault, int]


class TwoPasses(PaperMethod):
    """Writes the whole target twice, in an order, and reads it back."""

    def __init__(self, access: Access) -> None:
        super().__init__("done")
        stream = Stream(
            read_percent=0, block_size_bytes=BLOCK, access=access, queue_depth=8, verified=True
        )
        self.workload = Workload(streams=(stream,))

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        del settings
        fill = Precondition(workload=self.workload, total_bytes=geometry.capacity_bytes)
        yield from insist(fill)
        answer = yield from insist(fill)
        reading = read_back(self.workload, geometry, answer)
        assert reading is not None
        yield from insist(reading)
        return "done"


@pytest.fixture(params=["file", "loop"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Give a target of 4 MiB, and the file where its bytes can be reached behind its back."""
    backing = tmp_path / "backing"
    if request.param == "file":
        try:
            descriptor = os.open(backing, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
        except OSError:
            pytest.skip(f"needs direct I/O in {tmp_path}")
        os.close(descriptor)
        backing.unlink()
        yield f"{backing}?size=4MiB", backing
        return
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    backing.write_bytes(bytes(SIZE))
    command = ["losetup", "--find", "--show", str(backing)]
    node = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    yield node, backing
    subprocess.run(["losetup", "-d", node], check=True)


def serial(text: str) -> str | None:
    """Return the serial that gives a block device up, None for a file."""
    return inspect_target(text).destroy if text.startswith("/dev/loop") else None


def when(kind: type[Event], seq: int, act: Callable[[], None]) -> Callable[[Event], None]:
    """Return an observer that acts at one event of one step."""

    def observe(event: Event) -> None:
        if isinstance(event, kind) and getattr(event, "seq", 0) == seq:
            act()

    return observe


def plant(backing: Path, old: bytes) -> Counts:
    """Spoil what lies in the file, some of it with what it held before; return what was done."""
    data = bytearray(backing.read_bytes())

    def block(number: int, sectors: int = 0) -> slice:
        return slice(number * BLOCK + sectors * SECTOR, (number + 1) * BLOCK)

    for number in range(20):
        bit = number * 7919 % (SECTOR * 8)
        data[number * BLOCK + number % 8 * SECTOR + bit // 8] ^= 1 << bit % 8
    for number in range(100, 105):
        data[block(number)], data[block(number + 50)] = (
            data[block(number + 50)],
            data[block(number)],
        )
    for number in range(200, 210):
        data[block(number)] = old[block(number)]
    for number in range(300, 312):
        data[block(number, 4)] = old[block(number, 4)]
    for number in range(400, 403):
        data[block(number)] = bytes(range(1, 256)) * 16 + bytes(16)
    for number in range(500, 504):
        data[block(number)] = bytes(BLOCK)
    with backing.open("r+b") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return {
        Fault.FLIPPED: 20,
        Fault.MISPLACED: 5 * 2 * BLOCKS_OF_8,
        Fault.STALE: 10 * BLOCKS_OF_8,
        Fault.TORN: 12 * 4,
        Fault.FOREIGN: 3 * BLOCKS_OF_8,
        Fault.ZERO: 4 * BLOCKS_OF_8,
    }


def found_in(record: Record) -> Verification:
    """Return all that the reads of a run were found to hold."""
    answers = [each.answer for each in record.steps if isinstance(each.answer, StepResult)]
    return joined(each.verification for each in answers if each.verification is not None)


def counts(found: Verification) -> Counts:
    return {each.fault: each.sectors for each in found.faults}


@pytest.mark.parametrize("access", [Access.SEQUENTIAL, Access.SHUFFLED])
def test_every_planted_fault_is_found_and_rightly_named(
    tmp_path: Path, target: tuple[str, Path], access: Access
) -> None:
    text, backing = target
    snapshot: list[bytes] = []
    planted: list[Counts] = []
    keep = when(StepDone, 1, lambda: snapshot.append(backing.read_bytes()))
    spoil = when(StepDone, 2, lambda: planted.append(plant(backing, snapshot[0])))

    def observe(event: Event) -> None:
        keep(event)
        spoil(event)

    path = tmp_path / "run"
    with (
        closing(open_target(text, write=True, destroy=serial(text))) as device,
        pytest.raises(InvalidMeasurement) as caught,
    ):
        run_paper(path, device, method=TwoPasses(access), observer=observe)
    record = reader.read(tmp_path / "run.teijo")
    found = found_in(record)
    assert counts(found) == planted[0]
    assert (found.sectors, found.sectors_unjudged) == (SECTORS, 0)
    places = {each.fault: each.first_bytes for each in found.faults}
    assert places[Fault.STALE][0] == 200 * BLOCK
    assert places[Fault.TORN][:2] == (300 * BLOCK + 4 * SECTOR, 300 * BLOCK + 5 * SECTOR)
    assert places[Fault.ZERO][0] == 500 * BLOCK
    assert caught.value.exit_code == 8
    assert f"{sum(planted[0].values())} of {SECTORS} sectors" in caught.value.message
    assert record.run.ending == "failed"
    (remark,) = [one for one in record.remarks if one.kind is RemarkKind.WRONG_DATA]
    assert remark.step == 3


def test_what_was_written_is_known_after_a_resume(tmp_path: Path, target: tuple[str, Path]) -> None:
    text, backing = target
    path, method = tmp_path / "run", TwoPasses(Access.SHUFFLED)
    stop = when(StepStarted, 3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with (
        closing(open_target(text, write=True, destroy=serial(text))) as device,
        pytest.raises(Interrupted),
    ):
        run_paper(path, device, method=method, observer=stop)
    with backing.open("r+b") as file:
        file.seek(77 * BLOCK)
        file.write(bytes(BLOCK))
    given = {"destroy": serial(text), "overwrite": serial(text) is None}
    with (
        closing(open_target(text, write=True, **given)) as device,  # type: ignore[arg-type]
        pytest.raises(InvalidMeasurement),
    ):
        resume_paper(path, device, method=method)
    found = found_in(reader.read(tmp_path / "run.teijo"))
    assert counts(found) == {Fault.ZERO: BLOCKS_OF_8}
    assert (found.sectors, found.sectors_unjudged) == (SECTORS, 0)


def test_the_command_line_and_the_report_show_what_was_planted(
    tmp_path: Path,
    target: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, backing = target
    planted: list[Counts] = []
    real = acting.acts.begin

    def begin(order: Order, observer: Callable[[Event], None], stop: Interrupt) -> Path:
        spoil = when(StepDone, 1, lambda: planted.append(plant_without_old(backing)))

        def both(event: Event) -> None:
            observer(event)
            spoil(event)

        return real(order, both, stop)

    monkeypatch.setattr(acting.acts, "begin", begin)
    path = tmp_path / "run.teijo"
    words = ["run", "workload", text, "-o", str(path)]
    named = serial(text)
    words += ["--destroy", named] if named else []
    words += ["--set", "rw=write", "bs=64KiB", "bytes=4MiB", "verify=after"]
    with pytest.raises(SystemExit) as left:
        app.main(words)
    assert left.value.code == 8
    out, said = capsys.readouterr()
    assert str(path) in out
    wrong = sum(planted[0].values())
    assert f"{wrong} of {SECTORS} sectors read are not what was written" in said
    for fault, sectors in planted[0].items():
        assert re.search(rf"\b{sectors} {fault} \(first at byte \d+\)", said)
    blocks = [block for part in api.open(path).document().sections for block in part.blocks]
    verdicts = [block.text for block in blocks if isinstance(block, Verdict)]
    assert f"WRONG DATA: {wrong} of {SECTORS:,} sectors read are not what was written" in verdicts
    (table,) = [b for b in blocks if isinstance(b, Table) and b.caption == "Faults by class"]
    shown = {Fault(str(row[0])): row[2] for row in table.rows if row[2]}
    assert shown == planted[0]


def plant_without_old(backing: Path) -> Counts:
    """Spoil what one pass wrote, of which there is nothing older: the rest of the classes."""
    done = plant(backing, backing.read_bytes())
    return {
        fault: done[fault] for fault in (Fault.FLIPPED, Fault.MISPLACED, Fault.FOREIGN, Fault.ZERO)
    }


@pytest.mark.parametrize("words", ["rw=write bs=64KiB", "rw=randwrite access=shuffled"])
def test_a_device_that_keeps_what_it_is_given_has_nothing_to_show(
    tmp_path: Path, target: tuple[str, Path], words: str
) -> None:
    text, _ = target
    settings = dict(word.split("=") for word in words.split())
    run = api.run(
        "workload",
        text,
        output=tmp_path / "run",
        settings=settings | {"bytes": "10MiB", "verify": "after"},
        destroy=serial(text),
    )
    found = found_in(run.record)
    assert (found.sectors, found.sectors_unjudged, found.faults) == (SECTORS, 0, ())
    scalars = {scalar.name: scalar.value for scalar in run.findings.scalars}
    assert scalars["sectors judged"] == SECTORS


def test_what_has_no_order_is_judged_as_far_as_it_tells_itself(
    tmp_path: Path, target: tuple[str, Path]
) -> None:
    text, backing = target

    def spoil() -> None:
        data = bytearray(backing.read_bytes())
        written = [n for n in range(SIZE // BLOCK) if any(data[n * BLOCK :][:BLOCK])]
        flipped, zeroed = written[0], written[1]
        data[flipped * BLOCK + 100] ^= 4
        data[zeroed * BLOCK : (zeroed + 1) * BLOCK] = bytes(BLOCK)
        with backing.open("r+b") as file:
            file.write(data)

    with pytest.raises(InvalidMeasurement):
        api.run(
            "workload",
            text,
            output=tmp_path / "run",
            settings={"rw": "randwrite", "bytes": "64MiB", "verify": "after"},  # each block
            destroy=serial(text),
            observer=when(StepDone, 1, spoil),
        )
    found = found_in(reader.read(tmp_path / "run.teijo"))
    assert counts(found) == {Fault.FLIPPED: 1}
    assert found.sectors + found.sectors_unjudged == SECTORS
    assert found.sectors_unjudged >= BLOCKS_OF_8, "zeros may be what was there before"


def test_a_simulated_device_holds_what_was_written_to_it(tmp_path: Path) -> None:
    settings = {"rw": "write", "bytes": "1MiB", "verify": "after"}
    api.run("workload", "sim:s3700", output=tmp_path / "run", settings=settings)
    found = found_in(reader.read(tmp_path / "run.teijo"))
    assert (found.sectors, found.faults) == (2**20 // SECTOR, ())
