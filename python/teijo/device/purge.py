"""Putting a block device in the state "never written", by the surest means it has.

The ladder: NVMe Format with user data erase; block discard of everything, which only claims
to be equal. ATA Secure Erase and Sanitize are not done: a drive left locked or halfway is
worse than one not purged. A method is believed when sampled blocks have lost their content.
"""

import errno
from dataclasses import dataclass, replace
from typing import Final

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.preflight import confirm
from teijo.device.presence import check_present
from teijo.device.watched import Moved, unwatched
from teijo.errors import DeviceError, UnsafeError
from teijo.units import GIB, NS_PER_MS

DISCARD_PIECE_BYTES: Final = GIB
"""So much is discarded at once: a slow drive comes back from it before it is taken for stuck."""
SAMPLES: Final = 64
SAMPLE_BYTES: Final = 4096
UNSUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY, errno.ENOSYS})


@dataclass(frozen=True, kw_only=True)
class PurgeResult:
    """How a device was purged, and how many of the `sampled` blocks read as zeros afterwards.

    `claimed`: the standard asks for more, this only should be equal. Nothing is sampled of a
    simulated device, nor of several together.
    """

    means: str
    claimed: bool = False
    zeros: int = 0
    sampled: int = 0

    @property
    def method(self) -> str:
        """All of it in a line, as the record has it."""
        if not self.sampled:
            return self.means
        return f"{self.means}; {self.zeros} of {self.sampled} sampled blocks read as zeros"


def purge(subject: Subject, moved: Moved = unwatched) -> PurgeResult | None:
    """Purge a device that preflight passed, or return None where it has no means to.

    `moved` hears of each piece that came back.

    A discard that changed none of the sampled blocks was ignored, as a drive may: that is no
    purge. A format that left one of them has failed.

    Raises:
        teijo.errors.UnsafeError: it is in use by now, or the controller is another drive's.
        teijo.errors.IdentityError: another device took its place; the rest was not purged.
        teijo.errors.DeviceError: the purge failed; the message says what is left.
    """
    confirm(subject)
    before = _samples(subject, moved)
    done = _format(subject, moved) or _discard(subject, moved)
    if done is None:
        return None
    after = _samples(subject, moved)
    held = sum(any(old) for old in before)
    kept = sum(any(old) and old == new for old, new in zip(before, after, strict=True))
    if kept and not done.claimed:
        raise DeviceError(
            f"{subject.target}: {done.method} returned without error, and {kept} of {len(after)} "
            "sampled blocks hold what they held before",
            remedy="The drive does not purge this way; use its maker's tool.",
        )
    if kept and kept == held:
        return None
    zeros = sum(not any(block) for block in after)
    return replace(done, zeros=zeros, sampled=len(after))


def _format(subject: Subject, moved: Moved) -> PurgeResult | None:
    """Format the namespace, if the drive can and nothing else of it would be erased."""
    # A format erases the whole namespace, and not a partition of it.
    if not subject.found.node.name.startswith("nvme") or subject.found.node.is_partition:
        return None
    try:
        found = nvme.namespace(subject.fd)
    except OSError:
        return None
    if not may_format(found, subject.found.own_serial):
        return None
    check_present(subject)
    try:
        # One call, and nothing comes back before it ends.
        moved(0, 1, allow_ns=nvme.FORMAT_TIMEOUT_MS * NS_PER_MS)
        nvme.format_namespace(subject.fd, found)
    except OSError as error:
        raise DeviceError(
            f"{subject.target}: NVMe Format failed: {error}; its data may be erased in part",
            remedy="Look at `nvme error-log`, and format it again before it is used.",
        ) from error
    return PurgeResult(means="NVMe Format, user data erase")


def may_format(found: nvme.Namespace, serial: str) -> bool:
    """Return whether a format reaches this namespace of the drive of `serial` and nothing else.

    Raises:
        teijo.errors.UnsafeError: the controller is another drive's.
    """
    if not found.can_format or found.all_namespaces != (found.number,):
        return False
    if found.controller_serial != serial:
        raise UnsafeError(
            f"The controller says it is {found.controller_serial!r}, the drive {serial!r}; "
            "it was not formatted",
            remedy="Look which drive this is: nvme list -v.",
        )
    return True


def _discard(subject: Subject, moved: Moved) -> PurgeResult | None:
    # A drive without secure discard says so (UNSUPPORTED), and the plain one is tried.
    for secure, method in ((True, "secure discard"), (False, "block discard")):
        try:
            _discard_all(subject, moved, secure=secure)
        except OSError as error:
            if error.errno in UNSUPPORTED:
                continue
            raise DeviceError(
                f"{subject.target}: {method} failed: {error.strerror}; a part may be discarded",
                remedy="Look at the kernel log (dmesg).",
            ) from error
        return PurgeResult(means=f"{method} (equivalent claimed)", claimed=True)
    return None


def _discard_all(subject: Subject, moved: Moved, *, secure: bool) -> None:
    size = subject.found.geometry.capacity_bytes
    for start in range(0, size, DISCARD_PIECE_BYTES):
        moved(start, size)
        check_present(subject)  # a large drive takes minutes, and sampling it came before
        kernel.discard(subject.fd, start, min(DISCARD_PIECE_BYTES, size - start), secure=secure)


def _samples(subject: Subject, moved: Moved) -> list[bytes]:
    """Blocks at equal distances, the first and the last among them."""
    size = subject.found.geometry.capacity_bytes
    last = (size - SAMPLE_BYTES) // SAMPLE_BYTES
    # A set, for a small device has fewer blocks than samples.
    places = sorted({last * index // (SAMPLES - 1) for index in range(SAMPLES)})
    blocks = []
    try:
        for number, place in enumerate(places):
            moved(number, len(places))
            blocks.append(kernel.read_blocks(subject.fd, place * SAMPLE_BYTES, SAMPLE_BYTES))
    except OSError as error:
        raise DeviceError(
            f"{subject.target} cannot be read around its purge: {error.strerror}",
            remedy="Look at the kernel log (dmesg).",
        ) from error
    return blocks
