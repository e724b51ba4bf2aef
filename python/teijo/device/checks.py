"""The questions asked before a block device may be destroyed, in order, each by its evidence.

A question that cannot be answered is a refusal: "cannot tell" is never "free". Only what no
program on this machine could know (another host, a missing serial) is "unknown".
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from teijo.device import ground, kernel, mounts, stack, zones
from teijo.device.contents import signatures
from teijo.device.identify import Identification, describe, identify
from teijo.device.kernel import HOST, Number, Roots
from teijo.device.openers import (
    FileKey,
    may_see_all,
    openers,
    sees_every_process,
    who_stays,
)

PROTECTED: Final = ("/", "/boot", "/usr", "/var", "/home")

Verdict = Literal["ok", "refused", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question and its answer. `evidence` is what was seen, `remedy` what ends a refusal."""

    name: str
    verdict: Verdict
    evidence: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An open block device and all that the checks may look at.

    `refusal` is why it could not be opened for us alone, empty where it could. `results` are
    folders that must not lie on it. `stamps` is what the journal keeps where it is purged.
    """

    fd: int
    target: str
    found: Identification
    refusal: str = ""
    results: tuple[Path, ...] = ()
    roots: Roots = field(default=HOST)
    stamps: str = ""

    @property
    def nodes(self) -> tuple[stack.Node, ...]:
        """Every device that a write to this one changes."""
        return stack.reach(self.found.node, self.roots)

    @property
    def numbers(self) -> frozenset[Number]:
        """The device numbers of `nodes`."""
        return frozenset(node.number for node in self.nodes)


Answer = tuple[Verdict, str, str]
Question = Callable[[Subject], Answer]


def ask(name: str, subject: Subject) -> Check:
    """Return the answer of one check; one that fails to look refuses."""
    try:
        verdict, evidence, remedy = CHECKS[name](subject)
    except PermissionError as error:
        verdict, evidence = "refused", f"cannot prove it safe: {_told(error)}"
        remedy = "Run as root."
    except (OSError, signatures.ProbeError, ValueError) as error:
        verdict, evidence = "refused", f"cannot prove it safe, the check failed: {_told(error)}"
        remedy = "End the cause of the failure."
    return Check(name=name, verdict=verdict, evidence=evidence, remedy=remedy)


def _told(error: Exception) -> str:
    """Return what failed without the words that Python puts around it."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _claimed(subject: Subject) -> Answer:
    if subject.refusal:
        return (
            "refused",
            f"it cannot be had alone (O_EXCL): {subject.refusal}",
            "Unmount it, or stop what uses it.",
        )
    return "ok", "opened with O_EXCL, held until the end", ""


def _writable(subject: Subject) -> Answer:
    if kernel.is_read_only(subject.fd):
        return "refused", "the device is read-only", "Switch its write protection off."
    return "ok", "not write-protected", ""


def _identified(subject: Subject) -> Answer:
    """Ask whether the descriptor still is what it was, and can be told from all others."""
    now = identify(subject.fd, subject.target, subject.roots)
    was = subject.found
    if (now.identity.serial, now.identity.wwid, now.geometry, now.disk_sequence) != (
        was.identity.serial,
        was.identity.wwid,
        was.geometry,
        was.disk_sequence,
    ):
        return "refused", "it is another device than a moment ago", "Look what was plugged."
    name = f"{was.identity.model} {was.identity.serial} {was.identity.wwid}".strip()
    if now.disk_sequence is None:
        return "unknown", f"{name}; this kernel has no disk sequence to watch", ""
    # A loop is named by its file's inode, which outlives the node and the boot.
    if not was.own_serial and was.identity.interface != "loop":
        return "unknown", f"no serial of its own; until the next boot it is {was.token}", ""
    return "ok", f"{name}, disk sequence {now.disk_sequence}", ""


def _alone(subject: Subject) -> Answer:
    """No other node leads to the same medium: another path to a LUN, a loop over one file."""
    node = stack.whole_disk(subject.found.node, subject.roots)
    all_loops = stack.loops(subject.roots)
    own = next((loop.backing for loop in all_loops if loop.node.number == node.number), None)
    if own is not None:
        twins = [
            loop.node.name
            for loop in all_loops
            if loop.backing
            and loop.node.number != node.number
            and (loop.backing.file_device, loop.backing.inode) == (own.file_device, own.inode)
        ]
        if twins:
            return "refused", f"{', '.join(twins)} is over the same file", "Detach one: losetup -d."
        return "ok", "no other loop over its file", ""
    model, serial, wwid = describe(node)
    others = [other for other in stack.disks(subject.roots) if other.number != node.number]
    paths = []
    for other in others:
        other_model, other_serial, other_wwid = describe(other)
        if wwid and other_wwid:  # namespaces of one drive share all but this
            same = other_wwid == wwid
        else:
            same = bool(serial) and (other_model, other_serial) == (model, serial)
        if same:
            paths.append(other.name)
    if paths:
        return "refused", f"{', '.join(paths)} has the same identity", "Use one path, or multipath."
    if not serial and not wwid and "/virtual/" not in str(node.folder):
        return "unknown", "without serial and WWID another path to it would not show", ""
    return "ok", f"none of {len(others)} other disks has its identity", ""


