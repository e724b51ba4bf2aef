"""Which device a run goes on with: the one it was when the last hook that ended had changed it."""

from dataclasses import replace

import pytest

from teijo.errors import IdentityError, RunFileError
from teijo.runner.replay import check_identity
from teijo.terms.configured import detail_of
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Configure, Measure, Step
from tests.runfile.samples import record
from tests.runner.fakes import FakeDevice, workload

DRIVE = Identity(
    kind="block",
    target="/dev/sdb",
    model="EXAMPLE",
    serial="S1",
    firmware="F1",
    interface="NVMe",
    wwid="w1",
)
FILE = Identity(kind="file", target="/data/disk", model="File on ext4", interface="file system")
SIZE = Geometry(capacity_bytes=2**20, nominal_capacity_bytes=2**20)
LARGER = Geometry(capacity_bytes=2**21, nominal_capacity_bytes=2**21)
BLOCKS = replace(SIZE, logical_block_bytes=4096)
HOOK = Configure(settings=(), hook=("true",))
NO_HOOK = Configure(settings=())
MEASURE = Measure(workload=workload(0, 4096), duration_ns=1)

NAMES = ("model", "serial", "firmware", "interface", "wwid")
CHANGES = [(DRIVE, replace(DRIVE, **{name: "another"}), SIZE) for name in NAMES] + [
    (DRIVE, DRIVE, LARGER),
    (DRIVE, DRIVE, BLOCKS),
    (DRIVE, replace(FILE, target=DRIVE.target), SIZE),
    (FILE, replace(FILE, target="/data/other"), SIZE),
    (FILE, replace(FILE, model="File on xfs"), SIZE),
    (FILE, FILE, LARGER),
]
BY_A_HOOK = [
    (DRIVE, replace(DRIVE, firmware="another"), SIZE),
    (DRIVE, DRIVE, LARGER),
    (DRIVE, DRIVE, BLOCKS),
    (FILE, replace(FILE, model="File on xfs"), SIZE),
    (FILE, FILE, LARGER),
]
"""What a hook may change."""


def configured(identity: Identity, geometry: Geometry) -> StepResult:
    return StepResult(started_ns=0, elapsed_ns=1, detail=detail_of(identity, geometry))


def left(identity: Identity, *exchanges: tuple[Step, Answer], geometry: Geometry = SIZE) -> Record:
    """Return the record of a run that began on a device of this name and size."""
    steps = tuple(
        StepRecord(seq=number, step=step, seed=1, answer=answer)
        for number, (step, answer) in enumerate(exchanges, 1)
    )
    return replace(record(), identity=identity, geometry=geometry, steps=steps)


def found(identity: Identity, geometry: Geometry = SIZE) -> FakeDevice:
    device = FakeDevice()
    device.identity, device.geometry, device.replayable = identity, geometry, False
    return device


MEASURED = (MEASURE, StepResult(started_ns=0, elapsed_ns=1))
STANDS = {
    "before the first hook": lambda was: (left(was), None),
    "in a measurement": lambda was: (left(was, (HOOK, configured(was, SIZE))), MEASURE),
    "between two": lambda was: (left(was, (HOOK, configured(was, SIZE)), MEASURED), None),
    "without a hook": lambda was: (left(was, (NO_HOOK, configured(was, SIZE))), NO_HOOK),
    "after a gap that a hook filled": lambda was: (
        left(was, (HOOK, Gap()), (HOOK, configured(was, SIZE))),
        MEASURE,
    ),
}


@pytest.mark.parametrize("stand", STANDS)
@pytest.mark.parametrize(("was", "now", "size"), CHANGES)
def test_a_device_that_is_another_is_refused(
    stand: str, was: Identity, now: Identity, size: Geometry
) -> None:
    content, under_way = STANDS[stand](was)
    with pytest.raises(IdentityError, match="not the device this run"):
        check_identity(content, found(now, size), under_way)
    check_identity(content, found(was), under_way)


@pytest.mark.parametrize(("was", "now", "size"), BY_A_HOOK)
def test_what_a_hook_made_of_it_is_what_it_must_be(
    was: Identity, now: Identity, size: Geometry
) -> None:
    content = left(was, (HOOK, configured(was, SIZE)), (HOOK, configured(now, size)), MEASURED)
    check_identity(content, found(now, size))
    with pytest.raises(IdentityError):
        check_identity(content, found(was))


CUT_SHORT = {
    "in its first hook": lambda was: (left(was), HOOK),
    "in a later one": lambda was: (left(was, (HOOK, configured(was, SIZE)), MEASURED), HOOK),
    "in one that left a gap": lambda was: (left(was, (HOOK, Gap())), None),
    "in one before a gap": lambda was: (left(was, (HOOK, Gap()), (MEASURE, Gap())), MEASURE),
}


@pytest.mark.parametrize("stand", CUT_SHORT)
@pytest.mark.parametrize(("was", "now", "size"), CHANGES)
def test_a_hook_cut_short_may_have_done_its_work_or_not_but_leaves_the_device_in_its_place(
    stand: str, was: Identity, now: Identity, size: Geometry
) -> None:
    content, under_way = CUT_SHORT[stand](was)
    check_identity(content, found(was), under_way)
    if (was, now, size) in BY_A_HOOK:
        check_identity(content, found(now, size), under_way)
        return
    with pytest.raises(IdentityError):
        check_identity(content, found(now, size), under_way)


def test_damaged_sizes_of_a_device_are_no_traceback() -> None:
    broken = replace(
        configured(DRIVE, SIZE), detail=detail_of(DRIVE, SIZE) | {"capacity_bytes": "large"}
    )
    with pytest.raises(RunFileError, match="damaged"):
        check_identity(left(DRIVE, (HOOK, broken)), found(DRIVE))
