"""Several devices or files as one medium, each claimed, checked and held as if it were alone.

All are claimed and proven free before the first of them is changed: one refusal refuses all.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from teijo.device.block import BlockMedium, claim_block
from teijo.device.cache_hold import CacheWish
from teijo.device.checks import Subject
from teijo.device.composition import geometry_over, health_over, identity_over, layout_over
from teijo.device.drive.seen import Seen, ready
from teijo.device.file import Opened, claim_file, file_geometry, fill_watched, give_back
from teijo.device.health.fitness import Fitness, fit
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.kernel import Number
from teijo.device.layout import Progress
from teijo.device.marker import NOBODY, Holder
from teijo.device.medium import Medium
from teijo.device.openers import FileKey
from teijo.device.preflight import Preflight
from teijo.device.purging.agreed import consent_to_run
from teijo.device.stack import below, loops, node_of, reach
from teijo.device.target import BlockTarget, CompositeTarget, FileTarget, Member
from teijo.device.watched import SILENCE_NS, Moved, hangs, unwatched
from teijo.document.phrase import say
from teijo.errors import TargetError
from teijo.terms.drive_warning import DriveWarning
from teijo.terms.geometry import Geometry
from teijo.terms.purge import AUTO, NONE, PurgeResult
from teijo.terms.remark import Remark, RemarkKind


class Composite:
    """One address space over several media. What it says of one of them names it."""

    def __init__(self, target: CompositeTarget, members: Sequence[Medium]) -> None:
        """Take over claimed members.

        Raises:
            teijo.errors.TargetError: no address space can be laid over them.
        """
        geometries = [member.geometry for member in members]
        self._members = tuple(members)
        self._purged_in_part: tuple[Remark, ...] = ()
        self.layout = layout_over(target, geometries)
        self.geometry = geometry_over(target, geometries)
        self.identity = identity_over(target, [one.identity for one in members], geometries)
        self.descriptors = tuple(fd for member in members for fd in member.descriptors)

    def remarks(self) -> tuple[Remark, ...]:
        """Return the members' remarks: once what is true of all, else with the member's name."""
        said = [(one, member) for member in self._members for one in member.remarks()]
        found: list[Remark] = []
        for remark in dict.fromkeys(remark for remark, _ in said):
            names = [member.identity.target for one, member in said if one == remark]
            if len(set(names)) == len(self._members):
                found.append(remark)
                continue
            named = (say("{name}: {text}", name=name, text=remark.text) for name in names)
            found += [Remark(kind=remark.kind, text=text) for text in named]
        return (*found, *self._purged_in_part)

    def free_counters(self) -> FreeCounters:
        """Return the kernel's counters of the members, added up where that has a meaning."""
        return FreeCounters(health_over([each.free_counters().counts for each in self._members]))

    def asked_counters(self) -> AskedCounters:
        """Ask the members for their own counters, added up where that has a meaning."""
        return AskedCounters(health_over([each.asked_counters().counts for each in self._members]))

    def log_reader(self) -> None:
        """Return nothing: the heat of one of several drives is no row of a table."""

    def purge(self, moved: Moved = unwatched, method: str = AUTO) -> PurgeResult | None:
        """Purge each member that can be. It counts as purged if all were, by the weakest means."""
        done = [(member, member.purge(moved, method)) for member in self._members]
        purged = [one for _, one in done if one is not None]
        if len(purged) < len(done):
            names = ", ".join(member.identity.target for member, one in done if one is None)
            text = say(
                "{n} of {of} members were purged; cannot be: {names}",
                n=len(purged),
                of=len(done),
                names=names,
            )
            remark = Remark(kind=RemarkKind.NOT_PURGED, text=text)
            self._purged_in_part = (remark,) if purged else ()
            return None
        self._purged_in_part = ()
        weakest = next((one for one in purged if one.claimed), purged[0])
        words = say("{n} members, the weakest by {method}", n=len(purged), method=weakest.words)
        return PurgeResult(
            method=weakest.method,
            words=words,
            elapsed_ns=sum(one.elapsed_ns for one in purged),
            stamps_written=sum(one.stamps_written for one in purged),
            stamps_gone=sum(one.stamps_gone for one in purged),
            zeros=sum(one.zeros for one in purged),
            ones=sum(one.ones for one in purged),
            claimed=weakest.claimed,
            earlier="; ".join(
                f"{member.identity.target}: {one.earlier}"
                for member, one in done
                if one is not None and one.earlier
            ),
        )

    def check(self) -> None:
        """Make sure that every member is still the one that was opened."""
        for member in self._members:
            member.check()

    def release(self) -> None:
        """Give up every claim."""
        # A stack: a claim that cannot be given up must not keep the others from being so.
        with ExitStack() as ends:
            for member in self._members:
                ends.callback(member.release)

    def abandon(self) -> None:
        """Give up every claim, and remove the files that were made."""
        with ExitStack() as ends:
            for member in self._members:
                ends.callback(member.abandon)