def _nothing_above(subject: Subject) -> Answer:
    # A loop whose file cannot be told may stand on this very device.
    unreadable = [loop.node.name for loop in stack.loops(subject.roots) if loop.backing is None]
    if unreadable:
        return (
            "refused",
            f"cannot prove it safe: what {', '.join(unreadable)} stands on cannot be told",
            "Run as root, or detach it: losetup -d.",
        )
    lines = stack.above(subject.nodes, subject.roots)
    if lines:
        return "refused", "; ".join(lines), "Take down what stands on it (dmsetup, mdadm, losetup)."
    names = ", ".join(node.name for node in subject.nodes)
    return "ok", f"nothing stands on {names}", ""


def _not_mounted(subject: Subject) -> Answer:
    # Not left to O_EXCL: a loop can be claimed while the device under it is mounted.
    table = mounts.all_mounts(subject.roots)
    numbers = subject.numbers
    found = [
        mount
        for mount in table.mounts
        if ground.carriers(mount, table.mounts, subject.roots) & numbers
    ]
    if found:
        places = dict.fromkeys(
            f"{mount.file_system} at {mount.point} (seen by pid {mount.process})" for mount in found
        )
        return "refused", "mounted: " + ", ".join(places), "Unmount it: umount."
    if table.hidden:
        return _blind(f"the mounts of {', '.join(table.hidden)} are hidden", subject)
    return "ok", "in no mount namespace that a process is in", ""


def _blind(what: str, subject: Subject) -> Answer:
    """Refuse what more rights would show; what no rights show is said, and in every report."""
    if may_see_all(subject.roots):
        return "unknown", f"{what}, even from root", ""
    return "refused", f"cannot prove it safe: {what}", "Run as root."


def _not_swap(subject: Subject) -> Answer:
    found = mounts.swaps(subject.numbers, subject.roots)
    if found:
        return "refused", f"in use as swap: {', '.join(found)}", "Stop it: swapoff."
    return "ok", "no swap on it", ""


def _not_open(subject: Subject) -> Answer:
    numbers = subject.numbers
    # Who has the file under a loop open can write to it without opening the loop.
    files: frozenset[FileKey] = frozenset(
        (loop.backing.file_device, loop.backing.inode)
        for loop in stack.loops(subject.roots)
        if loop.node.number in numbers and loop.backing and not loop.backing.block_device
    )
    ours = frozenset({subject.fd})
    found = who_stays(
        lambda: openers(numbers=numbers, files=files, except_fds=ours, roots=subject.roots)
    )
    if found.processes:
        return "refused", f"open in {', '.join(found.processes)}", "End that program first."
    if found.hidden:
        named = ", ".join(found.hidden[:3])
        more = f" and {len(found.hidden) - 3} more" if len(found.hidden) > 3 else ""
        return _blind(f"hidden is what {named}{more} has open", subject)
    if not sees_every_process(subject.roots):
        return "unknown", "this is a container: the host's other processes cannot be seen", ""
    return "ok", "no other process has it open", ""


def _not_protected(subject: Subject) -> Answer:
    numbers = subject.numbers
    table = mounts.mounts_of("self", subject.roots)
    blind = []
    for path in (*map(Path, PROTECTED), *subject.results, Path(sys.executable), Path.cwd()):
        if not path.exists():
            continue
        under = ground.under_path(path, table, subject.roots)
        if any(stack.below(on, subject.roots) & numbers for on in under.numbers):
            return "refused", f"{path} lies on it", "Use another device."
        if under.blind:
            blind.append(str(path))
    if blind:
        return "unknown", f"the disks under {', '.join(dict.fromkeys(blind))} cannot be told", ""
    return "ok", "neither the system nor the results lie on it", ""


def _unsigned(subject: Subject) -> Answer:
    content = signatures.contents(subject.fd, subject.found.geometry.capacity_bytes)
    if content.signatures:
        listed = ", ".join(map(str, content.signatures))
        return (
            "refused",
            f"it holds {listed}",
            "If nothing of that is needed: "
            + signatures.erasing(subject.target, content.signatures),
        )
    data = "both ends are blank" if content.blank else "it is not blank"
    readers = " and ".join(content.readers)
    # Our list ends with libblkid 2.40; an installed one may know newer formats.
    if content.readers == ("built in",):
        return "unknown", f"no signature by the built-in reader alone (no wipefs); {data}", ""
    return "ok", f"no signature ({readers}); {data}", ""


def _without_zones(subject: Subject) -> Answer:
    """Zones must be written from their start in order, and everything here writes anywhere."""
    disks = dict.fromkeys(stack.whole_disk(node, subject.roots) for node in subject.nodes)
    found = {disk.name: zones.zoned(disk) for disk in disks}
    for name, kind in found.items():
        if kind in zones.WRITTEN_IN_ORDER:
            return (
                "refused",
                f"{name} is a {kind} zoned device, and nothing here writes zones yet",
                "Read from it, or use a drive without zones until somebody writes zones.",
            )
    if any(kind != zones.NONE for kind in found.values()):
        return "unknown", "the kernel does not say whether it has zones", ""
    return "ok", "no zones that must be written in order", ""


CHECKS: Final[dict[str, Question]] = {
    "claim": _claimed,
    "zones": _without_zones,
    "writable": _writable,
    "identity": _identified,
    "aliases": _alone,
    "stack": _nothing_above,
    "mounts": _not_mounted,
    "swap": _not_swap,
    "openers": _not_open,
    "protected": _not_protected,
    "signatures": _unsigned,
}
