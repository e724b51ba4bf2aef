"""SCSI FORMAT UNIT: of a SCSI disk, by itself, in the background, and not over a power cut.

After a cut the medium is "format corrupt", and nothing but another format has it answer again. So
what would make other blocks of it than there are is refused, and it is only done by its name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from teijo.device.checks import Subject
from teijo.device.commands import scsi
from teijo.device.drive.portrait import Portrait
from teijo.device.drive.scsi_identity import supported_of
from teijo.device.open_changes import OpenChange, close
from teijo.device.purging import scsi_unit, waiting
from teijo.device.purging.offer import Offer, Refusal, first_refusal, offered
from teijo.device.purging.scsi_unit import Asked
from teijo.device.watched import Moved

WITHOUT: Final = ("none", "")
"""What a drive says whose blocks have no protection information."""


def formats(fd: int) -> bool | None:
    """Return whether the drive has FORMAT UNIT.

    Every disk must have it (SBC, mandatory), and need not have the question for it. So a drive that
    does not know the question (invalid operation code) is taken to have it; one that says "not
    supported" has not.

    Raises:
        OSError: it does not answer.
    """
    try:
        return supported_of(scsi.supported_operation(fd, scsi.FORMAT_UNIT))
    except scsi.ScsiError as error:
        if error.sense.triple == (scsi.ILLEGAL_REQUEST, 0x20, 0x00):
            return True
        if error.sense.key == scsi.ILLEGAL_REQUEST:
            return None
        raise


def _refuse_protection(asked: Asked) -> Refusal | None:
    if asked.blocks.protection in WITHOUT:
        return None
    return (
        f"its blocks have protection information ({asked.blocks.protection}), and would lose it",
        "Format it by a tool that says what it shall have: sg_format --fmtpinfo.",
    )


def _refuse_other_blocks(asked: Asked) -> Refusal | None:
    now, then = asked.blocks.length_bytes, asked.blocks.next_bytes
    if then in (None, now):
        return None
    return (
        f"its blocks have {now} B, and would have {then} B after it (mode parameters)",
        "Take its power away and give it again, or set them back: sg_format --resize.",
    )


CHECKS: Final[dict[str, Callable[[Asked], Refusal | None]]] = {
    **scsi_unit.CHECKS,
    "protection": _refuse_protection,
    "other blocks": _refuse_other_blocks,
}
"""Why it is not sent; the first that refuses is told."""


@dataclass(frozen=True, kw_only=True)
class ScsiFormat:
    """Format with the blocks that there are."""

    name: str
    words: str

    def offer(self, subject: Subject) -> Offer | None:
        """Return what it would do; None where it is no SCSI disk, or says that it cannot."""
        asked = scsi_unit.ask(subject, formats)
        if asked is None:
            return None
        why, remedy = first_refusal(CHECKS, asked) or ("", "")
        return Offer(
            method=self.name,
            title=self.words,
            victims=(asked.own_serial or subject.found.token,),
            others=asked.around.paths,
            refusal=why,
            remedy=remedy,
        )

    def carry_out(self, subject: Subject, moved: Moved) -> str:
        """Format the drive and wait for its end.

        Raises:
            NotOffered: it cannot, or refuses by now.
            teijo.errors.HostError: the journal cannot be written; nothing was sent.
            teijo.errors.DeviceError: it was refused, failed, or stands still.
        """
        offered(self, subject)
        send = partial(scsi.format_unit, timeout_ms=waiting.BEGIN_MS)
        scsi_unit.run(subject, waiting.FORMAT, self.name, send=send, moved=moved)
        return self.words

    def is_left(self, seen: Portrait) -> bool:
        """Return whether the drive's last format did not end."""
        return scsi_unit.is_left(seen, "format")

    def finish(self, subject: Subject, change: OpenChange | None) -> str:
        """Return what is left of it: a format that did not end is for a person to repeat.

        Raises:
            teijo.errors.DeviceError: one runs, which nothing ends; or it did not end.
            teijo.errors.UnsafeError: who answers is another drive.
        """
        told = scsi_unit.finish(subject)
        if change is not None:
            close(change)
        return told


UNIT: Final = ScsiFormat(name="scsi-format", words="SCSI FORMAT UNIT")
