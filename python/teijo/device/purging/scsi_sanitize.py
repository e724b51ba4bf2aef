"""SCSI SANITIZE: of a SAS or other SCSI disk, by itself, in the background and over a power cut.

Whether a drive has an action, it says itself (REPORT SUPPORTED OPERATION CODES); a drive that knows
no such question is not sent one.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import scsi
from teijo.device.drive.portrait import Portrait
from teijo.device.drive.scsi_drive import sanitizes
from teijo.device.open_changes import OpenChange, close
from teijo.device.purging import scsi_unit, waiting
from teijo.device.purging.offer import Offer, first_refusal, offered
from teijo.device.watched import Moved


@dataclass(frozen=True, kw_only=True)
class ScsiSanitize:
    """Sanitize with one service action."""

    name: str
    words: str
    action: int

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no SCSI disk, or has no such action."""
        asked = scsi_unit.ask(subject, partial(sanitizes, action=self.action))
        if asked is None:
            return None
        why, remedy = first_refusal(scsi_unit.CHECKS, asked) or ("", "")
        return Offer(
            method=self.name,
            title=self.words,
            victims=(asked.own_serial or subject.found.token,),
            others=asked.around.paths,
            survives_power_cut=True,
            valid_for_pts=self.action != scsi.CRYPTO_ERASE,
            refusal=why,
            remedy=remedy,
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Sanitize the drive and wait for its end.

        Raises:
            NotOffered: it has no such action, or refuses by now.
            teijo.errors.HostError: the journal cannot be written; nothing was sent.
            teijo.errors.DeviceError: it was refused, failed, or stands still.
        """
        offered(self, subject)
        send = partial(scsi.sanitize, action=self.action, timeout_ms=waiting.BEGIN_MS)
        scsi_unit.run(subject, waiting.SANITIZE, self.name, send=send, moved=moved)
        return self.words

    def is_left(self, seen: Portrait) -> bool:
        """Return whether the drive's last sanitize failed."""
        return scsi_unit.is_left(seen, "sanitize")

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Leave a failed sanitize, so that the drive answers again.

        Raises:
            teijo.errors.DeviceError: one runs, which nothing ends; or the drive keeps its failure.
            teijo.errors.UnsafeError: who answers is another drive.
        """
        told = scsi_unit.finish(subject)
        if change is not None:
            close(change)
        return told


BLOCK: Final = ScsiSanitize(
    name="scsi-sanitize-block", words="SCSI SANITIZE, block erase", action=scsi.BLOCK_ERASE
)
CRYPTO: Final = ScsiSanitize(
    name="scsi-sanitize-crypto",
    words="SCSI SANITIZE, cryptographic erase",
    action=scsi.CRYPTO_ERASE,
)
OVERWRITE: Final = ScsiSanitize(
    name="scsi-sanitize-overwrite", words="SCSI SANITIZE, overwrite", action=scsi.OVERWRITE
)
