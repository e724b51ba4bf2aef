"""What of a drive must be ended before anything else: a sanitize, a format, a password.

A drive in such a state answers reads and writes by errors, or by what was there before: numbers
measured on it mean nothing. So it comes first in what a person is shown, and no run begins.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from teijo.device.drive.portrait import Portrait
from teijo.device.open_changes import OpenChange
from teijo.document.phrase import say
from teijo.errors import DeviceError
from teijo.outside.text import shell_path

Kind = Literal["sanitize", "format", "locked", "password", "change"]


@dataclass(frozen=True, kw_only=True)
class Unfinished:
    """One thing to end first. `percent` is how far it is, None where nobody tells.

    `refuses` says whether a run is refused; `remedy` is what a person types. `is_over`: it failed
    and goes on no more, and a new purge may be what ends it.
    """

    kind: Kind
    text: str
    percent: float | None = None
    refuses: bool = True
    is_over: bool = False
    remedy: str


def unfinished(
    seen: Portrait, target: str, changes: Sequence[OpenChange] = ()
) -> tuple[Unfinished, ...]:
    """Return what is unfinished of a drive, and what Teijo itself left open of it."""
    word = shell_path(target)
    status, finish = f"teijo purge {word} --status", f"teijo purge {word} --finish"
    return (
        *_nvme(seen, status, finish),
        *_ata(seen, status, finish),
        *_scsi(seen, status, finish),
        *(_left(change, finish) for change in changes),
    )


def refuse_unfinished(target: str, found: Iterable[Unfinished]) -> None:
    """Refuse to begin on a drive with something unfinished.

    Raises:
        teijo.errors.DeviceError: there is something that must be ended first.
    """
    refusing = [one for one in found if one.refuses]
    if refusing:
        raise DeviceError(
            f"{target} is not measured, nothing was begun: "
            + "; ".join(one.text for one in refusing),
            remedy=" ".join(
                dict.fromkeys(f"Look and end it first: {one.remedy}" for one in refusing)
            ),
        )


def _nvme(seen: Portrait, status: str, finish: str) -> Iterator[Unfinished]:
    if seen.nvme is None:
        return
    log = seen.nvme.sanitize
    if log is not None and log.runs:
        yield _sanitizing(log.percent, status)
    if log is not None and log.failed:
        yield _not_sanitized(finish)
    for namespace in seen.nvme.namespaces:
        left = namespace.format_left_percent
        if left:
            text = say("a format of namespace {n} runs", n=namespace.number)
            yield Unfinished(kind="format", text=text, percent=100.0 - left, remedy=status)
    if seen.nvme.locking == "locked":
        locked = "it is locked (TCG): a range of it can be neither read nor written"
        yield Unfinished(kind="locked", text=locked, remedy=status)


def _ata(seen: Portrait, status: str, finish: str) -> Iterator[Unfinished]:
    if seen.ata is None:
        return
    log, identity = seen.ata.sanitize, seen.ata.identity
    if log is not None and log.running:
        yield _sanitizing(log.percent, status)
    if log is not None and log.failed:
        yield _not_sanitized(finish)
    if identity is None:
        return
    security = identity.security
    if security.locked:
        text = "it is locked by a password: it can be neither read nor written"
        if security.tries_used_up:
            text = "it is locked by a password, and takes no further try until it was without power"
        yield Unfinished(kind="locked", text=text, remedy=finish)
    elif security.enabled:
        text = "a password is set: it is open now, and locked when it was without power"
        yield Unfinished(kind="password", text=text, refuses=False, remedy=finish)


def _scsi(seen: Portrait, status: str, finish: str) -> Iterator[Unfinished]:
    work = seen.scsi.background if seen.scsi else None
    if work is None:
        return
    if work.kind == "sanitize":
        yield _not_sanitized(finish) if work.failed else _sanitizing(work.percent, status)
    elif work.failed:
        text = "its last format did not end: only another format makes it answer again"
        yield Unfinished(kind="format", text=text, is_over=True, remedy=finish)
    else:
        yield Unfinished(kind="format", text="a format runs", percent=work.percent, remedy=status)


def _sanitizing(percent: float | None, status: str) -> Unfinished:
    return Unfinished(kind="sanitize", text="a sanitize runs", percent=percent, remedy=status)


def _not_sanitized(finish: str) -> Unfinished:
    text = "its last sanitize failed: it answers no reads and writes, or by what was there before"
    return Unfinished(kind="sanitize", text=text, is_over=True, remedy=finish)


def _left(change: OpenChange, finish: str) -> Unfinished:
    text = say(
        "Teijo left a change of it open: {kind} by {method}, begun {began}",
        kind=change.kind, method=change.method, began=change.began,
    )  # fmt: skip
    if change.secret:
        text = say(
            "Teijo's own password {password} may be set: {method}, begun {began}",
            password=repr(change.secret), method=change.method, began=change.began,
        )  # fmt: skip
    return Unfinished(kind="change", text=text, refuses=change.kind == "password", remedy=finish)