def open_composite(
    target: CompositeTarget,
    *,
    write: bool,
    destroy: str | None,
    overwrite: bool,
    make: bool = True,
    results: tuple[Path, ...] = (),
    holder: Holder = NOBODY,
    accept: frozenset[DriveWarning] = frozenset(),
    cache: CacheWish | None = None,
    purge_by: str = NONE,
    progress: Progress | None = None,
    silence_ns: int = SILENCE_NS,
) -> Composite:
    """Open every member: for reading as it is, for writing after preflight and consent for all.

    A file that is not there is made only if `make`. `purge_by` as for one block device.

    Raises:
        teijo.errors.UnsafeError: one of them must not be written, or says that it fails; nothing
            was written to any.
        teijo.errors.TargetError: one cannot be opened, or two of them are the same.
        teijo.errors.DeviceError: one refuses direct I/O, or to have its write cache switched, or
            has something to be ended first.
        teijo.errors.HostError: there is no space for a file.
    """
    tell_apart(target)
    with ExitStack() as undo:
        held: list[Subject | Opened] = []
        for member in target.members:
            claimed = _claim(
                member, write=write, overwrite=overwrite, make=make, results=results, holder=holder
            )
            held.append(claimed)
            undo.callback(_give_back, held[-1])
        # Before any file is laid out: that takes long, and a wrong chunk is known by now.
        layout_over(target, [_size(one) for one in held])
        subjects = [one for one in held if isinstance(one, Subject)]
        seen = ready(subjects)
        passed = _consent(target, subjects, destroy, purge_by) if write else (None,) * len(subjects)
        looked = list(zip(passed, fit(subjects, accept), seen, strict=True))
        try:
            media = _media(
                target, held, looked, write=write, progress=progress, silence_ns=silence_ns
            )
        except BaseException as error:
            if hangs(error):
                undo.pop_all()  # to close or remove them would wait as well
            raise
        with ExitStack() as switched:
            for medium in media:
                if write and cache is not None and isinstance(medium, BlockMedium):
                    switched.callback(medium.give_cache_back)
                    medium.hold_cache(cache)
            composite = Composite(target, media)
            # From here on the composite gives back what it holds.
            switched.pop_all()
        undo.pop_all()
        return composite


def tell_apart(target: CompositeTarget) -> None:
    """Make sure that no two members are the same disk or file, under whatever names.

    Names are looked at, not descriptors: for writing, the claims are the second lock.

    Raises:
        teijo.errors.TargetError: two of them share a disk or a file, or one went away.
    """
    seen: list[tuple[Member, _Footprint]] = []
    for member in target.members:
        try:
            found = _footprint(member)
        except OSError as error:
            raise TargetError(
                f"{member.text} cannot be looked at: {error.strerror}", remedy="Check the path."
            ) from error
        for other, its in seen:
            if found.own & (its.own | its.under) or found.under & its.own:
                raise TargetError(
                    f"{member.text} and {other.text} are the same disk or file, or one lies on "
                    "the other",
                    remedy="Name each member once, and whole disks of their own.",
                )
        seen.append((member, found))


@dataclass(frozen=True, kw_only=True)
class _Footprint:
    """What a write to a member changes, and what it stands on."""

    own: frozenset[Number | FileKey | Path]
    under: frozenset[Number]


def _footprint(member: Member) -> _Footprint:
    match member:
        case BlockTarget(path=path):
            number = Number.of(path.stat().st_rdev)
            numbers = frozenset(node.number for node in reach(node_of(number)))
            files = frozenset(
                (loop.backing.file_device, loop.backing.inode)
                for loop in loops()
                if loop.node.number in numbers and loop.backing and not loop.backing.block_device
            )
            return _Footprint(own=numbers | files, under=below(number))
        case FileTarget(path=path) if path.exists():
            status = path.stat()
            device = Number.of(status.st_dev)
            return _Footprint(own=frozenset({(device, status.st_ino)}), under=below(device))
        case FileTarget(path=path):
            device = Number.of(path.parent.stat().st_dev)
            # It has no inode yet; its name behind all links must do.
            return _Footprint(own=frozenset({path.resolve()}), under=below(device))


def _claim(
    member: Member,
    *,
    write: bool,
    overwrite: bool,
    make: bool,
    results: tuple[Path, ...],
    holder: Holder,
) -> Subject | Opened:
    match member:
        case BlockTarget():
            return claim_block(member, write=write, results=results)
        case FileTarget():
            return claim_file(member, write=write, overwrite=overwrite, make=make, holder=holder)


def _give_back(one: Subject | Opened) -> None:
    match one:
        case Subject():
            os.close(one.fd)
        case Opened():
            give_back(one)


def _size(one: Subject | Opened) -> Geometry:
    match one:
        case Subject():
            return one.found.geometry
        case Opened():
            return file_geometry(one)


def _consent(
    target: CompositeTarget, subjects: Sequence[Subject], destroy: str | None, purge_by: str
) -> tuple[Preflight, ...]:
    if destroy is not None and not subjects:
        raise TargetError(
            f"{target.text} is over files, and --destroy names block devices",
            remedy="Leave --destroy away; an existing file is given up by --overwrite.",
        )
    return consent_to_run(subjects, destroy, purge_by)


def _media(
    target: CompositeTarget,
    held: Sequence[Subject | Opened],
    passed: Sequence[tuple[Preflight | None, Fitness, Seen]],
    *,
    write: bool,
    progress: Progress | None,
    silence_ns: int,
) -> list[Medium]:
    """Take over what was claimed; only here is anything written, and only to files."""
    media: list[Medium] = []
    looked = iter(passed)
    laid_out, all_bytes = 0, sum(one.size_bytes for one in held if isinstance(one, Opened))
    for member, one in zip(target.members, held, strict=True):
        match one:
            case Subject():
                media.append(BlockMedium(one, *next(looked)))
            case Opened():
                assert isinstance(member, FileTarget)
                heard = _part_of(progress, laid_out, all_bytes)
                media.append(
                    fill_watched(member, one, write=write, progress=heard, silence_ns=silence_ns)
                )
                laid_out += one.size_bytes
    return media


def _part_of(progress: Progress | None, before: int, in_all: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, _: progress(before + done, in_all)
