"""A write cache held in the state a test asks for, and set back after it, whatever ends the test.

What the drive said before is in the journal (`open_changes.py`) before the drive is told. A run
that was killed leaves it there: the next run on the drive goes back to that older state, and
`teijo purge TARGET --finish` does so at once.
"""

from dataclasses import dataclass, replace
from typing import Final

from teijo.device import open_changes
from teijo.device.checks import Subject
from teijo.device.identify import Identification
from teijo.device.open_changes import OpenChange
from teijo.device.stack import Node, whole_disk
from teijo.device.write_cache import CACHE_FACTS, State, WriteCache, switch, write_cache
from teijo.errors import DeviceError
from teijo.terms.geometry import Identity

BEFORE: Final = "write cache before"
"""The fact of what the drive said before the run switched its cache."""
_STATES: Final[dict[str, State]] = {"enabled": "enabled", "disabled": "disabled"}


@dataclass(frozen=True, kw_only=True)
class CacheWish:
    """The state that a run asks for; `must` says that a person did, and not a standard.

    A drive whose cache cannot be switched is refused where it must, and else left as it is.
    """

    state: State
    must: bool


class CacheHold:
    """The write cache of one claimed drive, as a wish has it, until `give_back`."""

    def __init__(self, subject: Subject, wish: CacheWish) -> None:
        """Switch it where it is not so already.

        Raises:
            teijo.errors.DeviceError: it cannot be switched, and must.
            teijo.errors.HostError: what it was cannot be noted; it was not switched.
        """
        self._subject, self._disk = subject, _disk_of(subject)
        self._change: OpenChange | None = _left_open(subject.found)
        found = write_cache(subject.fd, self._disk)
        if found.state == wish.state or not (found.switches or wish.must):
            return
        if found.switches and self._change is None:
            self._change = open_changes.note(_change(subject, found))
        try:
            switch(subject.fd, self._disk, wish.state, subject.target)
        except DeviceError:
            self.give_back()
            if wish.must:
                raise

    @property
    def before(self) -> str:
        """What the drive said before anything was switched; empty where nothing was."""
        return self._change.before if self._change else ""

    def shown_in(self, identity: Identity) -> Identity:
        """Return an identity with the cache as it is held now, and as it was."""
        now = write_cache(self._subject.fd, self._disk)
        told = now.facts | ({BEFORE: self.before} if self.before else {})
        kept = {name: text for name, text in identity.facts.items() if name not in CACHE_FACTS}
        return replace(identity, write_cache=now.state, facts=kept | told)

    def give_back(self) -> None:
        """Set it back to what it was before; a second call does nothing.

        Raises:
            teijo.errors.DeviceError: the drive did not take it; the journal keeps what it was.
            teijo.errors.HostError: the journal's file cannot be removed.
        """
        if self._change is not None:
            change, self._change = self._change, None
            restore(self._subject.fd, self._disk, change, self._subject.target)


def restore(fd: int, disk: Node, change: OpenChange, target: str) -> WriteCache:
    """Set a drive's write cache back to what the journal says, and close the entry.

    Raises:
        teijo.errors.DeviceError: the drive did not take it, or the entry names no state.
        teijo.errors.HostError: the entry cannot be removed.
    """
    state = _STATES.get(change.before)
    if state is None:
        raise DeviceError(
            f"The journal says that the write cache of {target} was {change.before!r} before, "
            "which is no state.",
            remedy="See to the cache with the drive's own tool, and remove the journal's file.",
        )
    try:
        now = switch(fd, disk, state, target)
    except DeviceError as error:
        raise DeviceError(
            f"The write cache of {target} could not be set back to {state}: {error.message}",
            remedy="Try again: teijo purge TARGET --finish. A power cycle sets it back too.",
        ) from error
    open_changes.close(change)
    return now


def _left_open(found: Identification) -> OpenChange | None:
    """Return the change of this drive's cache that an earlier run did not set back.

    Raises:
        teijo.errors.HostError: the journal cannot be read.
    """
    changes = open_changes.open_changes(journal_serial(found))
    return next((one for one in changes if one.kind == "cache"), None)


def journal_serial(found: Identification) -> str:
    """Return the serial a drive has in the journal: its own, which all its namespaces share."""
    return found.own_serial or found.identity.serial


def _change(subject: Subject, found: WriteCache) -> OpenChange:
    return OpenChange(
        kind="cache",
        serial=journal_serial(subject.found),
        wwid=subject.found.identity.wwid,
        target=subject.target,
        method=found.read_by,
        before=found.state,
    )


def _disk_of(subject: Subject) -> Node:
    return whole_disk(subject.found.node, subject.roots)
