"""May this block device be destroyed? Every check in order, each with its evidence.

There is no way around a refusal but to end its cause. docs/safety.md says the same in prose.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from teijo.device import serial
from teijo.device.checks import CHECKS, Check, Subject, ask
from teijo.device.identify import Identification, identify
from teijo.device.kernel import HOST, Roots
from teijo.device.not_opened import not_opened
from teijo.device.retry import retry_for
from teijo.document.phrase import say
from teijo.errors import DeviceError, TargetError, UnsafeError
from teijo.terms.remark import Remark, RemarkKind
from teijo.units import format_size

CLAIM_WAIT_SECONDS: Final = 0.5
LOCK_WAIT_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """The answers, in order."""

    checks: tuple[Check, ...]
    given: tuple[str, ...] = ()
    """The serials that a person gave up."""

    @property
    def refusals(self) -> tuple[Check, ...]:
        """The checks that forbid writing."""
        return tuple(check for check in self.checks if check.verdict == "refused")

    def verdicts(self) -> str:
        """Return one line for a report: what was found ok, and what could not be seen."""
        names = {verdict: self._names(verdict) for verdict in ("ok", "unknown", "refused")}
        return "; ".join(f"{verdict}: {found}" for verdict, found in names.items() if found)

    def remarks(self) -> tuple[Remark, ...]:
        """Return a remark for every check that was blind."""
        return tuple(
            Remark(
                kind=RemarkKind.CHECK_BLIND,
                text=say(
                    "preflight, {check}: {evidence}", check=check.name, evidence=check.evidence
                ),
            )
            for check in self.checks
            if check.verdict == "unknown"
        )

    def _names(self, verdict: str) -> str:
        return ", ".join(check.name for check in self.checks if check.verdict == verdict)


def claim(
    path: Path, *, write: bool, roots: Roots = HOST, results: tuple[Path, ...] = ()
) -> Subject:
    """Return the device opened for us alone, or opened to look at, with the reason why not.

    The claim lasts as long as the descriptor; nobody can mount, format or swap on the device
    meanwhile. With `write` it is opened for writing and udev is kept away by a lock.

    Raises:
        teijo.errors.TargetError: it cannot even be opened to look at, or holds nothing.
        teijo.errors.UnsafeError: it was to be written, and cannot be opened to look at.
    """
    mode = os.O_RDWR if write else os.O_RDONLY
    refusal = ""
    try:
        fd = retry_for(
            # O_EXCL without O_CREAT claims a block device (open(2)): no mount, no other claim.
            lambda: os.open(path, mode | os.O_EXCL | os.O_DIRECT | os.O_CLOEXEC),
            errors=frozenset({errno.EBUSY}),
            seconds=CLAIM_WAIT_SECONDS,
        )
    except OSError as error:
        if error.errno not in {errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS}:
            raise not_opened(
                path,
                error,
                remedy="Look at its cable and at dmesg; `teijo devices` lists what there is.",
            ) from error
        refusal = error.strerror or "refused"
        try:
            fd = open_to_read(path)
        except TargetError as shut:
            if not write:
                raise
            # What cannot even be looked at cannot be proved unused.
            raise UnsafeError(
                f"{path} cannot be proved safe to destroy: {refusal}", remedy=shut.remedy
            ) from error
    try:
        subject = Subject(
            fd=fd,
            target=str(path),
            found=identify_open(fd, str(path), roots),
            refusal=refusal,
            results=results,
            roots=roots,
        )
        if write and not refusal and not _locked(fd):
            return replace(subject, refusal="another program holds its lock (flock)")
    except BaseException:
        os.close(fd)
        raise
    return subject


def open_to_read(path: Path) -> int:
    """Return a block device opened for direct reading; asks nothing.

    Raises:
        teijo.errors.TargetError: it cannot be opened.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        raise not_opened(path, error, remedy=_more_rights(error)) from error


