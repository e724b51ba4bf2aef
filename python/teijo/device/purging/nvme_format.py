"""NVMe Format NVM with a secure erase: of one namespace, or of all where the drive says so (FNA).

An interrupted one leaves content that nobody knows; the remedy is to format again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import nvme, seam
from teijo.device.commands.seam import NvmeError
from teijo.device.drive.nvme_identity import namespace_of
from teijo.device.drive.portrait import Portrait
from teijo.device.open_changes import OpenChange, close
from teijo.device.purging import waiting
from teijo.device.purging.namespaces import namespaces_of
from teijo.device.purging.offer import NotOffered, Offer, is_whole, offered
from teijo.device.watched import Moved
from teijo.errors import DeviceError
from teijo.outside.text import visible
from teijo.units import NS_PER_MS

FORMAT_ATTRIBUTES: Final = 524
"""FNA, in Identify Controller: bit 2 says that there is a cryptographic erase."""
_REACHES_ALL: Final = 0b011
"""Bit 0: a format of one namespace is one of all. Bit 1: so is its secure erase."""
_CRYPTOGRAPHIC: Final = 0b100
REFUSED: Final = frozenset({0x001, 0x002, 0x00B, 0x01D, 0x084, 0x10A, 0x10B, 0x120, 0x286})
"""Statuses before anything is done: opcode, field, namespace, sanitize or format in progress,
format, firmware, write protected, access denied."""
_STATUS: Final = 0x7FF
POLL_S: Final = 1.0
ALLOW_NS: Final = nvme.FORMAT_TIMEOUT_MS * NS_PER_MS
"""A drive that does not say how far it is may be silent so long."""


@dataclass(frozen=True, kw_only=True)
class NvmeFormat:
    """Format with one secure erase setting: 1 erases user data, 2 changes the key."""

    name: str
    words: str
    erase: int

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no NVMe namespace, or cannot format.

        Raises:
            teijo.errors.UnsafeError: the controller is another drive's.
        """
        if not is_whole(subject, "nvme"):
            return None
        try:
            found = nvme.namespace(subject.fd)
            attributes = nvme.identify(subject.fd, structure=1, number=0)[FORMAT_ATTRIBUTES]
            namespaces = namespaces_of(subject, found)
        except OSError:
            return None
        if not found.can_format:
            return None
        if self.erase == nvme.CRYPTOGRAPHIC_ERASE and not attributes & _CRYPTOGRAPHIC:
            return None
        reaches_all = bool(attributes & _REACHES_ALL)
        return Offer(
            method=self.name,
            title=self.words,
            victims=namespaces.victims if reaches_all else (subject.found.token,),
            others=namespaces.others if reaches_all else (),
            # By its word it keeps them. Drives lie: so they are watched, and in nobody's use.
            beside=() if reaches_all else namespaces.others,
            valid_for_pts=self.erase == nvme.USER_DATA_ERASE,
            refusal=namespaces.refusal,
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Format the namespace as it is formatted now.

        Raises:
            NotOffered: it has no such command, or refuses by now.
            teijo.errors.DeviceError: it failed.
        """
        offered(self, subject)
        try:
            found = nvme.namespace(subject.fd)
        except OSError as error:
            raise NotOffered from error
        change = waiting.noted(subject, self.name)
        # One call, and nothing comes back before it ends.
        moved(0, 0, allow_ns=ALLOW_NS)
        try:
            with _told(subject.fd, found.number, moved):
                nvme.format_namespace(subject.fd, found, erase=self.erase)
        except NvmeError as error:
            if error.status & _STATUS not in REFUSED:
                raise DeviceError(
                    f"{subject.target}: NVMe Format failed: {error}; "
                    "its data may be erased in part",
                    remedy="Look at `nvme error-log`, and format it again before it is used.",
                ) from error
            close(change)
            raise DeviceError(
                f"{subject.target}: the drive refused to format: {error}; nothing was erased",
                remedy="The firmware of this computer may have frozen it, or a password locks it "
                "(TCG): a suspend and resume frees many drives. Or take another method.",
            ) from error
        except OSError as error:
            raise DeviceError(
                f"{subject.target}: NVMe Format was interrupted: {visible(str(error))}; what it "
                "holds is unknown",
                remedy="Give the drive its power, and format it again before it is used.",
            ) from error
        close(change)
        return self.words

    def is_left(self, seen: Portrait) -> bool:
        """Return no: a drive does not say that a format was cut off, and does not go on with it."""
        del seen
        return False

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Say what a format is whose end nobody saw.

        Raises:
            teijo.errors.DeviceError: it runs, and nothing ends it; or the drive does not say.
        """
        try:
            number = seam.ioctl(subject.fd, nvme.NVME_IOCTL_ID)
            left = _left_percent(subject.fd, number)
        except OSError as error:
            raise waiting.not_told(subject, waiting.FORMAT, error) from error
        if left:
            raise waiting.still_runs(subject, waiting.FORMAT, _Running(left_percent=left))
        if change is not None:
            close(change)
        return "its format was cut off, or nobody saw its end: purge it again before it is used"


@dataclass(frozen=True, kw_only=True)
class _Running:
    """A format under way, as `waiting` tells it."""

    left_percent: int
    runs: bool = True

    @property
    def progress(self) -> int:
        """How far it is."""
        return waiting.PROGRESS_WHOLE * (100 - self.left_percent) // 100


def _left_percent(fd: int, number: int) -> int | None:
    """Return what is left of a format, 0 of none, None where the drive does not tell.

    Raises:
        OSError: it does not answer.
    """
    raw = nvme.identify(fd, structure=0, number=number)
    return namespace_of(raw, number, attached=True).format_left_percent


@contextmanager
def _told(fd: int, number: int, moved: Moved) -> Iterator[None]:
    """Tell meanwhile how far a format is, where the drive says so (FPI, Identify Namespace 32)."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(POLL_S):
            try:
                left = _left_percent(fd, number)
            except OSError:
                continue  # some answer nothing in a format
            # None: it tells nothing. 0: it is not at it, before its begin or after its end.
            if left and not over.is_set():
                try:
                    moved(100 - left, 100, allow_ns=ALLOW_NS)
                except BaseException:
                    return  # nobody waits any more

    teller = threading.Thread(target=look, name="teijo-format", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        # The descriptor may be closed next: a question on its way comes back first.
        teller.join()


USER_DATA: Final = NvmeFormat(
    name="nvme-format", words="NVMe Format, user data erase", erase=nvme.USER_DATA_ERASE
)
CRYPTO: Final = NvmeFormat(
    name="nvme-format-crypto",
    words="NVMe Format, cryptographic erase",
    erase=nvme.CRYPTOGRAPHIC_ERASE,
)
