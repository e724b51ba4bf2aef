"""What a way to purge would do to a drive, told before anything is sent, and what each way can."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from teijo.device.checks import Subject
from teijo.device.watched import Moved


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One way to purge this drive.

    `victims` are the serials of all that is lost, as `--destroy` takes them. `seconds` is what the
    drive says it takes, None where it says nothing. `valid_for_pts`: the standard names it.
    `others` are the kernel's names of other devices that it reaches: they are claimed with it.
    `refusal` is why it cannot be done here and now, "" where it can.
    """

    method: str
    title: str
    victims: tuple[str, ...]
    others: tuple[str, ...] = ()
    seconds: int | None = None
    abortable: bool = False
    survives_power_cut: bool = False
    leaves_password: bool = False
    valid_for_pts: bool = True
    refusal: str = ""


def is_whole(subject: Subject, kind: str) -> bool:
    """Return whether it is a drive of this kind by the kernel's name, and not a partition of it."""
    return subject.found.node.name.startswith(kind) and not subject.found.node.is_partition


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


@runtime_checkable
class Certified(Protocol):
    """A method after which the drive itself has something to say of the end."""

    def certificate(self, subject: Subject) -> str:
        """Return what the drive says; empty where it says nothing."""
        ...