def identify_open(fd: int, target: str, roots: Roots = HOST) -> Identification:
    """Return who an open descriptor is.

    Raises:
        teijo.errors.TargetError: it is no block device, or has no capacity.
        teijo.errors.DeviceError: it went away.
    """
    if not stat.S_ISBLK(os.fstat(fd).st_mode):
        raise TargetError(
            f"{target} is not a block device any more",
            remedy="`teijo devices` lists the ones there are.",
        )
    try:
        found = identify(fd, target, roots)
    except OSError as error:
        raise DeviceError(
            f"{target} went away: {error.strerror}", remedy="Look at its cable and at dmesg."
        ) from error
    if found.geometry.capacity_bytes == 0:
        raise TargetError(
            f"{target} has no capacity", remedy="Insert the medium, or set the device up first."
        )
    return found


def examine(subject: Subject, names: Iterable[str] = CHECKS) -> Preflight:
    """Return the answer of every check; none is left out because another refused."""
    return Preflight(checks=tuple(ask(name, subject) for name in names))


def consent(subject: Subject, destroy: str | None, *, also: Sequence[str] = ()) -> Preflight:
    """Return the passed preflight of a device that a person gave up by its serial.

    `also` are serials that may be named with it: what else a purge of it takes.

    Raises:
        teijo.errors.UnsafeError: a check refuses, or another serial or none was named.
    """
    return consent_to_all((subject,), destroy, also=also)[0]


def consent_to_all(
    subjects: Sequence[Subject], destroy: str | None, *, also: Sequence[str] = ()
) -> tuple[Preflight, ...]:
    """Return the passed preflights of devices that a person gave up by all of their serials.

    `destroy` has the serials with commas between them, in any order. One device that is refused
    or not named, or one serial too many, refuses all. `also` are serials that may be named too.

    Raises:
        teijo.errors.UnsafeError: a check refuses a device, or another serial or none was named.
    """
    reports = tuple(examine(subject) for subject in subjects)
    refuse(*zip(subjects, reports, strict=True))
    tokens = [subject.found.token for subject in subjects]
    given = serial.named(destroy)
    strange = [one for one in given if not serial.is_named(one, (*tokens, *also))]
    option = serial.typed(dict.fromkeys((*tokens, *also)))
    for subject in subjects:
        if not serial.is_named(subject.found.token, given):
            named = (
                f"--destroy {destroy} names another device" if strange else "no --destroy names it"
            )
            raise UnsafeError(
                f"{_described(subject)} is not given up: {named}",
                remedy=f"To lose everything on {'it' if len(tokens) == 1 else 'them'}, "
                f"add {option}",
            )
    if strange:
        raise UnsafeError(
            f"--destroy names {', '.join(strange)}, and that is none of {', '.join(tokens)}",
            remedy=f"Write {option}",
        )
    for subject in subjects:
        confirm(subject)
    return tuple(replace(report, given=given) for report in reports)


def _described(subject: Subject) -> str:
    model = subject.found.identity.model or "model unknown"
    return f"{subject.target} ({model}, {format_size(subject.found.geometry.capacity_bytes)})"


def confirm(subject: Subject) -> None:
    """Ask again what may have changed since `examine`; called right before anything destroys.

    Raises:
        teijo.errors.UnsafeError: it is another device by now, or in use.
    """
    again = ("identity", "stack", "mounts", "swap")
    checks = tuple(ask(name, subject) for name in again)
    refuse((subject, Preflight(checks=checks)))


def refuse(*reports: tuple[Subject, Preflight]) -> None:
    """Raise what the reports refuse, if any does; each device that is refused is named."""
    causes = [
        f"{subject.target} must not be written, nothing was: "
        + "; ".join(f"{check.name}: {check.evidence}" for check in report.refusals)
        for subject, report in reports
        if report.refusals
    ]
    if causes:
        checks = [check for _, report in reports for check in report.refusals]
        remedies = dict.fromkeys(check.remedy for check in checks if check.remedy)
        raise UnsafeError("; ".join(causes), remedy=" ".join(remedies))


def _more_rights(error: OSError) -> str:
    if error.errno not in {errno.EACCES, errno.EPERM}:
        return ""
    return "Run as root." if os.geteuid() else "This host forbids it even to root (a container?)."


def _locked(fd: int) -> bool:
    """Take the lock that keeps udev away (systemd.io/BLOCK_DEVICE_LOCKING)."""
    try:
        retry_for(
            lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
            errors=frozenset({errno.EWOULDBLOCK}),
            seconds=LOCK_WAIT_SECONDS,
        )
    except BlockingIOError:
        return False
    return True
