"""Questions to a drive, one by one: what it answered is kept, and why it did not is said.

The answers are there as they come, so that what is known of a drive that hangs in the middle is
not lost. Nothing is thrown: a drive that tells nothing of itself is a drive all the same.
"""

import errno
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from teijo.device.commands.seam import CommandError
from teijo.device.watched import Moved, unwatched

Told = TypeVar("Told")


@dataclass
class Asked:
    """What a drive was asked: `not_told` says of each question why it has no answer.

    `moved` hears of each answer, so that who waits can tell a drive that is slow from one that
    hangs; `waiting` is the question that has no answer yet.
    """

    moved: Moved = unwatched
    not_told: dict[str, str] = field(default_factory=dict)
    waiting: str = ""
    asked: int = 0

    def of(self, name: str, question: Callable[[], Told]) -> Told | None:
        """Return what a question answers; None where it fails, and why is kept."""
        self.waiting = name
        try:
            return question()
        except PermissionError:
            self.not_told[name] = "only root may ask"
        except OSError as error:
            self.not_told[name] = reason(error)
        finally:
            self.waiting, self.asked = "", self.asked + 1
            self.moved(self.asked, self.asked)
        return None


def whole(raw: bytes, least: int) -> bytes:
    """Return an answer that says something: all zeros or a few bytes are no facts of a drive.

    Raises:
        OSError: it is shorter, or empty.
    """
    if len(raw) < least:
        raise CommandError(f"the drive answered {len(raw)} of at least {least} bytes")
    if not any(raw):
        raise CommandError("the drive answered zeros alone")
    return raw


def reason(error: OSError) -> str:
    """Return in a few words why something could not be asked."""
    return error.strerror or str(error) or errno.errorcode.get(error.errno or 0, "no answer")
