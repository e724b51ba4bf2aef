"""Acting as CrystalDiskInfo: each drive that is named is looked at, and its text is said."""

import os
from collections.abc import Sequence
from typing import Any, Final

from teijo.device.preflight import claim
from teijo.device.survey import survey
from teijo.device.target import BlockTarget
from teijo.device.watched import closed_after
from teijo.errors import UsageError
from teijo.methods.found import Found
from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.disk import Disk
from teijo.personas.crystaldiskinfo.reading import disk_of, system_of_host
from teijo.personas.crystaldiskinfo.text import text_of
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Call, Order, Said
from teijo.terms.result import Answer
from teijo.terms.step import Step

USAGE: Final = "Usage: crystaldiskinfo DRIVE…\n\n  DRIVE  /dev/disk/by-id/NAME, or sim:NAME\n"


class CrystalDiskInfoPersona:
    """CrystalDiskInfo's text, of the drives that are named."""

    names = ("crystaldiskinfo",)
    likes = ()
    naming = "Name drives: teijo as crystaldiskinfo /dev/disk/by-id/NAME"

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the text of the drives; nothing is measured.

        Raises:
            teijo.errors.UsageError: no drive is named, or one of Windows.
            teijo.errors.TargetError: one is no drive, or cannot be looked at.
            teijo.errors.StuckDevice: one does not answer.
        """
        del name
        if any(word in ("-h", "--help") for word in call.words):
            return Said(stdout=USAGE)
        if not call.words:
            raise UsageError("No drive is named", remedy=self.naming)
        disks = [self._disk(word, number) for number, word in enumerate(call.words)]
        text = text_of(disks, system=system_of_host(), date=call.now)
        file = (f"CrystalDiskInfo_{call.now:%Y%m%d%H%M%S}.txt", text.encode())
        return Said(stdout=text, files=(file,), unread=_unread(call.words, disks))

    def _disk(self, word: str, number: int) -> Disk:
        """Return what is known of a drive."""
        refuse_windows(word)
        if not word.startswith("sim:") and not os.path.lexists(word.partition("?")[0]):
            raise UsageError(f"There is no drive {visible(word)}", remedy=self.naming)
        seen = survey(word)
        try:
            if seen.simulated is not None:
                identity = seen.simulated.identity
                return Disk(
                    kind="other",
                    model=identity.model or identity.target,
                    firmware=identity.firmware,
                    serial=identity.serial,
                    size_bytes=seen.geometry.nominal_capacity_bytes,
                    address=f"{number}/X/X",
                )
            if not isinstance(seen.target, BlockTarget):
                raise UsageError(
                    f"{visible(word)} is no drive",
                    remedy=self.naming,
                )
            subject = claim(seen.target.path, write=False)
            with closed_after(subject.fd):
                return disk_of(subject, number)
        finally:
            seen.close()

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return nothing: no run is ever asked for."""
        del order, step, answer
        return Said()

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return nothing: no run is ever asked for."""
        del order, found
        return Said()


def _unread(words: Sequence[str], disks: Sequence[Disk]) -> tuple[tuple[str, str], ...]:
    """Return each drive as it was named, with each question that it did not answer."""
    pairs = zip(words, disks, strict=True)
    return tuple((word, one) for word, disk in pairs for one in disk.blind)
