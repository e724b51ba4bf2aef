"""Acting as CrystalDiskInfo: each drive that is named is looked at, and its text is said."""

import os
import platform
from collections.abc import Mapping
from typing import Any, Final

from teijo.device.health import asked_counters, read_counters
from teijo.device.preflight import claim
from teijo.device.survey import survey
from teijo.device.target import BlockTarget
from teijo.errors import UsageError
from teijo.methods.found import Found
from teijo.outside.text import visible
from teijo.personas.crystaldiskinfo.text import Disk, text_of
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Call, Order, Said
from teijo.terms.result import Answer
from teijo.terms.step import Step

USAGE: Final = "Usage: crystaldiskinfo DRIVE…\n\n  DRIVE  /dev/disk/by-id/NAME, or sim:NAME\n"
VERSION: Final = "8.12.7"


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
        """
        del name
        if any(word in ("-h", "--help") for word in call.words):
            return Said(stdout=USAGE)
        if not call.words:
            raise UsageError("No drive is named", remedy=self.naming)
        release = platform.release()
        system = f"{platform.system()} [{'.'.join(release.split('.')[:2])} Build {release}]"
        disks = [self._disk(word) for word in call.words]
        text = text_of(disks, version=VERSION, system=visible(system), date=call.now)
        file = (f"CrystalDiskInfo_{call.now:%Y%m%d%H%M%S}.txt", text.encode())
        return Said(stdout=text, files=(file,))

    def _disk(self, word: str) -> Disk:
        """Return what is known of a drive."""
        refuse_windows(word)
        if not word.startswith("sim:") and not os.path.lexists(word.partition("?")[0]):
            raise UsageError(f"There is no drive {visible(word)}", remedy=self.naming)
        seen = survey(word)
        try:
            if seen.simulated is not None:
                size = seen.geometry.nominal_capacity_bytes
                return Disk(identity=seen.simulated.identity, capacity_bytes=size)
            if not isinstance(seen.target, BlockTarget):
                raise UsageError(
                    f"{visible(word)} is no drive",
                    remedy=self.naming,
                )
            subject = claim(seen.target.path, write=False)
            try:
                counters = _counters(subject.fd)
            finally:
                os.close(subject.fd)
            return Disk(
                identity=subject.found.identity,
                capacity_bytes=subject.found.geometry.capacity_bytes,
                counters=counters,
            )
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


def _counters(fd: int) -> Mapping[str, int]:
    """Return what the drive itself tells; what another program tells of it where it tells none."""
    try:
        return read_counters(fd).counts
    except OSError:
        return asked_counters(fd).counts
