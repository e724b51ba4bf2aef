"""NVMe Format NVM with a secure erase: of a drive's only namespace.

An interrupted one leaves content that nobody knows; the remedy is to format again.
"""

from dataclasses import dataclass
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import nvme
from teijo.device.presence import check_present
from teijo.device.purging.offer import NotOffered, Offer, is_whole
from teijo.device.watched import Moved
from teijo.errors import DeviceError, UnsafeError
from teijo.units import NS_PER_MS

FORMAT_ATTRIBUTES: Final = 524
"""FNA, in Identify Controller: bit 2 says that there is a cryptographic erase."""
_CRYPTOGRAPHIC: Final = 0b100


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
        except OSError:
            return None
        if not found.can_format:
            return None
        if self.erase == nvme.CRYPTOGRAPHIC_ERASE and not attributes & _CRYPTOGRAPHIC:
            return None
        return Offer(
            method=self.name,
            title=self.words,
            victims=(subject.found.token,),
            valid_for_pts=self.erase == nvme.USER_DATA_ERASE,
            refusal=only_namespace(found, subject.found.own_serial),
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Format the namespace as it is formatted now.

        Raises:
            NotOffered: it has no such command, or by now a second namespace.
            teijo.errors.DeviceError: it failed.
        """
        offer = self.offer(subject)
        if offer is None or offer.refusal:
            raise NotOffered
        try:
            found = nvme.namespace(subject.fd)
        except OSError as error:
            raise NotOffered from error
        # Right before the command: another drive in its place must not have it.
        check_present(subject)
        # One call, and nothing comes back before it ends.
        moved(0, 1, allow_ns=nvme.FORMAT_TIMEOUT_MS * NS_PER_MS)
        try:
            nvme.format_namespace(subject.fd, found, erase=self.erase)
        except OSError as error:
            raise DeviceError(
                f"{subject.target}: NVMe Format failed: {error}; its data may be erased in part",
                remedy="Look at `nvme error-log`, and format it again before it is used.",
            ) from error
        return self.words


def only_namespace(found: nvme.Namespace, serial: str) -> str:
    """Return why a format would reach more than this namespace of the drive of `serial`, or "".

    Raises:
        teijo.errors.UnsafeError: the controller is another drive's.
    """
    if found.all_namespaces != (found.number,):
        return (
            f"the drive has {len(found.all_namespaces)} namespaces, and a format may reach them all"
        )
    if found.controller_serial != serial:
        raise UnsafeError(
            f"The controller says it is {found.controller_serial!r}, the drive {serial!r}; "
            "it was not formatted",
            remedy="Look which drive this is: nvme list -v.",
        )
    return ""


USER_DATA: Final = NvmeFormat(
    name="nvme-format", words="NVMe Format, user data erase", erase=nvme.USER_DATA_ERASE
)
CRYPTO: Final = NvmeFormat(
    name="nvme-format-crypto",
    words="NVMe Format, cryptographic erase",
    erase=nvme.CRYPTOGRAPHIC_ERASE,
)
