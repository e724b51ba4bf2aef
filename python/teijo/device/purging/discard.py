"""Block discard of everything: a hint that a drive may ignore, so only claimed to be a purge."""

import errno
from typing import Final

from teijo.device import kernel
from teijo.device.checks import Subject
from teijo.device.presence import check_present
from teijo.device.purging.offer import NotOffered, Offer
from teijo.device.stack import whole_disk
from teijo.device.watched import Moved
from teijo.errors import DeviceError
from teijo.terms.purge import DISCARD
from teijo.units import GIB

PIECE_BYTES: Final = GIB
"""So much is discarded at once: a slow drive comes back from it before it is taken for stuck."""
UNSUPPORTED: Final = frozenset({errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY, errno.ENOSYS})


class Discard:
    """Discard, secure where the drive has that. The only way that takes a partition alone."""

    name = DISCARD

    def offer(self, subject: Subject) -> Offer:
        """Return what it would do."""
        disk = whole_disk(subject.found.node, subject.roots)
        most = kernel.read_count(disk.folder / "queue" / "discard_max_bytes")
        return Offer(
            method=self.name,
            title="block discard",
            victims=(subject.found.token,),
            abortable=True,
            valid_for_pts=False,
            refusal="the kernel knows of no discard for it" if most == 0 else "",
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Discard piece by piece.

        Raises:
            NotOffered: it has no discard.
            teijo.errors.DeviceError: it failed.
            teijo.errors.IdentityError: another device took its place; the rest was left alone.
        """
        # A drive without secure discard says so, and the plain one is tried.
        for secure, words in ((True, "secure discard"), (False, "block discard")):
            try:
                _discard_all(subject, moved, secure=secure)
            except OSError as error:
                if error.errno in UNSUPPORTED:
                    continue
                raise DeviceError(
                    f"{subject.target}: {words} failed: {error.strerror}; a part may be discarded",
                    remedy="Look at the kernel log (dmesg).",
                ) from error
            return f"{words} (equivalent claimed)"
        raise NotOffered


def _discard_all(subject: Subject, moved: Moved, *, secure: bool) -> None:
    size = subject.found.geometry.capacity_bytes
    for start in range(0, size, PIECE_BYTES):
        moved(start, size)
        check_present(subject)  # a large drive takes minutes, and the stamps came before
        kernel.discard(subject.fd, start, min(PIECE_BYTES, size - start), secure=secure)
