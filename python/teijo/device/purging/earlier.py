"""A purge that an attempt before began, and did not see the end of: whether its result counts.

Its stamps are in the journal since before its command. It counts only where the drive's own log
has it as completed and nothing as written since, and all of its stamps are gone. Else a purge is
made anew.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from teijo.device import open_changes
from teijo.device.cache_hold import journal_serial
from teijo.device.checks import Subject
from teijo.device.open_changes import OpenChange
from teijo.device.purging import same_drive, verify
from teijo.device.purging.offer import Completes, Method
from teijo.device.watched import Moved


@dataclass(frozen=True, kw_only=True)
class Noted:
    """What the journal keeps of a purge: the marks of its stamps, and who the drive was."""

    who: str
    marks: tuple[verify.Mark, ...]


_ADAPTER: Final[TypeAdapter[Noted]] = TypeAdapter(Noted)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An attempt before. `looked` is what its proof found, None where it does not count.

    `told` says in a line what became of it.
    """

    change: OpenChange
    told: str
    looked: verify.Looked | None = None


def noted(stamps: Sequence[verify.Stamp], who: same_drive.Who) -> str:
    """Return what the journal is to keep, as text."""
    kept = Noted(who=who.text, marks=tuple(each.mark for each in stamps))
    return json.dumps(asdict(kept), separators=(",", ":"))


def attempt(way: Method, subject: Subject, moved: Moved) -> Attempt | None:
    """Return the attempt that the journal has of this drive, and whether its result counts.

    Nothing is written. None where the journal has none.

    Raises:
        teijo.errors.HostError: the journal cannot be read.
        teijo.errors.DeviceError: the drive is gone, or a place of a stamp cannot be read.
    """
    found = subject.found
    change = next(
        (
            one
            for one in open_changes.open_changes(journal_serial(found))
            if one.kind == "purge" and one.wwid == found.identity.wwid
        ),
        None,
    )
    if change is None:
        return None
    kept = _kept(change)
    why, looked = _against(way, change, kept, subject), None
    if kept is not None and not why:
        looked = verify.look_for(subject, kept.marks, moved)
        why = "" if looked.gone == len(kept.marks) else "stamps of it are still there"
    if why:
        told = f"purged anew, as the attempt begun {change.began} does not count: {why}"
        return Attempt(change=change, told=told)
    told = f"taken over from the attempt begun {change.began}, which was interrupted"
    return Attempt(change=change, told=told, looked=looked)


def _against(way: Method, change: OpenChange, kept: Noted | None, subject: Subject) -> str:
    """Return what speaks against an attempt before its stamps are looked for, "" for nothing."""
    if change.method != way.name:
        return "it was by another method"
    if not isinstance(way, Completes):
        return "no log of the drive tells of its end"
    if kept is None or not verify.are_placed(subject, kept.marks):
        return "its stamps were not kept"
    if kept.who != same_drive.who_is(subject).text:
        return "the drive does not say of itself what it said then"
    return way.completed(subject)


def _kept(change: OpenChange) -> Noted | None:
    try:
        return _ADAPTER.validate_json(change.stamps)
    except ValidationError:
        return None
