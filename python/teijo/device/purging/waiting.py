"""Work that a drive does in the background: begun once, waited for, and left where it stands still.

What all such purges share. It is noted before it is sent, asked for once a second, and never reset
or sent again; what the drive says at the end is the only word that counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from teijo.device import kernel
from teijo.device.cache_hold import journal_serial
from teijo.device.checks import Subject
from teijo.device.commands.seam import CommandError
from teijo.device.open_changes import OpenChange, close, note
from teijo.device.presence import check_present
from teijo.device.purging.offer import Refusal
from teijo.device.retry import rest
from teijo.device.watched import Moved
from teijo.errors import DeviceError, StuckDevice
from teijo.outside.text import shell_path, visible
from teijo.units import NS_PER_MS, NS_PER_S, format_duration

PROGRESS_WHOLE: Final = 65536
BEGIN_MS: Final = 600_000
"""For the command that begins it: to give that up would have the kernel reset a drive at work."""
POLL_S: Final = 1
STALL_S: Final = 600
"""The least time without progress after which it counts as stuck."""


class State(Protocol):
    """What a drive says of its work; `progress` is of PROGRESS_WHOLE, None where it tells none."""

    @property
    def runs(self) -> bool:
        """Whether it is under way."""
        ...

    @property
    def progress(self) -> int | None:
        """How far it is."""
        ...


Told = TypeVar("Told", bound=State)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work by its name; `survives`: it goes on by itself after power was lost."""

    name: str
    survives: bool


SANITIZE: Final = Work(name="sanitize", survives=True)
FORMAT: Final = Work(name="format", survives=False)
RUNS_ALREADY: Final[Refusal] = ("a sanitize runs already", "Wait for its end.")
COMPLETED: Final = "its last sanitize: completed"
NOTHING_LEFT: Final = "it says of no sanitize and no format that it runs or failed"


def carry_out(
    subject: Subject,
    work: Work,
    method: str,
    *,
    send: Callable[[], None],
    state: Callable[[], Told],
    moved: Moved,
    no_end: Callable[[Told], DeviceError | None],
    estimate_s: int | None = None,
    reason: Callable[[CommandError], str] = str,
) -> Told:
    """Have the drive begin, wait for its end, and return what it says then; the journal is closed.

    `no_end` returns what is to be raised where that is no success: what was noted stays noted then.
    `reason` says in words why the drive refused.

    Raises:
        teijo.errors.IdentityError: another device took its place; nothing was sent.
        teijo.errors.HostError: the journal cannot be written; nothing was sent.
        teijo.errors.DeviceError: it was refused, failed, or stands still.
    """
    change = _begin(subject, work, method, send=send, state=state, moved=moved, reason=reason)
    ended = _until_over(subject, work, state=state, moved=moved, estimate_s=estimate_s)
    error = no_end(ended)
    if error is not None:
        raise error
    close(change)
    return ended


def _begin(
    subject: Subject,
    work: Work,
    method: str,
    *,
    send: Callable[[], None],
    state: Callable[[], State],
    moved: Moved,
    reason: Callable[[CommandError], str],
) -> OpenChange:
    """Note a purge in the journal and have the drive begin; return what was noted.

    What the drive refused is asked of it once more: a command that it did take must neither be
    forgotten nor sent again.

    Raises:
        teijo.errors.IdentityError: another device took its place; nothing was sent.
        teijo.errors.HostError: the journal cannot be written; nothing was sent.
        teijo.errors.DeviceError: it refused, or did not answer; the message says which.
    """
    moved(0, PROGRESS_WHOLE, allow_ns=BEGIN_MS * NS_PER_MS)
    change = noted(subject, method)
    try:
        send()
    except CommandError as error:
        try:
            runs = state().runs
        except OSError:
            raise not_told(subject, work, error) from error
        if runs:
            raise DeviceError(
                f"{subject.target}: the drive answered {reason(error)}, and a {work.name} runs; it "
                "was left to itself",
                remedy=where_to_look(subject, work),
            ) from error
        close(change)
        raise DeviceError(
            f"{subject.target}: the drive refused to {work.name}: {reason(error)}; nothing was "
            "erased",
            remedy="End what it says, or take another method.",
        ) from error
    except OSError as error:
        # It may have heard the command: what it says itself is asked, and not the kernel.
        raise not_told(subject, work, error) from error
    return change


