"""What a way to purge would do to a drive, told before anything is sent, and what each way can."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from teijo.device.checks import Subject
from teijo.device.drive.portrait import Portrait
from teijo.device.open_changes import OpenChange
from teijo.device.watched import Moved

Refusal = tuple[str, str]
"""Why not, and what ends it; the second is empty where that is to take another way."""
Asked = TypeVar("Asked")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One way to purge this drive.

    `victims` are the serials of all that is lost, as `--destroy` takes them. `seconds` is what the
    drive says it takes, None where it says nothing. `valid_for_pts`: the standard names it.
    `others` are the kernel's names of other devices that it reaches: they are claimed with it.
    `beside` are those that the drive says it keeps: they are claimed too, and looked at after.
    `refusal` is why it cannot be done here and now, "" where it can; `remedy` what ends that.
    """

    method: str
    title: str
    victims: tuple[str, ...]
    others: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    seconds: int | None = None
    abortable: bool = False
    survives_power_cut: bool = False
    leaves_password: bool = False
    valid_for_pts: bool = True
    refusal: str = ""
    remedy: str = ""


def is_whole(subject: Subject, kind: str) -> bool:
    """Return whether it is a drive of this kind by the kernel's name, and not a partition of it."""
    return subject.found.node.name.startswith(kind) and not subject.found.node.is_partition


def first_refusal(
    checks: Mapping[str, Callable[[Asked], Refusal | None]], asked: Asked
) -> Refusal | None:
    """Return what the first check that refuses says; None where none does."""
    return next((why for check in checks.values() if (why := check(asked))), None)


class NotOffered(Exception):
    """The drive turned out to have no such command; nothing was erased."""


class Method(Protocol):
    """One way to purge."""

    @property
    def name(self) -> str:
        """One of `terms.purge.METHODS`."""
        ...

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where this kind of drive has no such thing."""
        ...

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Purge, and return when the drive says that it is done, with the words for the record.

        Raises:
            NotOffered: the drive has no such command.
            teijo.errors.DeviceError: it failed; the message says what is left.
        """
        ...


def offered(method: Method, subject: Subject) -> Offer:
    """Return what a method offers right before it is carried out.

    Raises:
        NotOffered: the drive has no such thing, or refuses by now.
    """
    offer = method.offer(subject)
    if offer is None or offer.refusal:
        raise NotOffered
    return offer


@runtime_checkable
class Certified(Protocol):
    """A method after which the drive itself has something to say of the end."""

    def certificate(self, subject: Subject) -> str:
        """Return what the drive says; empty where it says nothing."""
        ...


@runtime_checkable
class Completes(Protocol):
    """A method whose end the drive's own log tells of, also to who did not see it."""

    def completed(self, subject: Subject) -> str:
        """Return "" where the drive says that its last purge was this one, that it completed, and
        that nothing was written since; else what speaks against it.
        """
        ...


@runtime_checkable
class Ends(Protocol):
    """A method of which a kill, a power cut or a failure can leave something to be ended."""

    def is_left(self, seen: Portrait) -> bool:
        """Return whether the drive itself says that such a thing is left, whoever began it."""
        ...

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """End it, take the change out of the journal, and return what was done.

        `change` is what the journal has of it; None where only the drive says so.

        Raises:
            teijo.errors.DeviceError: it cannot be ended now; the journal keeps it.
            teijo.errors.UnsafeError: it is another drive.
            teijo.errors.HostError: the entry cannot be removed.
        """
        ...
