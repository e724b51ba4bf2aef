"""Every error a user can meet, as one tree, each with the exit code of its class.

TeijoError
├── UsageError                2  the command, the plan or a setting is wrong
│   ├── TargetError              the target does not exist or cannot serve this method
│   ├── PlanError                a setting has an impossible value
│   └── RunFileError             not a run file, a newer one, or one that is in use
├── UnsafeError               3  refused: writing there could destroy something
├── IdentityError             4  the device is not the one the run began on
├── DeviceError               5  the device failed, vanished, or refused direct I/O
│   └── StuckDevice              it does not answer; resumable
├── HostError                 6  this machine failed: disk full, memory, a missing program
├── Interrupted               7  stopped by a person or a signal; resumable
│   ├── DriveWarned          12  stopped because the drive warned (`stop=warning`); resumable
│   └── HostAway                 a host of a shared run went away; resumable
└── InvalidMeasurement        8  the run is complete and its numbers must not be used

A message says what happened, with the value, and why: one sentence, which begins with a capital (or
with a value or a name) and ends with a full stop; `remedy` says what to do about it. 9 to 11 are no
errors: a run does not meet a limit, numbers are not steady, and whether a limit is met, or a file
holds what was measured, cannot be known. Nor are 13 and 14: of `teijo health --check`, caution and
bad (unknown is 11).
"""

from collections.abc import Iterable
from typing import Self

_ENDS = ".?!…:"


class TeijoError(Exception):
    """Root of the tree. `str(error)` is the message for the user; `exit_code` its class."""

    exit_code = 1
    has_stuck_ios = False
    """Whether a device keeps threads of this process, so that it cannot end by itself."""
    details: tuple[str, ...] = ()
    """All that is wrong, where it is more than one thing: a line each, without a full stop."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        """Keep what happened (`message`) and what to do about it (`remedy`) apart."""
        self.message = sentence(message)
        super().__init__(f"{self.message}\n{remedy}" if remedy else self.message)
        self.remedy = remedy

    def naming(self, details: Iterable[str]) -> Self:
        """Return this error with all that is wrong."""
        self.details = tuple(details)
        return self


class UsageError(TeijoError):
    """The command, the plan or a setting is wrong."""

    exit_code = 2


class TargetError(UsageError):
    """The target does not exist, or cannot serve this method."""


class PlanError(UsageError):
    """A setting has an impossible value."""


class RunFileError(UsageError):
    """The file is not a run file, or a newer one, or in use."""


class UnsafeError(TeijoError):
    """Writing there could destroy something; nothing was written."""

    exit_code = 3


class IdentityError(TeijoError):
    """The device is not the one the run began on."""

    exit_code = 4


class DeviceError(TeijoError):
    """The device failed, vanished, or refused direct I/O."""

    exit_code = 5


class StuckDevice(DeviceError):
    """The device does not answer; what was measured is kept and can be resumed."""


class StoppedAtOnce(KeyboardInterrupt):
    """A person stopped it now, and something of this process may wait for the device for ever."""

    def __init__(self, what: str) -> None:
        """Keep what waits."""
        super().__init__(what)
        self.what = what


class HostError(TeijoError):
    """This machine failed: results disk full, memory, a missing program."""

    exit_code = 6


class Interrupted(TeijoError):
    """Stopped by a person or a signal; what was measured is kept and can be resumed."""

    exit_code = 7


class DriveWarned(Interrupted):
    """Stopped because the drive warned and the run was to stop then; it can be resumed."""

    exit_code = 12


class HostAway(Interrupted):
    """A host of a shared run went away; the step it was in is a gap, and the run can be resumed."""


class InvalidMeasurement(TeijoError):
    """The run is complete, and its numbers must not be used."""

    exit_code = 8


def sentence(cause: str) -> str:
    """Return a cause with a full stop, unless it ends as a sentence or in a list of lines."""
    return cause if not cause or "\n" in cause or cause[-1] in _ENDS else f"{cause}."


def host_error(error: OSError | MemoryError) -> HostError:
    """Return what a user is told of a failure of this machine that nobody has put into words."""
    if isinstance(error, MemoryError):
        return HostError(
            "There is not enough memory.",
            remedy="End other programs, or raise the limit (ulimit -v, the container's memory).",
        )
    where = f"{error.filename}: " if error.filename is not None else ""
    return HostError(
        f"This machine failed: {where}{error.strerror or error}.",
        remedy="See to the disk or the limit that this names (dmesg may say more); then try again.",
    )


def is_no_room(error: ImportError) -> bool:
    """Tell whether a library could not be loaded because no memory was given to it."""
    # An ImportError has no errno: these are words of the dynamic loader.
    return any(sign in str(error) for sign in ("failed to map", "allocate memory"))