def noted(subject: Subject, method: str) -> OpenChange:
    """Note a purge in the journal, right before it is sent.

    Raises:
        teijo.errors.IdentityError: another device took its place.
        teijo.errors.HostError: the journal cannot be written.
    """
    # Right before the command: another drive in its place must not have it.
    check_present(subject)
    return note(
        OpenChange(
            kind="purge",
            serial=journal_serial(subject.found),
            wwid=subject.found.identity.wwid,
            target=subject.target,
            method=method,
            stamps=subject.stamps,
        )
    )


def _until_over(
    subject: Subject,
    work: Work,
    *,
    state: Callable[[], Told],
    moved: Moved,
    estimate_s: int | None,
) -> Told:
    """Return what the drive says when its work is over. Only pauses count as waiting: a suspend
    does not.

    Raises:
        teijo.errors.DeviceError: it does not say.
        teijo.errors.StuckDevice: its progress stands still.
    """
    bound_s = max(STALL_S, 2 * (estimate_s or 0))
    reached, still_s = -1, 0
    while True:
        try:
            told = state()
        except OSError as error:
            raise not_told(subject, work, error) from error
        if not told.runs:
            return told
        if (told.progress or 0) != reached:
            reached, still_s = told.progress or 0, 0
        elif still_s >= bound_s:
            raise StuckDevice(
                f"{subject.target}: the {work.name} has stood at {percent(told):.1f} % for "
                f"{format_duration(still_s * NS_PER_S)}; it is unfinished and was left to itself",
                remedy=where_to_look(subject, work),
            )
        moved(reached, PROGRESS_WHOLE)
        rest(POLL_S * NS_PER_S, _nothing)
        still_s += POLL_S


def failed(subject: Subject, work: Work) -> DeviceError:
    """Return what is to be raised where the drive says that its work failed."""
    return DeviceError(
        f"{subject.target}: the {work.name} failed, and the drive is not purged",
        remedy=f"Have it answer again: {how_to_finish(subject.target)}",
    )


def failed_before(target: str) -> Refusal:
    """Return why a purge is refused of a drive whose last sanitize failed."""
    why = "its last sanitize failed, and it answers no reads until that is left (--finish)"
    return why, f"Leave that first: {how_to_finish(target)}"


def leave_failed(subject: Subject, send: Callable[[], None], by: str) -> str:
    """Have a drive leave its failed sanitize, and return what is told then.

    `by` is what a person types where it does not: another sanitize.

    Raises:
        teijo.errors.DeviceError: it does not leave it, or still answers no reads.
    """
    try:
        send()
    except OSError as error:
        raise DeviceError(
            f"{subject.target}: its failed sanitize cannot be left: {visible(str(error))}",
            remedy=f"Only another sanitize ends it: {by}",
        ) from error
    if not answers_reads(subject):
        raise DeviceError(
            f"{subject.target} left its failed sanitize, and still answers no reads",
            remedy="Look at the kernel log (dmesg).",
        )
    return "it left its failed sanitize and answers again; it is not purged"


def how_to_finish(target: str) -> str:
    """Return what a person types to have ended what was left."""
    return f"teijo purge {shell_path(target)} --finish"


def percent(told: State) -> float:
    """Return how far work is."""
    return (told.progress or 0) / PROGRESS_WHOLE * 100


def still_runs(subject: Subject, work: Work, told: State) -> DeviceError:
    """Return what is to be raised where somebody wants to end work that nothing ends."""
    return DeviceError(
        f"{subject.target}: a {work.name} runs ({percent(told):.1f} %), and cannot be ended",
        remedy=where_to_look(subject, work),
    )


def not_told(subject: Subject, work: Work, error: OSError) -> DeviceError:
    """Return what is to be raised where nobody knows whether work runs."""
    return DeviceError(
        f"{subject.target} does not say whether a {work.name} runs: {visible(str(error))}",
        remedy=where_to_look(subject, work),
    )


def where_to_look(subject: Subject, work: Work) -> str:
    """Return what a person does about work that goes on without this program."""
    look = f"look at it: teijo purge {shell_path(subject.target)} --status"
    if work.survives:
        return f"A {work.name} goes on by itself, also after a power cut; {look}"
    return f"A {work.name} goes on by itself as long as the drive has power; {look}"


def answers_reads(subject: Subject) -> bool:
    """Return whether the first block can be read."""
    try:
        kernel.read_blocks(subject.fd, 0, subject.found.geometry.logical_block_bytes)
    except OSError:
        return False
    return True


def _nothing() -> None:
    """Be called in a rest that nothing ends early."""
