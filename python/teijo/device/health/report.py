"""The health of a target: who it is, what it told, and the verdict; or which drive to ask instead.

Nothing is claimed and nothing is written: a drive in use is asked as well.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from teijo.device import ground, mounts, stack
from teijo.device.checks import Subject
from teijo.device.health.judgement import judge, told_by
from teijo.device.health.snapshot import DRIVES, Snapshot, snapshot
from teijo.device.health.verdict import Verdict, of_counters
from teijo.device.identify import Identification
from teijo.device.kernel import HOST, Number, Roots
from teijo.device.preflight import identify_open, open_to_read
from teijo.device.survey import survey
from teijo.device.target import (
    BlockTarget,
    CompositeTarget,
    DatabaseTarget,
    DirectoryTarget,
    FileTarget,
    SimulatedTarget,
    not_there,
    parse_target,
)
from teijo.device.watched import closed_after
from teijo.errors import TargetError
from teijo.outside.text import shell_path
from teijo.terms.geometry import Geometry, Identity

NO_DRIVE: Final = "a simulated drive has no health of its own"
_KINDS: Final = (
    ("loop", "a loop device"),
    ("dm-", "a device mapper volume"),
    ("md", "an md array"),
    ("vd", "a virtual disk"),
    ("zram", "memory"),
    ("ram", "memory"),
)


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    """What is known of a drive's health now.

    `whole` is the drive's name where the target is a partition of it, else "". `seen` is None of
    a simulated drive, which has the counters of its model and no logs.
    """

    identity: Identity
    geometry: Geometry
    counts: Mapping[str, int]
    verdict: Verdict
    seen: Snapshot | None = None
    whole: str = ""

    @property
    def told_by(self) -> str:
        """Which log the verdict rests on first, "" where none was told."""
        return "" if self.seen is None else told_by(self.seen)

    @property
    def is_simulated(self) -> bool:
        """Whether no drive was asked at all."""
        return self.seen is None


def health_report(text: str) -> HealthReport:
    """Return the health of a target by its text.

    Raises:
        teijo.errors.TargetError: it is no drive; the remedy names the drive to ask.
        teijo.errors.StuckDevice: it answered nothing at all.
    """
    target = parse_target(text, makes=False)
    if isinstance(target, SimulatedTarget):
        with closing(survey(target)) as known:
            assert known.simulated is not None
            counts = dict(known.simulated.free_counters().counts)
            return HealthReport(
                identity=known.simulated.identity,
                geometry=known.geometry,
                counts=counts,
                verdict=Verdict(reasons=of_counters(counts).reasons, blind=(NO_DRIVE,)),
            )
    with drive_of(text) as subject:
        found = of_subject(subject)
    return told(found)


def told(report: HealthReport) -> HealthReport:
    """Return a report in which something is told.

    Raises:
        teijo.errors.StuckDevice: the drive answered nothing at all.
    """
    if report.seen is not None and report.seen.stuck is not None and not report.counts:
        raise report.seen.stuck
    return report


def of_subject(subject: Subject) -> HealthReport:
    """Return the health of the drive under an open block device."""
    seen = snapshot(subject)
    return HealthReport(
        identity=subject.found.identity,
        geometry=subject.found.geometry,
        counts=seen.counts,
        verdict=judge(seen),
        seen=seen,
        whole=_whole(subject.found, subject.roots),
    )


@contextmanager
def drive_of(text: str, roots: Roots = HOST) -> Iterator[Subject]:
    """Give the drive of a target, open to be looked at.

    Raises:
        teijo.errors.TargetError: it is no drive; the remedy names the drive to ask.
    """
    target = parse_target(text, makes=False)
    match target:
        case BlockTarget(path=path):
            pass
        case FileTarget(path=path) if not path.exists():
            raise not_there(path)
        case FileTarget(path=path) | DirectoryTarget(path=path):
            kind = "a file" if isinstance(target, FileTarget) else "a folder"
            raise _no_drive(text, kind, _under_path(path, roots), roots)
        case CompositeTarget(members=members):
            asked = " and ".join(f"teijo health {shell_path(each.text)}" for each in members)
            raise TargetError(
                f"{text} is several targets, and health is one drive's", remedy=f"Ask each: {asked}"
            )
        case SimulatedTarget() | DatabaseTarget():
            raise TargetError(
                f"{text} is no drive", remedy="`teijo devices` lists what drives there are."
            )
    fd = open_to_read(path)
    with closed_after(fd):
        found = identify_open(fd, text, roots)
        disk = stack.whole_disk(found.node, roots)
        if not disk.name.startswith(DRIVES):
            raise _no_drive(text, _kind(disk), stack.below(found.number, roots), roots)
        yield Subject(fd=fd, target=text, found=found, roots=roots)


def _whole(found: Identification, roots: Roots) -> str:
    disk = stack.whole_disk(found.node, roots)
    return "" if disk.name == found.node.name else str(roots.dev / disk.name)


def _kind(disk: stack.Node) -> str:
    """Return what a block device is that is no drive."""
    return next((kind for begin, kind in _KINDS if disk.name.startswith(begin)), "a block device")


def _under_path(path: Path, roots: Roots) -> frozenset[Number]:
    """Return the devices a path stands on; of one that is not there, those of its folder."""
    try:
        table = mounts.mounts_of("self", roots)
        place = path if path.exists() else path.absolute().parent
        found = ground.under_path(place, table, roots)
    except OSError:
        return frozenset()
    return frozenset().union(*(stack.below(number, roots) for number in found.numbers))


def _no_drive(text: str, kind: str, below: Iterable[Number], roots: Roots) -> TargetError:
    """Return why a target has no health, and which drives below it have one."""
    nodes = [stack.node_of(number, roots) for number in below]
    disks = {stack.whole_disk(node, roots).name for node in nodes if node.folder.exists()}
    drives = sorted(str(roots.dev / name) for name in disks if name.startswith(DRIVES))
    under = ", ".join(drives or sorted(str(roots.dev / name) for name in disks - {Path(text).name}))
    no_health = f"{text} is {kind}, which has no health of its own"
    if drives:
        asked = " and ".join(f"teijo health {shell_path(drive)}" for drive in drives)
        return TargetError(f"{no_health}; below it is {under}", remedy=f"Ask the drive: {asked}")
    seen = f"it lies on {under}, which tells none either" if under else "its drive cannot be seen"
    return TargetError(f"{no_health}; {seen}", remedy="`teijo devices` lists what there is.")
